"""The truth of conditions: True, False, or None if unknown."""

from __future__ import annotations

import builtins
import collections.abc
from typing import TYPE_CHECKING

from modellint.flow.domain import (
    UNKNOWN,
    ClassRef,
    Constant,
    Derived,
    FunctionRef,
    Number,
    Outside,
    Super,
    SymbolicInput,
    size_of,
)
from modellint.flow.heap import ExactShell, Shell
from modellint.flow.theory import Comparable
from modellint.graph.value import Op, Value, compare_constants

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping
    from contextlib import AbstractContextManager

    from modellint.flow.domain import Atom, Atoms
    from modellint.graph.size import Size

    Evaluate = Callable[[Value], Atoms]
    #: Assumes the outcome of a condition within a context.
    Assume = Callable[[Value, bool], AbstractContextManager[None]]

_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_ORDERING = frozenset(("==", "!=", "<", "<=", ">", ">="))
_NAMED = frozenset((Op.ATTR, Op.GLOBAL, Op.PARAM, Op.CONST))
_REFERENCES = (ClassRef, FunctionRef, Outside, Super)
_NOT_NONE = (Shell, *_REFERENCES, Derived, Number)


def truth(test: Value, evaluate: Evaluate, assume: Assume | None = None) -> bool | None:
    """The outcome of a test: True, False, or None if unknown."""
    if test.op is Op.COMPARE:
        return _compare(test.data, evaluate(test.args[0]), evaluate(test.args[1]))
    if test.op is Op.UNARY and test.data == "not":
        inner = truth(test.args[0], evaluate, assume)
        return None if inner is None else not inner
    if test.op is Op.BOOL:
        return _one_by_one(test, evaluate, assume)
    if test.op is Op.CALL and test.callee.op is Op.GLOBAL and test.callee.data in ("isinstance", "builtins.isinstance"):
        return _is_instance(test, evaluate)
    return _common_outcome(evaluate(test), _truthy)


def truth_with(test: Value, constants: Mapping[str, object]) -> bool | None:
    """The outcome of a test on parameters with these constant values; None if it depends on anything else."""

    def evaluate(value: Value) -> Atoms:
        if value.op is Op.PARAM and value.data in constants:
            return (Constant(constants[value.data]),)
        return (Constant(value.data),) if value.op is Op.CONST else UNKNOWN

    return truth(test, evaluate)


def _one_by_one(test: Value, evaluate: Evaluate, assume: Assume | None, start: int = 0) -> bool | None:
    """The outcome of `and` and `or`; each operand is tested under the assumption that those before it leave it open."""
    decisive = bool(test.data == "or")
    is_undecided = False
    for number in range(start, len(test.args)):
        arg = test.args[number]
        outcome = truth(arg, evaluate, assume)
        if outcome is decisive:
            return decisive
        if outcome is None and assume is not None and number + 1 < len(test.args):
            with assume(arg, not decisive):
                return decisive if _one_by_one(test, evaluate, assume, number + 1) is decisive else None
        is_undecided = is_undecided or outcome is None
    return None if is_undecided else not decisive


def open_part(test: Value, evaluate: Evaluate) -> tuple[Value, bool]:
    """The operand that alone decides an open condition, and True if the condition negates it."""
    negated = False
    while True:
        if test.op is Op.UNARY and test.data == "not":
            test, negated = test.args[0], not negated
            continue
        if test.op is Op.COMPARE and test.data in ("is not", "!=") and test.args[1].op is Op.CONST:
            return _positive(test), not negated
        if test.op is Op.BOOL:
            undecided = [arg for arg in test.args if truth(arg, evaluate) is None]
            if len(undecided) == 1:
                test = undecided[0]
                continue
        return test, negated


def _positive(test: Value) -> Value:
    """The positive form of a comparison: `x is None` for `x is not None`."""
    return Value(Op.COMPARE, test.args, {"is not": "is", "!=": "=="}[test.data], None)


def identity(test: Value) -> Hashable:
    """A key of a test, equal for tests with the same outcome: the same names, compared with the same values."""
    if test.op in _NAMED:
        return test.op, test.data, *(identity(arg) for arg in test.args[:1])
    if test.op is Op.COMPARE and all(arg.op in _NAMED for arg in test.args):
        return test.data, *(identity(arg) for arg in test.args)
    return id(test)


def _common_outcome(atoms: Atoms, outcome_of: Callable[..., bool | None], *given: object) -> bool | None:
    agreed: bool | None = None
    for number, atom in enumerate(atoms):
        outcome = outcome_of(atom, *given)
        if outcome is None or (number and outcome is not agreed):
            return None
        agreed = outcome
    return agreed


def _truthy(atom: Atom) -> bool | None:
    if isinstance(atom, Constant):
        return bool(atom.value)
    if isinstance(atom, Shell):
        if atom.is_container or atom.is_module_container:
            return True if atom.entries else False if isinstance(atom, ExactShell) and atom.is_exact else None
        return True if atom.is_layer else None
    if isinstance(atom, Comparable):
        return atom.truth()
    return True if isinstance(atom, _REFERENCES) else None


def _is_none(atom: Atom) -> bool | None:
    if isinstance(atom, Constant):
        return atom.value is None
    if isinstance(atom, Comparable):
        return atom.is_none()
    if isinstance(atom, SymbolicInput) and atom.is_there:
        return False
    return False if isinstance(atom, _NOT_NONE) else None


def _compare(operator: str, left: Atoms, right: Atoms) -> bool | None:
    if len(right) != 1:
        return None
    return _common_outcome(left, _compare_one, right[0], operator)


def _compare_one(left: Atom, right: Atom, operator: str) -> bool | None:
    is_equality = operator in ("==", "!=") and not isinstance(left, Comparable)
    if isinstance(right, Constant) and right.value is None and (is_equality or operator in ("is", "is not")):
        outcome = _is_none(left)
        return outcome if outcome is None or operator in ("is", "==") else not outcome
    if operator in ("in", "not in"):
        return _member(left, right, operator == "in")
    if isinstance(left, Constant) and isinstance(right, Constant):
        return compare_constants(operator, left.value, right.value)
    if isinstance(left, Comparable):
        return left.compared(operator, right)
    if isinstance(right, Comparable):
        return right.compared(_MIRRORED.get(operator, operator), left)
    if isinstance(left, Number | SymbolicInput) and operator in _ORDERING:
        return _compare_sizes(operator, size_of((left,)), size_of((right,)))
    if isinstance(left, Shell) and isinstance(right, Constant) and operator in ("==", "!="):
        is_other = left.is_layer or (left.is_container and isinstance(right.value, str | int))
        return operator == "!=" if is_other else None
    if isinstance(left, ClassRef) and isinstance(right, ClassRef) and operator in ("is", "==", "is not", "!="):
        return (left.model.name == right.model.name) is (operator in ("is", "=="))
    return None


def _compare_sizes(operator: str, left: Size | None, right: Size | None) -> bool | None:
    apart = None if left is None or right is None else (left - right).constant
    return None if apart is None else compare_constants(operator, apart, 0)


def _member(left: Atom, right: Atom, wanted: bool) -> bool | None:
    if not isinstance(left, Constant):
        return None
    if isinstance(right, Comparable):
        found = right.has(left.value)
        return found if found is None else found is wanted
    if isinstance(right, Constant) and isinstance(right.value, str) and isinstance(left.value, str):
        return (left.value in right.value) is wanted
    if isinstance(right, Shell) and right.is_container and right.is_exact and all(not e.path for e in right.entries):
        if right.kind == "dict":
            known: list[object] = [entry.key for entry in right.entries]
        else:
            known = [e.atoms[0].value for e in right.entries if len(e.atoms) == 1 and isinstance(e.atoms[0], Constant)]
        return (left.value in known) is wanted if len(known) == len(right.entries) else None
    return None


def _is_instance(test: Value, evaluate: Evaluate) -> bool | None:
    if len(test.positional) != 2:
        return None
    value, kinds = (evaluate(arg) for arg in test.positional)
    if len(kinds) != 1:
        return None
    listed = kinds[0].items if isinstance(kinds[0], Shell) and kinds[0].kind == "tuple" else None
    if listed is None:
        return _is_one_of(value, kinds[0])
    outcomes = {_is_one_of(value, entry.atoms[0]) if len(entry.atoms) == 1 else None for entry in listed}
    return True if True in outcomes else None if None in outcomes else False


def _is_one_of(value: Atoms, kind: Atom) -> bool | None:
    name = kind.model.name if isinstance(kind, ClassRef) else kind.name if isinstance(kind, Outside) else None
    return None if name is None else _common_outcome(value, _is_of, name, kind)


def _is_of(atom: Atom, name: str, kind: Atom) -> bool | None:
    if name.startswith("collections.abc.") and isinstance(atom, Constant | Shell):
        return _is_abstractly(atom, name.rpartition(".")[2])
    if isinstance(atom, Number):
        return name == "builtins.int" if name.startswith("builtins.") else None
    if isinstance(atom, Constant):
        names = [f"builtins.{cls.__name__}" for cls in type(atom.value).__mro__]
        return name in names if name.startswith(("builtins.", "torch.nn.")) else None
    if isinstance(atom, Shell):
        if atom.is_container:
            return name == f"builtins.{atom.kind}" if name.startswith(("builtins.", "torch.nn.")) else None
        if atom.model is not None and atom.kind == "instance":
            if name in [model.name for model in atom.model.mro()]:
                return True
            return False if atom.model.is_complete else None
        return False if isinstance(kind, ClassRef) and kind.model.is_module else None
    if isinstance(atom, Comparable):
        return atom.is_of(kind)
    if isinstance(atom, ClassRef | FunctionRef) and isinstance(kind, ClassRef):
        return False
    return None


def _is_abstractly(atom: Constant | Shell, name: str) -> bool | None:
    """True if a constant or container is an instance of a class of `collections.abc`; None if that is unknown."""
    kind = getattr(collections.abc, name, None)
    made = type(atom.value) if isinstance(atom, Constant) else getattr(builtins, atom.kind, None)
    return issubclass(made, kind) if isinstance(kind, type) and isinstance(made, type) else None
