"""What is presumed of the arguments of functions, for people: it is shown, and never judged.

A file is run more than once. Each run learns from the layers and operators that take an argument, from what the code
unpacks, and from the calls in the file; the next one presumes it. What contradicts itself is presumed by none.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from modellint.flow.domain import Constant, SymbolicInput, function_of
from modellint.flow.shapes.atoms import Shaped, ShapeOf
from modellint.flow.shapes.shape import ANY_STAR, Dim, Shape, Star, of_rank
from modellint.flow.shapes.theory import Shapes
from modellint.graph.arguments import bind
from modellint.graph.immutable import replace
from modellint.graph.size import Size
from modellint.graph.value import Event, EventKind, Op

if TYPE_CHECKING:
    from collections.abc import Callable

    from modellint.flow.domain import Arguments, Atom, Atoms, FunctionRef
    from modellint.flow.frame import Frame
    from modellint.flow.interp import Interpreter
    from modellint.graph.methods import Method
    from modellint.graph.python import Function
    from modellint.graph.size import Symbol
    from modellint.graph.value import Parameter, Value

    #: An argument of a function, or a part of one, by its name: `x`, `batch.image`.
    Input = tuple[Function, str]

#: The most dimensions that are presumed; the number that stands for one that the code asks for.
_MAX_RANK, _ASKED = 8, -1000


class Learnt:
    """What the runs of a file have learnt of the arguments of its functions."""

    def __init__(self) -> None:
        self._used: dict[Input, set[int]] = defaultdict(set)
        self._passed: dict[Input, set[int]] = defaultdict(set)
        self._taken: dict[Symbol, set[Size]] = defaultdict(set)
        #: The presumed numbers of dimensions, and sizes.
        self.ranks: dict[Input, int] = {}
        self.sizes: dict[Symbol, Size] = {}

    def use(self, given: Input, rank: int) -> None:
        """Note that an operation takes an argument with so many dimensions."""
        self._used[given].add(rank)

    def pass_to(self, given: Input, rank: int) -> None:
        """Note that a call passes a tensor with so many dimensions."""
        self._passed[given].add(rank)

    def take(self, symbol: Symbol, size: Size) -> None:
        """Note that a layer takes a size where it gets the one of a symbol."""
        self._taken[symbol].add(size)

    def conclude(self) -> bool:
        """Conclude from the notes of a run; True if anything is presumed that was not before."""
        before = dict(self.ranks), dict(self.sizes)
        self.ranks = {
            one: next(iter(found))
            for one in {**self._passed, **self._used}
            if len(found := self._used.get(one) or self._passed[one]) == 1 and 0 <= min(found) <= _MAX_RANK
        }
        self.sizes = {symbol: next(iter(found)) for symbol, found in self._taken.items() if len(found) == 1}
        self._passed.clear()
        return before != (self.ranks, self.sizes)


class Presumed(Shapes):
    """The shapes of the tensors of one run, with what is presumed of the arguments of its roots."""

    def __init__(self, run: Interpreter) -> None:
        super().__init__(run)
        self.learnt = Learnt()
        self._root: Function | None = None
        self.takes = self._take

    def learn_unpacked(self, frame: Frame) -> None:
        """Learn from the tuple assignments of a body that was run: `batch, length = x.shape[:2]`."""
        for event in frame.flow.unpackings:
            names = () if event.target is None else event.target.args
            if not names or any(name.op is Op.STARRED for name in names):
                continue
            self._run.begin()
            atoms = self._run.evaluate_at(Event(EventKind.READ, event.value, guard=event.guard), frame)
            for atom in atoms:
                star = atom.shape.star if isinstance(atom, ShapeOf) else None
                if isinstance(atom, ShapeOf) and star is not None and star.note is not None:
                    star.note(len(names) - atom.shape.least_rank)

    def as_tensors(self, atoms: Atoms) -> Atoms:
        """The atoms, with tensors in place of the arguments that are presumed to be some."""
        return tuple(self.tensor_of(a, is_tensor=False) or a if isinstance(a, SymbolicInput) else a for a in atoms)

    # -- arguments -------------------------------------------------------------------------------------------------

    def input_of(self, atom: SymbolicInput, *, is_tensor: bool) -> Shaped | None:
        root = self._root
        if root is None:
            return super().input_of(atom, is_tensor=is_tensor)
        given = root, atom.name
        rank = self.learnt.ranks.get(given)
        if rank is None and not is_tensor:
            return None
        name = atom.name.partition("[")[0].replace(".", "_")
        note = lambda number: self.learnt.use(given, number)  # noqa: E731
        star = Star(("input", str(root.module.path), root.qualname, atom.name), name, note=note)
        if rank is not None:
            return Shaped(self._sized(of_rank(Shape((), replace(star, note=None)), rank), star), is_presumed=True)
        last = self.learnt.sizes.get(star.symbol(-1))
        return Shaped(Shape((), star) if last is None else Shape((), star.cut(back=1), (Dim(last),)))

    def _sized(self, shape: Shape, star: Star | None = None) -> Shape:
        """A shape of an argument with the sizes that layers take."""
        sizes = self.learnt.sizes
        dims = []
        for place, dim in enumerate(shape.head):
            symbol = None if dim.size is None else _symbol_of(dim.size)
            known = None if symbol is None else sizes.get(symbol)
            if known is None and star is not None:
                known = sizes.get(star.symbol(place - len(shape.head)))
            dims.append(dim if known is None else Dim(known))
        return Shape(tuple(dims))

    def parameter(self, parameter: Parameter, code: Method, frame: Frame) -> Atoms | None:
        found = super().parameter(parameter, code, frame)
        return found and tuple(
            replace(one, shape=self._sized(one.shape)) if isinstance(one, Shaped) else one for one in found
        )

    def follow(
        self, function: FunctionRef, arguments: Arguments, frame: Frame, value: Value, run: Callable[[], Atoms]
    ) -> Atoms:
        code = function_of(function.code)
        if not self._functions:
            self._root = code
        elif code is not None and self._root is not None and code.module is self._root.module and arguments.is_complete:
            self._learn_passed(code, function, arguments)
        return super().follow(function, arguments, frame, value, run)

    def _learn_passed(self, code: Function, function: FunctionRef, arguments: Arguments) -> None:
        """Learn the numbers of dimensions of what a call passes."""
        parameters = code.parameters[1:] if function.receiver is not None else code.parameters
        for name, atoms in bind(parameters, arguments.positional, arguments.keywords).given.items():
            for atom in atoms:
                tensor = self.tensor_of(atom, is_tensor=False)
                rank = None if tensor is None else tensor.shape.rank
                if rank is not None:
                    self.learnt.pass_to((code, name), rank)

    # -- what the code asks ----------------------------------------------------------------------------------------

    def _take(self, given: Dim, taken: Dim) -> None:
        symbol = None if given.size is None else _symbol_of(given.size)
        if symbol is not None and taken.size is not None and symbol not in taken.size.symbols:
            self.learnt.take(symbol, taken.size)

    def attribute(self, atom: Atom, name: str, frame: Frame | None, value: Value | None) -> Atoms | None:
        if name == "ndim":
            self._ask(self.tensor_of(atom))
        return super().attribute(atom, name, frame, value)

    def method(self, atom: Atom, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        if name in ("dim", "ndimension"):
            self._ask(self.tensor_of(atom))
        return super().method(atom, name, arguments, frame, value)

    def function(self, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        if name == "builtins.len":
            for atom in arguments.positional[0] if arguments.positional else ():
                self._ask(atom if isinstance(atom, ShapeOf) else None)
        return super().function(name, arguments, frame, value)

    @staticmethod
    def _ask(found: Shaped | ShapeOf | None) -> None:
        """Note that the code asks for the number of dimensions: it may be any."""
        star = None if found is None else found.shape.star
        if star is not None and star.note is not None:
            star.note(_ASKED)


def _symbol_of(size: Size) -> Symbol | None:
    """The symbol that a size is; None if it is a number, or computed."""
    (key, factor), *rest = size.terms or (((), 0),)
    return key[0] if len(key) == 1 and factor == 1 and not rest else None
