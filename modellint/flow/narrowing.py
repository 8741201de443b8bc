"""Narrowing of tensors by conditions: the elements that a path condition leaves, and joins at open tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import operators
from modellint.flow import flags
from modellint.flow.domain import Constant, FunctionRef, SymbolicInput, Tensor, join, length_in, size_of
from modellint.flow.frame import Compared
from modellint.flow.heap import Shell, tensors_in
from modellint.graph.immutable import replace
from modellint.graph.value import EventKind, Op, called_name, self_attribute
from modellint.link.classes.definitions import SourceMethod

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator

    from modellint.flow.domain import Atom, Atoms, Filler
    from modellint.flow.frame import Frame
    from modellint.flow.interp import Interpreter
    from modellint.graph.value import Flow, PathCondition, Value

#: Comparisons by identity, order and equality; and those that narrow elements.
_IDENTITY = ("is", "is not")
_RANGE = frozenset(("<", "<=", ">", ">=", "in", "not in"))
_EQUALITY = frozenset(("==", "!="))
COMPARISONS = _RANGE | _EQUALITY
#: Names of functions and methods that compare elements.
_COMPARING = operators.words("dtype:bool same-shape")


class Narrowing:
    """Narrows tensors by the conditions of one run."""

    def __init__(self, run: Interpreter, take_out: Callable[[Iterable[Filler]], None]) -> None:
        self._run = run
        #: Called with the constants that a condition takes out.
        self._take_out = take_out

    def behind(self, atoms: Atoms, guard: PathCondition, frame: Frame) -> Atoms:
        """The atoms under a path condition, without the elements that its comparisons exclude."""
        if len(atoms) > 1 and any(map(_is_number, atoms)):
            atoms = self._without_tested(atoms, guard, frame)
        for atom in atoms:
            if isinstance(atom, Tensor) and atom.has_elements:
                break
        else:
            return atoms
        atoms = flags.marked(flags.possible(atoms, guard, frame), guard, frame)
        for link in guard.chain():
            if have_real(atoms):
                told = (t for part in _parts(link.test) for t in tensors_in(self._run.evaluate(part, frame)))
                asked = {key for tensor in told for key in tensor.compared}
                atoms = tuple(_without_real(atom, asked) for atom in atoms)
            for test in frame.flow.once(comparisons, link.test):
                atoms = self.tested(atoms, test, link, frame)
        return atoms

    def _without_tested(self, atoms: Atoms, guard: PathCondition, frame: Frame) -> Atoms:
        """The atoms without the numbers of a list that a path condition tests: `[i for i in ids if i != -1]`."""
        gone: set[Atom] = set()
        for link in guard.chain():
            for part in link.test.walk():
                if part.op is Op.COMPARE or part.op is Op.CALL:
                    tested = (self._run.evaluate(arg, frame) for arg in part.args if arg.op is Op.ITEM)
                    gone.update(atom for one in tested if len(one) > 1 for atom in one if _is_number(atom))
        return tuple(atom for atom in atoms if atom not in gone) if gone else atoms

    def tested(self, atoms: Atoms, test: Value, link: PathCondition, frame: Frame) -> Atoms:
        """The atoms where a comparison holds: ids without one row or unknown, constants without the compared ones."""
        is_of_ids = test.op is Op.COMPARE and test.data in COMPARISONS
        if not is_of_ids and test.op is not Op.CALL:
            return atoms
        if not any(isinstance(atom, Tensor) and (atom.fillers or (is_of_ids and atom.ids)) for atom in atoms):
            return atoms
        told = self._comparison(test, frame)
        if told.fillers:
            atoms = self._without_compared(atoms, told.fillers, test, link.test, frame)
        if not told.ids:
            return atoms
        excluded = test if test.data in _EQUALITY and (test.data == "==") is not link.truthy else None
        return tuple(_without_ids(atom, told.ids, excluded) if isinstance(atom, Tensor) else atom for atom in atoms)

    def _comparison(self, test: Value, frame: Frame) -> Compared:
        """The elements that a comparison is about, computed once for each tuple of its operands' atoms."""
        operands = tuple(self._run.evaluate(part, frame) for part in ((test,) if test.op is Op.CALL else test.args))
        known = frame.compared.get(id(test))
        if known is not None and all(now is then for now, then in zip(operands, known.operands, strict=True)):
            return known
        tensors = [tensor for atoms in operands for tensor in tensors_in(atoms)]
        if test.op is Op.CALL:
            found = Compared(operands, frozenset(key for tensor in tensors for key in tensor.compared), frozenset())
        else:
            fillers = frozenset(filler.key for tensor in tensors for filler in tensor.fillers)
            ids = frozenset((tensor.ids.key, tensor.ids.part) for tensor in tensors if tensor.ids is not None)
            found = Compared(operands, fillers, ids)
        if not any(isinstance(atom, Shell) and atom.is_container for atoms in operands for atom in atoms):
            frame.compared[id(test)] = found  # what a container holds may be more the next time
        return found

    def _without_compared(
        self, atoms: Atoms, compared: frozenset[Hashable], test: Value, condition: Value, frame: Frame
    ) -> Atoms:
        """The atoms without the constants that a comparison in a condition is about."""
        gone = {filler for t in atoms if isinstance(t, Tensor) for filler in t.fillers if filler.key in compared}
        if not gone or self._is_counted(test, condition, frame):
            return atoms
        self._take_out(gone)
        return tuple(
            replace(atom, fillers=tuple(filler for filler in atom.fillers if filler not in gone))
            if isinstance(atom, Tensor) and not gone.isdisjoint(atom.fillers)
            else atom
            for atom in atoms
        )

    def _is_counted(self, test: Value, condition: Value, frame: Frame) -> bool:
        """True if a condition only compares how often a mask holds with something else: `mask.sum() == other.sum()`."""
        other = frame.flow.once(_other_sides, condition).get(id(test))
        if other is None:
            return False
        number = self._run.evaluate(other, frame)
        return size_of(number) is None and length_in((number,)) is None

    def one_of(self, branches: list[Atoms], test: Value, frame: Frame) -> Atoms:
        """The join of the branches of an open test; a tensor that is not in both is marked as conditional.

        A test for a parameter that was passed, or for training, marks none: both outcomes occur.
        """
        known = [{_facts(a) for a in atoms if isinstance(a, Tensor) and says_something(a)} for atoms in branches]
        if not any(known) or self._holds_at_times(test, frame):
            return join(branches)
        sure = set.intersection(*known)

        def mark(atom: Atom) -> Atom:
            if not isinstance(atom, Tensor) or not says_something(atom) or _facts(atom) in sure:
                return atom
            return replace(atom, is_conditional=True)

        return join(tuple(mark(atom) for atom in atoms) for atoms in branches)

    def _holds_at_times(self, test: Value, frame: Frame) -> bool:
        """True if a test asks whether a parameter was passed, or a layer is being trained: both outcomes occur."""
        if test.op is Op.UNARY and test.data == "not":
            return self._holds_at_times(test.args[0], frame)
        if self_attribute(test) == "training":
            return True
        if test.op is Op.CALL and len(test.args) == 2:
            return self._is_question(test.callee, frame) and self._is_given(test.args[1], frame)
        if test.op is not Op.COMPARE or test.data not in _IDENTITY:
            return False
        if self_attribute(test.args[0]) == "training":
            return True
        return self._is_given(test.args[0], frame)

    def _is_given(self, value: Value, frame: Frame) -> bool:
        return any(isinstance(atom, SymbolicInput) for atom in self._run.evaluate(value, frame))

    def _is_question(self, callee: Value, frame: Frame) -> bool:
        """True if a function only tests its argument for None."""
        codes = [atom.code for atom in self._run.evaluate(callee, frame) if isinstance(atom, FunctionRef)]
        events = codes[0].function.flow.events if len(codes) == 1 and isinstance(codes[0], SourceMethod) else ()
        kinds = [event.kind for event in events]
        asked = events[-1].value if kinds == [EventKind.COMPARE, EventKind.RETURN] else None
        return asked is not None and asked.op is Op.COMPARE and asked.args[0].op is Op.PARAM and asked.data in _IDENTITY


def _is_number(atom: Atom) -> bool:
    return isinstance(atom, Constant) and type(atom.value) is int


def comparisons(_: Flow, condition: Value) -> list[Value]:
    """The comparisons in a condition, by operators or calls."""
    return [part for part in condition.walk() if _compares(part)]


def _compares(value: Value) -> bool:
    """True if a value is a comparison, by an operator or a call."""
    return value.op is Op.COMPARE or (value.op is Op.CALL and called_name(value.callee) in _COMPARING)


def _other_sides(_: Flow, condition: Value) -> dict[int, Value]:
    """For each part of a side of a condition's comparisons, by identity: the other side."""
    found: dict[int, Value] = {}
    for outer in condition.walk():
        if outer.op is Op.COMPARE and len(outer.args) == 2:
            for side, other in (outer.args, outer.args[::-1]):
                for part in side.walk():
                    found.setdefault(id(part), other)
    return found


def _without_ids(tensor: Tensor, compared: frozenset[tuple[Hashable, Hashable]], excluded: Value | None) -> Tensor:
    """A tensor where its ids were compared: without the row that `excluded` compares, or without any ids."""
    ids = tensor.ids
    if ids is None or compared.isdisjoint(((ids.key, None), (ids.key, ids.part))):
        return tensor
    return replace(tensor, ids=None if excluded is None else replace(ids, excluded=ids.excluded | {excluded}))


def _parts(test: Value) -> Iterator[Value]:
    """The operands that `not`, `and` and `or` combine in a condition."""
    if test.op is Op.BOOL or (test.op is Op.UNARY and test.data == "not"):
        for arg in test.args:
            yield from _parts(arg)
    else:
        yield test


def _without_real(atom: Atom, asked: set[Hashable]) -> Atom:
    """An atom without its real numbers, if a condition asks for their kind."""
    is_asked = isinstance(atom, Tensor) and atom.real is not None and ("kind", atom.real.key) in asked
    return replace(atom, real=None) if is_asked else atom  # type: ignore[type-var]


def have_real(atoms: Atoms) -> bool:
    return any(isinstance(atom, Tensor) and atom.real is not None for atom in atoms)


def says_something(atom: Atom) -> bool:
    return isinstance(atom, Tensor) and (atom.width is not None or atom.has_elements)


def _facts(tensor: Tensor) -> Hashable:
    """The width of a tensor and its ids, constants, positions and real numbers, whatever their origin."""
    bound = None if tensor.ids is None else tensor.ids.bound
    fillers = frozenset(filler.size for filler in tensor.fillers)
    return tensor.width, bound, fillers, tensor.positions is not None, tensor.real is not None
