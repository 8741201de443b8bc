"""Presumptions about the arguments of functions, for people: it is shown, and never judged.

A file is run more than once. Each run learns from the layers and operators that take an argument, from what the code
unpacks and asserts, and from the calls in the file; the next one presumes it. Nothing is presumed of what contradicts
itself, or where the code asks for the number of dimensions.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from modellint.flow.domain import NEVER, Constant, Counter, Number, Plain, SymbolicInput, Unknown, function_of
from modellint.flow.heap import Shell
from modellint.flow.shapes.atoms import ANY_NUMBER, AnyNumber, Scalar, Shaped, ShapeOf, constant_of, is_number
from modellint.flow.shapes.documented import commented_ranks, documented_ranks
from modellint.flow.shapes.shape import ANY, ASKED, SAID, TAKEN, Dim, Shape, Star, broadcast, of_rank, unknown
from modellint.flow.shapes.theory import Shapes
from modellint.graph.arguments import bind
from modellint.graph.declared import may_be_tensor
from modellint.graph.immutable import replace
from modellint.graph.size import Size, Symbol
from modellint.graph.value import Event, EventKind, Op, is_self
from modellint.link.classes.calls import PLAIN_ATTRIBUTES
from modellint.operators.shapes import shape_row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from modellint.flow.domain import Arguments, Atom, Atoms, FunctionRef
    from modellint.flow.frame import Frame
    from modellint.flow.interp import Interpreter
    from modellint.graph.methods import Method
    from modellint.graph.python import Function
    from modellint.graph.value import Flow, Parameter, Value
    from modellint.operators import Operator

    #: An argument of a function, or a part of one, by its name: `x`, `batch.image`.
    Input = tuple[Function, str]

#: The way in which a docstring or a comment tells a number of dimensions.
DOCUMENTED = "documented"
#: The most dimensions that are presumed.
_MAX_RANK = 8
#: The most entries of a tuple that is added to another, or repeated.
_MAX_ENTRIES = 16
#: Functions of numbers whose result is one.
_OF_NUMBERS = frozenset(f"builtins.{name}" for name in ("int", "float", "round", "abs", "min", "max", "pow"))
_ARITHMETIC = frozenset(("+", "-", "*", "/", "//", "%", "**"))
#: Operators of numbers that tuples do not have, and facets of layers that are made with numbers.
_OF_COUNTS = frozenset(("-", "//", "%"))
_OF_SIZES = frozenset(("takes-features", "gives-features", "convolves", "deconvolves", "states", "cell"))
#: The least number of dimensions of a tensor that another of unknown number is laid over, not the other way round.
_LAID_OVER = 3
#: Attributes of layers that are sizes.
_SIZES = frozenset("out_features in_features out_channels in_channels num_features embedding_dim hidden_size".split())
#: Facets of methods that only tensors have, and arrays in the same way.
_ARRANGING = frozenset(("views", "permutes", "swaps", "inserts", "expands"))
_RANKS = frozenset(("ndim", "dim", "ndimension"))


class Learnt:
    """The knowledge that the runs of a file have gathered about the arguments of its functions."""

    def __init__(self) -> None:
        #: The numbers of dimensions by the way in which they are known.
        self._noted: dict[str, dict[Input, set[int]]] = defaultdict(lambda: defaultdict(set))
        self._passed: dict[Input, set[int | None]] = defaultdict(set)
        self._taken: dict[Symbol, set[Size]] = defaultdict(set)
        #: The presumed numbers of dimensions, and sizes.
        self.ranks: dict[Input, int] = {}
        self.sizes: dict[Symbol, Size] = {}
        #: The functions of which only the calls in the file tell the number of dimensions of an argument.
        self.of_calls: set[Function] = set()
        #: The settings that layers take as sizes: they are numbers.
        self.numbers: set[Symbol] = set()
        self._count = 0

    def note(self, given: Input, rank: int, how: str) -> None:
        """Note that an argument has so many dimensions."""
        self._noted[how][given].add(rank)

    def pass_to(self, given: Input, rank: int | None) -> None:
        """Note that a call passes a tensor with so many dimensions; None if that is not known."""
        self._passed[given].add(rank)

    def take(self, symbol: Symbol, size: Size) -> None:
        """Note that a layer takes a size where it gets the one of a symbol."""
        self._taken[symbol].add(size)

    def conclude(self) -> bool:
        """Conclude from the notes of a run; True if anything is presumed that was not before."""
        before = self.ranks, self.sizes, self._count
        inputs = {one for found in self._noted.values() for one in found} | self._passed.keys()
        ranks = {one: self._rank(one) for one in inputs}
        self.ranks = {one: rank for one, rank in ranks.items() if rank is not None and 0 <= rank <= _MAX_RANK}
        self.sizes = {symbol: next(iter(found)) for symbol, found in self._taken.items() if len(found) == 1}
        self._passed.clear()
        self._count = len(self.numbers)
        return before != (self.ranks, self.sizes, self._count)

    def _rank(self, one: Input) -> int | None:
        found = self._noted[SAID].get(one)
        if not found and one not in self._noted[ASKED]:
            found = self._noted[TAKEN].get(one)
        if not found:
            passed: set[int | None] = self._passed.get(one) or set()
            found = {rank for rank in passed if rank is not None} if None not in passed else None
            self.of_calls.update([one[0]] if found else [])
            found = found or self._noted[DOCUMENTED].get(one)
        return next(iter(found)) if found and len(found) == 1 else None


class Presumed(Shapes):
    """The shapes of the tensors of one run, with what is presumed of the arguments of its roots.

    Each expression stands for all turns of a loop, and layers have the default type.
    """

    splits = False
    is_default = has_rows = has_names = True

    def __init__(self, run: Interpreter) -> None:
        super().__init__(run)
        self.learnt = Learnt()
        self._root: Function | None = None
        self._read: set[Function] = set()
        self._is_reading = False
        self.takes = self._take
        #: Arguments that are no tensors.
        self._plain: set[Atom] = set()

    def as_tensors(self, atoms: Atoms) -> Atoms:
        """The atoms, with tensors in place of the arguments that are presumed to be some."""
        return tuple(self.tensor_of(a, is_tensor=False) or a if isinstance(a, SymbolicInput) else a for a in atoms)

    def learn(self, frame: Frame) -> None:
        """Learn from what a body that was run unpacks and asserts: `batch, length = x.shape[:2]`."""
        self._is_reading = True
        for event in frame.flow.unpackings:
            names = () if event.target is None else event.target.args
            is_open = bool(frame.path or self._run.conditions(event.guard, frame))
            if names and not is_open and all(name.op is not Op.STARRED for name in names):
                for atom in self._at(event.value, event, frame):
                    if isinstance(atom, ShapeOf):
                        _tell(atom.shape, len(names), TAKEN)
        if frame.function is not None and frame.function not in self._read:
            self._read.add(frame.function)
            for name, rank in documented_ranks(frame.function).items():
                self.learnt.note((frame.function, name), rank, DOCUMENTED)
            for value, event, rank in commented_ranks(frame.function):
                for atom in self._at(value, event, frame) if not (frame.path or event.guard) else ():
                    tensor = self.tensor_of(atom)
                    if tensor is not None:
                        _tell(tensor.shape, rank, DOCUMENTED)
        for asked, rank in frame.flow.once(_assertions_of):
            for atom in self._at(asked, None, frame):
                tensor = self.tensor_of(atom)
                if tensor is not None:
                    _tell(tensor.shape, rank, SAID)
        self._is_reading = False

    def _is_certain(self) -> bool:
        """True if the code being run is run in each call of the root, and as no alternative to other code."""
        return not self._doubts and not self._run.path and bool(self._functions or self._is_reading)

    def _at(self, value: Value, event: Event | None, frame: Frame) -> Atoms:
        self._run.begin()
        guard = None if event is None else event.guard
        return self._run.evaluate_at(Event(EventKind.READ, value, guard=guard), frame)

    # -- arguments -------------------------------------------------------------------------------------------------

    def input_of(self, atom: SymbolicInput, *, is_tensor: bool) -> Shaped | None:
        root = self._root
        if root is None:
            return super().input_of(atom, is_tensor=is_tensor)
        given = root, atom.name
        rank = self.learnt.ranks.get(given)
        if rank is None and not is_tensor:
            return None

        def note(number: int, how: str) -> None:
            if how in (ASKED, SAID) or self._is_certain():
                self.learnt.note(given, number, how)

        name = atom.name.partition("[")[0].replace(".", "_")
        star = Star(("input", str(root.module.path), root.qualname, atom.name), name, note=note)
        if rank is not None:
            return Shaped(self._with_sizes(of_rank(Shape((), replace(star, note=None)), rank), star), is_presumed=True)
        last = self.learnt.sizes.get(star.symbol(-1))
        return Shaped(Shape((), star) if last is None else Shape((), star.cut(back=1), (Dim(last),)))

    def _with_sizes(self, shape: Shape, star: Star | None = None) -> Shape:
        """A shape of an argument with the sizes that layers take."""
        if shape.star is not None:
            return shape
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
        if found is None:
            return None
        is_plain = parameter.name in code.plain or (code.name == "__init__" and not may_be_tensor(parameter))
        kind = _number_type(parameter)
        known: list[Atom] = []
        for atom in found:
            if isinstance(atom, Shaped):
                known.append(replace(atom, shape=self._with_sizes(atom.shape)))
            elif not isinstance(atom, SymbolicInput):
                known.append(atom)
            elif kind == "float":
                known.append(ANY_NUMBER)
            else:
                self._plain.update([atom] if is_plain else [])
                known.append(self._as_number(atom, is_number=kind == "int"))
        return tuple(known)

    def _as_number(self, atom: SymbolicInput, *, is_number: bool = False) -> Atom:
        """A setting as a number, if it is known to be one."""
        is_known = atom.symbol is not None and (is_number or atom.symbol in self.learnt.numbers)
        return Number(Size.symbol(atom.symbol)) if is_known and atom.symbol is not None else atom

    def element(self, atom: Atom, index: Atoms | None, frame: Frame | None, value: Value | None) -> Atoms | None:
        """A number of a tuple that is given: `kernel[0]`."""
        at = constant_of(index) if index is not None and isinstance(atom, SymbolicInput) else None
        if at is not None and isinstance(atom, SymbolicInput) and atom in self._plain:
            name = f"{atom.name}[{at}]"
            return (SymbolicInput(name, Symbol(atom.home, name), atom.home),)
        return super().element(atom, index, frame, value)

    # -- calls -----------------------------------------------------------------------------------------------------

    def follow(
        self, function: FunctionRef, arguments: Arguments, frame: Frame, value: Value, run: Callable[[], Atoms]
    ) -> Atoms:
        code = function_of(function.code)
        if not self._functions:
            self._root = code
            return super().follow(function, arguments, frame, value, run)
        if code is not None and self._root is not None and code.module is self._root.module:
            self._learn_passed(code, function, arguments)
        outer = self._doubts
        self._doubts += self._is_doubtful(value, frame)
        found = super().follow(function, arguments, frame, value, run)
        self._doubts = outer
        return found

    def _learn_passed(self, code: Function, function: FunctionRef, arguments: Arguments) -> None:
        """Learn the numbers of dimensions of what a call passes."""
        has_receiver = function.receiver is not None and not code.is_static
        parameters = code.parameters[1:] if has_receiver else code.parameters
        for parameter in parameters if not arguments.is_complete else ():
            self.learnt.pass_to((code, parameter.name), None)
        for name, atoms in bind(parameters, arguments.positional, arguments.keywords).given.items():
            tensors = [self.tensor_of(atom, is_tensor=False) for atom in atoms if not _is_none(atom)]
            ranks = {None if tensor is None else tensor.shape.rank for tensor in tensors}
            for rank in ranks:
                self.learnt.pass_to((code, name), rank)

    def _is_doubtful(self, call: Value, frame: Frame) -> bool:
        """True if a call may run another function or layer than the one that is run, other than `Identity`."""
        callee = call.callee if call.op is Op.CALL else call
        while True:
            if call.op is Op.CALL and sum(map(self._does_something, self._run.evaluate(callee, frame))) > 1:
                return True
            if callee.op not in (Op.ATTR, Op.INDEX, Op.ITEM, Op.UNPACK):
                return False
            callee = callee.args[0]

    def _does_something(self, atom: Atom) -> bool:
        """True for what can be called and takes or gives another shape than `Identity`."""
        row = self._row_of(atom) if isinstance(atom, Shell) else None
        is_neutral = row is not None and "keeps-shape" in row.facets and not row.facets.keys() & {"ranks", "channels"}
        return not is_neutral and not _is_none(atom)

    def _call_torch_layer(self, shell: Shell, arguments: Arguments, frame: Frame, value: Value) -> Atoms:
        outer = self._doubts
        given = next(iter((*arguments.positional[:1], *arguments.keywords.values())), ())
        self._doubts += self._is_doubtful(value, frame) or len(_without_none(given)) > 1
        positional = tuple(_without_none(atoms) for atoms in arguments.positional[:1])
        arguments = replace(arguments, positional=(*positional, *arguments.positional[1:]))
        row = self._row_of(shell)
        if row is not None and row.facets.keys() & _OF_SIZES:
            self._learn_numbers(self._constructed_with(shell).positional[:2])
        found = super()._call_torch_layer(shell, arguments, frame, value)
        self._doubts = outer
        return found

    def _learn_numbers(self, given: Iterable[Atoms]) -> None:
        """Learn that settings are numbers."""
        for atoms in given:
            for atom in atoms:
                if isinstance(atom, SymbolicInput) and atom.symbol is not None:
                    self.learnt.numbers.add(atom.symbol)

    def call_operator(
        self, row: Operator, slots: tuple[Atoms, ...], arguments: Arguments, frame: Frame, value: Value
    ) -> Atoms:
        if "multiplies" in row.facets and value.op is Op.CALL:
            self._learn_product(value.args[-2:] if value.callee.op is not Op.ATTR else value.args, frame)
        outer = self._doubts
        slots = (*map(_without_none, slots[:1]), *slots[1:])
        self._doubts += any(len(atoms) > 1 for atoms in slots[:1])
        found = super().call_operator(row, slots, arguments, frame, value)
        self._doubts = outer
        return found

    def _learn_product(self, sides: Sequence[Value], frame: Frame) -> None:
        """Learn from `a @ b.transpose(2, 3)`: a product is of the last two dimensions, and sides are alike."""
        found: list[Shape] = []
        for side in sides:
            rank = _transposed_rank(side)
            tensors = [self.tensor_of(atom) for atom in self._run.evaluate(side, frame)]
            shapes = [tensor.shape for tensor in tensors if tensor is not None]
            if len(shapes) == 1 == len(tensors):
                if rank is not None:
                    _tell(shapes[0], rank, TAKEN)
                found.append(shapes[0])
        known = {shape.rank for shape in found} - {None}
        for shape in found if len(known) == 1 and len(found) == 2 else ():
            rank = next(iter(known))
            if rank is not None and rank > 2:
                _tell(shape, rank, TAKEN)

    def names_of(self, shell: Shell, frame: Frame, value: Value) -> Callable[[str], Dim | None] | None:
        callee = value.callee if value.op is Op.CALL else value
        is_own = callee.op is Op.ATTR and is_self(callee.args[0]) and len(self._functions) == 1
        if not is_own or self._doubts or len(self._run.evaluate(callee, frame)) > 1:
            return None

        def name_of(name: str) -> Dim | None:
            if name not in _SIZES:
                return None
            return Dim(Size.symbol(Symbol(f"layer {id(shell)}", f"{callee.data}_{name}")))

        return name_of

    def _combine(
        self,
        sides: Sequence[Sequence[Shaped | None]],
        combine: Callable[[Shape, Shape], Shape],
        value: Value,
        frame: Frame,
    ) -> tuple[Shaped, ...]:
        if value.data == "@":
            self._learn_product(value.args, frame)
        alike = _broadcast_alike if combine is broadcast else combine
        return super()._combine(sides, alike, value, frame)

    def apply(self, function: Atom, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        return NEVER if _is_none(function) else super().apply(function, arguments, frame, value)

    # -- numbers and tuples ----------------------------------------------------------------------------------------

    def operator(self, value: Value, operands: list[Atoms], frame: Frame) -> Atoms | None:
        if value.op is Op.BIN:
            operands = [*map(_without_none, operands)]
            if value.data in _OF_COUNTS and self._run.objects.under_construction:
                self._learn_numbers(operands)
            made = self._sequence(operands[0], operands[1], value, frame)
            if made is not None:
                return made
        found = super().operator(value, operands, frame)
        if found is not None or value.op not in (Op.BIN, Op.UNARY) or value.data in ("not", "~"):
            return found
        is_known = all(isinstance(atom, Constant) for atoms in operands for atom in atoms)
        is_scalar = not is_known and all(map(self._are_numbers, operands)) and value.data in _ARITHMETIC
        return (ANY_NUMBER,) if is_scalar else None

    def _are_numbers(self, atoms: Atoms) -> bool:
        """True if a value is certainly a number."""
        return bool(atoms) and all(is_number(atom) or isinstance(atom, Counter | AnyNumber) for atom in atoms)

    def _beside(self, atom: Atom) -> Shaped | None:
        if isinstance(atom, AnyNumber):
            return Scalar(Shape(), "real")
        return super()._beside(atom)

    def _sequence(self, left: Atoms, right: Atoms, value: Value, frame: Frame) -> Atoms | None:
        """`(n,) + (1, 1)`, `(1,) * 3`."""
        sides = [atoms[0] if len(atoms) == 1 else None for atoms in (left, right)]
        items = [one.items if isinstance(one, Shell) and one.kind == "tuple" else None for one in sides]
        if value.data == "+" and items[0] is not None and items[1] is not None:
            entries = [*items[0], *items[1]]
        elif value.data == "*" and items[0] is not None:
            entries = list(items[0]) * max(min(constant_of(right) or 0, _MAX_ENTRIES + 1), 0)
        else:
            return None
        if not entries or len(entries) > _MAX_ENTRIES:
            return None
        return (self._run.sequence("tuple", [entry.atoms for entry in entries], value, frame),)

    # -- what the code asks ----------------------------------------------------------------------------------------

    def _take(self, given: Dim, taken: Dim) -> None:
        symbol = None if given.size is None else _symbol_of(given.size)
        if symbol is not None and taken.size is not None and symbol not in taken.size.symbols and self._is_certain():
            self.learnt.take(symbol, taken.size)

    def attribute(self, atom: Atom, name: str, frame: Frame | None, value: Value | None) -> Atoms | None:
        if name == "ndim":
            self._ask(self.tensor_of(atom))
        found = super().attribute(atom, name, frame, value)
        if found is None and isinstance(atom, SymbolicInput) and atom.home and name not in PLAIN_ATTRIBUTES:
            return (self._as_number(atom.part(name)),)
        return found

    def method(self, atom: Atom, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        if _is_none(atom):
            return NEVER
        if name in _RANKS:
            self._ask(self.tensor_of(atom))
        if isinstance(atom, Unknown | Plain):
            row = shape_row(f"Tensor.{name}")
            if row is not None and row.facets.keys() & _ARRANGING:
                atom = Shaped(unknown((self.key_of(value, frame), "of")), is_presumed=True)
        return super().method(atom, name, arguments, frame, value)

    def function(self, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        if name == "builtins.len":
            for atom in arguments.positional[0] if arguments.positional else ():
                self._ask(atom if isinstance(atom, ShapeOf) else None)
        found = super().function(name, arguments, frame, value)
        if found is not None:
            return found
        is_known = all(isinstance(atom, Constant) for atoms in arguments.all() for atom in atoms)
        is_numeric = name in _OF_NUMBERS and all(map(self._are_numbers, arguments.all()))
        return (ANY_NUMBER,) if not is_known and (is_numeric or name.startswith("math.")) else None

    @staticmethod
    def _ask(found: Shaped | ShapeOf | None) -> None:
        """Note that the code asks for the number of dimensions: it may be any."""
        if found is not None:
            _tell(found.shape, found.shape.least_rank, ASKED)


def _broadcast_alike(left: Shape, right: Shape) -> Shape:
    """The shape of an elementwise result where no unknown size is 1, and one operand is laid over the other."""
    known = [shape for shape in (left, right) if shape.star is None]
    other = right if known and known[0] is left else left
    if len(known) != 1 or len(known[0].head) < _LAID_OVER or other.least_rank or not _is_given(other):
        return broadcast(left, right, is_same=True)
    return Shape(tuple(ANY if dim.is_one else dim for dim in known[0].head))


def _is_given(shape: Shape) -> bool:
    """True for the shape of an argument or a parameter, as a mask or a bias is, not of a result."""
    key = None if shape.star is None else shape.star.key
    return isinstance(key, tuple) and key[0] in ("input", "parameter")


def _transposed_rank(value: Value) -> int | None:
    """The number of dimensions of `x.transpose(2, 3)`, if these are the last ones; None for anything else."""
    is_turned = value.op is Op.CALL and value.callee.op is Op.ATTR and value.callee.data in ("transpose", "swapaxes")
    places = [part.data for part in value.positional if part.op is Op.CONST] if is_turned else []
    is_known = len(places) == 2 and all(type(place) is int and place >= 0 for place in places)
    return max(places) + 1 if is_known and abs(places[0] - places[1]) == 1 else None


def _tell(shape: Shape, rank: int, how: str) -> None:
    """Tell the argument that a shape stems from how many dimensions the shape has."""
    if shape.star is not None and shape.star.note is not None:
        shape.star.note(rank - shape.least_rank, how)


def _assertions_of(flow: Flow) -> list[tuple[Value, int]]:
    """The values whose number of dimensions the code asserts: `assert x.dim() == 4`."""
    events = (*flow.events, *flow.unpackings)
    guards = {id(link): link for event in events if event.guard is not None for link in event.guard.chain()}
    tests = [link.test for link in guards.values() if link.raised and link.truthy]
    tests += (event.value.args[1] for event in flow.of(EventKind.CALL) if _is_assertion(event.value))
    return list(filter(None, map(_said_rank, tests)))


def _is_assertion(call: Value) -> bool:
    """True for `torch._assert(test, message)`."""
    name = call.callee.data if call.callee.op in (Op.GLOBAL, Op.ATTR) else None
    return isinstance(name, str) and name.rpartition(".")[2] == "_assert" and len(call.args) > 1


def _said_rank(test: Value) -> tuple[Value, int] | None:
    """The tensor and the number of `x.ndim == 4`, `x.dim() == 4` or `len(x.shape) == 4`."""
    if test.op is not Op.COMPARE or test.data != "==" or type(test.args[1].data) is not int:
        return None
    asked = test.args[0]
    if asked.op is Op.CALL and asked.callee.data in ("len", "builtins.len") and len(asked.args) == 2:
        asked = asked.args[1]
        return (asked.args[0], test.args[1].data) if asked.op is Op.ATTR and asked.data == "shape" else None
    asked = asked.callee if asked.op is Op.CALL else asked
    return (asked.args[0], test.args[1].data) if asked.op is Op.ATTR and asked.data in _RANKS else None


def _number_type(parameter: Parameter) -> str:
    """The type of a number that the annotation of a parameter, or its default, says it is; empty for anything else."""
    annotation, default = parameter.annotation, parameter.default
    is_none = default is not None and default.op is Op.CONST and default.data is None
    if annotation is not None:
        is_number = annotation.op is Op.GLOBAL and annotation.data in ("int", "float") and not is_none
        return str(annotation.data) if is_number else ""
    found = type(default.data) if default is not None and default.op is Op.CONST else None
    return "float" if found is float else "int" if found is int else ""


def _is_none(atom: Atom) -> bool:
    return isinstance(atom, Constant) and atom.value is None


def _without_none(atoms: Atoms) -> Atoms:
    """The alternatives of an operand that are not None, which no operator takes."""
    return tuple(atom for atom in atoms if not _is_none(atom)) or atoms


def _symbol_of(size: Size) -> Symbol | None:
    """The symbol that a size is; None if it is a number, or computed."""
    (key, factor), *rest = size.terms or (((), 0),)
    return key[0] if len(key) == 1 and factor == 1 and not rest else None
