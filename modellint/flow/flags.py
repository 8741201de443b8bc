"""Flags: conditions on parameters under which a function returns a value.

`generate(x, wave=flag)` returns a waveform if `flag` is true, and ids if not: behind `if flag: return`, only the ids
are possible.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow.domain import Tensor
from modellint.flow.heap import Shell
from modellint.flow.truth import identity
from modellint.graph.arguments import possible_arguments
from modellint.graph.immutable import replace
from modellint.graph.value import EventKind, Op, Value

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from modellint.flow.domain import Atom, Atoms
    from modellint.flow.frame import Frame
    from modellint.graph.python import Function
    from modellint.graph.value import PathCondition

    #: A condition in a function, by its `identity`, and its outcome.
    Flag = tuple[Function, Hashable, bool]

#: The most conditions kept of one tensor.
_MAX_FLAGS = 4
_POSITIVE = {"is not": "is", "!=": "=="}
_SELF = (Op.PARAM, "self")


def possible(atoms: Atoms, guard: PathCondition, frame: Frame) -> Atoms:
    """The atoms that are possible under a path condition: drops tensors whose flags contradict it."""
    if frame.function is None or not are_flagged(atoms):
        return atoms
    flags = list(_flags(guard, frame.function))
    return tuple(a for a in atoms if not isinstance(a, Tensor) or not any(_excludes(f, a) for f in flags))


def are_flagged(atoms: Atoms) -> bool:
    """True if there is a tensor with flags among atoms."""
    return any(isinstance(atom, Tensor) and atom.under for atom in atoms)


def are_flagged_in(atom: Atom) -> bool:
    """True if there is a tensor with flags in a tuple."""
    parts = atom.items or () if isinstance(atom, Shell) and atom.kind == "tuple" else ()
    return any(are_flagged(part.atoms) for part in parts)


def marked(atoms: Atoms, guard: PathCondition, frame: Frame) -> Atoms:
    """The returned atoms, with the conditions of the current RETURN event added as flags."""
    event, function = frame.event, frame.function
    if function is None or event is None or event.kind is not EventKind.RETURN or event.guard is not guard:
        return atoms
    flags = frozenset(flag for flag in _flags(guard, function) if _is_told(flag[1]))
    return tuple(_with(atom, flags) for atom in atoms) if flags else atoms


def of_caller(atom: Atom, function: Function | None, call: Value, frame: Frame) -> Atom:
    """An atom of a call's result, with flags on the callee's parameters turned into flags on the arguments."""
    if not isinstance(atom, Tensor) or function is None or frame.function is None:
        return atom
    own = [flag for flag in atom.under if flag[0] is function]
    if not own:
        return atom
    given = _argument_identities(function, call)
    found = [flag for flag in atom.under if flag[0] is not function]
    for _, condition, outcome in own:
        key, is_positive = _in_caller(condition, given)
        if key is not None:
            found.append((frame.function, key, outcome is is_positive))
    return replace(atom, under=frozenset(found[:_MAX_FLAGS]))


def _with(atom: Atom, flags: frozenset[Flag]) -> Atom:
    if not isinstance(atom, Tensor) or not atom.has_elements or len(atom.under | flags) > _MAX_FLAGS:
        return atom
    return replace(atom, under=atom.under | flags)


def _flags(guard: PathCondition, function: Function) -> Iterator[Flag]:
    """The flags of a path condition."""
    for link in guard.chain():
        for test, outcome in _holding(link.test, link.truthy):
            key = identity(test)
            if isinstance(key, tuple):
                yield function, key, outcome


def _holding(test: Value, outcome: bool) -> Iterator[tuple[Value, bool]]:
    """The positive parts of a condition, each with the outcome that the condition's outcome implies."""
    if test.op is Op.UNARY and test.data == "not":
        yield from _holding(test.args[0], not outcome)
    elif test.op is Op.COMPARE and test.data in _POSITIVE:
        yield Value(Op.COMPARE, test.args, _POSITIVE[test.data], None), not outcome
    elif test.op is not Op.BOOL:
        yield test, outcome
    elif outcome is (test.data == "and"):
        for part in test.args:
            yield from _holding(part, outcome)


def _excludes(flag: Flag, tensor: Tensor) -> bool:
    """True if a condition contradicts one of a tensor's flags."""
    return any(one[0] is flag[0] and _are_exclusive(one[1], one[2], flag[1], flag[2]) for one in tensor.under)


def _are_exclusive(one: Hashable, outcome: bool, other: Hashable, other_outcome: bool) -> bool:
    if one == other:
        return outcome is not other_outcome
    if not (outcome and other_outcome and isinstance(one, tuple) and isinstance(other, tuple)):
        return False
    constants = [key[2] for key in (one, other) if key[0] in ("==", "is") and key[2][0] is Op.CONST]
    return len(constants) == 2 and one[1] == other[1] and constants[0] != constants[1]


def _is_told(key: Hashable) -> bool:
    """True if a condition involves a parameter (`self` included)."""
    return isinstance(key, tuple) and (key[0] is Op.PARAM or any(map(_is_told, key)))


def _argument_identities(function: Function, call: Value) -> dict[Hashable, tuple[Hashable, bool]]:
    """The identities of a call's arguments by parameter, each with False if the argument is negated."""
    if call.op is not Op.CALL or call.has_unpacking:
        return {}
    found: dict[Hashable, tuple[Hashable, bool]] = {}
    for name, arg in possible_arguments(function.open_parameters, call):
        (part, is_positive), *_ = _holding(arg, True) if arg.op is not Op.BOOL else ((arg, True),)
        found[Op.PARAM, name] = identity(part), is_positive
    if function.owner is not None:
        callee = call.callee
        is_method = callee.op is Op.ATTR and callee.data == function.name
        receiver = callee.args[0] if is_method else callee
        is_above = receiver.op is Op.CALL and receiver.callee.op is Op.GLOBAL and receiver.callee.data == "super"
        found[_SELF] = (_SELF if is_above else identity(receiver)), True
    return {key: one for key, one in found.items() if isinstance(one[0], tuple)}


def _in_caller(key: Hashable, given: dict[Hashable, tuple[Hashable, bool]]) -> tuple[Hashable | None, bool]:
    """A condition on parameters as one on arguments (None if that is impossible), and False if it is negated."""
    if not isinstance(key, tuple):
        return key, True
    if key[0] is Op.PARAM:
        return given.get(key, (None, True))
    parts: list[Hashable] = []
    for part in key:
        if not isinstance(part, tuple):
            parts.append(part)
            continue
        found, is_positive = _in_caller(part, given)
        if found is None or not is_positive:
            return None, True
        parts.append(found)
    return tuple(parts), True
