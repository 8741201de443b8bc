"""The theory of shapes: the shape of each tensor that a run makes, and the calls that torch refuses.

Functions are run with unknown arguments, and as other functions call them. An argument of a root is a tensor of a shape
of its own (`[*]`), or of the sizes that the code unpacks (`b, c, h, w = x.shape`). A call is refused only if each
alternative of its operands is.
"""

from __future__ import annotations

from collections import Counter as Tally
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

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
    Outside,
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
from modellint.flow.library.containers import elements as entries_of
from modellint.flow.library.containers import holds, sliced
from modellint.flow.shapes import elements
from modellint.flow.shapes.annotated import annotated_shape
from modellint.flow.shapes.atoms import (
    Array,
    Cut,
    Kept,
    Rest,
    Scalar,
    Shaped,
    ShapeOf,
    constant_of,
    dim_of,
    is_number,
    number_of,
    sequence_of,
)
from modellint.flow.shapes.bodies import (
    calls_before_calls,
    calls_before_stores,
    changes_itself,
    stored_attributes,
    unpacked_parameters,
    unpackings,
)
from modellint.flow.shapes.dtypes import INTEGERS, TYPES, of_number
from modellint.flow.shapes.elements import Judge
from modellint.flow.shapes.given import Given
from modellint.flow.shapes.held import (
    STRANGE,
    UNTRAINED,
    cut_of_all,
    cut_of_result,
    held_by_result,
)
from modellint.flow.shapes.notes import Clash, Noted, NotePlace, Notes, Row, Turn, alternatives, divisions
from modellint.flow.shapes.parts import (
    NEEDED,
    are_views,
    may_save,
    needs,
    part_of,
    part_of_result,
    without_mark,
)
from modellint.flow.shapes.patches import ROWS, doubt_of_counted, doubt_of_slices
from modellint.flow.shapes.saved import CHANGED, Saved
from modellint.flow.shapes.shape import (
    Dim,
    Refused,
    Shape,
    broadcast,
    common,
    is_of_input,
    multiply,
    of_rank,
    place_sites,
    unknown,
    without_size,
)
from modellint.flow.shapes.subscript import index, part_of_shape
from modellint.flow.shapes.transfer import gives_shape, result
from modellint.flow.shapes.trunks import PUBLISHED, Trunks, may_make_trunk
from modellint.flow.shapes.values import (
    MAX_ALTERNATIVES,
    are_few_layers,
    as_one,
    calculate,
    choices_of,
    class_names,
    concatenate,
    dim_named,
    few_tensors,
    has_parts,
    held_by,
    is_part,
    is_settings,
    is_without_batch,
    is_written,
    layers_at,
    owners_of,
    side_of,
    tensors_given,
    turn_matrix,
    with_batch,
    without_elements,
)
from modellint.flow.theory import MOST_MADE, Deleted, Escaped, Limits, Made, Mode, Stored, Theory
from modellint.flow.unpassed import asked_for, asserted_parameters, field_of, is_field_of
from modellint.graph.immutable import replace
from modellint.graph.size import Symbol
from modellint.graph.value import EventKind, InPlace, Nested, Op, subscripts
from modellint.knowledge.signatures import signature
from modellint.link.calls.gradients import is_given_data, records_nothing, returns_loss
from modellint.link.calls.reached import has_foreign
from modellint.link.classes.calls import COPIES
from modellint.operators.arrays import array_row
from modellint.operators.shapes import shape_row

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from modellint.flow.blocks import Block
    from modellint.flow.domain import Atom, Atoms
    from modellint.flow.frame import Frame
    from modellint.flow.interp import Interpreter
    from modellint.flow.shapes.atoms import Traced
    from modellint.flow.shapes.call import Result
    from modellint.flow.shapes.given import Place
    from modellint.flow.theory import Occurrence
    from modellint.graph.methods import Method
    from modellint.graph.python import Function
    from modellint.graph.value import Event, Loop, Parameter, Value
    from modellint.link.classes.models import ClassModel
    from modellint.operators import Operator

    #: A result of one alternative, the type of its elements, and the call; None for one that is not judged.
    Outcome = tuple[Result, str | None, Given | None]

T = TypeVar("T")
#: The most kinds of arguments that a function is run with: in all, and as a method of one object.
_MAX_CALLS, _MAX_OF_OBJECT = 16, 3
#: The most events of a method that is short enough to be run with as many kinds of arguments as a function.
_FEW_EVENTS = 8
#: The most turns of a loop in a constructor that are run one by one, and of all loops for one root.
_MAX_MADE, _MAX_MADE_IN_ALL = 32, 96
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
#: Facets of layers whose result has the shape of their input.
_KEEPING = frozenset(("keeps-shape", "normal"))
#: What notes about the types of elements are told apart by.
_TYPES = "types"
#: Facets of operators that take any number of tensors.
_OF_MANY = frozenset(("broadcasts", "meshes", "equation"))
#: Facets of operators whose further arguments are tensors.
_OF_TENSORS = frozenset(("broadcasts", "multiplies", "linear", "shaped-as", "attention", "outer", "picks", "weighs"))


class Shapes(Theory):
    """The shapes of the tensors of one run."""

    mode = Mode(
        asks="shapes",
        waits=True,
        keeps=(SymbolicInput, Unknown),
        names_parts=True,
        replaces_layers=True,
        limits=Limits(calls=10, recursion=1, recursion_if=1),
        most_made=MOST_MADE,
    )
    observes = (Made, Escaped, Deleted, Stored)
    #: True if a loop over a few layers is run turn by turn, and numbers that a condition chooses are told apart.
    splits = True
    #: True if layers count as made with the default type, whatever code may convert them to.
    is_default = False
    #: True if the names of sizes in annotations are told.
    has_names = False
    #: True if there is a dimension in front of the width that a layer takes, so that `x[:2]` has it, too.
    has_rows = False
    #: Is told a size, and the one that torch takes there; None in runs that learn nothing.
    takes: Callable[[Dim, Dim], None] | None = None

    def __init__(self, run: Interpreter) -> None:
        self._run = run
        #: What torch refuses in the functions that were run as roots, and by what they call.
        self.clashes: dict[Clash, None] = {}
        #: The notes of the functions being run.
        self._notes: list[Notes] = []
        self._functions: list[Function] = []
        #: The layer that is called, as one of a `Sequential`.
        self.row: Row | None = None
        #: The expressions that make the layers of torch that were called.
        self.layers: dict[Site | None, None] = {}
        #: True if a layer may be converted to another type.
        self.converts = False
        #: The number of calls under way that may run another function than the one that is run.
        self._doubts = 0
        #: The number of open conditions under which the root calls a function.
        self._certain = 0
        #: The loops under way that are in their first turn or not; the number of open conditions where they begin.
        self._turns: list[Turn] = []
        #: The number of turns of loops in constructors that were run one by one for the root.
        self._made = 0
        #: The number of calls in constructors that changed objects.
        self._changes = 0
        #: The `Sequential`s that the root makes, each with the event.
        self._rows: dict[Shell, tuple[Value, Frame, Event | None]] = {}
        #: The networks of other packages that are known by facts; None until one is made.
        self._trunks: Trunks | None = None
        #: The contexts of `with` statements by identity: True for those under which no gradients are recorded.
        self._quiet: dict[int, bool] = {}
        #: The row of each class of layers that was called; None for one that has none.
        self._rows_of_classes: dict[ClassModel, Operator | None] = {}
        #: What is kept for the backward pass, and changed before it.
        self.saved = Saved(run, self)
        #: How often each function was run, and each method on an object.
        self._counts: Tally[tuple[Function, Atom | None]] = Tally()
        self._counted: set[tuple[tuple[Function, Atom | None], Arguments]] = set()

    # -- tensors ---------------------------------------------------------------------------------------------------

    def tensor_of(self, atom: Atom, *, is_tensor: bool = True) -> Shaped | None:
        """The tensor that an atom is; None if it is none. An argument counts as one where it `is_tensor`."""
        if isinstance(atom, Shaped):
            return atom
        if isinstance(atom, SymbolicInput):
            return self.input_of(atom, is_tensor=is_tensor)
        if isinstance(atom, Shell) and atom.kind in TENSORS:
            known = self.tensor_in(atom.arguments.argument(0, "data") or ())
            if known is None:
                known = Shaped(unknown(("parameter", id(atom))))
                return replace(known, dtype="float", traced=part_of(atom)) if atom.kind == "parameter" else known
            if atom.kind == "parameter":
                known = replace(known, held=None, cut=None, traced=part_of(atom))
            return known if self._is_exact else elements.without_precision((known,))[0]  # type: ignore[return-value]
        return None

    @property
    def _is_exact(self) -> bool:
        """True if the root makes its objects itself: no other code converts them."""
        return self.is_default or not self._functions or self._functions[0].owner is None

    @property
    def _is_constructor(self) -> bool:
        """True if the root is a constructor."""
        return bool(self._functions) and self._functions[0].name == "__init__"

    def input_of(self, atom: SymbolicInput, *, is_tensor: bool) -> Shaped | None:
        """The tensor that an argument of a root is; None if it is not known to be one."""
        if not is_tensor:
            return None
        root = self._functions[0] if self._functions else None
        cut = Cut("batch") if root is not None and is_given_data(root, self._run.project) else None
        if atom.is_any_element:
            return Shaped(unknown(None), cut=cut)
        name = atom.name.replace("[", "_").replace("]", "").replace(".", "_")
        return Shaped(unknown(("input", atom.home, atom.name), name), cut=cut)

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
        if frame.function is not None and parameter.annotation is not None and parameter.annotation.op is Op.INDEX:
            said = annotated_shape(parameter, code, frame.function, has_names=self.has_names)
            if said is not None:
                return (Shaped(said),)
        names = frame.flow.once(unpacked_parameters).get(parameter.name)
        if names is not None and frame.function is not None:
            given = unknown(("input", str(frame.function.module.path), parameter.name), parameter.name)
            owner = f"{frame.function.module.path}:{frame.function.qualname}"
            dims = zip(names, of_rank(given, len(names)).head, strict=True)
            shape = Shape(tuple(dim_named(owner, name) if name.strip("_") else dim for name, dim in dims))
            return (Shaped(shape, is_presumed=True),)
        if parameter.default is not None:
            default = self._run.evaluate(parameter.default, class_frame(code.scope, id(parameter.default)))
            if default and all(isinstance(atom, ClassRef | FunctionRef | Prepared) for atom in default):
                return default
            flag = default[0].value if len(default) == 1 and isinstance(default[0], Constant) else None
            if isinstance(flag, float):
                return default  # a number, whichever is passed
            is_free = not (flag and parameter.name in frame.flow.once(asserted_parameters))
            if isinstance(flag, bool) and is_free and frame.function is not None:
                home = f"{frame.function.module.path}:"
                symbol = Symbol(f"{home}{frame.function.qualname}", parameter.name, int(flag))
                return (SymbolicInput(parameter.name, symbol, f"{home}{parameter.name}"),)
        return asked_for(self._run, parameter, code, frame)

    def load(self, atoms: Atoms, owner: Shell | ClassModel, name: str | None) -> Atoms:
        if not isinstance(owner, Shell):
            atoms = tuple(map(self._replaceable, atoms))
            found = atoms if name is None else field_of(owner, name, atoms)
            is_real = all(isinstance(atom, Constant) and isinstance(atom.value, float) for atom in atoms)
            is_default = found is atoms and not is_real and name is not None and is_field_of(owner, name)
            return join((atoms, PLAIN)) if is_default else found
        if name is not None and owner.is_layer and not self._is_exact:
            atoms = elements.without_precision(atoms)
        if name is not None:  # other code may ask for a gradient, or cut it
            atoms = tuple(
                replace(one, cut=None, traced=None) if isinstance(one, Shaped) and (one.cut or one.traced) else one
                for one in atoms
            )
        is_own = name is not None or not self._functions or owner.function in (None, self._functions[-1])
        return atoms if is_own or owner.kind == "tuple" else tuple(map(self._replaceable, atoms))

    @staticmethod
    def _replaceable(atom: Atom) -> Atom:
        """An atom that other code may replace: an element of a container made elsewhere, or the default of a class."""
        return Shaped(unknown(("element", atom)), atom.dtype) if isinstance(atom, Shaped) else atom

    # -- attributes and elements -----------------------------------------------------------------------------------

    def attribute(self, atom: Atom, name: str, frame: Frame | None, value: Value | None) -> Atoms | None:
        if isinstance(atom, ShapeOf):
            return PLAIN
        if isinstance(atom, Array):
            return (ShapeOf(atom.shape),) if name == "shape" else (atom,) if name == "T" else None
        if isinstance(atom, Shell):
            return self._of_shell(atom, name)
        if has_parts(atom) and frame is not None and name in frame.flow.once(stored_attributes):
            return (atom.element(),)
        tensor = self.tensor_of(atom, is_tensor=name == "shape")
        if tensor is None:
            return None
        if name == "shape":
            return (ShapeOf(self._unpack(tensor.shape, frame, value)),)
        if name in _SAME:
            if name in ("data", "grad"):
                cut = Cut(name, None if value is None or frame is None else self._site(value, frame))
                return (replace(tensor, cut=tensor.cut or cut, traced=None),)
            return (replace(tensor, dtype=None),)
        if name in _TURNED:
            return (replace(tensor, shape=turn_matrix(tensor.shape, name)),)
        if name == "dtype":
            return (Outside(f"torch.{tensor.dtype}"),) if tensor.dtype in TYPES else UNKNOWN
        rank = tensor.shape.rank if name == "ndim" else None
        return PLAIN if rank is None else (Constant(rank),)

    def _unpack(self, shape: Shape, frame: Frame | None, value: Value | None) -> Shape:
        """A shape of as many dimensions as the code unpacks."""
        names = None if frame is None or value is None else frame.flow.once(unpackings).get(id(value))
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
        if self._trunks is not None and (known := self._trunks.attribute(shell, name)) is not None:
            return known
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
        if self._trunks is not None and isinstance(atom, Shell):
            return self._trunks.output(atom, index)
        if isinstance(atom, ShapeOf):
            at = None if index is None else constant_of(index)
            try:
                return PLAIN if at is None else number_of(atom.shape.at(at))
            except Refused:
                return PLAIN
        if isinstance(atom, Rest):
            return PLAIN
        if isinstance(atom, SymbolicInput) and atom.home and index is not None:
            at = constant_of(index)
            return None if at is None else (atom.entry(at),)
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
            if found is None:
                return None
            cut = Cut("comparison", self._site(value, frame))
            return tuple(Shaped(one.shape, "bool", one.is_presumed, cut=cut) for one in found)
        if op is Op.UNARY:
            return self._unary(value, operands[0], frame)
        if op is Op.UPDATE and any(isinstance(atom, Shaped) for atom in operands[0]):
            self._put(value, operands[0], frame)
            return operands[0]
        return None

    def _unary(self, value: Value, operand: Atoms, frame: Frame) -> Atoms | None:
        known = [one for atom in operand if (one := self.tensor_of(atom, is_tensor=False)) is not None]
        if known and len(known) == len(operand):
            judge = Judge()
            judge.of_unary(str(value.data), known)
            self._judge(judge, frame, value)
            return tuple(replace(one, held=None, traced=self._new_part(one)) for one in known)
        size = dim_of(operand).size if value.data == "-" and all(isinstance(one, Number) for one in operand) else None
        return None if size is None else number_of(Dim(-size))

    def _binary(self, value: Value, left: Atoms, right: Atoms, frame: Frame) -> Atoms | None:
        if any(isinstance(atom, ShapeOf) for atom in (*left, *right)):
            return concatenate(left, right) if value.data == "+" else PLAIN
        name = str(value.data)
        made = None if isinstance(value.data, InPlace) else self._of_lists(name, left, right, value, frame)
        if made is not None:
            return made
        arrays = elements.arithmetic_on_arrays(name, left, right, self.key_of(value, frame))
        if arrays is not None:
            return arrays
        if name == "@":
            sides = [[self.tensor_of(atom) for atom in atoms] for atoms in (left, right)]
            return self._combine(sides, multiply, value, frame)
        if name not in _ELEMENTWISE:
            return None
        found = self._elementwise(value, left, right, frame)
        return calculate(name, dim_of(left).size, dim_of(right).size) if found is None else found

    def _of_lists(self, name: str, left: Atoms, right: Atoms, value: Value, frame: Frame) -> Atoms | None:
        """`[1] + [2, 3]` and `[1] * 3`, with equal entries; None for anything else, or for many entries."""
        one, other = entries_of(left), entries_of(right)
        kind = left[0].kind if len(left) == 1 and isinstance(left[0], Shell) else ""
        if one is None or kind not in ("list", "tuple"):
            return None
        times = constant_of(right) if name == "*" else None
        joined = [*one, *other] if name == "+" and other is not None else one * times if times is not None else None
        if joined is None or len(joined) > _MAX_MADE:
            return None
        return (self._run.sequence(kind, joined, value, frame, f"of {len(joined)}"),)

    def _elementwise(self, value: Value, left: Atoms, right: Atoms, frame: Frame) -> tuple[Shaped, ...] | None:
        """The result of an elementwise operator; None if no operand is known to be a tensor."""
        if all(self.tensor_of(atom, is_tensor=False) is None for atom in (*left, *right)):
            return None
        sides = [[self._beside(atom) for atom in atoms] for atoms in (left, right)]
        return self._combine(sides, broadcast, value, frame)

    def _beside(self, atom: Atom) -> Shaped | None:
        """The tensor that an operand beside a tensor stands for: a number has no dimensions; None if unknown."""
        if isinstance(atom, Constant) and isinstance(atom.value, int | float):
            return Scalar(Shape(), of_number(atom.value).name)
        if isinstance(atom, Number | Counter):
            return Scalar(Shape(), "int64" if isinstance(atom, Counter) else "real")
        return self.tensor_of(atom)

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
            is_presumed = all(side is None or side.is_presumed or not side.shape.head for side in pair)
            pairs.append((one, other))
            if one is None or other is None:
                return Shaped(unknown(self.key_of(value, frame)), is_presumed=is_presumed)
            shape = combine(one.shape, other.shape)
            dtype = None if value.op is Op.COMPARE else judge.of_pair(value.data, one, other)
            tensors = [side for side in pair if not isinstance(side, Scalar)]
            part = NEEDED if any(map(needs, tensors)) and value.op is not Op.COMPARE and not is_still else None
            return Shaped(shape, dtype, is_presumed, cut=cut_of_all(tensors), traced=part)

        judge, is_still = Judge(), self.is_still
        pairs: list[tuple[Shaped | None, Shaped | None]] = []
        found = self._try_each(choices_of(sides), of_pair, frame, value)
        self._judge(judge, frame, value)
        if len(pairs) == MAX_ALTERNATIVES:  # there may be more
            found, pairs = [replace(one, traced=None) for one in found], [(None, None)]
        self.saved.note_binary(value, pairs, frame)
        return tuple(dict.fromkeys(self._with_sites(one, value, frame) for one in found)) or (
            Shaped(unknown(self.key_of(value, frame))),
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
            if number == MAX_ALTERNATIVES:
                refused = None
                break
            try:
                found.append(transfer(choice))
            except Refused as error:
                refused = error
        if refused is not None and not found and self._is_only_layer(layer, value, frame):
            self._refuse(refused, frame, value, about, layer)
        else:
            self._allow(frame, value, about)
        return found

    def _is_only_layer(self, layer: Shell | None, call: Value, frame: Frame) -> bool:
        """True if a call certainly runs this layer, or layers of torch, each of which is judged at the call."""
        return layer is None or not self._is_one_of_several(call, frame) or self._are_layers_of_torch(call, frame)

    def _judge(
        self, judge: Judge, frame: Frame, value: Value, about: object = None, layer: Shell | None = None
    ) -> None:
        """Note what the types of the operands say of a call: refused if they are in each alternative."""
        for topic in judge.meant:
            self._allow(frame, value, (topic, about))
        for topic, doubt in judge.doubts.items():
            if topic not in judge.meant and not (doubt.kind == STRANGE and self._is_quiet()):
                self._refuse(doubt, frame, value, (topic, about), layer)
        if judge.refused is None:
            if judge.is_allowed:
                self._allow(frame, value, (_TYPES, about))
            return
        if judge.is_allowed or not self._is_only_layer(layer, value, frame):
            self._allow(frame, value, (_TYPES, about))
        else:
            self._refuse(judge.refused, frame, value, (_TYPES, about), layer)

    def _put(self, value: Value, owner: Atoms, frame: Frame) -> None:
        """Judge `x[ids] = y`, which wants one type; `x[0] = y` and slices do not."""
        judge = Judge()
        if value.guard is None and len(value.args) > 2:
            parts = value.args[1].args if value.args[1].op is Op.TUPLE else (value.args[1],)
            ids = [atom for part in parts if part.op is not Op.SLICE for atom in self._run.evaluate(part, frame)]
            tensors = [self.tensor_of(atom, is_tensor=False) for atom in owner]
            given = [self.tensor_of(atom, is_tensor=False) for atom in self._run.evaluate(value.args[2], frame)]
            has_ids = any(isinstance(one, Shaped) and (one.dtype == "bool" or one.shape.least_rank > 0) for one in ids)
            judge.of_puts(tensors if has_ids else (), given)
        self._judge(judge, frame, value)

    def _new_part(self, tensor: Shaped) -> Traced | None:
        """The part in the backward pass of what is computed of a tensor."""
        return None if tensor.traced is None or self.is_still else without_mark(tensor.traced)

    @staticmethod
    def _site(value: Value, frame: Frame) -> Site | None:
        return None if frame.function is None else Site(value, frame.function)

    def _with_sites(self, tensor: Shaped, value: Value, frame: Frame) -> Shaped:
        shape = place_sites(tensor.shape, self._site(value, frame))
        return tensor if shape is tensor.shape else replace(tensor, shape=shape)

    def _index(self, value: Value, owner: Atoms, frame: Frame) -> Atoms | None:
        tensors = [self.tensor_of(atom, is_tensor=False) for atom in owner]
        parts = subscripts(value)
        if all(one is None and not isinstance(atom, ShapeOf) for one, atom in zip(tensors, owner, strict=True)):
            has_entries = any(map(holds, owner))
            if len(parts) != 1 or not is_part(parts[0]) or not (has_entries or any(map(has_parts, owner))):
                return None
            rest = sliced(self._run, owner, value, frame, is_counted=has_entries)
            return tuple(atom.element() if has_parts(atom) else atom for atom in rest)

        def evaluate(part: Value) -> Atoms:
            return self._run.behind(self._run.evaluate(part, frame), frame)

        def of_one(atom: Atom) -> tuple[Atom, ...]:
            if isinstance(atom, ShapeOf):
                return part_of_shape(atom.shape, parts, evaluate) or PLAIN
            tensor = self.tensor_of(atom, is_tensor=False)
            if tensor is None:
                return UNKNOWN
            shape = index(tensor.shape, parts, evaluate, self.key_of(value, frame), has_rows=self.has_rows)
            judge.weigh(doubt_of_slices(tensor.shape, parts, evaluate), ROWS)
            if tensor.traced is None or are_views(parts, evaluate):
                return (replace(tensor, shape=shape),)
            return (replace(tensor, shape=shape, traced=self._new_part(tensor)),)

        judge = Judge()
        found = self._try_each(owner, of_one, frame, value)  # type: ignore[arg-type]
        self._judge(judge, frame, value)
        return join(found) if found else (Shaped(unknown(self.key_of(value, frame))),)

    def loop(self, block: Block, frame: Frame, returned: list[Atoms], yielded: list[Atoms]) -> bool | None:
        """Run a loop over a few layers turn by turn, and in constructors one over a few numbers or texts.

        Of any other loop, the first turn is told from the others.
        """
        run, loop = self._run, block.loop
        assert loop is not None
        if loop.result is not None:
            return None
        is_making = bool(run.objects.under_construction) or self._is_constructor
        over = self._few_elements(loop, frame, is_making=is_making) if self.splits or is_making else None
        if over is None:
            self._turns.append(Turn(len(run.path)))
            run.run_twice(block, frame, returned, yielded, loop.carried)
            self._turns.pop()
            return False
        for choice in loop.carried:
            frame.memo[id(choice)] = run.evaluate(choice.args[0], frame)
        run.loops += not is_making  # entries that are put in a list by each turn of `forward` may be equal
        trail = frame.trail
        for turn in frame.turns(len(over)):
            frame.memo[id(loop.turns[0][0])] = over[turn]
            if run.run_block(block, frame, returned, yielded):
                frame.trail = trail
                return True
            after = [(choice, run.evaluate(choice.args[1], frame)) for choice in loop.carried]
            frame.memo.update((id(choice), atoms) for choice, atoms in after)
        run.loops -= not is_making
        return False

    def _few_elements(self, loop: Loop, frame: Frame, *, is_making: bool) -> list[Atoms] | None:
        """The elements that a loop runs over to its end, one for each turn; None if there are many, or others."""
        if loop.is_left or len(loop.turns) != 1 or any(len(choice.args) != 2 for choice in loop.carried):
            return None
        over = entries_of(self._run.evaluate(loop.turns[0][1], frame))
        if not is_making:
            return over if are_few_layers(over) else None
        if over is None or not 0 < len(over) <= _MAX_MADE or not all(map(is_written, over)):
            return None
        self._made += len(over)
        return over if self._made <= _MAX_MADE_IN_ALL else None

    def result(self, found: Atoms, operands: list[Atoms], value: Value, frame: Frame) -> Atoms:
        """The value of a loop's variable after any number of turns: one tensor or size that covers several.

        An argument that code changes has other parts from then on.
        """
        if value.op is Op.UPDATE:
            if any(isinstance(atom, ShapeOf) for atom in found):
                return UNKNOWN  # a list of sizes is another one
            return tuple(replace(atom, is_changed=True) if has_parts(atom) else atom for atom in found)
        if value.op is not Op.CHOICE:
            return found
        if self._turns:
            self._turns[-1].is_first = False
        tensors = [atom for atom in found if isinstance(atom, Shaped)]
        numbers = [atom for atom in found if isinstance(atom, Number)]
        widened = as_one(tensors) if len(tensors) > 1 else ()
        if numbers and any(is_number(atom) for atom in found if atom is not numbers[0]):
            found, widened = tuple(atom for atom in found if not is_number(atom)), (*widened, *PLAIN)
        if not widened:
            return found
        return join([tuple(atom for atom in found if len(tensors) < 2 or atom not in tensors), widened])

    # -- calls -----------------------------------------------------------------------------------------------------

    def method(self, atom: Atom, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        if isinstance(atom, Super):
            return self._super_method(atom, name, arguments, frame, value)
        if isinstance(atom, ClassRef) and name in PUBLISHED and may_make_trunk(atom):
            return self._trunks_of_run().make(atom, arguments, frame, value, name)
        if name == "pop" and isinstance(atom, Shell) and atom.kind == "list":
            return self._take_out(atom, constant_of(arguments.positional[0]) if arguments.positional else -1)
        if self._trunks is not None and (known := self._trunks.method(atom, name, arguments, frame, value)) is not None:
            return known
        if isinstance(atom, Array):
            return elements.method_of_array(atom, name, arguments, self.key_of(value, frame))
        if name in elements.CONVERTING and elements.converts(atom, name, arguments):
            self.converts = True
        if isinstance(atom, ShapeOf):
            return number_of(Dim(atom.shape.elements())) if name == "numel" else PLAIN
        row = shape_row(f"Tensor.{name}")
        if name in _OF_ARRAYS and (isinstance(atom, SymbolicInput) or (isinstance(atom, Shaped) and atom.is_presumed)):
            return UNKNOWN
        if isinstance(atom, SymbolicInput) and arguments.positional and _takes_nothing(name):
            return UNKNOWN  # `F.abs(x)` of a module that is passed
        is_asked = name in ("size", "dim", "ndimension", "numel") or row is not None
        tensor = self.tensor_of(atom, is_tensor=is_asked)
        if name == "backward":
            self._judge_backward(tensor, frame, value)
        if tensor is None:
            if is_asked and isinstance(atom, Unknown | Plain):
                self._allow(frame, value)
                self._allow(frame, value, ("elements", None))
                kind = "" if row is None else row.facets.get("type")
                return (Shaped(unknown(self.key_of(value, frame)), kind),) if kind in INTEGERS else None
            return None
        if name == "size":
            return self._size(tensor, arguments, frame, value)
        if name in ("dim", "ndimension"):
            rank = tensor.shape.rank
            return PLAIN if rank is None else (Constant(rank),)
        if name in ("numel", "nelement"):
            return number_of(Dim(tensor.shape.elements()))
        if row is None:
            made = Shaped(unknown(self.key_of(value, frame)), is_presumed=tensor.is_presumed)
            return PLAIN if name in _PLAIN else (made,)
        given = self._spread(arguments, frame, value)
        found = self.call_operator(row, ((tensor,), *given.positional), given, frame, value)
        if isinstance(atom, Shaped) and not atom.is_presumed:
            return found
        if not isinstance(atom, Shell):  # numpy's methods of these names take other arguments
            self._allow(frame, value)
            if array_row(f"Array.{name}") is not None:
                self._allow(frame, value, (_TYPES, None))
        return tuple(replace(one, is_presumed=True) if isinstance(one, Shaped) else one for one in found)

    def _judge_backward(self, tensor: Shaped | None, frame: Frame, value: Value) -> None:
        """Note a loss that certainly no gradient reaches: its own, or a call's under `torch.no_grad()`."""
        loss, cut = value.callee.args[0], None if tensor is None else tensor.cut
        made = None if frame.function is None or loss.op is not Op.CALL else frame.function.flow.circumstances(loss)
        if made is not None and any(self._records_nothing(context, frame) for context in made.contexts):
            cut = Cut("no_grad", self._site(loss, frame))
        if cut is None:
            self._allow(frame, value, UNTRAINED)
        else:
            self._refuse(Refused(UNTRAINED, cut, "backward"), frame, value, UNTRAINED)

    def _judge_result(self, code: Function, found: Atoms) -> None:
        """Note a loss that a method returns to a library, which calls `backward()`, if no gradient reaches it."""
        parts = [entry.atoms for one in found if isinstance(one, Shell) for entry in one.entries if entry.key == "loss"]
        losses = [atom for atoms in parts or [found] for atom in atoms]
        cut = cut_of_all([self.tensor_of(atom, is_tensor=False) for atom in losses])
        if cut is None or not returns_loss(code, self._run.project):
            return
        event = next(iter(code.flow.of(EventKind.RETURN)))
        site = Site(event.value, code)
        clash = Clash(UNTRAINED, side_of(cut), side_of(code.name), None, site, event, None)
        self._notes[-1].refused[clash] = clash

    def _size(self, tensor: Shaped, arguments: Arguments, frame: Frame, value: Value) -> Atoms:
        at = arguments.argument(0, "dim")
        if at is None:
            return (ShapeOf(self._unpack(tensor.shape, frame, value)),)
        place = constant_of(at)
        found = self._try_each([] if place is None else [place], lambda one: tensor.shape.at(one), frame, value)  # type: ignore[arg-type,return-value]
        return number_of(found[0]) if found else PLAIN

    def function(self, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        if name in COPIES and any(is_settings(atom) for atoms in arguments.all() for atom in atoms):
            return UNKNOWN  # a copy is made to be changed
        if name == "builtins.enumerate":
            return self._enumerate(arguments, frame, value)
        if name.startswith("builtins.") or name == "torch.Size":
            return self._builtin(name, arguments)
        if name == "torch.where" and len(arguments.positional) == 1 and not arguments.keywords:
            return UNKNOWN
        if name in _LITERALS or (name.startswith("torch.") and name.endswith("Tensor") and ".sparse." not in name):
            return self._literal(name, arguments, frame, value)
        if name == "torch.from_numpy" or name.startswith("numpy."):
            return self._of_array(name, arguments, frame, value)
        row = shape_row(name)
        if row is not None:
            given = self._spread(arguments, frame, value)
            return self.call_operator(row, given.positional, given, frame, value)
        known = operators.row(name) if name.startswith("torch.") else None
        is_tensor = any(isinstance(atom, Shaped) for atoms in arguments.all() for atom in atoms)
        if known is None or "gives" in known.facets or not is_tensor:
            return None
        return (Shaped(unknown(self.key_of(value, frame))),)

    def _enumerate(self, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        """`enumerate` of a few layers: pairs with known numbers."""
        is_plain = len(arguments.positional) == 1 and not arguments.keywords
        over = entries_of(arguments.positional[0]) if is_plain else None
        if not are_few_layers(over):
            return None
        pairs = [
            (self._run.sequence("tuple", ((Constant(number),), atoms), value, frame, f"pair {number}"),)
            for number, atoms in enumerate(over or ())
        ]
        return (self._run.sequence("generator", pairs, value, frame),)

    def _of_array(self, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        """An array of numpy, or the tensor that it becomes."""
        if name != "torch.from_numpy":
            return elements.array_of(name, arguments, self.key_of(value, frame))
        given = arguments.positional[0] if len(arguments.positional) == 1 else ()
        cut = Cut("from_numpy", self._site(value, frame))
        known = [atom for atom in given if isinstance(atom, Array)]
        if not known or len(known) < len(given):
            return (Shaped(unknown(self.key_of(value, frame)), cut=cut),)
        return tuple(self._with_sites(Shaped(one.shape, one.dtype, cut=cut), value, frame) for one in known)

    def apply(self, function: Atom, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        """Makes trunks of other packages, and judges what a parameter is made of; else a call gives what it gives."""
        if may_make_trunk(function):
            return self._trunks_of_run().make(function, arguments, frame, value)
        if type(function) is ClassRef and function.model.name.startswith("torch.nn."):
            refused = elements.refusal_of_parameter(function, arguments, self.tensor_in)
            if refused is not None:
                self._refuse(refused, frame, value, (_TYPES, None))
        return None

    def _trunks_of_run(self) -> Trunks:
        if self._trunks is None:
            self._trunks = Trunks(self._run, self)
        return self._trunks

    def _builtin(self, name: str, arguments: Arguments) -> Atoms | None:
        given = arguments.positional[0] if len(arguments.positional) == 1 else ()
        only = given[0] if len(given) == 1 else None
        if name == "builtins.type" and self._trunks is not None and self._trunks.is_trunk(given):
            return UNKNOWN
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
        judge = Judge()
        dtype = judge.of(lambda: elements.type_of_display(name, arguments))
        self._judge(judge, frame, value)
        given = arguments.positional
        cut = None if "requires_grad" in arguments.keywords else Cut("tensor", self._site(value, frame))
        is_sized = name.endswith("Tensor") and given and all(map(is_number, (atom for one in given for atom in one)))
        if arguments.is_complete and (is_sized or (name.endswith("Tensor") and len(given) > 1)):
            return (Shaped(Shape(tuple(map(dim_of, given))), dtype),)
        shape = self._shape_of_display(given[0]) if given and arguments.is_complete else None
        return (Shaped(unknown(self.key_of(value, frame)) if shape is None else shape, dtype, cut=cut),)

    def _shape_of_display(self, atoms: Atoms, depth: int = 0) -> Shape | None:
        """The shape of what nested lists of numbers make; None if unknown."""
        atom = atoms[0] if len(atoms) == 1 else None
        if atom is None or depth > _MAX_CALLS:
            return None
        if is_number(atom) or isinstance(atom, Counter):
            return Shape()
        if not isinstance(atom, Shell) or not atom.is_container:
            tensor = atom if isinstance(atom, Array) else self.tensor_of(atom, is_tensor=False)
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

    def call_operator(
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
        key = self.key_of(value, frame)
        has_unknown = not arguments.is_complete or any(isinstance(a, Unknown | Plain) for atoms in slots for a in atoms)

        def of_choice(picked: tuple[Shaped | None, ...]) -> Outcome:
            chosen: dict[Place, Shaped | None] = dict(zip(places, picked, strict=True))
            if chosen:
                first = next(iter(chosen))
                chosen[first] = with_batch(row, chosen[first])
                if is_without_batch(row, chosen[first]):
                    return None, "float", None
            call = Given(row, slots, arguments, chosen, key, self.tensor_in, self.takes)
            known = result(call)
            if has_unknown and not row.facets.keys().isdisjoint(_OF_MANY):  # it may have more dimensions
                known = None
            return known, judge.of_call(call), call

        judge = Judge()
        found = self._try_each(choices_of(sides), of_choice, frame, value)  # type: ignore[arg-type]
        self._judge(judge, frame, value)
        return self._results(found or [(None, None, None)], row, value, frame)

    def _operand(self, row: Operator, place: Place, atom: Atom) -> Shaped | None:
        """The tensor that an argument is; one of a root counts as one where the operator takes a tensor."""
        if not isinstance(atom, SymbolicInput):
            return self.tensor_of(atom)
        is_first = place in (0, "input", "query", "tensor")
        is_other = place in (1, 2, "other", "weight", "mat2", "key", "value") and row.facets.keys() & _OF_TENSORS
        return self.tensor_of(atom) if is_first or is_other else None

    def _results(
        self,
        found: Sequence[Outcome],
        row: Operator,
        value: Value,
        frame: Frame,
        made: Site | None = None,
        layer: Shell | None = None,
    ) -> Atoms:
        """The tensors that a call gives; of a `layer` in a container, its elements are `made` where that is."""
        atoms: dict[Atom, None] = {}
        site, is_quiet = self._site(value, frame) if made is None else made, self._is_quiet()
        is_still = is_quiet or self.saved.still > 0 or len(found) == MAX_ALTERNATIVES  # there may be more
        for number, (one, dtype, call) in enumerate(found):
            part = None if call is None or is_still else part_of_result(call, dtype, site)
            if isinstance(one, list):
                types = [dtype, *[row.facets.get("second", dtype)] * (len(one) - 1)]
                parts: list[Atoms] = [
                    (self._with_sites(Shaped(shape, of, traced=without_mark(part)), value, frame),)
                    for shape, of in zip(one, types, strict=False)
                ]
                if row.name == "torch.nn.LSTM":  # the state is a pair itself
                    state = self._run.sequence("tuple", (parts[1], parts[1]), value, frame, f"state {number}")
                    parts = [parts[0], (state,)]
                several = self._run.sequence("tuple", parts, value, frame, f"parts {number}")
                atoms[several] = None
            elif one is None and row.facets.keys() & {"splits", "chunks", "unbinds"}:
                atoms.update(dict.fromkeys(UNKNOWN))
            else:
                shape = unknown(self.key_of(value, frame)) if one is None else one
                held = None if call is None else held_by_result(call, site)
                cut = Cut("no_grad", site) if is_quiet else None if call is None else cut_of_result(call, dtype, site)
                atoms[self._with_sites(Shaped(shape, dtype, held=held, cut=cut, traced=part), value, frame)] = None
        if may_save(row):
            calls = [call for _, _, call in found] if len(found) < MAX_ALTERNATIVES else [None]
            self.saved.note_call(row, calls, value, frame, layer)
        return tuple(atoms)

    # -- layers ----------------------------------------------------------------------------------------------------

    def _row_of(self, shell: Shell) -> Operator | None:
        """The row of an object's class, or of its first base class of torch or SpeechBrain; None if there is none."""
        model = shell.model
        if model is None:
            return None
        if model not in self._rows_of_classes:
            names = (name for name in class_names(shell) if name.startswith("torch.") or shape_row(name) is not None)
            self._rows_of_classes[model] = shape_row(next(names, ""))
        return self._rows_of_classes[model]

    def _constructed_with(self, shell: Shell) -> Arguments:
        """The arguments that torch's constructor of a layer gets."""
        if shell.model is not None and shape_row(shell.model.name) is None:
            self._run.objects.construct(shell)
        return shell.arguments if shell.passed is None else shell.passed

    def _super_method(self, atom: Super, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        if name not in _OF_TORCH or not any(
            owner.name.startswith("torch.") for _, owner in self._run.calls.reached(atom, name)
        ):
            return None
        if name == "__call__":
            return self.call_layer(atom.shell, arguments, frame, value, ("forward",))
        if name == "forward":
            return self._call_torch_layer(atom.shell, arguments, frame, value)
        if atom.shell.passed is None:
            atom.shell.passed = arguments
        return None

    def opaque(self, callee: Atom, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        if isinstance(callee, Shell) and callee.model is not None and callee.model.is_module is not False:
            return self.call_layer(callee, arguments, frame, value)
        if isinstance(callee, Bound) and isinstance(callee.owner, Shell):
            return self._call_torch_layer(callee.owner, arguments, frame, value)
        return None

    def call_layer(
        self, shell: Shell, arguments: Arguments, frame: Frame, value: Value, by: tuple[str, ...] = _CALLED
    ) -> Atoms:
        objects = self._run.objects
        for name in by:
            own = objects.own_method(shell, name)
            if own is not None and not self._has_row(own):
                objects.construct(shell)
                return self._run.calls.apply(own, arguments, frame, value)
        return self._call_torch_layer(shell, arguments, frame, value)

    @staticmethod
    def _has_row(own: FunctionRef) -> bool:
        """True if the class that defines a bound `forward` has a row that says what the result's shape is."""
        models = own.receiver.model.mro() if isinstance(own.receiver, Shell) and own.receiver.model is not None else ()
        row = shape_row(models[own.above].name) if own.above < len(models) else None
        return row is not None and gives_shape(row)

    def _call_torch_layer(self, shell: Shell, arguments: Arguments, frame: Frame, value: Value) -> Atoms:
        """The result of a layer whose `forward` is torch's, or that of a trunk."""
        if self._trunks is not None and (known := self._trunks.call(shell, arguments, frame, value)) is not None:
            return known
        given = arguments.argument(0, "input")
        inputs = next(iter(arguments.keywords.values()), UNKNOWN) if given is None else given
        names = class_names(shell)
        if "torch.nn.Sequential" in names:
            return self._through(shell, inputs, frame, value)
        row = self._row_of(shell)
        if row is None:
            is_torch = any(name.startswith("torch.nn.") and name != "torch.nn.Module" for name in names)
            return (Shaped(unknown(self.key_of(value, frame)), "float"),) if is_torch else UNKNOWN
        own = self._constructed_with(shell)
        made = alternatives(own) if self.splits else [own]
        key = self.key_of(value, frame)
        doubts: list[Refused] = []
        taken: list[tuple[Dim, int, Refused]] = []
        refusals: list[tuple[Refused, tuple[Any, ...]]] = []
        self.layers[shell.site] = None
        judge = Judge(elements.weights_of(made[0], is_exact=self._is_exact))
        name_of = self.names_of(shell, frame, value)

        def of_inputs(picked: tuple[Any, ...]) -> Outcome:
            tensor = with_batch(row, picked[0])
            if is_without_batch(row, tensor):
                return None, "float", None
            inputs: dict[Place, Shaped | None] = {"input": tensor, **dict(zip(("target",), picked[2:], strict=False))}
            call = Given(row, picked[1].positional, picked[1], inputs, key, self.tensor_in, self.takes)
            call.name_of = name_of
            try:
                found = result(call)
            except Refused as refused:
                refusals.append((refused, picked))
                raise
            doubts.extend(call.doubts)
            taken.extend(call.taken)
            dtype = judge.of_call(call)
            if "appends" in row.facets:
                rows = picked[1].argument(0, "num_embeddings") or ()
                judge.weigh(doubt_of_counted(value, rows, lambda part: self._run.evaluate(part, frame)), ROWS)
            if isinstance(found, list):
                return [place_sites(one, shell.site) for one in found], dtype, call
            if found is not None and "keeps-shape" not in row.facets:
                found = place_sites(found, shell.site)
            return found, dtype, call

        tensors = list(dict.fromkeys(self.tensor_of(atom) for atom in inputs))
        sides: list[list[Any]] = [tensors, made]
        if row.facets.keys() & {"loses", "classes"}:
            targets = arguments.argument(1, "target") or UNKNOWN
            sides.append([self.tensor_of(atom, is_tensor=False) for atom in targets])
        found = self._try_each(choices_of(sides), of_inputs, frame, value, self.row, shell)  # type: ignore[arg-type]
        self._judge(judge, frame, value, self.row, shell)
        shapes = {None if one is None else (one.shape, one.dtype) for one in tensors}
        is_one = len(shapes) == len(made) == 1
        doubted, doubt = doubts, "sizes"
        if not is_one:
            doubted, doubt = [one for one, _ in refusals] if len(found) == len(refusals) == 1 else [], "side"
        if found and (doubted or (is_one and taken)) and self._is_only_layer(shell, value, frame):
            if is_one:
                self._take_sizes(taken, inputs, frame, value, shell)
            for one in doubted:
                self._refuse(one, frame, value, self.row, shell, doubt)
        if not found and not row.facets.keys().isdisjoint(_KEEPING):
            return tuple(one for one in tensors if one is not None) or UNKNOWN
        if not found and refusals and refusals[0][0].given is not None:  # go on with what the layer makes
            refused, (tensor, *others) = refusals[0]
            fitting = replace(tensor, shape=without_size(tensor.shape, refused.given))
            found = self._try_each([(fitting, *others)], of_inputs, frame, value, (self.row, "on"))  # type: ignore[arg-type]
        made_at = shell.site if self.row is not None else None
        return self._results(found or [(None, "float", None)], row, value, frame, made_at, shell)

    def _is_wrapped(self, function: FunctionRef) -> bool:
        """True for a nested function whose result a decorator may change that nobody reads."""
        code, outer = function.code, None if function.frame is None else function.frame.function
        return isinstance(code, Nested) and outer is not None and has_foreign(code.decorators, outer, self._run.project)

    def names_of(self, shell: Shell, frame: Frame, value: Value) -> Callable[[str], Dim | None] | None:
        """The sizes that attributes of a layer are, for people; None in runs that judge."""
        return None

    def _through(self, shell: Shell, given: Atoms, frame: Frame, value: Value, *, is_called: bool = True) -> Atoms:
        """The result of the layers of a `Sequential`, one after the other."""
        self._run.objects.construct(shell)
        is_plain = shell.model is not None and shell.model.name.startswith("torch.")
        has_more = not is_plain and any(
            isinstance(a, Shell) and a.is_layer for one in shell.stores for a in held_by(one)
        )
        if shell.items is None or has_more:
            return (Shaped(unknown(self.key_of(value, frame))),)
        outer, doubts = self.row, self._doubts
        for number, entry in enumerate(shell.entries):
            self.row = Row(shell, (number,), is_called) if outer is None else outer.inner(number)
            layers = [atom for atom in layers_at(shell, number) if isinstance(atom, Shell) and atom.is_layer]
            self._doubts = doubts + (len(layers) > 1 or bool(entry.path))
            done = join(self.call_layer(layer, Arguments((given,)), frame, value) for layer in layers)
            given = UNKNOWN if not done else join((given, done)) if entry.path else done
        self.row, self._doubts = outer, doubts
        return given

    # -- what is made ----------------------------------------------------------------------------------------------

    def observe(self, occurrence: Occurrence) -> None:
        """Take note of a layer that the root itself makes: how it divides a width, and the layers in a `Sequential`."""
        if isinstance(occurrence, Escaped) and self._trunks is not None:
            self._trunks.escape(occurrence.arguments)
        elif isinstance(occurrence, Stored):
            if occurrence.target.op is Op.INDEX:
                self.saved.note_store(occurrence.target, occurrence.frame)
        elif isinstance(occurrence, Deleted) and occurrence.target.op is Op.INDEX:
            owner, index = (self._run.evaluate(part, occurrence.frame) for part in occurrence.target.args[:2])
            for atom in owner:
                self._take_out(atom, constant_of(index) if len(owner) == 1 else None)
        if not isinstance(occurrence, Made) or len(self._functions) != 1 or self._run.objects.under_construction:
            return
        shell, _, frame, value = occurrence
        row = self._row_of(shell) if frame.function is self._functions[0] else None
        if row is not None and "divided" in row.facets:
            site = Site(value, frame.function)
            for clash in divisions(row, self._constructed_with(shell), site, frame.event, shell):
                self._note(clash, (value, clash))
        elif frame.function is self._functions[0] and "torch.nn.Sequential" in class_names(shell):
            self._rows[shell] = value, frame, frame.event

    def _take_out(self, owner: Atom, at: int | None) -> Atoms | None:
        """Take an element out of a list, or a row of layers; None if these are not known one by one."""
        if not holds(owner) or owner.kind == "dict":
            return None
        items, is_sure = owner.items, not self._run.path and not self._run.loops
        if items is not None and is_sure and at is not None and -len(items) <= at < len(items):
            return owner.pop(at)
        owner.is_exact = False
        return None

    def _call_rows(self) -> None:
        """Call each `Sequential` that the root made with a tensor of unknown shape."""
        for shell, (value, frame, event) in self._rows.items():
            notes = Notes.of_none()
            self._notes.append(notes)
            self._through(shell, (Shaped(unknown(("row", id(value)))),), frame, value, is_called=False)
            self._notes.pop()
            for clash in notes.clashes():
                self._note(clash._replace(event=event), (value, clash))
        self._rows.clear()
        if self._trunks is not None:
            self._call_trunks(self._trunks)

    def _call_trunks(self, trunks: Trunks) -> None:
        """Call each trunk that the root made, and whose parts it replaced, with an image of unknown shape."""
        for value, frame, call in trunks.call_own(self._functions[0]):
            notes = Notes.of_none()
            self._notes.append(notes)
            call()
            self._notes.pop()
            event = frame.flow.circumstances(value)
            for clash in notes.clashes():
                self._note(clash._replace(event=event), (value, clash))

    def trunk_at(self, site: Site) -> str:
        """The network of another package that an expression makes, in words; empty if it makes none."""
        return "" if self._trunks is None else self._trunks.words.get(site.value, "")

    def is_of_root(self, frame: Frame) -> bool:
        """True if code of the root, or of a function of its file that it calls, is run, and no constructor."""
        if not self._functions or self._run.objects.under_construction or frame.function is None:
            return False
        return frame.function.module is self._functions[0].module

    def is_of_root_file(self, code: Function) -> bool:
        """True for a function of the file that the root stands in."""
        return bool(self._functions) and code.module is self._functions[0].module

    # -- functions -------------------------------------------------------------------------------------------------

    def follows(self, function: FunctionRef, arguments: Arguments, relation: str) -> bool:
        return not self._run.objects.under_construction

    def follow(
        self, function: FunctionRef, arguments: Arguments, frame: Frame, value: Value, run: Callable[[], Atoms]
    ) -> Atoms:
        """The result of a function, run once for each kind of arguments; of too many kinds, it is unknown."""
        memo, code = self._run.calls.memo, function_of(function.code)
        if not self._notes and code is not None:
            self._run.eager, self._made = code.module, 0
        given = Arguments(
            tuple(map(few_tensors, arguments.positional)),
            {name: few_tensors(atoms) for name, atoms in arguments.keywords.items()},
            arguments.is_complete,
        )
        is_making = bool(self._run.objects.under_construction)

        def run_once() -> tuple[Atoms, Noted]:
            if code is None or is_making:
                found = run()
                return UNKNOWN if self._is_wrapped(function) else found, Noted()
            is_left_out = self._functions and not self._is_worth_following(code, function, given)
            if is_left_out or not code.words.isdisjoint(_RESHAPING):
                if self._trunks is not None:
                    self._trunks.escape(given)
                return UNKNOWN, Noted()
            own = (code, function.receiver)
            shapes = without_elements(given)  # calls that differ in what the elements are count as one
            if (own, shapes) not in self._counted:
                self._counted.add((own, shapes))
                self._counts.update((own, (code, None)) if function.receiver is not None else (own,))
            is_many = self._counts[code, None] > _MAX_CALLS
            is_short = function.receiver is None or len(code.flow.events) <= _FEW_EVENTS
            is_many = is_many or (not is_short and self._counts[own] > _MAX_OF_OBJECT)
            if is_many and self._functions:
                if self._trunks is not None:
                    self._trunks.escape(given)
                return UNKNOWN, Noted()
            notes = Notes.of_none()
            row, self.row = self.row, None
            if len(self._functions) == 1:
                self._certain = len(self._run.path)
            self._functions.append(code)
            self._notes.append(notes)
            self.saved.begin(code)
            found = run()
            if len(self._functions) == 1:
                self._call_rows()
                self._judge_result(code, found)
            effects = self.saved.end(code)
            self._notes.pop()
            self._functions.pop()
            self.row = row
            return found, notes.summary(self._run.path, effects)

        key = memo.key(function, given)
        if function.receiver is not None and code is not None and (is_making or self._is_constructor):
            self._changes += changes_itself(code)
            key = key, self._changes  # what it gives may depend on what was done to the object before
        if self._trunks is not None and key in self._trunks.shared:
            key = key, frame.trail, id(value)  # each call makes a trunk of its own, which its caller may change
        known = memo.once(key, given, run_once)
        if self._trunks is not None:
            self._trunks.note_made(key, known.atoms)
        if not self._notes:
            self.clashes.update(dict.fromkeys(known.noted.clashes))
        elif any(known.noted) and not is_making and not self._is_one_of_several(value, frame):
            place = value if self.row is None or self.row.is_called else self.row.element(value)
            step = Site(place, frame.function)
            owners = owners_of(map(self.tensor_in, given.all())) if known.noted.taken else ()
            for size, clash in known.noted.taken:
                if all(symbol.owner in owners for symbol in size.symbols):
                    self._take_size(size, clash._replace(steps=(step, *clash.steps)))
            if known.noted.effects and code is not None:
                self.saved.pass_on(known.noted.effects, code, arguments, value, frame)
            for clash in known.noted.clashes:
                inputs = clash.inputs if clash.steps or code is None else tensors_given(code, given)
                passed = clash._replace(steps=(step, *clash.steps), inputs=inputs)
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

    def ways_of(self, row: Operator, call: Value, frame: Frame) -> int:
        """The number of layers of torch one of which a call runs, 1 for any other operator; 0 if it may run another."""
        if row.name.startswith("Tensor."):
            return 1
        if self._doubts or not self._is_one_of_several(call, frame):
            return not self._doubts
        return len(self._run.evaluate(call.callee, frame)) if self._are_layers_of_torch(call, frame) else 0

    def _are_layers_of_torch(self, call: Value, frame: Frame) -> bool:
        """True if each object that a call may run is a layer of torch, so that each is judged at this call."""
        callee = self._run.evaluate(call.callee, frame) if call.op is Op.CALL else ()
        layers = [atom for atom in callee if isinstance(atom, Shell) and self._row_of(atom) is not None]
        own = self._run.objects.own_method
        return bool(callee) and len(layers) == len(callee) and all(own(layer, "forward") is None for layer in layers)

    def _is_worth_following(self, code: Function, function: FunctionRef, arguments: Arguments) -> bool:
        """True for functions of the root's file, and for those of one other file that are short or given tensors.

        An argument of the root may be a tensor, which counts for a layer that the root calls itself.
        """
        home = self._functions[0].module
        if code.module is home:
            return True
        is_layer = isinstance(function.receiver, Shell) and function.receiver.is_layer
        if not is_layer and any(one.module is not home and one.module is not code.module for one in self._functions):
            return False
        if function.receiver is None and len(code.flow.events) <= _MAX_EVENTS:
            return True
        kinds = (Shaped, ShapeOf, SymbolicInput) if is_layer and len(self._functions) == 1 else (Shaped, ShapeOf)
        return any(isinstance(atom, kinds) for atoms in arguments.all() for atom in atoms)

    def state(self) -> Hashable:
        return bool(self._run.objects.under_construction) + 2 * self._is_quiet()  # a number can be kept for later runs

    @property
    def is_still(self) -> bool:
        """True if no gradients are recorded, by a context or by the decorator of a function under way."""
        return self.saved.still > 0 or self._is_quiet()

    def _is_quiet(self) -> bool:
        """True if no gradients are recorded: under `torch.no_grad()` or `torch.inference_mode()`."""
        return any(self._records_nothing(value, frame) for value, frame in self._run.contexts)

    def _records_nothing(self, context: Value, frame: Frame) -> bool:
        known = self._quiet.get(id(context))
        if known is None:
            module = None if frame.function is None else frame.function.module
            known = module is not None and records_nothing(context, module, self._run.project)
            self._quiet[id(context)] = known
        return known

    def matters(self, event: Event, frame: Frame) -> bool:
        kind = event.kind
        if kind is EventKind.DELETE:
            return event.target is not None and event.target.op is Op.INDEX
        if kind is EventKind.COMPARE:
            return False
        if kind is EventKind.RAISE:
            return event.guard is None
        if kind is EventKind.CALL and self._run.objects.under_construction:
            is_helper = frame.function is not None and frame.function.name != "__init__"
            before = frame.flow.once(calls_before_calls if is_helper else calls_before_stores)
            if id(event.value) in before:
                return True
            changes = id(event.value) in frame.flow.once(object_changing)
            return changes and not self._run.objects.puts_off(event, frame, lambda module: module is self._run.eager)
        return True

    # -- notes -----------------------------------------------------------------------------------------------------

    def key_of(self, value: Value, frame: Frame) -> Hashable:
        return frame.trail, id(value)

    def _place(self, value: Value, frame: Frame, about: object, *, is_open: bool = False) -> NotePlace:
        """The key of a note. `is_open`: a later turn of a loop may be the first one that gets there."""
        is_first = any(turn.is_first for turn in self._turns)
        return NotePlace(self.key_of(value, frame), about, "perhaps" if is_open else "first" if is_first else "any")

    def _refuse(
        self,
        refused: Refused,
        frame: Frame,
        value: Value,
        about: object = None,
        layer: Shell | None = None,
        doubt: str = "",
    ) -> None:
        if len(self._functions) > 1 and len(self._run.path) > self._certain:
            return  # arguments may decide together what is run, and with which shapes
        if self._notes and frame.function is not None:
            site, event = Site(value, frame.function), frame.flow.circumstances(value) or frame.event
            left, right = map(side_of, (refused.left, refused.right))
            clash = Clash(refused.kind, left, right, refused.given, site, event, layer, doubt=doubt, row=self.row)
            is_open = any(turn.is_first and len(self._run.path) > turn.conditions for turn in self._turns)
            place = self._place(value, frame, about, is_open=is_open)
            self._note(clash, (place, doubt) if doubt else place)

    def _take_sizes(
        self, taken: list[tuple[Dim, int, Refused]], inputs: Atoms, frame: Frame, value: Value, layer: Shell
    ) -> None:
        """Note the sizes that a layer takes of a tensor, where that has none that is known."""
        if not taken or not self._notes or frame.function is None or frame.is_nested or self._doubts:
            return  # a function inside of another one may be one of several, or never be called
        if self._is_one_of_several(value, frame):
            return
        operand = self._operand_value(value, inputs, frame)
        for dim, place, fitting in taken:
            site, event = Site(value, frame.function), frame.flow.circumstances(value) or frame.event
            shape = place_sites(fitting.left, layer.site)  # type: ignore[arg-type]
            clash = Clash(fitting.kind, shape, fitting.right, None, site, event, layer, row=self.row)
            if operand is not None:
                self._take_size((frame.trail, id(operand), place), clash)
            if dim.size is not None and all(map(is_of_input, dim.size.symbols)):
                self._take_size(dim.size, clash)

    def _operand_value(self, call: Value, inputs: Atoms, frame: Frame) -> Value | None:
        """The expression whose value a layer is called with: one value in each run of a body, but for loops."""
        if call.op is not Op.CALL or call.has_unpacking or (self.row is not None and any(self.row.place)):
            return None
        operand = call.argument(0, "input")
        return operand if operand is not None and self._run.evaluate(operand, frame) == inputs else None

    def _take_size(self, key: Hashable, clash: Clash) -> None:
        """Note a size that a layer takes of a dimension: torch refuses it where another layer takes another one."""
        path = self._run.path
        if self._turns or self._run.loops or (len(self._functions) > 1 and len(path) > self._certain):
            return
        taken = self._notes[-1].taken
        known = taken.setdefault((key, path), clash)
        if known is not None and clash.takes_other_than(known):
            taken[key, path] = None
            self._note(clash.beside(known), (key, path, clash.site))

    def refuse_change(self, kept: Kept, by: str, value: Value, frame: Frame, *, is_late: bool = False) -> None:
        """Note that a tensor is changed in place before the backward pass needs it; `is_late`: as is known by now."""
        self._refuse(Refused(CHANGED, kept, by), frame, value, (CHANGED, is_late))

    def allow_change(self, value: Value, frame: Frame) -> None:
        """Note that an operator may change a tensor that nothing keeps."""
        self._allow(frame, value, (CHANGED, False))

    def _note(self, clash: Clash, key: Hashable) -> None:
        self._notes[-1].refused.setdefault(key, clash)

    def _allow(self, frame: Frame, value: Value, about: object = None) -> None:
        if self._notes:
            self._notes[-1].allowed.add(self._place(value, frame, about))


@cache
def _takes_nothing(name: str) -> bool:
    """True for a method of tensors that takes no arguments."""
    known = signature(f"Tensor.{name}")
    return known is not None and not any(overload.parameters for overload in known.overloads)
