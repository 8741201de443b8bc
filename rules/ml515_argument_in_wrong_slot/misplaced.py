"""Arguments that have the name of another parameter, and the reasons to believe the name."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from modellint import edits
from modellint.flow import queries
from modellint.graph.arguments import bind_call
from modellint.graph.definitions import External
from modellint.graph.immutable import dataclass
from modellint.graph.value import EventKind, Op, called_name

from . import kinds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from modellint.graph.python import Function
    from modellint.graph.value import Parameter, Value
    from modellint.rule import Project

#: Functions and losses of torch that give something else if their first two arguments change places.
_ORDERED = {
    ("input", "target"): (
        *("cross_entropy", "nll_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits"),
        *("multi_margin_loss", "multilabel_margin_loss", "multilabel_soft_margin_loss", "soft_margin_loss"),
        *("CrossEntropyLoss", "NLLLoss", "BCELoss", "BCEWithLogitsLoss"),
        *("MultiMarginLoss", "MultiLabelMarginLoss", "MultiLabelSoftMarginLoss", "SoftMarginLoss"),
    ),
    ("real", "imag"): ("complex",),
    ("abs", "angle"): ("polar",),
    ("imag", "real"): ("atan2", "arctan2"),
}
#: The most functions through which two parameters are followed.
_MAX_DEPTH = 3
_ORDER = {end: names for names, ends in _ORDERED.items() for end in ends}


@dataclass(frozen=True, slots=True)
class Misplaced:
    """An argument in the slot of the parameter `taken` that has the name of the parameter `own`.

    `position` is its index in the call, `other` that of the argument in its own slot, -1 if that keeps its default.
    `is_swap`: the two are in each other's place.
    """

    call: queries.Call
    callee: str
    position: int
    taken: str
    own: str
    other: int
    evidence: str
    is_refused: bool = False
    is_swap: bool = False


def misplaced(call: queries.Call) -> Misplaced | None:
    """The first argument of a call that is in the slot of another parameter; None if there is none for certain."""
    value = call.value
    names = [_names(one) for one in value.positional]
    if not any(names) or any(one.op is Op.STARRED for one in value.positional):
        return None
    found = _swapped_in_torch(call, names)
    if found is not None:
        return found
    callee = _callee(call, names)
    if callee is None:
        return None
    shown, parameters = callee
    plain = [one for one in parameters if one.kind == "positional"]
    by_name = {kinds.plain(one.name): one for one in parameters if one.kind in ("positional", "keyword")}
    for number, (given, taken) in enumerate(zip(names, plain, strict=False)):
        own = next((by_name[name] for name in given if name in by_name), None)
        if own is not None and own is not taken and kinds.plain(taken.name) not in given:
            found = _judged(call, shown, plain, names, number, own)
            if found is not None and _is_written(call, number) and not _is_on_purpose(found):
                return found
    return None


def _callee(call: queries.Call, names: Sequence[Sequence[str]]) -> tuple[str, Sequence[Parameter]] | None:
    """The name of what a call runs, and its parameters; None if it is unknown, or does not take the arguments."""
    target = call.target
    if target is None:
        found = queries.torch_slots(call)
        if found is None or call.depends_on_release:
            return None
        name, parameters = found
        return name.replace("torch.nn.functional.", "F.").removeprefix("Tensor."), parameters
    given = {name for one in names for name in one}
    if given.isdisjoint(kinds.plain(one.name) for one in target.parameters) or call.misfits(target):
        return None
    # A method is called by its own name, a layer by that of its attribute.
    own = target.name not in ("forward", "__init__", "__call__")
    return target.name if own else call.callee.text, target.parameters


def _names(value: Value) -> tuple[str, ...]:
    """The names of a value: of the parameter, attribute or entry that it is, and of the variable that holds it."""
    found = [value.target or ""]
    if value.op in (Op.PARAM, Op.INNER, Op.ATTR, Op.GLOBAL):
        found.insert(0, str(value.data).rpartition(".")[2])
    elif value.op is Op.INDEX and value.args[1].op is Op.CONST and isinstance(value.args[1].data, str):
        found.insert(0, value.args[1].data)
    return tuple(dict.fromkeys(name for name in map(kinds.plain, found) if len(name) > 1))


def _is_written(call: queries.Call, number: int) -> bool:
    """True if an argument is written as a plain name, attribute or entry, and is nothing of a library."""
    definition = call.project.names.definition(call.module, call.value.positional[number])
    node = edits.written(call.value, call.module)
    if isinstance(definition, External) or not isinstance(node, ast.Call) or number >= len(node.args):
        return False
    return isinstance(node.args[number], ast.Name | ast.Attribute | ast.Subscript)


def _judged(
    call: queries.Call,
    callee: str,
    plain: Sequence[Parameter],
    names: Sequence[Sequence[str]],
    number: int,
    own: Parameter,
) -> Misplaced | None:
    taken, positional = plain[number], call.value.positional
    other = next((place for place, one in enumerate(plain[: len(positional)]) if one is own), -1)
    function = None if call.target is None else call.target.function
    wanted, meant = (kinds.of_parameter(one, function, call.project) for one in (taken, own))
    given = kinds.of_value(queries.Operand(positional[number], call.function, call.project))
    is_other_kind = bool(wanted and meant and wanted != meant)
    is_refused = _is_refused(call, taken, wanted, given)
    if other < 0:
        is_free = own.name not in call.value.keywords and not call.value.has_unpacking
        if not is_free or taken.default is None or own.default is None:
            return None
        if given and given != meant and (meant or given == wanted):
            return None
        if kinds.are_ends(taken.name, own.name) or kinds.are_one(taken.name, own.name):
            return None
        if function is not None and (
            _asks_for_kind(function, taken.name) or _takes_either(function, taken.name, own.name, call.project)
        ):
            return None
        evidence = f"`{own.name}` keeps its default"
        return Misplaced(call, callee, number, taken.name, own.name, -1, evidence, is_refused)
    is_swap = kinds.plain(taken.name) in names[other]
    if is_other_kind and given == meant:
        evidence = f"`{taken.name}` takes a {wanted}, and `{own.name}` a {meant}"
        return Misplaced(call, callee, number, taken.name, own.name, other, evidence, is_refused, is_swap)
    order = None if not is_swap or function is None else _order(function, taken.name, own.name, call.project)
    if order is None:
        return None
    evidence = f"`{callee}` hands them to `{order}`, which treats them differently"
    return Misplaced(call, callee, number, taken.name, own.name, other, evidence, is_swap=True)


def _is_refused(call: queries.Call, taken: Parameter, wanted: str, given: str) -> bool:
    """True if the callee computes with a number, or asks for its truth, and gets something that it cannot use so."""
    function = None if call.target is None else call.target.function
    if function is None or given not in ("text", "layer", "tensor") or wanted not in ("number", "bool"):
        return False
    for event in function.flow.events:
        if given == "tensor" and wanted == "bool":
            test = None if event.guard is None else event.guard.test
            if test is not None and test.op is Op.PARAM and test.data == taken.name:
                return True
        elif given != "tensor" and event.guard is None:
            parts = (part for part in event.value.walk() if part.op is Op.BIN)
            if any(one.op is Op.PARAM and one.data == taken.name for part in parts for one in part.args):
                return True
    return False


def _asks_for_kind(function: Function, name: str) -> bool:
    """True if a function asks of which class a parameter is, so it takes what other parameters take, too."""
    calls = (
        event.value for event in function.flow.of(EventKind.CALL) if called_name(event.value.callee) == "isinstance"
    )
    return any(one.op is Op.PARAM and one.data == name for call in calls for one in call.positional[:1])


def _takes_either(function: Function, one: str, other: str, project: Project, depth: int = 0) -> bool:
    """True if a function takes the second of two parameters where the first one is not given.

    So may a function that gets both and is neither readable nor torch's.
    """
    for part in (part for event in function.flow.events for part in event.value.walk()):
        names = {argument.data for argument in part.args if argument.op is Op.PARAM}
        if names >= {one, other}:
            if part.op in (Op.BOOL, Op.CHOICE):
                return True
            call = queries.Call.at(part, function, project) if depth < _MAX_DEPTH else None
            target = None if call is None else call.target
            if call is not None and target is None and not any(name.startswith("torch.") for name in call.names):
                return True
            if target is not None and target.function is not None:
                bound = {
                    value.data: name
                    for name, value in bind_call(target.parameters, part).certain.items()
                    if value.op is Op.PARAM
                }
                if {one, other} <= bound.keys() and _takes_either(
                    target.function, bound[one], bound[other], project, depth + 1
                ):
                    return True
    return False


def _order(function: Function, first: str, second: str, project: Project) -> str | None:
    """The function of torch that gets two parameters, and to which their order means something."""
    for event in function.flow.of(EventKind.CALL):
        given = [one.data for one in event.value.positional[:2] if one.op is Op.PARAM]
        if set(given) == {first, second} and len(given) == 2:
            names = queries.Call(event, function, project).function_names
            found = next((name for name in names if name.rpartition(".")[2] in _ORDER), None)
            if found is not None:
                return found
    return None


def _swapped_in_torch(call: queries.Call, names: Sequence[Sequence[str]]) -> Misplaced | None:
    """The first argument of a call of torch that has the name of the second one, if their order means something."""
    if len(names) < 2 or not names[0] or not any(two[1] in names[0] for two in _ORDERED):
        return None
    ends = {name.rpartition(".")[2] for name in call.names if name.startswith("torch.")}
    end = next((one for one in ends if one in _ORDER), None)
    if end is None:
        return None
    first, second = _ORDER[end]
    if second not in names[0] or second in names[1] or not _is_written(call, 0):
        return None
    is_swap = first in names[1]
    if not is_swap and (first, second) != ("input", "target"):
        return None
    found = Misplaced(call, call.callee.text, 0, first, second, 1, f"`{end}` treats the two differently", is_swap=True)
    return None if _is_on_purpose(found) else found


def _is_on_purpose(found: Misplaced) -> bool:
    """True if the same function makes the call the other way round, too, or a call is meant to fail."""
    call, target, other = found.call, found.call.target, found.other
    if call.is_expected_to_fail:
        return True
    if other >= 0:
        mine = call.value.positional
        for event in call.function.flow.of(EventKind.CALL):
            beside, theirs = event.value, event.value.positional
            is_same = beside is not call.value and called_name(beside.callee) == called_name(call.value.callee)
            if is_same and len(theirs) == len(mine) and _names(theirs[other]) == _names(mine[found.position]):
                return True
    return target is not None and not call.is_certain(target)
