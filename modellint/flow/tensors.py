"""Tensors on paper: how wide their last dimension is, and which ids were drawn along it.

What an operator does stands in its row (`modellint.operators`); here it is done to atoms. What no row tells, or what
limits ids in a way that is not modelled, leaves a tensor of which nothing is known.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from modellint import operators
from modellint.flow.domain import (
    PLAIN,
    Arguments,
    Bound,
    Constant,
    Counter,
    Given,
    Ids,
    Number,
    Outside,
    Site,
    Tensor,
    constant,
    join,
    size_of,
)
from modellint.flow.heap import Shell
from modellint.graph.size import Size
from modellint.graph.value import Op

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator

    from modellint.flow.domain import Atom, Atoms
    from modellint.flow.frame import Frame
    from modellint.flow.interp import Interpreter
    from modellint.graph.value import Guard, Value
    from modellint.operators import Operator

    #: The argument at a position, counted from the operand, or called by a name.
    Get = Callable[[tuple[int, str] | None], Atoms | None]

_NOTHING = Tensor()
#: Dimensions along which scores stand: the last one, by default or by its number.
_LAST = (-1, None, 1, 2)
_FLOAT_TYPES = frozenset(f"torch.{name}" for name in operators.attributes("torch", "type:float"))
#: What functions call the tensors that they work on.
_OPERANDS = ("input", "tensors", "sequences")
#: Facets with which the last dimension stays as it is.
_SAME_WIDTH = frozenset(("same-shape", "squeezes", "unsqueezes"))
_RANGE = frozenset(("<", "<=", ">", ">=", "in", "not in"))
_EQUALITY = frozenset(("==", "!="))


class Tensors:
    """What the operators of one run do to tensors."""

    def __init__(self, run: Interpreter) -> None:
        self._run = run

    # -- calls ---------------------------------------------------------------------------------------------------

    def method(self, atom: Atom, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        """`tensor.name(…)`; None where nothing is known of it."""
        if isinstance(atom, Shell):
            is_sampled = atom.kind == "distribution" and operators.row(f"Categorical.{name}") is not None
            return join(self._sampled(a, value, frame) for a in atom.get("scores") or ()) if is_sampled else None
        row = operators.row(f"Tensor.{name}")
        if row is None or not isinstance(atom, Tensor):
            return None
        if name == "size":
            return _measured(atom, arguments.argument(0, "dim"))

        def get(argument: tuple[int, str] | None) -> Atoms | None:
            return None if argument is None else arguments.argument(argument[0] - 1, argument[1])

        sizes = arguments.positional if "sizes" in row.facets else ()
        return self._done(row, atom, get, arguments, sizes, frame, value)

    def function(self, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        """`torch.name(…)`, `int(…)`; None where nothing is known of it."""
        row = operators.row(name) or operators.row(name.removeprefix("torch."))
        if row is None:
            return None
        if "distribution" in row.facets:
            made = self._run.shell("distribution", value, frame)
            made.set("scores", arguments.argument(0, "probs") or arguments.argument(1, "logits") or ())
            return (made,)
        if "counted" in row.facets and row.name == "builtins.range":
            return None
        if "sized" in row.facets:
            return (self._sized(row, arguments, Site(value, frame.function)),)
        if "ids" in row.facets:
            self._look_up(row, arguments, frame, value)
        operand = next((found for name in _OPERANDS if (found := arguments.argument(0, name)) is not None), None)
        given = [*tensors_in(operand or ())]
        if "chooses" in row.facets and len(arguments.positional) == 3:
            return self._chosen(arguments.positional[0], arguments.positional[1:])
        if row.name == "builtins.int" and (given or size_of(operand) is not None):
            return tuple(given) or operand
        if not given:
            return None
        if row.name.startswith("builtins.") or row.name.startswith("copy."):
            return None

        def get(argument: tuple[int, str] | None) -> Atoms | None:
            return None if argument is None else arguments.argument(*argument)

        sizes = arguments.positional[1:] if "sizes" in row.facets else ()
        if "stacks" in row.facets or "joins" in row.facets:
            return (*self._joined(row, operand or (), arguments),)
        return join(self._done(row, tensor, get, arguments, sizes, frame, value) for tensor in given)

    def _look_up(self, row: Operator, arguments: Arguments, frame: Frame, value: Value) -> None:
        """`F.embedding(ids, weight)`, `torch.index_select(table, 0, ids)`."""
        position, name = row.argument("ids") or (0, "")
        tables = arguments.argument(0, "input") if position else arguments.argument(1, "weight")
        ids = arguments.argument(position, name)
        for atom in tables or ():
            if self._run.lookups is not None and ids is not None:
                self._run.lookups.indexed(atom, ids, frame, value)

    def _sized(self, row: Operator, arguments: Arguments, made: Site) -> Tensor:
        """`torch.randn(rows, columns)`."""
        given = arguments.positional[:1] if row.facets["sized"] == "tuple" else arguments.positional
        first = given[0] if given else ()
        if len(given) == 1 and len(first) == 1 and isinstance(first[0], Shell) and first[0].is_exact:
            if "literal" in row.facets:
                return _NOTHING
            given = tuple(entry.atoms for entry in first[0].entries)
        return Tensor(rows=size_of(given[0]), made=made) if len(given) == 2 else _NOTHING

    def _done(
        self,
        row: Operator,
        tensor: Tensor,
        get: Get,
        arguments: Arguments,
        sizes: tuple[Atoms, ...],
        frame: Frame,
        value: Value,
    ) -> Atoms:
        """What an operator makes of its operand."""
        facets = row.facets
        along = get(row.argument("along"))
        if "pair" in facets and not ("extreme" in facets and constant(along or ()) is None):
            return self._pair(tensor, along, frame, value)
        if "drawn" in facets:
            return (self._drawn(tensor, along, Site(value, frame.function)),)
        if "like" in facets and facets["like"] in ("+", "-", "*", "%", "/", "//", "**"):
            other = get((1, "other"))
            return self.binary(facets["like"], (tensor,), other or PLAIN)
        if "like" in facets and facets["like"] in _RANGE | _EQUALITY:
            return self.compared((tensor,), get((1, "other")) or PLAIN)
        if "chooses" in facets:
            return self._chosen(get((1, "condition")) or PLAIN, ((tensor,), get((2, "other")) or PLAIN))
        mask = get(row.argument("mask"))
        if mask is not None:
            return (self._masked(tensor, mask),)
        is_float = facets.get("casts") == "float" or (facets.get("casts") == "" and _casts_to_float(arguments))
        ids = None if is_float or not facets.keys() & {"passed", "picked"} else tensor.ids
        if facets.keys() & {"limit", "below", "lift"}:
            ids = self._limited(row, tensor.ids, get)
        width = tensor.width if self._keeps_width(row, along, get) else None
        if sizes:
            width = size_of(sizes[-1])
        is_mask = "passed" in facets or "like" in facets
        return (
            replace(
                _NOTHING,
                width=width,
                head=None if width is None else tensor.head,
                ids=ids,
                compared=tensor.compared if is_mask else frozenset(),
                is_conditional=tensor.is_conditional,
            ),
        )

    @staticmethod
    def _keeps_width(row: Operator, along: Atoms | None, get: Get) -> bool:
        """Whether an operator leaves the last dimension as it is."""
        if row.facets.keys() & _SAME_WIDTH:
            return True
        if "flattens" in row.facets:
            first, last = (constant(get((at, name)) or ()) for at, name in ((1, "start_dim"), (2, "end_dim")))
            return first is not None and last is not None and first.value == 0 and last.value in (1, -2)
        if "reduces" not in row.facets:
            return False
        known = constant(along or ())
        return known is not None and known.value not in (None, -1)

    @staticmethod
    def _limited(row: Operator, ids: Ids | None, get: Get) -> Ids | None:
        """What `clamp`, `minimum`, `remainder` leave of ids: they stay below a limit, where there is one."""
        argument = row.argument("below") or row.argument("limit")
        given = get(argument)
        if ids is None or given is None:
            return ids
        size = size_of(given)
        if size is None:
            return None
        return replace(ids, bound=size if "below" in row.facets else size + Size.of(1))

    def _pair(self, tensor: Tensor, along: Atoms | None, frame: Frame, value: Value) -> Atoms:
        """Values and their indices along a dimension."""
        picked = replace(tensor, width=None, head=None)
        drawn = self._drawn(tensor, along, Site(value, frame.function))
        made = self._run.sequence("tuple", ((picked,), (drawn,)), value, frame, "pair")
        made.set("values", (picked,))
        made.set("indices", (drawn,))
        return (made,)

    @staticmethod
    def _drawn(scores: Tensor, along: Atoms | None, origin: Site) -> Tensor:
        """Ids that are drawn from the classes of scores, along their last dimension."""
        known = constant(along) if along is not None else Constant(-1)
        if scores.width is None or known is None or known.value not in _LAST:
            return _NOTHING
        return Tensor(ids=Ids(scores.width, origin, scores.head), is_conditional=scores.is_conditional)

    def _sampled(self, scores: Atom, value: Value, frame: Frame) -> Atoms:
        if not isinstance(scores, Tensor):
            return PLAIN
        return (self._drawn(scores, None, Site(value, frame.function)),)

    def _joined(self, row: Operator, operand: Atoms, arguments: Arguments) -> Iterator[Tensor]:
        """Tensors in one: each one's ids, and their width if it is that of all, joined along another dimension."""
        dim = arguments.argument(1, "dim")
        along = Constant(0) if dim is None else constant(dim)
        last = 1 if "stacks" in row.facets else 0
        is_front = along is not None and type(along.value) is int and 0 <= along.value <= last
        members = [a for atom in operand for a in (atom.contents() if isinstance(atom, Shell) else (atom,))]
        widths = {member.width if isinstance(member, Tensor) else None for member in members}
        for tensor in tensors_in(operand):
            width = tensor.width if is_front and len(widths) == 1 else None
            yield replace(tensor, width=width, head=tensor.head if width is not None else None, rows=None, made=None)

    def _chosen(self, condition: Atoms, options: Iterable[Atoms]) -> Atoms:
        """`torch.where(mask, x, y)`: what the mask compares is limited by it."""
        return join([*(tuple(self._apart(t, condition) for t in tensors_in(atoms)) for atoms in options), PLAIN])

    def _apart(self, tensor: Tensor, mask: Atoms) -> Tensor:
        """A tensor without the ids that a mask compares."""
        is_limited = tensor.ids is not None and any(tensor.ids.draw in m.compared for m in tensors_in(mask))
        return replace(tensor, ids=None) if is_limited else tensor

    def _masked(self, tensor: Tensor, mask: Atoms) -> Tensor:
        """`masked_fill`: masking by the scores themselves leaves every class possible for some input."""
        apart = self._apart(tensor, mask)
        if tensor.head is not None and any(tensor.head in m.compared for m in tensors_in(mask)):
            return apart
        return replace(apart, width=None, head=None)

    # -- layers --------------------------------------------------------------------------------------------------

    def layer(self, shell: Shell, row: Operator, given: Atoms | None) -> Atoms:
        """What a layer of torch's gives."""
        tensor = next(iter(tensors_in(given or ())), _NOTHING)
        if "makes-width" in row.facets:
            width = size_of(self.argument(shell, row.argument("makes-width")))
            return (Tensor(width, shell.site),)
        if "passed" in row.facets:
            return (replace(tensor, rows=None, made=None),)
        if "same-shape" in row.facets:
            return (replace(_NOTHING, width=tensor.width, head=tensor.head, is_conditional=tensor.is_conditional),)
        return (_NOTHING,)

    def argument(self, shell: Shell, argument: tuple[int, str] | None) -> Atoms | None:
        """What a layer of torch's, or of a class that derives from one, gives torch's constructor."""
        if argument is None or shell.model is None:
            return None
        self._run.objects.construct(shell)
        passed = shell.arguments if shell.passed is None else shell.passed
        return passed.argument(*argument)

    # -- expressions ---------------------------------------------------------------------------------------------

    def binary(self, operator: str, left: Atoms, right: Atoms) -> Atoms:
        """What arithmetic makes of tensors, or of numbers that are known as sums."""
        sizes = size_of(left), size_of(right)
        if sizes[0] is not None and sizes[1] is not None:
            found = _calculated(operator, sizes[0], sizes[1])
            return PLAIN if found is None else (_number(found),)
        if any(isinstance(atom, Counter) for atom in (*left, *right)) and not (*tensors_in(left), *tensors_in(right)):
            return (Counter(),) if operator == "*" else PLAIN
        found_left = [self._shifted(operator, t, right) for t in left if isinstance(t, Tensor)]
        found_right = [
            self._shifted(operator, t, left) if operator == "+" else replace(t, ids=None)
            for t in right
            if isinstance(t, Tensor)
        ]
        found_all = [t if operator != "@" else _NOTHING for t in (*found_left, *found_right)]
        useful = [t for t in found_all if t != _NOTHING]
        return tuple(dict.fromkeys(useful)) or (_NOTHING,)

    @staticmethod
    def _shifted(operator: str, tensor: Tensor, other: Atoms) -> Tensor:
        ids = tensor.ids
        by = Size.of(0) if any(isinstance(atom, Counter) for atom in other) else size_of(other)
        if ids is not None:
            if by is None or operator not in ("+", "-", "%"):
                ids = None
            elif operator == "%":
                ids = replace(ids, bound=by)
            else:
                ids = replace(ids, bound=ids.bound + by if operator == "+" else ids.bound - by)
        compared = frozenset().union(tensor.compared, *(t.compared for t in tensors_in(other)))
        return replace(tensor, ids=ids, rows=None, compared=compared if operator in ("&", "|", "^") else frozenset())

    def compared(self, left: Atoms, right: Atoms) -> Atoms:
        """The mask, or the truth, that a comparison gives."""
        sites: set[Hashable] = set()
        for side, other in ((left, right), (right, left)):
            for tensor in tensors_in(side):
                if tensor.ids is not None:
                    sites.add(tensor.ids.draw)
                if tensor.head is not None and constant(other) is None:
                    sites.add(tensor.head)
        return (Tensor(compared=frozenset(sites)),) if sites else PLAIN

    def index(self, tensor: Tensor, value: Value, frame: Frame) -> Atoms:
        """`tensor[…]`."""
        key = value.args[1]
        parts = key.args if key.op is Op.TUPLE else (key,)
        known = tensor
        for part in parts:
            if part.op not in (Op.SLICE, Op.CONST):
                known = self._apart(known, self._run.evaluate(part, frame))
        if key.op is Op.CONST and known.ids is not None:
            known = replace(known, ids=replace(known.ids, part=key.data))
        width = self._width_of_part(tensor, parts, frame)
        return (replace(known, width=width, head=tensor.head if width is not None else None, rows=None, made=None),)

    def _width_of_part(self, tensor: Tensor, parts: tuple[Value, ...], frame: Frame) -> Size | None:
        """`logits[:, -1]`, `logits[..., :n]`: the last dimension, cut or not."""
        has_ellipsis = any(p.op is Op.CONST and p.data is Ellipsis for p in parts)
        last = parts[-1]
        if has_ellipsis and last.op is not Op.SLICE and not (last.op is Op.CONST and last.data is Ellipsis):
            return None
        is_cut = [p.op is Op.SLICE and not all(a.op is Op.CONST and a.data is None for a in p.args) for p in parts]
        if not any(is_cut):
            keeps = all(p.op in (Op.CONST, Op.SLICE, Op.UNARY) or self._is_number(p, frame) for p in parts)
            return tensor.width if keeps else None
        if sum(is_cut) > 1 or not is_cut[-1]:
            return tensor.width if last.op is Op.SLICE and not is_cut[-1] else None
        if not has_ellipsis or tensor.width is None:
            return None
        lower, upper, step = (self._run.evaluate(arg, frame) for arg in last.args)
        return size_of(upper) if _is_start(lower) and constant(step) == Constant(None) else None

    def _is_number(self, part: Value, frame: Frame) -> bool:
        """Whether a subscript picks one, rather than those that a mask or other ids say."""
        return not any(isinstance(atom, Tensor) for atom in self._run.evaluate(part, frame))

    def assigned(self, tensor: Tensor, value: Value, frame: Frame) -> Atoms:
        """`tensor[index] = new`, for an UPDATE."""
        index, new = (self._run.evaluate(arg, frame) for arg in value.args[1:3])
        return join([(self._masked(tensor, index),), tuple(tensors_in(new))])

    @staticmethod
    def attribute(tensor: Tensor, name: str) -> Atoms:
        """`tensor.name`."""
        row = operators.row(f"Tensor.{name}")
        if name == "shape":
            return (Bound(tensor, name),)
        if row is None or "passed" not in row.facets:
            return PLAIN
        return (tensor if "same-shape" in row.facets else replace(tensor, width=None, head=None, rows=None, made=None),)

    # -- conditions ----------------------------------------------------------------------------------------------

    def behind(self, atoms: Atoms, guard: Guard | None, frame: Frame) -> Atoms:
        """What is left of ids where conditions hold that compare them."""
        if guard is None or not any(isinstance(atom, Tensor) and atom.ids is not None for atom in atoms):
            return atoms
        for link in guard.chain():
            for test in link.test.walk():
                if test.op is Op.COMPARE:
                    atoms = tuple(self.tested(a, test, link, frame) if isinstance(a, Tensor) else a for a in atoms)
        return atoms

    def tested(self, tensor: Tensor, test: Value, link: Guard, frame: Frame) -> Tensor:
        """What a comparison leaves of the ids of a tensor: all but one, all, or none that is known."""
        ids = tensor.ids
        if ids is None or not any(self._is_about(arg, ids, frame) for arg in test.args):
            return tensor
        if test.data in _EQUALITY and (test.data == "==") is not link.truthy:
            return replace(tensor, ids=replace(ids, excluded=ids.excluded | {test}))
        return replace(tensor, ids=None) if test.data in _RANGE | _EQUALITY else tensor

    def _is_about(self, operand: Value, ids: Ids, frame: Frame) -> bool:
        """Whether an operand of a comparison is made of these ids, of all or of the same one of several."""
        return any(
            tensor.ids is not None
            and tensor.ids.draw == ids.draw
            and (tensor.ids.part is None or tensor.ids.part == ids.part)
            for tensor in tensors_in(self._run.evaluate(operand, frame))
        )

    def one_of(self, branches: list[Atoms], test: Value, frame: Frame) -> Atoms:
        """Either of two, as an open test has it: a tensor that is not in both is one perhaps.

        Whether a parameter was given is no such question: it is left out, or it is not.
        """
        known = [{a for a in atoms if _says_something(a)} for atoms in branches]
        if not any(known) or self._asks_if_given(test, frame):
            return join(branches)

        def marked(atom: Atom) -> Atom:
            if not isinstance(atom, Tensor) or not _says_something(atom):
                return atom
            is_sure = all(any(_agree(atom, other) for other in tensors) for tensors in known)
            return atom if is_sure else replace(atom, is_conditional=True)

        return join(tuple(marked(atom) for atom in atoms) for atoms in branches)

    def _asks_if_given(self, test: Value, frame: Frame) -> bool:
        if test.op is not Op.COMPARE or test.data not in ("is", "is not"):
            return False
        return any(isinstance(atom, Given) for atom in self._run.evaluate(test.args[0], frame))

    @staticmethod
    def are_known(left: Atoms, right: Atoms) -> bool:
        """Whether arithmetic is about tensors, or numbers of which something is known."""
        if any(isinstance(atom, Tensor | Counter) for atom in (*left, *right)):
            return True
        return size_of(left) is not None and size_of(right) is not None

    @staticmethod
    def part(owner: Atom, index: Atoms, found: Atoms) -> Atoms:
        """What `owner[index]` gives, `found` where it is no tensor: ids know which of several they are."""
        known = constant(index)
        if isinstance(owner, Bound) and isinstance(owner.owner, Tensor) and owner.name == "shape":
            width = owner.owner.width
            return (_number(width),) if known is not None and known.value == -1 and width is not None else PLAIN
        if known is None or not isinstance(owner, Shell) or owner.is_exact:
            return found
        return tuple(
            replace(a, ids=replace(a.ids, part=known.value)) if isinstance(a, Tensor) and a.ids is not None else a
            for a in found
        )


def _says_something(atom: Atom) -> bool:
    return isinstance(atom, Tensor) and (atom.ids is not None or atom.width is not None)


def tensors_in(atoms: Atoms) -> Iterator[Tensor]:
    """The tensors that a value is, or holds in plain containers."""
    for atom in atoms:
        if isinstance(atom, Tensor):
            yield atom
        elif isinstance(atom, Shell) and atom.is_container:
            for inner in atom.contents():
                if isinstance(inner, Tensor):
                    yield inner


def _agree(one: Tensor, other: Atom) -> bool:
    if not isinstance(other, Tensor):
        return False
    bounds = [None if tensor.ids is None else tensor.ids.bound for tensor in (one, other)]
    return bounds[0] == bounds[1] and one.width == other.width


def _is_start(atoms: Atoms) -> bool:
    known = constant(atoms)
    return known is not None and known.value in (None, 0)


def _measured(tensor: Tensor, dim: Atoms | None) -> Atoms:
    """`x.size(-1)`, `x.size()`."""
    if dim is None:
        return (Bound(tensor, "shape"),)
    known = constant(dim)
    return (_number(tensor.width),) if known is not None and known.value == -1 and tensor.width is not None else PLAIN


def _number(size: Size) -> Atom:
    return Number(size) if size.constant is None else Constant(size.constant)


def _calculated(operator: str, left: Size, right: Size) -> Size | None:
    if operator in ("+", "-", "*"):
        return left + right if operator == "+" else left - right if operator == "-" else left * right
    a, b = left.constant, right.constant
    if a is None or b is None:
        return None
    if operator == "//" and b:
        return Size.of(a // b)
    if operator in ("**", "<<") and 0 <= b < 64:
        return Size.of(a**b if operator == "**" else a << b)
    return None


def _casts_to_float(arguments: Arguments) -> bool:
    return any(isinstance(a, Outside) and a.name in _FLOAT_TYPES for atoms in arguments.all() for a in atoms)
