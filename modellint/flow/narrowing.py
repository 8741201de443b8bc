"""What conditions leave of the elements of tensors, and which of two tensors something is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import operators
from modellint.flow import flags
from modellint.flow.domain import FunctionRef, SymbolicInput, Tensor, join, length_in, size_of
from modellint.flow.heap import tensors_in
from modellint.graph.immutable import replace
from modellint.graph.value import EventKind, Op, called_name, self_attribute
from modellint.link.classes.definitions import SourceMethod

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator

    from modellint.flow.domain import Atom, Atoms, Filler, Ids
    from modellint.flow.frame import Frame
    from modellint.flow.interp import Interpreter
    from modellint.graph.value import Flow, PathCondition, Value

#: Comparisons: of what something is, of order, of equality; and those that tell something of elements.
_IDENTITY = ("is", "is not")
_RANGE = frozenset(("<", "<=", ">", ">=", "in", "not in"))
_EQUALITY = frozenset(("==", "!="))
COMPARISONS = _RANGE | _EQUALITY
#: What calls compare elements by.
_COMPARING = operators.words("dtype:bool same-shape")


class Narrowing:
    """Conditions about tensors in one run."""

    def __init__(self, run: Interpreter, take_out: Callable[[Iterable[Filler]], None]) -> None:
        self._run = run
        #: What is told of constants that a condition takes out.
        self._take_out = take_out

    def behind(self, atoms: Atoms, guard: PathCondition, frame: Frame) -> Atoms:
        """What is left of elements where conditions hold that compare them."""
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
                atoms = tuple(self.tested(a, test, link, frame) if isinstance(a, Tensor) else a for a in atoms)
        return atoms

    def tested(self, tensor: Tensor, test: Value, link: PathCondition, frame: Frame) -> Tensor:
        """The ids that are left in a tensor where a comparison holds: all but one, all, or unknown ones."""
        ids = tensor.ids
        if tensor.fillers:
            tensor = self._without_compared(tensor, test, link.test, frame)
        if ids is None or test.data not in COMPARISONS:
            return tensor
        operands = (t for arg in test.args for t in tensors_in(self._run.evaluate(arg, frame)))
        if not any(_is_about(operand, ids) for operand in operands):
            return tensor
        if test.data in _EQUALITY and (test.data == "==") is not link.truthy:
            return replace(tensor, ids=replace(ids, excluded=ids.excluded | {test}))
        return replace(tensor, ids=None)

    def _without_compared(self, tensor: Tensor, test: Value, condition: Value, frame: Frame) -> Tensor:
        """A tensor without the constants that a comparison in a condition is about."""
        if test.op is Op.CALL:
            compared = {key for t in tensors_in(self._run.evaluate(test, frame)) for key in t.compared}
        elif test.data in COMPARISONS:
            operands = (t for arg in test.args for t in tensors_in(self._run.evaluate(arg, frame)))
            compared = {filler.key for operand in operands for filler in operand.fillers}
        else:
            return tensor
        gone = [filler for filler in tensor.fillers if filler.key in compared]
        if not gone or self._is_counted(test, condition, frame):
            return tensor
        self._take_out(gone)
        return replace(tensor, fillers=tuple(filler for filler in tensor.fillers if filler not in gone))

    def _is_counted(self, test: Value, condition: Value, frame: Frame) -> bool:
        """Whether a condition says only that a mask holds as often as something else: `mask.sum() == other.sum()`."""
        for outer in condition.walk():
            if outer is test or outer.op is not Op.COMPARE or len(outer.args) != 2:
                continue
            for side, other in (outer.args, outer.args[::-1]):
                if any(part is test for part in side.walk()):
                    number = self._run.evaluate(other, frame)
                    return size_of(number) is None and length_in((number,)) is None
        return False

    def one_of(self, branches: list[Atoms], test: Value, frame: Frame) -> Atoms:
        """Either of two, as an open test has it: a tensor that is not in both is one perhaps.

        Whether a parameter was given, or a layer is being trained, is no such question: both is so at times.
        """
        known = [[a for a in atoms if says_something(a)] for atoms in branches]
        if not any(known) or self._holds_at_times(test, frame):
            return join(branches)

        def marked(atom: Atom) -> Atom:
            if not isinstance(atom, Tensor) or not says_something(atom):
                return atom
            is_sure = all(any(_agree(atom, other) for other in tensors) for tensors in known)
            return atom if is_sure else replace(atom, is_conditional=True)

        return join(tuple(marked(atom) for atom in atoms) for atoms in branches)

    def _holds_at_times(self, test: Value, frame: Frame) -> bool:
        """Whether a test asks if a parameter was given, or if a layer is being trained, which it is in its time."""
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
        """Whether a function only tests its argument for None."""
        codes = [atom.code for atom in self._run.evaluate(callee, frame) if isinstance(atom, FunctionRef)]
        events = codes[0].function.flow.events if len(codes) == 1 and isinstance(codes[0], SourceMethod) else ()
        kinds = [event.kind for event in events]
        asked = events[-1].value if kinds == [EventKind.COMPARE, EventKind.RETURN] else None
        return asked is not None and asked.op is Op.COMPARE and asked.args[0].op is Op.PARAM and asked.data in _IDENTITY


def comparisons(_: Flow, condition: Value) -> list[Value]:
    """The comparisons in a condition, as operators or calls."""
    return [part for part in condition.walk() if _compares(part)]


def _compares(value: Value) -> bool:
    """Whether a value is a comparison, as an operator or a call."""
    return value.op is Op.COMPARE or (value.op is Op.CALL and called_name(value.callee) in _COMPARING)


def _is_about(operand: Tensor, ids: Ids) -> bool:
    """Whether an operand of a comparison is a tensor of these ids: of all of them, or of the same one of several."""
    known = operand.ids
    return known is not None and known.key == ids.key and (known.part is None or known.part == ids.part)


def _parts(test: Value) -> Iterator[Value]:
    """What a condition is put together of by `not`, `and` and `or`."""
    if test.op is Op.BOOL or (test.op is Op.UNARY and test.data == "not"):
        for arg in test.args:
            yield from _parts(arg)
    else:
        yield test


def _without_real(atom: Atom, asked: set[Hashable]) -> Atom:
    """What is left of an atom under a condition that asks for the kind of real numbers."""
    is_asked = isinstance(atom, Tensor) and atom.real is not None and ("kind", atom.real.key) in asked
    return replace(atom, real=None) if is_asked else atom  # type: ignore[type-var]


def have_real(atoms: Atoms) -> bool:
    return any(isinstance(atom, Tensor) and atom.real is not None for atom in atoms)


def says_something(atom: Atom) -> bool:
    return isinstance(atom, Tensor) and (atom.width is not None or atom.has_elements)


def _agree(one: Tensor, other: Atom) -> bool:
    return isinstance(other, Tensor) and one.width == other.width and _known(one) == _known(other)


def _known(tensor: Tensor) -> Hashable:
    """The ids, constants, positions and real numbers in a tensor, whatever they are from."""
    bound = None if tensor.ids is None else tensor.ids.bound
    fillers = frozenset(filler.size for filler in tensor.fillers)
    return bound, fillers, tensor.positions is not None, tensor.real is not None
