"""Generators of parameters that are used up before an optimizer gets them, and lists of parameters that none gets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow.training import GIVING, is_torch_optimizer
from modellint.graph.definitions import External
from modellint.graph.immutable import dataclass
from modellint.graph.value import EventKind, Op

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.value import Event, Flow, Loop, PathCondition, Value
    from modellint.rule import Project

#: A part of the names of torch's optimizers, by which a file imports them.
_PART = "optim"
#: Functions that take all elements of a generator.
_TAKING = frozenset(f"builtins.{name}" for name in "dict list max min set sorted sum tuple".split())
#: Functions that make a generator of a generator.
_LAZY = frozenset(("builtins.filter", "builtins.map"))
#: What is done to parameters that are not to be trained.
_FREEZING = frozenset(("requires_grad", "requires_grad_"))
_CHANGED = (Op.CHOICE, Op.UPDATE)


@dataclass(frozen=True, eq=False, slots=True)
class Taken:
    """All elements of a generator are taken, at `value`, by the event or loop with this number."""

    value: Value
    number: int
    guard: PathCondition | None
    #: What is made of the elements, if anything: the list of a comprehension.
    result: Value | None = None


@dataclass(frozen=True, eq=False, slots=True)
class UsedUp:
    """A generator that `first` takes all elements of, and that then gives nothing to `optimizer`, at `second`."""

    function: Function
    generator: Value
    first: Value
    second: Value
    optimizer: Value

    @property
    def is_all(self) -> bool:
        """True if the optimizer is given nothing else."""
        return self.optimizer.argument(0, "params") is self.generator


@dataclass(frozen=True, eq=False, slots=True)
class Kept:
    """A list that is filled with parameters beside one that `optimizer` is given, and that nothing else reads."""

    function: Function
    made: Value
    filled: Value
    optimizer: Value


def used_up(module: ModuleFacts, project: Project) -> Iterator[UsedUp | Kept]:
    """The generators of a file that are used up before an optimizer is given them, and lists that none is given."""
    for function in (module.body, *module.all_functions()) if _PART in module.text else ():
        if not function.words.isdisjoint(GIVING):
            optimizers = list(_optimizers(function, project))
            if optimizers:
                yield from _used_up(function, optimizers, project)
            if optimizers and function.words.isdisjoint(_FREEZING):
                yield from _unread_lists(function, optimizers)


def _optimizers(function: Function, project: Project) -> Iterator[tuple[int, Event]]:
    """The events that make optimizers of torch, with their numbers."""
    for number, event in enumerate(function.flow.events):
        if event.kind is EventKind.CALL and not event.loops:
            definition = project.names.definition(function.module, event.value.callee)
            if isinstance(definition, External) and is_torch_optimizer(definition.name):
                yield number, event


def _used_up(function: Function, optimizers: list[tuple[int, Event]], project: Project) -> Iterator[UsedUp]:
    for generator in _generators(function, project):
        taken = list(_all_taken(generator, function, project))
        for number, event in optimizers:
            params = event.value.argument(0, "params")
            parts = [] if params is None else list(params.walk())
            later = [one for one in taken if any(part is one.result for part in parts)]
            second = later[-1] if later else None
            if any(part is generator for part in _given_values(params)):
                second = Taken(event.value, number, event.guard)
            first = next(iter(taken), None)
            if second is None or first is None or first.number >= second.number or not _is_sure(first, second):
                continue
            yield UsedUp(function, generator, first.value, second.value, event.value)
            break


def _is_sure(first: Taken, second: Taken) -> bool:
    """True if the first happens whenever the second does."""
    return first.guard is None or first.guard is second.guard


def _given_values(params: Value | None) -> Iterator[Value]:
    """The values that an optimizer is given as they are: its argument, or the parameters of a group."""
    if params is None:
        return
    yield params
    for group in params.args if params.op in (Op.LIST, Op.TUPLE) else ():
        yield from group.args if group.op in (Op.DICT, Op.STARRED) else ()


def _generators(function: Function, project: Project) -> Iterator[Value]:
    """The generators of parameters that a function makes outside of loops."""
    found: set[int] = set()
    for event in function.flow.of(EventKind.CALL):
        call = event.value
        if event.loops or id(call) in found:
            continue
        if call.callee.op is Op.ATTR and call.callee.data in GIVING and not call.keywords:
            found.add(id(call))
            yield call
        elif call.callee.data in ("filter", "map") and any(id(part) in found for part in call.args[1:]):
            definition = project.names.definition(function.module, call.callee)
            if isinstance(definition, External) and definition.name in _LAZY:
                found.add(id(call))
                yield call
    for loop in function.flow.loops:
        made = loop.result
        if made is not None and made.data == "generator" and any(id(over) in found for _, over in loop.turns):
            yield made


def _all_taken(generator: Value, function: Function, project: Project) -> Iterator[Taken]:
    """Where all elements of a generator are taken, in order."""
    flow = function.flow
    found = [_taken_by(loop, flow) for loop in flow.loops if any(over is generator for _, over in loop.turns)]
    if None in found:
        return
    for number, event in enumerate(flow.events):
        if event.kind is EventKind.CALL and any(arg is generator for arg in event.value.args[1:]):
            definition = project.names.definition(function.module, event.value.callee)
            if isinstance(definition, External) and definition.name in _TAKING:
                found.append(Taken(event.value, number, event.guard))
    yield from sorted((one for one in found if one is not None), key=lambda one: one.number)


def _taken_by(loop: Loop, flow: Flow) -> Taken | None:
    """The elements that a loop takes; None if it may end early, or is reached under a condition that is not known."""
    if loop.is_left:
        return None
    if loop.result is not None:
        return Taken(loop.result, loop.first, loop.guard, loop.result)
    inner = flow.events[loop.first] if loop.first < loop.last else None
    item = loop.turns[0][0]
    return Taken(item, loop.first, None) if inner is not None and inner.guard is None else None


# -- lists ---------------------------------------------------------------------------------------------------------


def _unread_lists(function: Function, optimizers: list[tuple[int, Event]]) -> Iterator[Kept]:
    """The lists that are filled with parameters, next to one that an optimizer gets, and that nothing reads."""
    filled: dict[int, tuple[Value, Value, int]] = {}
    for event in function.flow.of(EventKind.CALL):
        call = event.value
        if call.callee.op is Op.ATTR and call.callee.data == "append" and len(call.positional) == 1 and event.loops:
            root, source = _root(call.callee.args[0]), _source(call.positional[0])
            if root is not None and source is not None:
                filled.setdefault(id(root), (root, call, id(source)))
    for root, call, number in filled.values():
        beside = [other for other, _, same in filled.values() if same == number and other is not root]
        given = (event.value for _, event in optimizers)
        optimizer = next((one for one in given if any(p is other for p in one.walk() for other in beside)), None)
        if optimizer is not None and not _is_read(root, function):
            yield Kept(function, root, call, optimizer)


def _root(value: Value) -> Value | None:
    """The empty list that a loop fills; None for anything else."""
    while value.op in _CHANGED and value.args:
        value = value.args[0]
    return value if value.op is Op.LIST and not value.args else None


def _source(value: Value) -> Value | None:
    """The call that yields the parameters of which a value is one; None for anything else."""
    while value.op in (Op.UNPACK, Op.ITEM):
        value = value.args[0]
    is_giving = value.op is Op.CALL and value.callee.op is Op.ATTR and value.callee.data in GIVING
    return value if is_giving else None


def _is_read(root: Value, function: Function) -> bool:
    """True if something other than the calls that fill a list reads it."""
    flow = function.flow
    for event in flow.events:
        is_filling = event.kind is EventKind.CALL and event.value.callee.data == "append"
        values = event.value.args[1:] if is_filling and _root(event.value.callee.args[0]) is root else (event.value,)
        tests = () if event.guard is None else tuple(link.test for link in event.guard.chain())
        targets = () if event.target is None else (event.target,)
        if any(part is root for value in (*values, *tests, *targets) for part in value.walk()):
            return True
    return any(part is root for loop in flow.loops for _, over in loop.turns for part in over.walk())
