"""Transfer functions of operators on a tensor's elements: drawn ids, constants, positions, real numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import operators
from modellint.flow.domain import Derived, Outside, Positions, Real, Tensor
from modellint.flow.heap import Shell
from modellint.graph.immutable import replace
from modellint.graph.size import Size
from modellint.graph.value import Op, Value, same

if TYPE_CHECKING:
    from modellint.flow.domain import Arguments, Atom, Filler, Site
    from modellint.operators import Operator

#: Facets of operators whose result has known elements even for unknown operands.
MAKING = frozenset(("real", "casts", "counted", "sums-up", "fill", "like", "chooses", "product"))
#: Facets of operators that may leave elements out.
_SOME = frozenset(("picked", "narrows", "parts", "ids", "spaced"))
_FLOAT_TYPES = frozenset(f"torch.{name}" for name in operators.attributes("torch", "type:float"))
_INTEGER_TYPES = frozenset(f"torch.{name}" for name in operators.attributes("torch", "type:integer"))


def result_elements(row: Operator, tensor: Tensor, made: Site, arguments: Arguments) -> Tensor:
    """The elements of an operator's result, without constants that the operator writes."""
    facets = row.facets
    if "real" in facets:
        return Tensor(real=Real(made, is_computed=_is_computed(row)))
    if is_float(row, arguments):
        return Tensor(real=tensor.real or Real(made, is_computed=True))
    real, positions = tensor.real, tensor.positions
    if "counted" in facets or ("sums-up" in facets and real is None):
        is_total = "sums-up" in facets
        return Tensor(positions=Positions(made, is_total=is_total, ahead=Size.of(1) if is_total else None))
    if "casts" in facets and real is not None and real.is_computed and _is_whole(row, arguments):
        real = None
    if positions is not None and facets.keys() & _SOME:
        positions = replace(positions, end=None)
    if "passed" in facets:
        return Tensor(ids=tensor.ids, fillers=tensor.fillers, positions=positions, real=real)
    if "picked" in facets:
        return Tensor(ids=tensor.ids, positions=positions, real=real)
    is_kept = facets.keys() & {"limit", "below", "lift", "like"}
    return Tensor(real=as_computed(real)) if is_kept else Tensor()


def as_computed(real: Real | None) -> Real | None:
    """Real numbers marked as computed."""
    return None if real is None else replace(real, is_computed=True)


def after_arithmetic(operator: str, tensor: Tensor, by: Size | None) -> Tensor:
    """The elements after arithmetic with a number; `by` is None if it is unknown."""
    ids, fillers, positions = tensor.ids, tensor.fillers, tensor.positions
    positions = None if positions is None else _shift_positions(operator, positions, by)
    if by is None or operator not in ("+", "-", "%"):
        ids, fillers = None, ()
    elif operator == "%":
        ids, fillers = None if ids is None else replace(ids, bound=by), ()
    else:
        by = by if operator == "+" else -by
        ids = None if ids is None else replace(ids, bound=ids.bound + by)
        fillers = tuple(replace(filler, size=filler.size + by) for filler in fillers)
    return replace(tensor, ids=ids, fillers=fillers, positions=positions, real=as_computed(tensor.real))


def _shift_positions(operator: str, positions: Positions, by: Size | None) -> Positions | None:
    """Positions after arithmetic: a running total minus 1 counts from 0, others are ahead if a number is added."""
    if positions.is_total:
        return _shift_total(operator, positions, by)
    end = None if by is None or positions.end is None else positions.end.calculated(operator, by)
    if end is not None and operator in ("+", "-"):
        return replace(positions, end=end, is_ahead=positions.is_ahead or operator == "+")
    is_more = by is None or by.constant is None or by.constant > 0
    return replace(positions, is_ahead=True) if operator == "+" and is_more and positions.length is not None else None


def _shift_total(operator: str, total: Positions, by: Size | None) -> Positions | None:
    """A running total after arithmetic; a mask that it is multiplied by leaves the largest one."""
    if operator == "*" and by is None:
        return total
    if operator not in ("+", "-") or by is None or total.ahead is None:
        return None
    if operator == "-" and by == Size.of(1):
        return Positions(total.origin)
    by = by if operator == "+" else -by
    return replace(total, ahead=total.ahead + by, end=None if total.end is None else total.end + by)


def of_second(operator: str, tensor: Tensor) -> Tensor:
    """The elements after a unary operator, or one with the tensor on the right: only real numbers stay."""
    real = as_computed(tensor.real) if operator != "~" else None
    return replace(tensor, ids=None, fillers=(), positions=None, real=real)


def perhaps(tensor: Tensor) -> Tensor:
    """A tensor whose constants are made conditional."""
    return tensor if not tensor.fillers else replace(tensor, fillers=_perhaps(tensor.fillers))


def after_slicing(tensor: Tensor, part: Value) -> Tensor:
    """A tensor after a slice: its constants become conditional where what is cut off may be all of them."""
    if tensor.positions is not None:
        tensor = replace(tensor, positions=replace(tensor.positions, end=None))
    cut = _end_cut_off(part)
    if not tensor.fillers or all(cut in filler.stays for filler in tensor.fillers):
        return tensor
    fillers = (filler if cut in filler.stays else replace(filler, is_conditional=True) for filler in tensor.fillers)
    return replace(tensor, fillers=tuple(fillers))


def _end_cut_off(part: Value) -> str:
    """The end of which a slice cuts one element off: "front" for `[1:]`, "back" for `[:-1]`; empty for others."""
    first, last, step = (_whole(arg) for arg in part.args)
    if step is not None or first not in (None, 0, 1) or last not in (None, -1):
        return ""
    return {(True, False): "front", (False, True): "back"}.get((first == 1, last == -1), "")


def _whole(value: Value) -> object:
    """The number that a bound of a slice is written as; None if it is left out, the value itself for others."""
    if value.op is Op.UNARY and value.data == "-" and value.args[0].op is Op.CONST:
        return -value.args[0].data if type(value.args[0].data) is int else value
    return value.data if value.op is Op.CONST else value


def or_another(atom: Atom) -> Atom:
    """An atom made conditional if it is a tensor of real numbers."""
    return replace(atom, is_conditional=True) if isinstance(atom, Tensor) and atom.real is not None else atom


def after_writing(tensor: Tensor, update: Value) -> tuple[Filler, ...]:
    """The constants after `tensor[index] = …`: as before if the write leaves an end of the tensor; else conditional."""
    fillers = tuple(replace(filler, stays=frozenset()) for filler in tensor.fillers)
    told = [
        part
        for at, part in enumerate(_parts(update))
        if not (part.op is Op.CONST and (part.data in (None, Ellipsis) or _goes_through(at, update, tensor)))
    ]
    is_sure = any(part.op in (Op.CONST, Op.UNARY) or _keeps_an_end(part) for part in told)
    return fillers if is_sure else _perhaps(fillers)


def _parts(update: Value) -> tuple[Value, ...]:
    """The subscripts of `x[i, j] = …`."""
    index = update.args[1]
    return index.args if index.op is Op.TUPLE else (index,)


def _goes_through(at: int, update: Value, tensor: Tensor) -> bool:
    """True if writes go one by one through a dimension of a tensor: `x[i, 0] = …`, `x[i, 1] = …`."""
    parts, written, one = _parts(update), set(), update
    while one.op is Op.UPDATE and len(_parts(one)) == len(parts) and _parts(one)[at].op is Op.CONST:
        if not all(same(a, b) for n, (a, b) in enumerate(zip(parts, _parts(one), strict=True)) if n != at):
            break
        written.add(_parts(one)[at].data)
        one = one.args[0]
    size = tensor.sizes[at] if tensor.sizes is not None and at < len(tensor.sizes) else None
    count = size.constant if isinstance(size, Size) else None
    return len(written) > 1 and written == set(range(len(written))) and count in (None, len(written))


def is_real(atom: Atom) -> bool:
    """True if an operand makes a product real: a tensor of real numbers, or a parameter."""
    if isinstance(atom, Tensor):
        return atom.real is not None
    return (isinstance(atom, Shell) and atom.kind == "parameter") or isinstance(atom, Derived)


def is_float(row: Operator, arguments: Arguments) -> bool:
    """True if an operator casts to, or is given, a floating-point dtype."""
    if row.facets.get("casts") == "float":
        return True
    has_type = row.facets.get("casts") == "" or bool(row.facets.keys() & {"passed", "literal", "sized", "counted"})
    return has_type and _names(arguments, _FLOAT_TYPES)


def _is_whole(row: Operator, arguments: Arguments) -> bool:
    """True if an operator casts to, or is given, an integer dtype."""
    return row.facets["casts"] == "integer" or _names(arguments, _INTEGER_TYPES)


def _names(arguments: Arguments, types: frozenset[str]) -> bool:
    return any(isinstance(a, Outside) and a.name in types for atoms in arguments.all() for a in atoms)


def _is_computed(row: Operator) -> bool:
    """True if an operator computes real numbers, rather than passing on features, so that a cast is deliberate."""
    is_made = "fresh" in row.facets and "sized" not in row.facets
    return is_made or "like" in row.facets or "reduces" in row.facets


def _perhaps(fillers: tuple[Filler, ...]) -> tuple[Filler, ...]:
    return tuple(replace(filler, is_conditional=True) for filler in fillers)


def _keeps_an_end(part: Value) -> bool:
    if part.op is not Op.SLICE or all(arg.op is Op.CONST and arg.data is None for arg in part.args):
        return False
    return part.args[0].op is Op.CONST or all(arg.op is Op.CONST for arg in part.args)
