"""The theory of tensors: the sizes of their dimensions, and abstract elements.

An operator's row (`modellint.operators`) describes its effect; this module is its transfer function on atoms. An
operator without a row, or one that limits ids in a way that is not modelled, gives a tensor with nothing known of it.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

from modellint import operators
from modellint.flow import elements, sizes
from modellint.flow.domain import (
    PLAIN,
    Arguments,
    Constant,
    Counter,
    Filler,
    Ids,
    Length,
    Plain,
    Real,
    Shape,
    Site,
    SymbolicInput,
    Tensor,
    Unknown,
    constant,
    join,
    length_in,
    map_join,
    size_of,
    text,
)
from modellint.flow.heap import TENSORS, Shell, tensors_in
from modellint.flow.narrowing import COMPARISONS, Narrowing, have_real, says_something
from modellint.flow.operation import Operation, constant_in, counted_end, counted_sizes, joined_along, literals
from modellint.flow.running_totals import counts_elements, is_of_mask
from modellint.flow.sinks import Sink
from modellint.flow.subscripts import Subscripts, is_negative, is_whole
from modellint.flow.theory import Mode, Theory
from modellint.flow.unpassed import asked_for, field_of
from modellint.graph.immutable import replace
from modellint.graph.python import alternatives
from modellint.graph.size import Size, excess
from modellint.graph.value import EventKind, InPlace, Op, PathCondition, subscripts
from modellint.link.names import External

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator

    from modellint.flow.domain import Atom, Atoms, Positions, Sizes
    from modellint.flow.frame import Frame
    from modellint.flow.interp import Interpreter
    from modellint.flow.running_totals import Within
    from modellint.graph.methods import Method
    from modellint.graph.value import Parameter, Value
    from modellint.link.classes.models import ClassModel
    from modellint.operators import Operator

_NOTHING = Tensor()
#: The bounds of slices that begin with the first element.
_FROM_START = (Constant(None), Constant(0))
#: Dimensions along which scores stand: the last one, by default or by its number.
_LAST = (-1, None, 1, 2)
#: The parameter names of a function's operand.
_OPERANDS = ("input", "tensors", "sequences")
#: Facets of operators that keep the last dimension.
_SAME_WIDTH = frozenset(("same-shape", "squeezes", "unsqueezes"))
#: Facets of operators that return their operand unchanged.
_UNCHANGED = frozenset(("passed", "same-shape"))
#: Functions that round a number.
_ROUNDING = operators.functions("rounds")
#: Attributes and methods by which code tells ids from features.
_KINDS = frozenset(("dtype", "is_floating_point", "ndim", "dim"))
#: Operators that make real numbers of any, or may do.
_MAKING_REAL = frozenset(("/", "@"))
_ARITHMETIC = frozenset(("+", "-", "*", "%", "/", "//", "**"))


class Refinement:
    """Base of theories that override methods of `Tensors` to know more of tensors and numbers.

    `inner` has the overridden methods as they were before.
    """

    inner: Tensors


#: The methods of `Tensors` that a refinement may override.
_REFINED = (
    "after_picking", "are_known", "arithmetic", "behind", "cut", "function", "gives_sizes", "is_number", "joined",
    "layer", "length", "method", "shape", "sized", "subscripted",
)  # fmt: skip


class Tensors(Theory):
    """The theory of one run: applies operators to tensors, and tells its sinks of look-ups."""

    mode = Mode(events=(EventKind.INDEX,), keeps=(SymbolicInput, Unknown), names_parts=True)
    observes = ()

    def __init__(self, run: Interpreter) -> None:
        self._run = run
        #: The sinks, which are told of look-ups and of changes of elements.
        self.sinks: tuple[Sink, ...] = ()
        #: The union of what the sinks ask for.
        self.follows_everything = False
        self.alike = Sink.alike
        #: The sinks that are told of calls of torch's layers.
        self.working: tuple[Sink, ...] = ()
        self._subscripts = Subscripts(run)
        #: The tests of elements by path conditions.
        self.tests = Narrowing(run, self._take_out)

    def add(self, sink: Sink) -> None:
        """Add a sink."""
        self.sinks += (sink,)
        self.follows_everything = self.follows_everything or sink.follows_everything
        self.working += (sink,) if type(sink).at_work is not Sink.at_work else ()
        self.alike = tuple(kind for kind in self.alike if kind in sink.alike)

    def refine(self, refinement: Refinement) -> None:
        """Replace methods of this theory by those that a refinement overrides."""
        refinement.inner = cast("Tensors", SimpleNamespace(**{name: getattr(self, name) for name in _REFINED}))
        self.__dict__.update({name: getattr(refinement, name) for name in _REFINED if hasattr(refinement, name)})

    def indexed(self, table: Atom, index: Atoms, frame: Frame, value: Value, *, takes_real: bool = True) -> None:
        """Tell the sinks that an index is applied to a table."""
        for sink in self.sinks:
            sink.indexed(table, index, frame, value, takes_real=takes_real)

    # -- names and attributes --------------------------------------------------------------------------------------

    def parameter(self, parameter: Parameter, code: Method, frame: Frame) -> Atoms:
        for part in alternatives(parameter.annotation) if parameter.annotation is not None else ():
            definition = code.scope.definition(part)
            is_shape = isinstance(definition, External) and definition.name == "torch.Size"
            if is_shape and frame.function is not None:
                return self.shape(SymbolicInput(parameter.name), Site(part, frame.function))
        return asked_for(self._run, parameter, code, frame)

    def load(self, atoms: Atoms, owner: Shell | ClassModel, name: str | None) -> Atoms:
        return atoms if isinstance(owner, Shell) or name is None else field_of(owner, name, atoms)

    def store(self, atoms: Atoms, shell: Shell, frame: Frame, target: Value | None, value: Value | None) -> Atoms:
        is_placed = value is not None and frame.function is not None
        return sizes.kept(atoms, Site(value, frame.function)) if is_placed and value is not None else atoms

    def attribute(self, atom: Atom, name: str, frame: Frame | None, value: Value | None) -> Atoms | None:
        if self.gives_sizes(name) and isinstance(atom, SymbolicInput | Unknown | Plain | Tensor):
            if frame is None or frame.function is None or value is None:
                return PLAIN
            return self.shape(atom, Site(value, frame.function))
        return self.of_tensor(atom, name) if isinstance(atom, Tensor) else None

    # -- calls ---------------------------------------------------------------------------------------------------

    def method(self, atom: Atom, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        """The result of `tensor.name(…)`; None if unknown."""
        if isinstance(atom, Shell) and atom.kind == "distribution":
            is_sampled = operators.row(f"Categorical.{name}") is not None
            return join(self._sample(a, value, frame) for a in atom.get("scores") or ()) if is_sampled else None
        row = operators.row(f"Tensor.{name}")
        if row is not None and isinstance(atom, Shell) and atom.kind in TENSORS:
            is_same = row.facets.keys() >= _UNCHANGED and self.follows_everything
            atom = Tensor(sizes=sizes.of((atom,)), made=atom.site) if is_same else atom
        if row is None or not isinstance(atom, Tensor | SymbolicInput | Unknown | Plain):
            return self._product(row, (atom,), arguments, Site(value, frame.function))
        if isinstance(atom, Tensor) and name in _KINDS and atom.real is not None:
            return (_asked_for_kind(atom.real),)
        if name == "size":
            shape, dim = self.shape(atom, Site(value, frame.function)), arguments.argument(0, "dim")
            return shape if dim is None else join(sizes.measured(one, dim) for one in shape if isinstance(one, Shape))
        if "counts" in row.facets and not _is_cut(atom):
            return (self.length(Site(value, frame.function), (atom,)),)
        told = arguments.positional if "sizes" in row.facets else ()
        operation = Operation(row, arguments, 1, told, frame, value)
        if "ids" in row.facets:
            self._look_up(row, replace(arguments, positional=((atom,), *arguments.positional)), frame, value)
        return self._apply(atom, operation) if isinstance(atom, Tensor) else self._from_unknown(operation)

    def function(self, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        """The result of `torch.name(…)` or `int(…)`; None if unknown."""
        row = operators.row(name) or operators.row(name.removeprefix("torch."))
        if row is None:
            return None
        if "distribution" in row.facets:
            made = self._run.shell("distribution", value, frame)
            made.set("scores", arguments.argument(0, "probs") or arguments.argument(1, "logits") or ())
            return (made,)
        if "counted" in row.facets and row.name == "builtins.range":
            return None
        told = arguments.positional[1:] if "sizes" in row.facets else ()
        operation = Operation(row, arguments, 0, told, frame, value)
        if "sized" in row.facets:
            return (self.sized(operation),)
        if "ids" in row.facets:
            self._look_up(row, arguments, frame, value)
        if "judges" in row.facets:
            ignored = arguments.argument(*(row.argument("ignores") or (0, "")))
            for sink in self.sinks:
                sink.judged(row, arguments, ignored, frame, value)
        operand = next((found for name in _OPERANDS if (found := arguments.argument(0, name)) is not None), None)
        given = [*tensors_in(operand or ())]
        if "chooses" in row.facets and len(arguments.positional) == 3:
            return self._where(operation, (0, "condition"), (1, "input"), (2, "other"))
        if "subscripts" in row.facets and arguments.positional:
            return self._einsum(operation)
        length = self._length(operation, operand or ())
        if length is not None:
            return (length,)
        if row.name == "builtins.int" and (given or size_of(operand) is not None):
            return tuple(replace(tensor, real=None) for tensor in given) or operand
        if row.name.startswith("builtins.") or row.name.startswith("copy."):
            return None
        if "literal" in row.facets:
            made_of = self._literal(operation, operand or ())
            if made_of is not None:
                return made_of
        if not given:
            return self._from_unknown(operation)
        if "stacks" in row.facets or "joins" in row.facets:
            return (*self.joined(row, operand or (), arguments),)
        return join(self._apply(tensor, operation) for tensor in given)

    def _from_unknown(self, operation: Operation) -> Atoms | None:
        """The result of an operator on an unknown operand; None if nothing is known of it, either."""
        row = operation.row
        if not row.facets.keys() & elements.MAKING and not elements.is_float(row, operation.arguments):
            return None
        if "product" in row.facets:
            return self._product(row, (), operation.arguments, operation.site)
        found = self._apply(_NOTHING, operation)
        return found if any(says_something(atom) for atom in found) else None

    def _look_up(self, row: Operator, arguments: Arguments, frame: Frame, value: Value) -> None:
        """`F.embedding(ids, weight)`, `torch.index_select(table, 0, ids)`: rows are picked along dimension 0 only."""
        position, name = row.argument("ids") or (0, "")
        tables = arguments.argument(0, "input") if position else arguments.argument(1, "weight")
        ids = arguments.argument(position, name)
        if position > 1 and constant(arguments.argument(1, "dim") or ()) != Constant(0):
            tables = tuple(replace(atom, sizes=None) if isinstance(atom, Tensor) else atom for atom in tables or ())
        if ids is None:
            return
        for atom in tables or ():
            self.indexed(atom, ids, frame, value, takes_real="real" not in row.facets)

    @staticmethod
    def sized(operation: Operation) -> Tensor:
        """`torch.randn(rows, columns)`."""
        row, arguments = operation.row, operation.arguments
        given = arguments.positional[:1] if row.facets["sized"] == "tuple" else arguments.positional
        if "size" in arguments.keywords:
            given = (arguments.keywords["size"],)
        first = given[0] if given else ()
        found = _NOTHING
        is_listed = len(given) == 1 and any(isinstance(atom, Shell) and atom.is_container for atom in first)
        if is_listed and "literal" in row.facets:
            return Tensor(fillers=literals(operation))
        is_display = is_listed and len(first) == 1 and getattr(first[0], "is_exact", False)
        if arguments.is_complete and given and not (is_display and "passed" in row.facets):
            known = tuple(map(sizes.side, sizes.numbers(given)))
            found = Tensor(sizes=known or None, made=operation.site)
        is_real = "real" in row.facets or elements.is_float(row, arguments)
        real = Real(operation.site) if is_real and "fill" not in row.facets else None
        return replace(found, fillers=operation.fillers(row.argument("fill")), real=real)

    def _literal(self, operation: Operation, operand: Atoms) -> Atoms | None:
        """The result of `torch.tensor([[0, bos]])`; None if the argument isn't a display of numbers."""
        fillers = literals(operation)
        if not fillers:
            return None
        if elements.is_float(operation.row, operation.arguments):
            return (Tensor(real=Real(operation.site, is_computed=True)),)
        return (Tensor(fillers=fillers), *(replace(t, sizes=None, made=None) for t in tensors_in(operand)))

    def _apply(self, tensor: Tensor, operation: Operation) -> Atoms:
        """The result of an operator on a tensor."""
        row, arguments, get = operation.row, operation.arguments, operation.get
        facets = row.facets
        along = get(row.argument("along"))
        if "pair" in facets and not ("extreme" in facets and constant(along or ()) is None):
            return self._pair(tensor, along, operation)
        if "drawn" in facets:
            return (self._draw_ids(tensor, along, operation.site),)
        if "like" in facets and facets["like"] in _ARITHMETIC:
            is_rounded = constant(arguments.keywords.get("rounding_mode", ())) not in (None, Constant(None))
            operator = "//" if facets["like"] == "/" and is_rounded else facets["like"]
            return self.arithmetic(operator, (tensor,), get((1, "other")) or PLAIN, operation.site)
        if "like" in facets and facets["like"] in COMPARISONS:
            return self.comparison_mask((tensor,), get((1, "other")) or PLAIN)
        if "product" in facets:
            found = self._product(row, (tensor,), arguments, operation.site) or (_NOTHING,)
            return self._outer(found, operation, tensor) if "spreads" in facets else found
        if "chooses" in facets:
            return self._where(operation, (1, "condition"), None, (2, "other"), tensor)
        fillers = operation.fillers(row.argument("fill"))
        mask = get(row.argument("mask"))
        if facets.keys() & {"limit", "below", "lift"}:
            self._take_out(tensor.fillers)
        if tensor.positions is not None and fillers:
            for sink in self.sinks:
                sink.note_padded(tensor, fillers, operation.frame)
        if mask is not None:
            self._take_out(tensor.fillers)
            return (replace(self._mask_fill(tensor, mask), fillers=fillers),)
        left = elements.result_elements(row, tensor, operation.site, arguments)
        if "counted" in facets and left.positions is not None:
            left = replace(left, positions=self._counted_up(left.positions, operation))
        elif left.positions is not None and left.positions.is_total and left.positions.origin == operation.site:
            left = replace(left, positions=self._total(left.positions, tensor.most, operation))
        if facets.keys() & {"limit", "below", "lift"}:
            left = replace(left, ids=self._limit_ids(operation, tensor.ids))
        width = tensor.width if self._keeps_width(tensor, operation, along) else None
        sides = self._sizes_after(tensor, operation)
        if operation.sizes:
            width = size_of(operation.sizes[-1])
            width = None if width is None or is_negative(width) else width
        is_mask = "passed" in facets or "like" in facets
        return (
            replace(
                left,
                width=width,
                sizes=sides,
                made=tensor.made if facets.keys() >= _UNCHANGED else left.made,
                head=None if width is None else tensor.head,
                fillers=(*left.fillers, *fillers),
                compared=tensor.compared if is_mask else frozenset(),
                is_conditional=tensor.is_conditional,
                is_cut=tensor.is_cut,
                most=tensor.most if "same-shape" in facets else None,
            ),
        )

    def _outer(self, found: Atoms, operation: Operation, tensor: Tensor) -> Atoms:
        """An outer product: the sizes of the first operand, followed by those of the second."""
        other = sizes.of(operation.get((1, "vec2")) or ())
        sides = None if tensor.sizes is None or other is None else (*tensor.sizes, *other)
        return tuple(replace(atom, sizes=sides) if isinstance(atom, Tensor) else atom for atom in found)

    def _einsum(self, operation: Operation) -> Atoms | None:
        """The result of an `einsum` that is an outer product; None for others."""
        equation, *operands = operation.arguments.positional
        if len(operands) != 2 or not sizes.is_outer(equation):
            return None
        first, second = map(sizes.of, operands)
        sides = None if first is None or second is None else (*first, *second)
        real = Real(operation.site, True) if any(map(elements.is_real, (*operands[0], *operands[1]))) else None
        return (Tensor(real=real, sizes=sides),)

    @staticmethod
    def _sizes_after(tensor: Tensor, operation: Operation) -> Sizes | None:
        """The sizes of an operator's result; None if unknown."""
        row, arguments = operation.row, operation.arguments
        if operation.sizes:
            before = tensor.sizes if row.name.endswith(".expand") else None
            return sizes.viewed(operation.sizes, operation.site, before) if arguments.is_complete else None
        if "counted" in row.facets:
            return counted_sizes(arguments)
        if "flat" in row.facets:
            return (None,)
        return sizes.after(row, tensor.sizes, lambda at, name: arguments.argument(at + 1 - operation.first, name))

    @staticmethod
    def _keeps_width(tensor: Tensor, operation: Operation, along: Atoms | None) -> bool:
        """True if an operator keeps the last dimension."""
        row, get = operation.row, operation.get
        if row.facets.keys() & _SAME_WIDTH:
            return True
        if "flattens" in row.facets:
            first, last = (constant(get((at, name)) or ()) for at, name in ((1, "start_dim"), (2, "end_dim")))
            return first is not None and last is not None and first.value == 0 and last.value in (1, -2)
        if "reduces" not in row.facets:
            return False
        known = constant(along or ())
        at_end = None if tensor.sizes is None else len(tensor.sizes) - 1
        return known is not None and known.value not in (None, -1, at_end)

    @staticmethod
    def _limit_ids(operation: Operation, ids: Ids | None) -> Ids | None:
        """Ids after `clamp`, `minimum` or `remainder`: with the lower of both bounds; None if the limit is unknown."""
        row = operation.row
        given = operation.get(row.argument("below") or row.argument("limit"))
        if ids is None or given is None:
            return ids
        size = size_of(given)
        if size is None:
            return None
        bound = size if "below" in row.facets else size + Size.of(1)
        return ids if (excess(bound, ids.bound) or 0) > 0 else replace(ids, bound=bound)

    def _pair(self, tensor: Tensor, along: Atoms | None, operation: Operation) -> Atoms:
        """The pair of values and indices along a dimension, as `max` and `topk` return it."""
        picked = replace(tensor, width=None, head=None)
        drawn = self._draw_ids(tensor, along, operation.site)
        made = self._run.sequence("tuple", ((picked,), (drawn,)), operation.value, operation.frame, "pair")
        made.set("values", (picked,))
        made.set("indices", (drawn,))
        return (made,)

    @staticmethod
    def _draw_ids(scores: Tensor, along: Atoms | None, origin: Site) -> Tensor:
        """Ids drawn from the classes of scores along the last dimension; an unknown tensor for other dimensions."""
        known = constant(along) if along is not None else Constant(-1)
        if scores.width is None or known is None or known.value not in _LAST:
            return _NOTHING
        return Tensor(ids=Ids(scores.width, origin, scores.head), is_conditional=scores.is_conditional)

    def _sample(self, scores: Atom, value: Value, frame: Frame) -> Atoms:
        if not isinstance(scores, Tensor):
            return PLAIN
        return (self._draw_ids(scores, None, Site(value, frame.function)),)

    def joined(self, row: Operator, operand: Atoms, arguments: Arguments) -> Iterator[Tensor]:
        """The tensors of a `cat` or `stack`: one for the elements of each operand, with the sizes of the result."""
        along = joined_along(arguments)
        to = along if "joins" in row.facets else None
        is_front = along == 0 or (along == 1 and "stacks" in row.facets)
        members = [a for atom in operand for a in (atom.contents() if isinstance(atom, Shell) else (atom,))]
        widths = {member.width if isinstance(member, Tensor) else None for member in members}
        sides = sizes.joined(row, operand, along)
        for tensor in tensors_in(operand):
            width = tensor.width if is_front and len(widths) == 1 else None
            head = tensor.head if width is not None else None
            yield replace(tensor, width=width, head=head, sizes=sides, made=None, joined=to)

    def _where(
        self,
        operation: Operation,
        condition: tuple[int, str],
        first: tuple[int, str] | None,
        second: tuple[int, str],
        tensor: Tensor = _NOTHING,
    ) -> Atoms:
        """`torch.where(mask, x, y)`, `tensor.where(mask, y)`: drops the elements that the mask compares."""
        mask = operation.get(condition) or PLAIN
        options = [(tensor,) if first is None else operation.get(first) or (), operation.get(second) or ()]
        kept = [tuple(self._apart(t, mask) for t in tensors_in(atoms)) for atoms in options]
        self._take_out([filler for tensors in kept for t in tensors for filler in t.fillers])
        fillers = operation.fillers(first, second)
        written = ((Tensor(fillers=fillers),) if fillers else (),)
        return join([*(tuple(replace(t, fillers=()) for t in atoms) for atoms in kept), *written, PLAIN])

    def _product(self, row: Operator | None, operand: Atoms, arguments: Arguments, made: Site) -> Atoms | None:
        """A matrix product with a real or learned operand, as real numbers; None for anything else."""
        if row is None or "product" not in row.facets:
            return None
        atoms = [*operand, *(atom for given in arguments.all() for atom in given)]
        return (Tensor(real=Real(made, is_computed=True)),) if any(map(elements.is_real, atoms)) else None

    def _take_out(self, fillers: Iterable[Filler]) -> None:
        """Tell the sinks that constants are no longer among elements."""
        gone = tuple(fillers)
        for sink in self.sinks if gone else ():
            sink.note_taken_out(gone)

    def _apart(self, tensor: Tensor, mask: Atoms) -> Tensor:
        """A tensor without the elements that a mask compares."""
        if tensor.positions is not None:
            tensor = replace(tensor, positions=replace(tensor.positions, end=None))
        compared = {key for m in tensors_in(mask) for key in m.compared}
        if not compared:
            return tensor
        is_limited = tensor.ids is not None and tensor.ids.key in compared
        self._take_out(filler for filler in tensor.fillers if filler.key in compared)
        fillers = tuple(f for f in tensor.fillers if f.key not in compared)
        return replace(tensor, ids=None if is_limited else tensor.ids, fillers=fillers)

    def _mask_fill(self, tensor: Tensor, mask: Atoms) -> Tensor:
        """A tensor after `masked_fill`: without the elements that the mask compares, and without constants.

        A mask made elsewhere may mark the constants. Only a mask of the scores themselves keeps the width and head, as
        every class stays possible for some input.
        """
        apart = replace(self._apart(tensor, mask), fillers=())
        if tensor.head is not None and any(tensor.head in m.compared for m in tensors_in(mask)):
            return apart
        return replace(apart, width=None, head=None)

    # -- layers --------------------------------------------------------------------------------------------------

    def layer(self, shell: Shell, row: Operator | None, given: Atoms | None, frame: Frame, value: Value) -> Atoms:
        """The result of a layer of torch; a layer without a row gives real numbers."""
        tensor = next(iter(tensors_in(given or ())), _NOTHING)
        if row is not None and "passed" in row.facets:
            return (replace(tensor, made=None),)
        real = Real(Site(value, frame.function)) if row is None or "real" in row.facets else None
        made = Tensor(real=real)
        if row is None:
            return (made,)
        if "recurrent" in row.facets:
            return (self._run.sequence("tuple", ((made,), (made,)), value, frame, "recurrent"),)
        if "makes-width" in row.facets or "table" in row.facets:
            width = size_of(self.argument(shell, row.argument("makes-width") or (1, "embedding_dim")))
            return (replace(made, width=width, head=shell.site),)
        if "same-shape" in row.facets:
            made = replace(made, sizes=tensor.sizes, width=tensor.width, head=tensor.head)
            return (replace(made, is_conditional=tensor.is_conditional, is_cut=tensor.is_cut),)
        return (made,)

    def argument(self, shell: Shell, argument: tuple[int, str] | None) -> Atoms | None:
        """An argument of torch's constructor for a layer of a torch class or a subclass of one; None if unknown."""
        if argument is None or shell.model is None:
            return None
        if not shell.model.name.startswith("torch."):
            self._run.objects.construct(shell)
        elif shell.passed is None:
            shell.passed = shell.arguments
        passed = shell.arguments if shell.passed is None else shell.passed
        return passed.argument(*argument)

    # -- expressions ---------------------------------------------------------------------------------------------

    def operator(self, value: Value, operands: list[Atoms], frame: Frame) -> Atoms | None:
        op = value.op
        if op is Op.INDEX:
            return None
        if op is Op.BIN:
            return self._binary(value, operands[0], operands[1], frame)
        if op is Op.COMPARE:
            return self.comparison_mask(*operands)
        if op is Op.CHOICE:
            return self._choice(value, operands, frame)
        if op is Op.UPDATE:
            return map_join(operands[0], self.after_assignment, value, frame)
        return self._unary(value, operands[0])

    @staticmethod
    def _unary(value: Value, operand: Atoms) -> Atoms | None:
        negative = sizes.negative(value, operand)
        if negative is not None or not any(isinstance(atom, Tensor) for atom in operand):
            return negative
        return tuple(elements.of_second(value.data, atom) if isinstance(atom, Tensor) else atom for atom in operand)

    def _binary(self, value: Value, left: Atoms, right: Atoms, frame: Frame) -> Atoms | None:
        is_growing = isinstance(value.data, InPlace) and value.data in ("+", "|") and not self.is_number(left)
        if is_growing or _is_of_lists(value, left, right):
            return None
        if not (value.data in _MAKING_REAL or self.are_known(left, right)):
            return None
        found = self.arithmetic(str(value.data), left, right, Site(value, frame.function))
        if value.data != "*" or frame.function is None:
            return found
        return _position_by_mask(found, value, (frame.function.module, self._run.project.names))

    def _choice(self, value: Value, branches: list[Atoms], frame: Frame) -> Atoms:
        kept = [self._run.behind(atoms, frame, PathCondition(value.data, at == 0)) for at, atoms in enumerate(branches)]
        return self.tests.one_of(kept, value.data, frame)

    def arithmetic(self, operator: str, left: Atoms, right: Atoms, made: Site) -> Atoms:
        """The result of arithmetic on tensors, symbolic sizes, lengths and counters."""
        first, second = size_of(left), size_of(right)
        if first is not None and second is not None and operator != "/":
            found = first.calculated(operator, second)
            return PLAIN if found is None else (sizes.number(found),)
        length = length_in((left, right))
        if length is not None and not (*tensors_in(left), *tensors_in(right)):
            by = size_of(right) or size_of(left)
            is_more = operator == "+" and by is not None and by.constant is not None and by.constant > 0
            return (replace(length, is_made=True, is_more=length.is_more or is_more),)
        if operator == "@":
            return (Tensor(real=Real(made, True)) if any(map(elements.is_real, (*left, *right))) else _NOTHING,)
        if any(isinstance(atom, Counter) for atom in (*left, *right)) and not (*tensors_in(left), *tensors_in(right)):
            return (Counter(),) if operator == "*" else PLAIN
        moved = [self._shift(operator, t, right) for t in left if isinstance(t, Tensor)]
        moved += [
            self._shift(operator, t, left) if operator == "+" else elements.of_second(operator, t)
            for t in right
            if isinstance(t, Tensor)
        ]
        if operator == "/":
            real = Real(made, is_computed=True)
            moved = [replace(t, ids=None, fillers=(), positions=None, real=real) for t in moved or [_NOTHING]]
        sides = sizes.broadcast(sizes.of(left), sizes.of(right))
        moved = [replace(t, sizes=sides, made=None) for t in moved]
        return tuple(dict.fromkeys(t for t in moved if t != _NOTHING)) or (_NOTHING,)

    def _shift(self, operator: str, tensor: Tensor, other: Atoms) -> Tensor:
        by = Size.of(0) if any(isinstance(atom, Counter) for atom in other) else size_of(other)
        if operator == "*" and by is None:  # it may be the mask that marks them
            self._take_out(tensor.fillers)
        shifted = elements.after_arithmetic(operator, tensor, by)
        compared = tensor.compared.union(*(t.compared for t in tensors_in(other)))
        return replace(shifted, compared=compared if operator in ("&", "|", "^") else frozenset())

    def comparison_mask(self, left: Atoms, right: Atoms) -> Atoms:
        """The result of a comparison: a mask with the keys of the elements that it compares."""
        keys: set[Hashable] = set()
        for side, other in ((left, right), (right, left)):
            for tensor in tensors_in(side):
                keys |= tensor.compared
                keys.update(element.key for element in tensor.elements())
                if tensor.head is not None and constant(other) is None:
                    keys.add(tensor.head)
        for sink in self.sinks:
            sink.note_compared(keys)
        most = _most_in(left) or _most_in(right)
        return (Tensor(compared=frozenset(keys), is_cut=most is not None, most=most),) if keys or most else PLAIN

    def subscripted(self, tensor: Tensor, value: Value, frame: Frame) -> Atoms:
        """The result of `tensor[…]`."""
        key, parts = value.args[1], subscripts(value)
        known = tensor
        for part in parts:
            if part.op is Op.SLICE:
                if not is_whole(part):
                    is_cut = known.is_cut or sizes.is_limit(self._run.evaluate(part.args[1], frame))
                    most = self._most_along(parts, frame) if part is parts[-1] else None
                    known = replace(elements.after_slicing(known, part), is_cut=is_cut, most=most)
            elif part.op is not Op.CONST:
                picked = self._run.evaluate(part, frame)
                known = self._apart(known, picked)
                if size_of(picked) is None and not any(isinstance(atom, Counter) for atom in picked):
                    known = elements.perhaps(known)
        if key.op is Op.CONST and known.ids is not None:
            known = replace(known, ids=replace(known.ids, part=key.data))
        width = self._subscripts.width(tensor, parts, frame)
        head = tensor.head if width is not None else None
        sides = sizes.indexed(tensor.sizes, parts, lambda part: self._run.evaluate(part, frame))
        return (replace(known, width=width, head=head, sizes=sides, made=None),)

    def after_picking(self, found: Atoms, _owner: Atoms, _value: Value, _frame: Frame) -> Atoms:
        """Hook for refinements: the result of `owner[…]`, which is `found`."""
        return found

    def cut(self, atom: Atom, value: Value, frame: Frame) -> Atom:
        """The result of `x[:, :512]` for a possible tensor: one whose length is limited (`is_cut`)."""
        if not isinstance(atom, SymbolicInput | Plain | Unknown):
            return atom
        parts = subscripts(value)
        ends = [part.args[1] for part in parts if part.op is Op.SLICE]
        is_limited = any(sizes.is_limit(self._run.evaluate(end, frame)) for end in ends)
        return Tensor(is_cut=True, most=self._most_along(parts, frame)) if is_limited else atom

    def _most_along(self, parts: tuple[Value, ...], frame: Frame) -> tuple[int, Size] | None:
        """The elements that the last of several slices leaves at most, `n` of `ids[:, :n]`, and its dimension."""
        if not all(part.op is Op.SLICE for part in parts):
            return None
        first, end, step = (self._run.evaluate(bound, frame) for bound in parts[-1].args)
        size = size_of(end)
        is_plain = constant(first) in _FROM_START and constant(step) == Constant(None)
        return (len(parts) - 1, size) if is_plain and size is not None and not is_negative(size) else None

    def after_assignment(self, atom: Atom, value: Value, frame: Frame) -> Atoms:
        """The result of an UPDATE `tensor[index] = new`; adds a tensor with a constant `new` to other atoms."""
        index, new = (self._run.evaluate(arg, frame) for arg in value.args[1:3])
        size = constant_in(new, frame)
        filler = () if size is None else (Filler(size, Site(value.args[2], frame.function)),)
        if not isinstance(atom, Tensor):
            is_named = isinstance(atom, Shell) or text(index) is not None
            added = Tensor(fillers=filler) if filler else None
            return (atom,) if is_named or added is None else (atom, added)
        masked = self._mask_fill(atom, index)
        kept = elements.after_writing(self._apart(atom, index), value)
        written = tuple(replace(t, sizes=atom.sizes, made=atom.made) for t in tensors_in(new))
        return join([(replace(masked, fillers=(*kept, *filler)),), written])

    @staticmethod
    def of_tensor(tensor: Tensor, name: str) -> Atoms:
        """The value of the attribute `tensor.name`."""
        row = operators.row(f"Tensor.{name}")
        if name in _KINDS and tensor.real is not None:
            return (_asked_for_kind(tensor.real),)
        if row is None or "passed" not in row.facets:
            return PLAIN
        if "same-shape" in row.facets:
            return (tensor,)
        sides = tensor.sizes[::-1] if tensor.sizes is not None and len(tensor.sizes) == 2 else None
        return (replace(tensor, width=None, head=None, sizes=sides, made=None),)

    def gives_sizes(self, name: str) -> bool:
        """True if an attribute of a possible tensor gives its sizes."""
        return name == "shape"

    def shape(self, atom: Atom, site: Site) -> Atoms:
        """The value of `tensor.shape` or `tensor.size()` for a possible tensor."""
        return (Shape(atom if isinstance(atom, Tensor) else _NOTHING, self.length(site, (atom,))),)

    def length(self, site: Site, _measured: Atoms) -> Length:
        """The length of a sequence, as measured at a site."""
        return Length(site)

    @staticmethod
    def _counted_up(positions: Positions, operation: Operation) -> Positions:
        """Positions with facts about the end that they count to, if it is known only at run time."""
        counted = counted_end(operation.arguments)
        end, at = (operation.arguments.argument(1, "end") or (), 1) if counted is None else counted
        length = length_in((end,))
        is_given, is_ahead = length is None, counted is None or (length is not None and length.is_more)
        if is_given and not _is_parameter(end):
            return replace(positions, end=size_of(end))
        site = operation.argument_site((at, "end"))
        return replace(positions, length=site, is_ahead=is_ahead, is_given=is_given, end=size_of(end))

    def _total(self, total: Positions, most: tuple[int, Size] | None, operation: Operation) -> Positions:
        """A new running total of a tensor with at most so many elements, and the length that it counts to."""
        function, dim = operation.frame.function, constant(operation.get((1, "dim")) or ())
        within = None if function is None else (function.module, self._run.project.names)
        is_counting = within is not None and counts_elements(operation.value, within)
        is_along = most is not None and dim in (Constant(-1), Constant(most[0]))
        end = most[1] + Size.of(1) if most is not None and is_along else None
        return replace(total, length=operation.site if is_counting else None, end=end)

    def _length(self, operation: Operation, operand: Atoms) -> Length | None:
        """The length that an operator counts, rounds, or takes the maximum of; None for other operators."""
        row = operation.row
        if "counts" in row.facets:
            may_be_any = any(isinstance(atom, SymbolicInput | Unknown | Plain | Tensor | Shape) for atom in operand)
            return self.length(operation.site, operand) if may_be_any and not all(map(_is_cut, operand)) else None
        if row.name in _ROUNDING:
            return length_in((operand,))
        length = length_in(operation.arguments.all()) if row.name == "builtins.max" else None
        return None if length is None else replace(length, is_made=True)

    # -- conditions ----------------------------------------------------------------------------------------------

    def behind(self, atoms: Atoms, guard: PathCondition, frame: Frame) -> Atoms:
        """The atoms without elements that the path condition `guard` excludes."""
        return self.tests.behind(atoms, guard, frame)

    def result(self, found: Atoms, operands: list[Atoms], value: Value, frame: Frame) -> Atoms:
        return self._after_loop(found) if value.op is Op.CHOICE else found

    @staticmethod
    def _after_loop(atoms: Atoms) -> Atoms:
        """A loop variable after the loop: constants that an iteration may have overwritten become conditional."""
        gone = {f.key for atom in atoms if isinstance(atom, Tensor) for f in atom.fillers if f.is_conditional}

        def weaken(atom: Atom) -> Atom:
            is_gone = isinstance(atom, Tensor) and any(filler.key in gone for filler in atom.fillers)
            return elements.perhaps(atom) if isinstance(atom, Tensor) and is_gone else atom

        return tuple(dict.fromkeys(map(weaken, atoms))) if gone else atoms

    def is_number(self, atoms: Atoms) -> bool:
        """True if `+=` on these atoms makes a number or tensor; an unknown one may be a list, which grows."""
        return any(isinstance(atom, Tensor | Length) for atom in atoms)

    def are_known(self, left: Atoms, right: Atoms) -> bool:
        """True if arithmetic has a tensor, counter or length as an operand, or two known sizes."""
        if any(isinstance(atom, Tensor | Counter | Length) for atom in (*left, *right)):
            return True
        return size_of(left) is not None and size_of(right) is not None

    @staticmethod
    def part_of(owner: Atom, index: Atoms, found: Atoms) -> Atoms:
        """The result of `owner[index]`, given as `found`; marks ids with their index, and picks the size of a shape."""
        known = constant(index)
        if isinstance(owner, Shape):
            return sizes.measured(owner, index)
        if known is None or not isinstance(owner, Shell) or owner.is_exact:
            return found
        if len(found) > 1:  # real numbers among other things: which of them it is cannot be known
            found = tuple(elements.or_another(a) for a in found if not isinstance(a, Shell) or not have_real(found))
        return tuple(
            replace(a, ids=replace(a.ids, part=known.value)) if isinstance(a, Tensor) and a.ids is not None else a
            for a in found
        )


def _asked_for_kind(real: Real) -> Tensor:
    """The dtype or rank of a tensor of real numbers, as a mask: code behind a test of it may be for other tensors."""
    return Tensor(compared=frozenset((("kind", real.key),)))


def _position_by_mask(found: Atoms, product: Value, within: Within) -> Atoms:
    """The running total that is multiplied by the very mask that it counts, which makes it a position; else `found`."""
    totals = [a for a in found if isinstance(a, Tensor) and a.positions is not None and a.positions.is_total]
    if not totals or not any(is_of_mask(within, *sides) for sides in (product.args, product.args[::-1])):
        return found
    return tuple(replace(one, positions=_with_length(one.positions)) for one in totals)


def _with_length(total: Positions | None) -> Positions | None:
    return None if total is None else replace(total, length=total.origin)


def _is_of_lists(value: Value, left: Atoms, right: Atoms) -> bool:
    """True for `[…] * n` and `[…] + […]`, with any number and any other list, but no tuple."""
    sides = (*left, *right)
    is_listed = any(isinstance(atom, Shell) and atom.kind == "list" for atom in sides)
    return is_listed and value.data in ("*", "+") and not any(isinstance(atom, Tensor) for atom in sides)


def _most_in(atoms: Atoms) -> tuple[int, Size] | None:
    """The number of elements that all alternatives have at most."""
    found = {atom.most if isinstance(atom, Tensor) else None for atom in atoms}
    return next(iter(found)) if len(found) == 1 else None


def _is_cut(atom: Atom) -> bool:
    """True if a tensor's length is limited by a slice, or its sizes are known."""
    return isinstance(atom, Tensor) and (atom.is_cut or atom.sizes is not None)


def _is_parameter(atoms: Atoms) -> bool:
    """True if a value is just the argument of a parameter."""
    return len(atoms) == 1 and isinstance(atoms[0], SymbolicInput) and atoms[0].name == atoms[0].parameter
