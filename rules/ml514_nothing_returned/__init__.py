"""ML514: the result of a function that returns nothing is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import claims
from modellint.finding import Confidence, Finding, Related, Severity
from modellint.flow import queries
from modellint.graph.value import EventKind, Op, called_name
from modellint.rule import Rule, called_probe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.value import Event, Value
    from modellint.rule import Project

#: Operators that None does not have.
_ARITHMETIC = frozenset("+ - * / // @ **".split())
_CATCHING = frozenset(("TypeError", "AttributeError", "Exception", "BaseException"))
#: Functions that do not return to their caller.
_LEAVING = frozenset(("exit", "_exit", "abort", "quit", "fail", "skip", "execv", "execvp"))
_OF_NONE = frozenset(dir(None))
_DEPTH = 3


class NothingReturned(Rule):
    """The result of a function that returns nothing is used

    ## What it does
    Reports the result of a function, a method or a `forward` of the project that returns nothing on any path, if code
    computes with it, reads an attribute or an element of it, calls it, unpacks it, or passes it to a layer or to a
    function of torch that takes a tensor.

    ## Why is this bad
    The result is None. Its use raises an error such as `AttributeError: 'NoneType' object has no attribute 'backward'`
    or `TypeError: linear(): argument 'input' (position 1) must be Tensor, not NoneType`. The `return` was forgotten.

    ## How to fix
    Return the value, or do not use the result of a function that only changes its arguments:

    ```python
    def forward(self, x):
        return self.fc(x)
    ```

    ## What it cannot see
    Functions that return a value on some paths. It ignores functions that never come back, that only raise an error,
    or that subclasses override, and results that the code compares with None.

    ```python
    def find(self, name):
        for layer in self.layers:
            if layer.name == name:
                return layer  # and None if there is none
    ```

    ## Confirming
    modellint builds the layer, or imports the file, and calls the function around the use. Python's error is the
    verdict. A run does not tell the error of an operator from one of its operands.

    ## References
    - [The return statement](https://docs.python.org/3/reference/simple_stmts.html#the-return-statement)
    """

    code = "ML514"
    name = "nothing-returned"
    severity = Severity.ERROR
    requires = ("calls",)
    about = ("torch.nn.Module", "torch.Tensor")
    probe = staticmethod(called_probe)

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        told: set[Function] = set()
        candidates: dict[Function, list[queries.Call]] = {}
        for call in queries.flow(module, project).calls():
            if _gives_nothing(call):
                candidates.setdefault(call.function, []).append(call)
        for function, calls in candidates.items():
            for call, use in _uses(function, [call for call in calls if not _is_statement(call)], project):
                target = call.target
                returning = None if target is None else target.function
                if target is None or returning is None or returning in told or not call.is_certain(target):
                    continue
                owner = returning.owner
                if owner is None or not queries.is_set_outside(owner, returning.name, project):
                    told.add(returning)
                    yield self._finding(call, use, returning)

    def _finding(self, call: queries.Call, use: _Use, target: Function) -> Finding:
        module = call.module
        place = module.place(use.user)
        return self.finding(
            place,
            f"`{target.name}` returns nothing, but its result is {use.how}",
            symbol=f"{call.symbol}.{target.name}",
            confidence=Confidence.HIGH,
            severity=Severity.INFO if call.is_tried_out else None,
            evidence=(f"no path through `{target.qualname}` returns a value",),
            related=(Related(target.place, "the function"),),
            help="return the value",
            claim=claims.Refused(place, "TypeError or AttributeError", "NoneType") if use.can_be_shown else None,
        )


class _Use:
    """A use that None does not stand: the value that uses it, in words, and whether a run can show the error."""

    def __init__(self, user: Value, how: str, *, can_be_shown: bool = True) -> None:
        self.user, self.how, self.can_be_shown = user, how, can_be_shown


def _gives_nothing(call: queries.Call, depth: int = 0) -> bool:
    """True if the call runs a function of the project that returns None on each path, and comes back."""
    target = call.target
    function = None if target is None or target.is_made else target.function
    if function is None or depth > _DEPTH or function.name == "__init__" or function.signature.is_async:
        return False
    flow = function.flow
    if _never_comes_back(function) or any(event.kind is EventKind.YIELD for event in flow.events):
        return False
    for event in flow.of(EventKind.RETURN):
        inner = queries.Call.at(event.value, function, call.project)
        is_none = event.value.op is Op.CONST and event.value.data is None
        if not is_none and (inner is None or _is_statement(inner) or not _gives_nothing(inner, depth + 1)):
            return False
    return any(event.kind in (EventKind.CALL, EventKind.STORE, EventKind.AUGMENT) for event in flow.events)


def _is_statement(call: queries.Call) -> bool:
    """True if a call is a statement: the value of `x.add_(y)` then stands for the changed `x`."""
    return any(event.value is call.value for event in call.function.flow.dropped)


def _never_comes_back(function: Function) -> bool:
    """True if a function raises an error or leaves the program in any case, or may run for ever."""
    for event in function.flow.events:
        is_leaving = event.kind is EventKind.CALL and called_name(event.value.callee) in _LEAVING
        if is_leaving or (event.kind is EventKind.RAISE and event.guard is None and not event.loops):
            return True
    return any(not loop.turns for loop in function.flow.loops) or _ends_in_errors(function)


def _ends_in_errors(function: Function) -> bool:
    """True if a function raises in one branch: the others may be complete."""
    return any(event.kind is EventKind.RAISE for event in function.flow.events[-1:])


def _uses(function: Function, calls: list[queries.Call], project: Project) -> Iterator[tuple[queries.Call, _Use]]:
    """The uses of the results that None does not stand, each with the call that gives the result."""
    events = (*function.flow.events, *function.flow.unpackings)
    values = list(_values(events))
    wanted = {id(call.value): call for call in calls}
    results = [call.result for call in calls]
    for value, _ in values if wanted else ():
        if value.op in (Op.CALL, Op.CHOICE, Op.INDEX) and id(value) not in wanted:
            operand = queries.Operand(value, function, project)
            call = _given_by(operand, wanted)
            if call is not None:
                wanted[id(value)] = call
                results.append(operand)
    for used, use in queries.tensor_uses(results):
        source = wanted.get(id(used.value))  # none for a variable that is something else on another path
        if source is not None and use.user.op is Op.CALL and _is_plain(use.event, used.value):
            yield source, _Use(use.user, f"passed to {use.how}")
    for value, event in values if wanted else ():
        for used_value, one in _of_none(value):
            if id(used_value) in wanted and _is_plain(event, used_value):
                yield wanted[id(used_value)], one
    for event in function.flow.unpackings:
        if id(event.value) in wanted and _is_plain(event, event.value):
            yield wanted[id(event.value)], _Use(event.value, "unpacked", can_be_shown=False)
    for loop in function.flow.loops:
        first = function.flow.events[loop.first] if loop.first < len(function.flow.events) else None
        for _, iterable in loop.turns:
            if id(iterable) in wanted and (first is None or _is_plain(first, iterable)):
                yield wanted[id(iterable)], _Use(iterable, "iterated over", can_be_shown=False)


def _values(events: tuple[Event, ...]) -> Iterator[tuple[Value, Event]]:
    """All values of a function, each with the first event that it is a part of."""
    seen: set[int] = set()
    for event in events:
        pending = [top for top in (event.value, event.target) if top is not None]
        while pending:
            value = pending.pop()
            if id(value) not in seen:
                seen.add(id(value))
                yield value, event
                pending += value.args


def _given_by(operand: queries.Operand, wanted: dict[int, queries.Call]) -> queries.Call | None:
    """The call that gives a value on each of its paths, where all of them are calls that give nothing."""
    if not any(id(part) in wanted for part in operand.value.walk()):
        return None
    leaves = list(operand.origins(through_operators=False))
    calls = [wanted.get(id(leaf.value)) for leaf in leaves if leaf.part is None]
    return calls[0] if len(calls) == len(leaves) and calls and None not in calls else None


def _of_none(value: Value) -> Iterator[tuple[Value, _Use]]:
    """The operands of a value that cannot be None."""
    if value.op is Op.ATTR and value.data not in _OF_NONE:
        yield value.args[0], _Use(value, f"asked for `{value.data}`")
    elif value.op is Op.BIN and value.data in _ARITHMETIC:
        for operand in value.args:
            yield operand, _Use(value, "computed with", can_be_shown=False)
    elif value.op is Op.UNARY and value.data in ("-", "+", "~"):
        yield value.args[0], _Use(value, "computed with", can_be_shown=False)
    elif value.op is Op.INDEX:
        yield value.args[0], _Use(value, "indexed", can_be_shown=False)
    elif value.op is Op.CALL:
        yield value.callee, _Use(value, "called")


def _is_plain(event: Event, value: Value) -> bool:
    """True if no handler catches the error of a use, and no condition around it asks for the value."""
    guards = () if event.guard is None else event.guard.chain()
    is_asked = any(part is value for guard in guards for part in guard.test.walk())
    return not is_asked and _CATCHING.isdisjoint(event.handled)
