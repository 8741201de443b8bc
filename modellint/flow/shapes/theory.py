"""The theory of shapes: the shape of each tensor that a run makes, and the calls that torch refuses.

Functions are run with unknown arguments, and as other functions call them. An argument of a root is a tensor of a shape
of its own (`[*]`), or of the sizes that the code unpacks (`b, c, h, w = x.shape`). A call is refused only if each
alternative of its operands is.
"""

from __future__ import annotations

from collections import Counter as Tally
from itertools import islice, product
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from modellint import operators
from modellint.flow.domain import (
    PLAIN,
    UNKNOWN,
    Arguments,
    Bound,
    ClassRef,
    Constant,
    Counter,
    FunctionRef,
    Number,
    Plain,
    Prepared,
    Site,
    Super,
    SymbolicInput,
    Unknown,
    function_of,
    join,
)
from modellint.flow.effects import object_changing
from modellint.flow.frame import class_frame
from modellint.flow.heap import TENSORS, Shell
from modellint.flow.shapes.atoms import (
    Rest,
    Shaped,
    ShapeOf,
    constant_of,
    dim_of,
    is_number,
    number_of,
    sequence_of,
    type_of_operand,
)
from modellint.flow.shapes.dtypes import DEFAULT, INTEGERS, is_of, of_number, promote, types_of_result
from modellint.flow.shapes.given import Given
from modellint.flow.shapes.shape import (
    ANY,
    Dim,
    Refused,
    Shape,
    Star,
    broadcast,
    common,
    limit,
    multiply,
    of_rank,
    place_sites,
    unknown,
)
from modellint.flow.shapes.subscript import index, part_of_shape
from modellint.flow.shapes.transfer import result
from modellint.flow.theory import Limits, Mode, Theory
from modellint.flow.unpassed import asked_for, field_of
from modellint.graph.immutable import replace
from modellint.graph.size import Size, Symbol
from modellint.graph.value import EventKind, Op, subscripts
from modellint.operators.shapes import shape_row

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

    from modellint.flow.domain import Atom, Atoms
    from modellint.flow.frame import Frame
    from modellint.flow.heap import Store
    from modellint.flow.interp import Interpreter
    from modellint.flow.shapes.call import Result
    from modellint.flow.shapes.given import Place
    from modellint.graph.methods import Method
    from modellint.graph.python import Function
    from modellint.graph.value import Event, Flow, Parameter, Value
    from modellint.link.classes.models import ClassModel
    from modellint.operators import Operator

T = TypeVar("T")
#: The most alternatives of the operands of one call that are tried, one by one.
_MAX_ALTERNATIVES = 12
#: The most kinds of arguments that a function is run with: in all, and as a method of one object.
_MAX_CALLS, _MAX_OF_OBJECT = 16, 3
#: The most alternatives of an argument that are told apart.
_MAX_TENSORS = 4
#: The most events of a function of another file that is run without a tensor among its arguments.
_MAX_EVENTS = 24
#: The methods that a call of a layer runs, in the order in which they are looked for.
_CALLED = ("__call__", "forward")
_OF_TORCH = frozenset(("__init__", "__call__", "forward"))
_ELEMENTWISE = frozenset(("+", "-", "*", "/", "//", "%", "**", "&", "|", "^", "<<", ">>"))
#: Attributes of a tensor that are tensors of its shape, and those that are its matrix turned round.
_SAME = frozenset(("data", "grad", "real", "imag"))
_TURNED = frozenset(("T", "mT", "H", "mH"))
#: Methods whose result is no tensor.
_PLAIN = frozenset(("item", "tolist", "numpy", "backward", "get_device", "is_contiguous", "stride", "data_ptr"))
_LITERALS = frozenset(("torch.tensor", "torch.as_tensor", "torch.LongTensor", "torch.FloatTensor", "torch.Tensor"))
#: Methods that change the shape of a tensor in place; functions that call one are not followed.
_RESHAPING = frozenset("unsqueeze_ squeeze_ transpose_ t_ swapaxes_ swapdims_ resize_ resize_as_ set_".split())
#: Methods of tensors that arrays of other libraries have with another meaning.
_OF_ARRAYS = frozenset(("dot", "repeat", "split", "take"))
#: Facets of operators that take any number of tensors.
_OF_MANY = frozenset(("broadcasts", "meshes", "equation"))
#: Facets of operators whose further arguments are tensors.
_OF_TENSORS = frozenset(("broadcasts", "multiplies", "linear", "shaped-as", "attention", "outer", "picks", "weighs"))


class Clash(NamedTuple):
    """A call or an operation that torch refuses: `kind` is what does not fit, `left` and `right` are the two sides.

    `given` is the size that a layer gets where it takes another one. `event` is the one that evaluates it, `layer` the
    layer that is called, and `is_inside` true if that is one of a container. `steps` are the calls that lead to its
    function, outermost first.
    """

    kind: str
    left: object
    right: object
    given: Size | None
    site: Site
    event: Event | None
    layer: Shell | None
    is_inside: bool = False
    steps: tuple[Site, ...] = ()


class _Notes(NamedTuple):
    """The operations that torch refuses in one run of a function, and those that some alternative allows."""

    refused: dict[Hashable, Clash]
    allowed: set[Hashable]

    def clashes(self) -> tuple[Clash, ...]:
        return tuple(clash for key, clash in self.refused.items() if key not in self.allowed)


class Shapes(Theory):
    """The shapes of the tensors of one run."""

    mode = Mode(
        asks="shapes",
        waits=True,
        keeps=(SymbolicInput, Unknown),
        names_parts=True,
        limits=Limits(calls=10, recursion=1, recursion_if=1),
    )
    observes = ()
    #: What is told a size, and the one that torch takes there; None in runs that learn nothing.
    takes: Callable[[Dim, Dim], None] | None = None

    def __init__(self, run: Interpreter) -> None:
        self._run = run
        #: What torch refuses in the functions that were run as roots, and by what they call.
        self.clashes: dict[Clash, None] = {}
        #: The notes of the functions being run.
        self._notes: list[_Notes] = []
        self._functions: list[Function] = []
        #: The place of the layer that is called, within the containers that hold it one after the other.
        self._inside: tuple[int, ...] = ()
        #: The number of calls under way that may run another function than the one that is run.
        self._doubts = 0
        #: The number of open conditions under which the root calls a function.
        self._certain = 0
        #: How often each function was run, and each method on an object.
        self._counts: Tally[tuple[Function, Atom | None]] = Tally()

    # -- tensors ---------------------------------------------------------------------------------------------------

    def tensor_of(self, atom: Atom, *, is_tensor: bool = True) -> Shaped | None:
        """The tensor that an atom is; None if it is none. An argument counts as one where it `is_tensor`."""
        if isinstance(atom, Shaped):
            return atom
        if isinstance(atom, SymbolicInput):
            return self.input_of(atom, is_tensor=is_tensor)
        if isinstance(atom, Shell) and atom.kind in TENSORS:
            known = self.tensor_in(atom.arguments.argument(0, "data") or ())
            return known or Shaped(unknown(("parameter", id(atom))), "float")
        return None

    def input_of(self, atom: SymbolicInput, *, is_tensor: bool) -> Shaped | None:
        """The tensor that an argument of a root is; None if it is not known to be one."""
        name = atom.name.partition("[")[0].replace(".", "_")
        return Shaped(unknown(("input", atom.home, atom.name), name)) if is_tensor else None

    def tensor_in(self, atoms: Atoms) -> Shaped | None:
        """The tensor that a value certainly is; of several, what they have in common. None if it may be none."""
        found = [self.tensor_of(atom) for atom in atoms]
        known = [one for one in found if one is not None]
        if not known or len(known) < len(found):
            return None
        if len(known) == 1:
            return known[0]
        dtypes = {one.dtype for one in known}
        return Shaped(common([one.shape for one in known]), dtypes.pop() if len(dtypes) == 1 else None)

    def parameter(self, parameter: Parameter, code: Method, frame: Frame) -> Atoms | None:
        names = frame.flow.once(_unpacked_parameters).get(parameter.name)
        if names is not None and frame.function is not None:
            given = unknown(("input", str(frame.function.module.path), parameter.name), parameter.name)
            owner = f"{frame.function.module.path}:{frame.function.qualname}"
            dims = zip(names, of_rank(given, len(names)).head, strict=True)
            shape = Shape(tuple(_dim_named(owner, name) if name.strip("_") else dim for name, dim in dims))
            return (Shaped(shape, is_presumed=True),)
        if parameter.default is not None:
            default = self._run.evaluate(parameter.default, class_frame(code.scope, id(parameter.default)))
            if default and all(isinstance(atom, ClassRef | FunctionRef | Prepared) for atom in default):
                return default
        return asked_for(self._run, parameter, code, frame)

    def load(self, atoms: Atoms, owner: Shell | ClassModel, name: str | None) -> Atoms:
        if not isinstance(owner, Shell):
            atoms = tuple(map(self._replaceable, atoms))
            return atoms if name is None else field_of(owner, name, atoms)
        is_own = name is not None or not self._functions or owner.function in (None, self._functions[-1])
        return atoms if is_own else tuple(map(self._replaceable, atoms))

    @staticmethod
    def _replaceable(atom: Atom) -> Atom:
        """An atom that other code may replace: an element of a container made elsewhere, or the default of a class."""
        return Shaped(unknown(("element", atom)), atom.dtype) if isinstance(atom, Shaped) else atom

    # -- attributes and elements -----------------------------------------------------------------------------------

    def attribute(self, atom: Atom, name: str, frame: Frame | None, value: Value | None) -> Atoms | None:
        if isinstance(atom, ShapeOf):
            return PLAIN
        if isinstance(atom, Shell):
            return self._of_shell(atom, name)
        tensor = self.tensor_of(atom, is_tensor=name == "shape")
        if tensor is None:
            return None
        if name == "shape":
            return (ShapeOf(self._unpack(tensor.shape, frame, value)),)
        if name in _SAME:
            return (tensor,)
        if name in _TURNED:
            return (replace(tensor, shape=_turn(tensor.shape, name)),)
        rank = tensor.shape.rank if name == "ndim" else None
        return PLAIN if rank is None else (Constant(rank),)

    def _unpack(self, shape: Shape, frame: Frame | None, value: Value | None) -> Shape:
        """A shape of as many dimensions as the code unpacks."""
        names = None if frame is None or value is None else frame.flow.once(_unpackings).get(id(value))
        if names is None or frame is None or value is None or frame.function is None:
            return shape
        try:
            known = of_rank(shape, len(names))
        except Refused as refused:
            self._refuse(Refused("unpack", refused.left, refused.right), frame, value)
            return shape
        self._allow(frame, value)
        return known

    def _of_shell(self, shell: Shell, name: str) -> Atoms | None:
        """Attributes of parameters, of tuples of values and ids, and `layer.weight` of a layer of torch."""
        if shell.kind in TENSORS:
            tensor = self.tensor_of(shell)
            return None if tensor is None or name not in ("shape", "ndim") else self.attribute(tensor, name, None, None)
        if shell.kind == "tuple" and name in ("values", "indices") and len(shell.entries) == 2:
            return shell.entries[0 if name == "values" else 1].atoms
        row = self._row_of(shell) if name == "weight" and shell.kind == "instance" else None
        if row is None or shell.get(name) is not None:
            return None
        made = self._constructed_with(shell)
        names = (
            ("num_embeddings", "embedding_dim") if row.name == "torch.nn.Embedding" else ("out_features", "in_features")
        )
        if row.name not in ("torch.nn.Embedding", "torch.nn.Linear"):
            return None
        places = (0, 1) if row.name == "torch.nn.Embedding" else (1, 0)
        dims = tuple(dim_of(made.argument(place, name)) for place, name in zip(places, names, strict=True))
        return (Shaped(Shape(dims), "float"),)

    def element(self, atom: Atom, index: Atoms | None, frame: Frame | None, value: Value | None) -> Atoms | None:
        if isinstance(atom, ShapeOf):
            at = None if index is None else constant_of(index)
            try:
                return PLAIN if at is None else number_of(atom.shape.at(at))
            except Refused:
                return PLAIN
        if isinstance(atom, Rest):
            return PLAIN
        if isinstance(atom, Shaped):
            try:
                return (replace(atom, shape=atom.shape.without(0)),)
            except Refused:
                return (atom,)
        return None

    # -- operators -------------------------------------------------------------------------------------------------

    def operator(self, value: Value, operands: list[Atoms], frame: Frame) -> Atoms | None:
        op = value.op
        if op is Op.BIN:
            return self._binary(value, operands[0], operands[1], frame)
        if op is Op.INDEX:
            return self._index(value, operands[0], frame)
        if op is Op.COMPARE:
            found = self._elementwise(value, operands[0], operands[1], frame)
            return None if found is None else tuple(Shaped(one.shape, "bool") for one in found)
        if op is Op.UNARY:
            return self._unary(value, operands[0])
        if op is Op.UPDATE and any(isinstance(atom, Shaped) for atom in operands[0]):
            return operands[0]
        return None

    def _unary(self, value: Value, operand: Atoms) -> Atoms | None:
        known = [one for atom in operand if (one := self.tensor_of(atom, is_tensor=False)) is not None]
        if known and len(known) == len(operand):
            return tuple(known)
        size = dim_of(operand).size if value.data == "-" and all(isinstance(one, Number) for one in operand) else None
        return None if size is None else number_of(Dim(-size))

    def _binary(self, value: Value, left: Atoms, right: Atoms, frame: Frame) -> Atoms | None:
        if any(isinstance(atom, ShapeOf) for atom in (*left, *right)):
            return _concatenate(left, right) if value.data == "+" else PLAIN
        name = str(value.data)
        if name == "@":
            sides = [[self.tensor_of(atom) for atom in atoms] for atoms in (left, right)]
            return self._combine(sides, multiply, value, frame)
        if name not in _ELEMENTWISE:
            return None
        found = self._elementwise(value, left, right, frame)
        return _calculate(name, dim_of(left).size, dim_of(right).size) if found is None else found

    def _elementwise(self, value: Value, left: Atoms, right: Atoms, frame: Frame) -> tuple[Shaped, ...] | None:
        """The result of an elementwise operator; None if no operand is known to be a tensor."""
        if all(self.tensor_of(atom, is_tensor=False) is None for atom in (*left, *right)):
            return None
        sides = [[self._beside(atom) for atom in atoms] for atoms in (left, right)]
        return self._combine(sides, broadcast, value, frame)

    def _beside(self, atom: Atom) -> Shaped | None:
        """The tensor that an operand beside a tensor stands for: a number has no dimensions; None if unknown."""
        if isinstance(atom, Constant) and isinstance(atom.value, int | float):
            return Shaped(Shape(), of_number(atom.value).name)
        return Shaped(Shape(), "int64") if isinstance(atom, Number | Counter) else self.tensor_of(atom)

    def _combine(
        self,
        sides: Sequence[Sequence[Shaped | None]],
        combine: Callable[[Shape, Shape], Shape],
        value: Value,
        frame: Frame,
    ) -> tuple[Shaped, ...]:
        """The results of an operator of two operands."""

        def of_pair(pair: tuple[Shaped | None, ...]) -> Shaped:
            one, other = pair
            if one is None or other is None:
                return Shaped(unknown(self._key(value, frame)))
            dtype = promote([type_of_operand(side) for side in pair if side is not None])
            if value.data == "/" and is_of(dtype, (*INTEGERS, "bool")):
                dtype = DEFAULT
            is_presumed = all(side.is_presumed or not side.shape.head for side in pair if side is not None)
            return Shaped(combine(one.shape, other.shape), dtype, is_presumed)

        found = self._try_each(_choices(sides), of_pair, frame, value)
        return tuple(dict.fromkeys(self._with_sites(one, value, frame) for one in found)) or (
            Shaped(unknown(self._key(value, frame))),
        )

    def _try_each(
        self,
        choices: Iterable[T],
        transfer: Callable[[T], Result | Shaped],
        frame: Frame,
        value: Value,
        about: object = None,
        layer: Shell | None = None,
    ) -> list:  # type: ignore[type-arg]
        """The results for each alternative of the operands, without those that torch refuses."""
        found = []
        refused: Refused | None = None
        for number, choice in enumerate(choices):
            if number == _MAX_ALTERNATIVES:
                refused = None
                break
            try:
                found.append(transfer(choice))
            except Refused as error:
                refused = error
        is_one = layer is None or not self._is_one_of_several(value, frame) or self._are_layers_of_torch(value, frame)
        if refused is not None and not found and is_one:
            self._refuse(refused, frame, value, about, layer)
        else:
            self._allow(frame, value, about)
        return found

    def _with_sites(self, tensor: Shaped, value: Value, frame: Frame) -> Shaped:
        shape = place_sites(tensor.shape, Site(value, frame.function) if frame.function is not None else None)
        return tensor if shape is tensor.shape else replace(tensor, shape=shape)

    def _index(self, value: Value, owner: Atoms, frame: Frame) -> Atoms | None:
        tensors = [self.tensor_of(atom, is_tensor=False) for atom in owner]
        if all(one is None and not isinstance(atom, ShapeOf) for one, atom in zip(tensors, owner, strict=True)):
            return None
        parts = subscripts(value)

        def evaluate(part: Value) -> Atoms:
            return self._run.behind(self._run.evaluate(part, frame), frame)

        def of_one(atom: Atom) -> tuple[Atom, ...]:
            if isinstance(atom, ShapeOf):
                return part_of_shape(atom.shape, parts, evaluate) or PLAIN
            tensor = self.tensor_of(atom, is_tensor=False)
            if tensor is None:
                return UNKNOWN
            return (replace(tensor, shape=index(tensor.shape, parts, evaluate, self._key(value, frame))),)

        found = self._try_each(owner, of_one, frame, value)  # type: ignore[arg-type]
        return join(found) if found else (Shaped(unknown(self._key(value, frame))),)

    def result(self, found: Atoms, operands: list[Atoms], value: Value, frame: Frame) -> Atoms:
        """The value of a loop's variable after any number of turns: one tensor or size that covers several."""
        if value.op is not Op.CHOICE:
            return found
        tensors = [atom for atom in found if isinstance(atom, Shaped)]
        numbers = [atom for atom in found if isinstance(atom, Number)]
        widened = _as_one(tensors) if len(tensors) > 1 else ()
        if numbers and any(is_number(atom) for atom in found if atom is not numbers[0]):
            found, widened = tuple(atom for atom in found if not is_number(atom)), (*widened, *PLAIN)
        if not widened:
            return found
        return join([tuple(atom for atom in found if len(tensors) < 2 or atom not in tensors), widened])

    # -- calls -----------------------------------------------------------------------------------------------------

    def method(self, atom: Atom, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        if isinstance(atom, Super):
            return self._super_method(atom, name, arguments, frame, value)
        if isinstance(atom, ShapeOf):
            return number_of(Dim(atom.shape.elements())) if name == "numel" else PLAIN
        row = shape_row(f"Tensor.{name}")
        if name in _OF_ARRAYS and (isinstance(atom, SymbolicInput) or (isinstance(atom, Shaped) and atom.is_presumed)):
            return UNKNOWN
        is_asked = name in ("size", "dim", "ndimension", "numel") or row is not None
        tensor = self.tensor_of(atom, is_tensor=is_asked)
        if tensor is None:
            if is_asked and isinstance(atom, Unknown | Plain):
                self._allow(frame, value)
            return None
        if name == "size":
            return self._size(tensor, arguments, frame, value)
        if name in ("dim", "ndimension"):
            rank = tensor.shape.rank
            return PLAIN if rank is None else (Constant(rank),)
        if name in ("numel", "nelement"):
            return number_of(Dim(tensor.shape.elements()))
        if row is None:
            made = Shaped(unknown(self._key(value, frame)), is_presumed=tensor.is_presumed)
            return PLAIN if name in _PLAIN else (made,)
        given = self._spread(arguments, frame, value)
        found = self._call_operator(row, ((tensor,), *given.positional), given, frame, value)
        if isinstance(atom, Shaped) and not atom.is_presumed:
            return found
        if not isinstance(atom, Shell):  # numpy's methods of these names take other arguments
            self._allow(frame, value)
        return tuple(replace(one, is_presumed=True) if isinstance(one, Shaped) else one for one in found)

    def _size(self, tensor: Shaped, arguments: Arguments, frame: Frame, value: Value) -> Atoms:
        at = arguments.argument(0, "dim")
        if at is None:
            return (ShapeOf(self._unpack(tensor.shape, frame, value)),)
        place = constant_of(at)
        found = self._try_each([] if place is None else [place], lambda one: tensor.shape.at(one), frame, value)  # type: ignore[arg-type,return-value]
        return number_of(found[0]) if found else PLAIN

    def function(self, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        if name.startswith("builtins.") or name == "torch.Size":
            return self._builtin(name, arguments)
        if name == "torch.where" and len(arguments.positional) == 1 and not arguments.keywords:
            return UNKNOWN
        if name in _LITERALS:
            return self._literal(name, arguments, frame, value)
        row = shape_row(name)
        if row is not None:
            given = self._spread(arguments, frame, value)
            return self._call_operator(row, given.positional, given, frame, value)
        known = operators.row(name) if name.startswith("torch.") else None
        is_tensor = any(isinstance(atom, Shaped) for atoms in arguments.all() for atom in atoms)
        if known is None or "gives" in known.facets or not is_tensor:
            return None
        return (Shaped(unknown(self._key(value, frame))),)

    def _builtin(self, name: str, arguments: Arguments) -> Atoms | None:
        given = arguments.positional[0] if len(arguments.positional) == 1 else ()
        only = given[0] if len(given) == 1 else None
        if name == "builtins.len" and isinstance(only, ShapeOf):
            rank = only.shape.rank
            return PLAIN if rank is None else (Constant(rank),)
        if name == "builtins.len" and isinstance(only, Shaped):
            return PLAIN if only.shape.rank == 0 else number_of(only.shape.at(0))
        if name in ("builtins.tuple", "builtins.list", "torch.Size") and isinstance(only, ShapeOf):
            return given
        if name == "builtins.int" and only is not None and isinstance(only, Number):
            return given
        return None

    def _literal(self, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms:
        """`torch.tensor([[1, 2], [3, 4]])`, `torch.FloatTensor(3, 4)`."""
        given = arguments.positional
        is_sized = name.endswith("Tensor") and given and all(map(is_number, (atom for one in given for atom in one)))
        if is_sized or (name.endswith("Tensor") and len(given) > 1):
            return (Shaped(Shape(tuple(map(dim_of, given)))),)
        shape = self._shape_of_display(given[0]) if given else None
        return (Shaped(unknown(self._key(value, frame)) if shape is None else shape),)

    def _shape_of_display(self, atoms: Atoms, depth: int = 0) -> Shape | None:
        """The shape of what nested lists of numbers make; None if unknown."""
        atom = atoms[0] if len(atoms) == 1 else None
        if atom is None or depth > _MAX_CALLS:
            return None
        if is_number(atom) or isinstance(atom, Counter):
            return Shape()
        if not isinstance(atom, Shell) or not atom.is_container:
            tensor = self.tensor_of(atom, is_tensor=False)
            return None if tensor is None or tensor.shape.star is not None else tensor.shape
        items = atom.items
        inner = Shape() if not items else self._shape_of_display(items[0].atoms, depth + 1)
        return None if items is None or inner is None else Shape((Dim.of(len(items)), *inner.head))

    def _spread(self, arguments: Arguments, frame: Frame, value: Value) -> Arguments:
        """The arguments, complete where only sizes of known order are passed by a star: `x.view(*x.shape[:-1], -1)`."""
        if arguments.is_complete or value.op is not Op.CALL or None in value.data:
            return arguments
        starred = (arg for arg in value.positional if arg.op is Op.STARRED)
        if any(sequence_of(self._run.evaluate(arg, frame)) is None for arg in starred):
            return arguments
        return Arguments(arguments.positional, arguments.keywords)

    def _call_operator(
        self, row: Operator, slots: tuple[Atoms, ...], arguments: Arguments, frame: Frame, value: Value
    ) -> Atoms:
        """The result of a function or method that has a row."""
        places: list[Place] = []
        sides: list[list[Shaped | None]] = []
        given: Iterable[tuple[Place, Atoms]] = (*enumerate(slots), *arguments.keywords.items())
        for place, atoms in given:
            if place == "out":
                continue
            tensors = [self._operand(row, place, atom) for atom in atoms]
            if any(one is not None for one in tensors):
                places.append(place)
                sides.append(tensors)
        key = self._key(value, frame)
        has_unknown = not arguments.is_complete or any(isinstance(a, Unknown | Plain) for atoms in slots for a in atoms)

        def of_choice(picked: tuple[Shaped | None, ...]) -> tuple[Result, str | None]:
            chosen: dict[Place, Shaped | None] = dict(zip(places, picked, strict=True))
            if chosen:
                first = next(iter(chosen))
                chosen[first] = _with_batch(row, chosen[first])
                if _is_without_batch(row, chosen[first]):
                    return None, "float"
            call = Given(row, slots, arguments, chosen, key, self.tensor_in, self.takes)
            known = result(call)
            if has_unknown and not row.facets.keys().isdisjoint(_OF_MANY):  # it may have more dimensions
                known = None
            return known, _type_of(call)

        found = self._try_each(_choices(sides), of_choice, frame, value)  # type: ignore[arg-type]
        return self._results(found or [(None, None)], row, value, frame)

    def _operand(self, row: Operator, place: Place, atom: Atom) -> Shaped | None:
        """The tensor that an argument is; one of a root counts as one where the operator takes a tensor."""
        if not isinstance(atom, SymbolicInput):
            return self.tensor_of(atom)
        is_first = place in (0, "input", "query", "tensor")
        is_other = place in (1, 2, "other", "weight", "mat2", "key", "value") and row.facets.keys() & _OF_TENSORS
        return self.tensor_of(atom) if is_first or is_other else None

    def _results(self, found: Sequence[tuple[Result, str | None]], row: Operator, value: Value, frame: Frame) -> Atoms:
        atoms: dict[Atom, None] = {}
        for number, (one, dtype) in enumerate(found):
            if isinstance(one, list):
                parts: list[Atoms] = [(self._with_sites(Shaped(part, dtype), value, frame),) for part in one]
                if row.name == "torch.nn.LSTM":  # the state is a pair itself
                    state = self._run.sequence("tuple", (parts[1], parts[1]), value, frame, f"state {number}")
                    parts = [parts[0], (state,)]
                made = self._run.sequence("tuple", parts, value, frame, f"parts {number}")
                atoms[made] = None
            elif one is None and row.facets.keys() & {"splits", "chunks", "unbinds"}:
                atoms.update(dict.fromkeys(UNKNOWN))
            else:
                shape = unknown(self._key(value, frame)) if one is None else one
                atoms[self._with_sites(Shaped(shape, dtype), value, frame)] = None
        return tuple(atoms)

    # -- layers ----------------------------------------------------------------------------------------------------

    def _row_of(self, shell: Shell) -> Operator | None:
        """The row of an object's class, or of its first base class of torch; None if there is none."""
        name = next((name for name in _class_names(shell) if name.startswith("torch.")), "")
        return shape_row(name)

    def _constructed_with(self, shell: Shell) -> Arguments:
        """The arguments that torch's constructor of a layer gets."""
        if shell.model is not None and not shell.model.name.startswith("torch."):
            self._run.objects.construct(shell)
        return shell.arguments if shell.passed is None else shell.passed

    def _super_method(self, atom: Super, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        if name not in _OF_TORCH or not any(
            owner.name.startswith("torch.") for _, owner in self._run.calls.reached(atom, name)
        ):
            return None
        if name == "__call__":
            return self._call_layer(atom.shell, arguments, frame, value, ("forward",))
        if name == "forward":
            return self._call_torch_layer(atom.shell, arguments, frame, value)
        if atom.shell.passed is None:
            atom.shell.passed = arguments
        return None

    def opaque(self, callee: Atom, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        if isinstance(callee, Shell) and callee.model is not None and callee.model.is_module is not False:
            return self._call_layer(callee, arguments, frame, value)
        if isinstance(callee, Bound) and isinstance(callee.owner, Shell):
            return self._call_torch_layer(callee.owner, arguments, frame, value)
        return None

    def _call_layer(
        self, shell: Shell, arguments: Arguments, frame: Frame, value: Value, by: tuple[str, ...] = _CALLED
    ) -> Atoms:
        objects = self._run.objects
        for name in by:
            own = objects.own_method(shell, name)
            if own is not None:
                objects.construct(shell)
                return self._run.calls.apply(own, arguments, frame, value)
        return self._call_torch_layer(shell, arguments, frame, value)

    def _call_torch_layer(self, shell: Shell, arguments: Arguments, frame: Frame, value: Value) -> Atoms:
        """The result of a layer whose `forward` is torch's."""
        given = arguments.argument(0, "input")
        inputs = next(iter(arguments.keywords.values()), UNKNOWN) if given is None else given
        names = _class_names(shell)
        if "torch.nn.Sequential" in names:
            return self._through(shell, inputs, frame, value)
        row = self._row_of(shell)
        if row is None:
            is_torch = any(name.startswith("torch.nn.") and name != "torch.nn.Module" for name in names)
            return (Shaped(unknown(self._key(value, frame)), "float"),) if is_torch else UNKNOWN
        made = self._constructed_with(shell)
        key = self._key(value, frame)
        name_of = self.names_of(shell, frame, value)

        def of_inputs(given: tuple[Shaped | None, ...]) -> tuple[Result, str | None]:
            tensor = _with_batch(row, given[0])
            if _is_without_batch(row, tensor):
                return None, "float"
            picked: dict[Place, Shaped | None] = {"input": tensor, **dict(zip(("target",), given[1:], strict=False))}
            call = Given(row, made.positional, made, picked, key, self.tensor_in, self.takes)
            call.name_of = name_of
            found = result(call)
            dtype = _type_of(call)
            site = shell.site
            return place_sites(found, site) if isinstance(
                found, Shape
            ) and "keeps-shape" not in row.facets else found, dtype

        tensors = list(dict.fromkeys(self.tensor_of(atom) for atom in inputs))
        sides = [tensors]
        if row.facets.keys() & {"loses", "classes"}:
            targets = arguments.argument(1, "target") or UNKNOWN
            sides.append([self.tensor_of(atom, is_tensor=False) for atom in targets])
        found = self._try_each(_choices(sides), of_inputs, frame, value, self._inside, shell)  # type: ignore[arg-type]
        if not found and "keeps-shape" in row.facets:
            return tuple(one for one in tensors if one is not None) or UNKNOWN
        return self._results(found or [(None, "float")], row, value, frame)

    def names_of(self, shell: Shell, frame: Frame, value: Value) -> Callable[[str], Dim | None] | None:
        """The sizes that attributes of a layer are, for people; None in runs that judge."""
        return None

    def _through(self, shell: Shell, given: Atoms, frame: Frame, value: Value) -> Atoms:
        """The result of the layers of a `Sequential`, one after the other."""
        self._run.objects.construct(shell)
        is_plain = shell.model is not None and shell.model.name.startswith("torch.")
        has_more = not is_plain and any(
            isinstance(a, Shell) and a.is_layer for one in shell.stores for a in _held_by(one)
        )
        if shell.items is None or has_more:
            return (Shaped(unknown(self._key(value, frame))),)
        outer, doubts = self._inside, self._doubts
        for number, entry in enumerate(shell.entries):
            self._inside = (*outer, number)
            layers = [atom for atom in entry.atoms if isinstance(atom, Shell) and atom.is_layer]
            self._doubts = doubts + (len(layers) > 1)
            done = join(self._call_layer(layer, Arguments((given,)), frame, value) for layer in layers)
            given = UNKNOWN if not done else join((given, done)) if entry.path else done
        self._inside, self._doubts = outer, doubts
        return given

    # -- functions -------------------------------------------------------------------------------------------------

    def follows(self, function: FunctionRef, arguments: Arguments, relation: str) -> bool:
        return not self._run.objects.under_construction

    def follow(
        self, function: FunctionRef, arguments: Arguments, frame: Frame, value: Value, run: Callable[[], Atoms]
    ) -> Atoms:
        """The result of a function, run once for each kind of arguments; of too many kinds, it is unknown."""
        memo, code = self._run.calls.memo, function_of(function.code)
        if not self._notes and code is not None:
            self._run.eager = code.module
        given = Arguments(
            tuple(map(_few, arguments.positional)),
            {name: _few(atoms) for name, atoms in arguments.keywords.items()},
            arguments.is_complete,
        )
        is_making = bool(self._run.objects.under_construction)

        def run_once() -> tuple[Atoms, tuple[Clash, ...]]:
            if code is None or is_making:
                return run(), ()
            if self._functions and not self._is_worth_following(code, function, given):
                return UNKNOWN, ()
            if not code.words.isdisjoint(_RESHAPING):
                return UNKNOWN, ()
            own = (code, function.receiver)
            self._counts.update((own, (code, None)) if function.receiver is not None else (own,))
            is_many = self._counts[code, None] > _MAX_CALLS
            is_many = is_many or (function.receiver is not None and self._counts[own] > _MAX_OF_OBJECT)
            if is_many and self._functions:
                return UNKNOWN, ()
            notes = _Notes({}, set())
            if len(self._functions) == 1:
                self._certain = len(self._run.path)
            self._functions.append(code)
            self._notes.append(notes)
            found = run()
            self._notes.pop()
            self._functions.pop()
            return found, notes.clashes()

        known = memo.once(memo.key(function, given), given, run_once)
        if not self._notes:
            self.clashes.update(dict.fromkeys(known.noted))
        elif known.noted and not is_making and not self._is_one_of_several(value, frame):
            step = Site(value, frame.function)
            for clash in known.noted:
                passed = clash._replace(steps=(step, *clash.steps))
                self._notes[-1].refused[passed] = passed
        return known.atoms

    def _is_one_of_several(self, call: Value, frame: Frame) -> bool:
        """True if a call may run another function: that it runs this one is no certain."""
        callee = call.callee if call.op is Op.CALL else call
        while True:
            if call.op is Op.CALL and len(self._run.evaluate(callee, frame)) > 1:
                return True
            if callee.op not in (Op.ATTR, Op.INDEX, Op.ITEM, Op.UNPACK):
                return False
            callee = callee.args[0]

    def _are_layers_of_torch(self, call: Value, frame: Frame) -> bool:
        """True if each object that a call may run is a layer of torch, so that each is judged at this call."""
        callee = self._run.evaluate(call.callee, frame) if call.op is Op.CALL else ()
        layers = [atom for atom in callee if isinstance(atom, Shell) and self._row_of(atom) is not None]
        own = self._run.objects.own_method
        return bool(callee) and len(layers) == len(callee) and all(own(layer, "forward") is None for layer in layers)

    def _is_worth_following(self, code: Function, function: FunctionRef, arguments: Arguments) -> bool:
        """True for functions of the root's file, and for those of one other file that are short or given tensors."""
        home = self._functions[0].module
        if code.module is home:
            return True
        is_layer = isinstance(function.receiver, Shell) and function.receiver.is_layer
        if not is_layer and any(one.module is not home and one.module is not code.module for one in self._functions):
            return False
        if function.receiver is None and len(code.flow.events) <= _MAX_EVENTS:
            return True
        return any(isinstance(atom, Shaped | ShapeOf) for atoms in arguments.all() for atom in atoms)

    def state(self) -> Hashable:
        return bool(self._run.objects.under_construction)

    def matters(self, event: Event, frame: Frame) -> bool:
        kind = event.kind
        if kind is EventKind.DELETE or kind is EventKind.COMPARE:
            return False
        if kind is EventKind.RAISE:
            return event.guard is None
        if kind is EventKind.CALL and self._run.objects.under_construction:
            changes = id(event.value) in frame.flow.once(object_changing)
            return changes and not self._run.objects.puts_off(event, frame, lambda module: module is self._run.eager)
        return True

    # -- notes -----------------------------------------------------------------------------------------------------

    def _key(self, value: Value, frame: Frame) -> Hashable:
        return frame.trail, id(value)

    def _refuse(
        self, refused: Refused, frame: Frame, value: Value, about: object = None, layer: Shell | None = None
    ) -> None:
        if len(self._functions) > 1 and len(self._run.path) > self._certain:
            return  # arguments may decide together what is run, and with which shapes
        if self._notes and frame.function is not None:
            key = (self._key(value, frame), about)
            site, event = Site(value, frame.function), frame.flow.circumstances(value) or frame.event
            left, right = map(_side, (refused.left, refused.right))
            clash = Clash(refused.kind, left, right, refused.given, site, event, layer, bool(self._inside))
            self._notes[-1].refused.setdefault(key, clash)

    def _allow(self, frame: Frame, value: Value, about: object = None) -> None:
        if self._notes:
            self._notes[-1].allowed.add((self._key(value, frame), about))


def _with_batch(row: Operator, tensor: Shaped | None) -> Shaped | None:
    """The input of a convolution or a pool; one of unknown rank counts as a batch."""
    ranks = _ranks_of_windows(row)
    if tensor is None or not ranks or tensor.shape.star is None or tensor.shape.least_rank > ranks[-1]:
        return tensor
    return Shaped(of_rank(tensor.shape, ranks[-1]), tensor.dtype)


def _is_without_batch(row: Operator, tensor: Shaped | None) -> bool:
    """True if a convolution or a pool is given a single image, which is seldom meant: the result stays unknown."""
    ranks = _ranks_of_windows(row)
    return tensor is not None and len(ranks) > 1 and tensor.shape.rank == ranks[0]


def _ranks_of_windows(row: Operator) -> list[int]:
    facets = row.facets
    return [int(rank) for rank in facets["ranks"].split("|")] if "window" in facets and "ranks" in facets else []


def _held_by(store: Store) -> Atoms:
    """The atoms that a store keeps; none where they are not computed yet."""
    return () if callable(store.held) else store.held


def _side(side: object) -> object:
    """A side of a misfit; a list of numbers as a text."""
    return f"[{', '.join(map(str, side))}]" if isinstance(side, list | tuple) else side


def _few(atoms: Atoms) -> Atoms:
    """The atoms of an argument; many tensors become one, of what they have in common."""
    tensors = [atom for atom in atoms if isinstance(atom, Shaped)]
    if len(tensors) <= _MAX_TENSORS:
        return atoms
    return (*_as_one(tensors), *(atom for atom in atoms if not isinstance(atom, Shaped)))


def _as_one(tensors: Sequence[Shaped]) -> Atoms:
    """A tensor of what several have in common."""
    dtypes = {one.dtype for one in tensors}
    return (Shaped(common([one.shape for one in tensors]), dtypes.pop() if len(dtypes) == 1 else None),)


def _choices(sides: Sequence[Sequence[Shaped | None]]) -> Iterator[tuple[Shaped | None, ...]]:
    return islice(product(*(dict.fromkeys(side) for side in sides)), _MAX_ALTERNATIVES + 1)


def _concatenate(left: Atoms, right: Atoms) -> Atoms:
    """`x.shape[:-1] + (heads, -1)`."""
    one, other = sequence_of(left), sequence_of(right)
    parts = [*(one or ()), *(other or ())]
    stars = [number for number, part in enumerate(parts) if isinstance(part, Star)]
    if one is None or other is None or len(stars) > 1:
        return UNKNOWN
    dims = [part if isinstance(part, Dim) else ANY for part in parts]
    if not stars:
        return (ShapeOf(Shape(tuple(dims))),)
    star = parts[stars[0]]
    assert isinstance(star, Star)
    return (ShapeOf(Shape(tuple(dims[: stars[0]]), star, tuple(dims[stars[0] + 1 :]))),)


def _calculate(name: str, one: Size | None, other: Size | None) -> Atoms | None:
    """The result of arithmetic on two sizes; None if it is left to the interpreter."""
    if one is None or other is None:
        return None
    if name == "//":
        return None if other == Size.of(0) else number_of(Dim(limit(one.floor(other))))
    if name not in ("+", "-", "*"):
        return None
    return number_of(Dim(limit(one + other if name == "+" else one - other if name == "-" else one * other)))


def _dim_named(owner: str, name: str) -> Dim:
    """A dimension whose size the code gives a name."""
    return Dim(Size.symbol(Symbol(owner, name)))


def _turn(shape: Shape, name: str) -> Shape:
    """The shape of `x.T` (all dimensions in the other order) or `x.mT` (the last two exchanged)."""
    if shape.star is not None:
        return unknown((shape, name))
    if name == "T":
        return Shape(shape.head[::-1])
    return Shape((*shape.head[:-2], *shape.head[-2:][::-1]))


def _class_names(shell: Shell) -> list[str]:
    """The names of an object's class and its bases; `torch.nn.Linear` for `torch.nn.modules.linear.Linear`."""
    names = [model.name for model in shell.model.mro()] if shell.model is not None else []
    return [f"torch.nn.{name.rpartition('.')[2]}" if name.startswith("torch.nn.modules.") else name for name in names]


def _type_of(call: Given) -> str | None:
    """The type of the elements of a result; None if unknown, or where torch refuses those of the operands."""
    try:
        return types_of_result(call.row, call.operands(), dtype=call.dtype)[0]
    except Refused:
        return None


def _unpackings(flow: Flow) -> dict[int, list[str]]:
    """The names that values are unpacked to, in order, by the identity of the value.

    Leaves out starred ones, those under a condition, and values that are unpacked to several numbers of names.
    """
    found: dict[int, list[str]] = {}
    open_ones = set()
    for event in flow.unpackings:
        if event.target is None:
            continue
        names = [part.target or "" for part in event.target.args]
        if event.guard is not None or len(found.setdefault(id(event.value), names)) != len(names):
            open_ones.add(id(event.value))
    return {key: names for key, names in found.items() if key not in open_ones}


def _unpacked_parameters(flow: Flow) -> dict[str, list[str]]:
    """The names that the shapes of parameters are unpacked to: `b, n, c = x.shape`, `b, n, c = x.size()`."""
    unpacked = flow.once(_unpackings)
    found: dict[str, list[str]] = {}
    for event in flow.unpackings:
        value = event.value.callee if event.value.op is Op.CALL and len(event.value.args) == 1 else event.value
        is_shape = value.op is Op.ATTR and value.data == ("shape" if value is event.value else "size")
        if is_shape and value.args[0].op is Op.PARAM and id(event.value) in unpacked:
            found.setdefault(str(value.args[0].data), unpacked[id(event.value)])
    return found
