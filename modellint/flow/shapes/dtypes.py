"""Types of elements: names of torch's types, their promotion, and the type of an operator's result.

A type is a name (`float32`, `int64`, `bool`), a kind (`float`, `integer`, `real`: one of these or of both), or None if
it is unknown.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from modellint.flow.shapes.shape import Refused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from modellint.operators import Operator

FLOATS = ("float16", "bfloat16", "float32", "float64")
INTEGERS = ("uint8", "int8", "int16", "int32", "int64")
COMPLEX = ("complex32", "complex64", "complex128")
#: The types that a name or a kind stands for.
_MEMBERS: dict[str | None, tuple[str, ...]] = {
    **{name: (name,) for name in (*FLOATS, *INTEGERS, *COMPLEX, "bool")},
    "float": FLOATS,
    "integer": INTEGERS,
    "real": (*FLOATS, *INTEGERS),
    None: (*FLOATS, *INTEGERS, *COMPLEX, "bool"),
}
#: What a float is promoted to by a complex number.
_COMPLEX_OF = {"float16": "complex32", "bfloat16": "complex64", "float32": "complex64", "float64": "complex128"}
DEFAULT = "float32"
#: Types of whole numbers.
WHOLE = (*INTEGERS, "bool")
#: The beginning of the kinds of refusals that are about types.
ABOUT = "dtype"
#: The names of all types.
TYPES = frozenset((*FLOATS, *INTEGERS, *COMPLEX, "bool"))


class Typed(NamedTuple):
    """An operand: its type, and how much that counts. `level` is 2 for a tensor with dimensions, 1 for one without, 0
    for a number of Python, and None for a tensor of unknown rank."""

    name: str | None
    level: int | None = 2


def of_number(value: object) -> Typed:
    """A number of Python."""
    kinds = ((bool, "bool"), (int, "int64"), (float, DEFAULT), (complex, "complex64"))
    return Typed(next((name for kind, name in kinds if isinstance(value, kind)), None), 0)


def is_of(name: str | None, kinds: Sequence[str]) -> bool:
    """True if a type certainly is one of these."""
    return set(_MEMBERS[name]) <= set(kinds)


#: The most operands of which it is open whether they have dimensions; each doubles what is compared.
_MOST_OPEN = 8


def can_be(name: str | None, kinds: Sequence[str]) -> bool:
    """True if a type may be one of these."""
    return not set(_MEMBERS[name]).isdisjoint(kinds)


def can_agree(one: str | None, other: str | None) -> bool:
    """True if two types may be the same."""
    return can_be(other, _MEMBERS[one])


def join_types(names: Sequence[str | None]) -> str | None:
    """The type, or the kind, of something that has one of these types."""
    members = {one for name in names for one in _MEMBERS[name]}
    fitting = (name for name, own in _MEMBERS.items() if name is not None and members <= set(own))
    return min(fitting, key=lambda name: len(_MEMBERS[name]), default=None)


def promote(operands: Sequence[Typed]) -> str | None:
    """The common type of tensors and numbers: those with dimensions count most, numbers of Python least.

    More than two operands of one kind promote to what two of them promote to, whatever their levels are.
    """
    return _promote(tuple(one for one, count in Counter(operands).items() for _ in range(min(count, 2))))


@lru_cache(maxsize=4096)
def _promote(operands: tuple[Typed, ...]) -> str | None:
    if sum(one.level is None for one in operands) > _MOST_OPEN:
        return None
    levels = [(1, 2) if one.level is None else (one.level,) for one in operands]
    found = {join_types([_promote_at(operands, chosen)]) for chosen in product(*levels)}
    return join_types(list(found)) if found else None


def _promote_at(operands: tuple[Typed, ...], levels: tuple[int, ...]) -> str | None:
    result: set[str] | None = None
    for level in (2, 1, 0):
        for group in [[one for one, at in zip(operands, levels, strict=True) if at == level]]:
            own: set[str] = set()
            for one in group:
                members = set(_MEMBERS[one.name])
                own = {_common(a, b) for a in own for b in members} if own else members
            if own:
                result = own if result is None else {_over(high, low) for high in result for low in own}
    return None if result is None else join_types(sorted(result))


def _common(one: str, other: str) -> str:
    """The type that two tensors of the same level are promoted to."""
    if one == other or other == "bool":
        return one
    if one == "bool":
        return other
    order = (INTEGERS, FLOATS, COMPLEX)
    first, second = (next(rank for rank, kind in enumerate(order) if name in kind) for name in (one, other))
    if first != second:
        low, high = (one, other) if first < second else (other, one)
        if max(first, second) == 2 and low in FLOATS:
            return _common(_COMPLEX_OF[low], high)
        return high
    if {one, other} == {"float16", "bfloat16"}:
        return "float32"
    if "uint8" in (one, other):
        signed = other if one == "uint8" else one
        return "int16" if signed == "int8" else signed
    kind = order[first]
    return kind[max(kind.index(one), kind.index(other))]


def _over(high: str, low: str) -> str:
    """The type of an operand of a higher level, with one of a lower level: only another kind changes it."""
    if high in COMPLEX:
        return high
    if high in FLOATS:
        return _COMPLEX_OF[high] if low in COMPLEX else high
    return _common(high, low) if high == "bool" or low in FLOATS or low in COMPLEX else high


def types_of_result(
    row: Operator,
    operands: Sequence[Typed],
    *,
    dtype: str | None = None,
    weights: str | None = DEFAULT,
    is_typed: bool = False,
) -> list[str | None]:
    """The types of an operator's results, the first one first; more results than that are of the last type.

    `operands` are the tensors and numbers among the arguments (of a layer: what it is called with); `dtype` is what the
    argument of this name says, `weights` the type of a layer's parameters. `is_typed`: there is an argument `dtype`.
    Raises `Refused` where torch does.
    """
    is_typed = is_typed or dtype is not None
    refuse_types(row, operands, weights=weights, is_typed=is_typed)
    first = operands[0].name if operands else None
    found = _type_of(row.facets.get("type", "as-input"), row, operands, first, weights)
    if "promotes" in row.facets:
        is_joined = not row.facets.keys().isdisjoint(("cats", "piles", "cats-at"))
        found = promote([one for one in operands if one.level != 0] if is_joined else operands)
        if row.facets.get("type") == "float" and can_be(found, WHOLE):
            found = DEFAULT if is_of(found, WHOLE) else None if found is None else "float"
    if is_typed:
        found = dtype
    if "in-place" in row.facets and first is not None:
        refuse_cast(found, first)
        found = first
    return [found, "int64"] if row.facets.get("second") == "int64" else [found]


def _type_of(text: str, row: Operator, operands: Sequence[Typed], first: str | None, weights: str | None) -> str | None:
    if text == "as-input":
        return first
    if text == "unknown":
        return None
    if text == "default":
        return DEFAULT
    if text == "weights":
        return weights
    if text == "float":
        return DEFAULT if is_of(first, WHOLE) else first if is_of(first, FLOATS) else None
    if text == "sum":  # whole numbers are added up as int64
        return "int64" if is_of(first, WHOLE) else first if not can_be(first, WHOLE) else None
    if text == "number":  # of bool, too, a number
        return "int64" if first == "bool" else first if not can_be(first, ("bool",)) else None
    return text


def refuse_types(
    row: Operator, operands: Sequence[Typed], *, weights: str | None = DEFAULT, is_typed: bool = False
) -> None:
    """Raise `Refused` if torch certainly refuses the types of its operands."""
    facets = row.facets
    tensors = [one for one in operands if one.level != 0]
    if not tensors:
        return
    first = tensors[0].name
    if "takes-float" in facets and not is_typed and is_of(first, WHOLE):
        raise Refused("dtype", first, "float")
    if "takes-pixels" in facets and is_of(first, ("int8", "int16", "int32", "int64", "bool")):
        raise Refused("dtype", first, "float")
    if "takes-numbers" in facets and first == "bool":
        raise Refused("dtype-bool", first, "number")
    if "takes-some-float" in facets and len(tensors) > 1 and all(is_of(one.name, WHOLE) for one in tensors[:2]):
        raise Refused("dtype", first, "float")
    if "takes-bits" in facets:
        for one in operands[:2]:
            refuse_bits(one)
    if "same-types" in facets:
        for one in tensors[1 : int(facets["same-types"] or len(tensors))]:
            refuse_unlike(first, one.name)
    if "weighted" in facets:
        _refuse_weights(first, weights)
    if "takes-ids" in facets and not can_be(first, ("int32", "int64")):
        raise Refused("dtype-ids", first, "int64")
    if "takes-long" in facets and not can_be(first, ("int64",)):
        raise Refused("dtype-index", first, "int64")
    for facet, place, kinds in (
        ("mask", 1, ("bool",)),
        ("condition", 0, ("bool", "uint8")),
        ("index", 1, ("int64", "int32")),
        ("targets", 1, ("int64", "uint8", *FLOATS)),
        ("real-target", 1, (*FLOATS, *COMPLEX)),
        ("no-flags", 1, (*FLOATS, *COMPLEX, *INTEGERS)),
    ):
        if facet in facets and len(tensors) > place and not can_be(tensors[place].name, kinds):
            raise Refused(f"dtype-{facet}", tensors[place].name, first if facet == "real-target" else kinds[0])
    if "source" in facets and len(tensors) > 2:
        refuse_unlike(first, tensors[2].name)


def _refuse_weights(given: str | None, weights: str | None) -> None:
    """Raise `Refused` for a tensor that a layer with these weights refuses; such of another precision only if known."""
    is_known = weights in TYPES
    if is_of(given, WHOLE) if not is_known else not can_be(given, _MEMBERS[weights]):
        raise Refused("dtype-weights", given, weights)


def refuse_unlike(one: str | None, other: str | None) -> None:
    """Raise `Refused` for operands that must be of one type."""
    if not can_agree(one, other):
        raise Refused("dtype-same", one, other)


def refuse_bits(one: Typed) -> None:
    """Raise `Refused` for an operand that has no bits to be combined."""
    if is_of(one.name, (*FLOATS, *COMPLEX)):
        raise Refused("dtype-bits", one.name, "bool")


def refuse_unary(name: str, one: Typed) -> None:
    """Raise `Refused` for an operand of `~` or `-` that torch does not take."""
    if name == "~":
        refuse_bits(one)
    if name == "-" and one.name == "bool":
        raise Refused("dtype-bool", "bool", "number")


def refuse_cast(result: str | None, operand: str | None) -> None:
    """Raise `Refused` for a result that an operand, which is changed in place, cannot hold."""
    kinds = ((WHOLE, (*FLOATS, *COMPLEX)), (FLOATS, COMPLEX), (("bool",), INTEGERS))
    if any(is_of(operand, held) and is_of(result, made) for held, made in kinds):
        raise Refused("dtype-cast", operand, result)


def type_of_operator(name: str, one: Typed, other: Typed, *, in_place: bool = False) -> str | None:
    """The type of `one + other` and the like. Raises `Refused` where torch does."""
    if name == "@":
        refuse_unlike(one.name, other.name)
    if name in ("&", "|", "^", "<<", ">>"):
        refuse_bits(one)
        refuse_bits(other)
    if name == "-":
        for side, beside in ((one, other), (other, one)):
            if side.name == "bool" and side.level != 0:
                raise Refused("dtype-bool", "bool", beside.name or "number")
    found = promote([one, other])
    if name == "/" and can_be(found, WHOLE):
        found = DEFAULT if is_of(found, WHOLE) else None if found is None else "float"
    if not in_place or one.level == 0:
        return found
    refuse_cast(found, one.name)
    return one.name
