"""The part that tensors have in a backward pass: which ones need a gradient, and what an operator keeps for it.

The facet `saves` of an operator says what it keeps. What is kept only where another operand needs a gradient counts
where that one certainly does: it comes from a layer that has parameters, or is a parameter itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from modellint.flow.domain import Constant, Counter, Site
from modellint.flow.shapes.atoms import Kept, Traced, is_number
from modellint.flow.shapes.dtypes import WHOLE, is_of
from modellint.graph.value import Op

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from modellint.flow.domain import Atoms
    from modellint.flow.heap import Shell
    from modellint.flow.shapes.atoms import Shaped
    from modellint.flow.shapes.given import Given, Place
    from modellint.graph.value import Value
    from modellint.operators import Operator

#: A tensor that needs a gradient, and that no operator keeps; a parameter.
NEEDED, LEAF = Traced(), Traced(kept=Kept("", "leaf"))


class Effect(NamedTuple):
    """A function certainly keeps the tensor that is passed for a parameter, or changes it."""

    parameter: str
    is_change: bool
    by: str


def needs(tensor: Shaped | None) -> bool:
    """True if a tensor certainly needs a gradient."""
    return tensor is not None and tensor.traced is not None and tensor.traced.needs


def without_mark(traced: Traced | None) -> Traced | None:
    """The part of a new tensor in the backward pass, made of one that may be kept."""
    return traced if traced is None or traced.kept is None else NEEDED if traced.needs else None


def common_part(tensors: Sequence[Shaped]) -> Traced | None:
    """The part in the backward pass that any of several tensors has."""
    parts = [one.traced for one in tensors]
    return parts[0] if len(set(parts)) == 1 else NEEDED if all(map(needs, tensors)) else None


def part_of_result(call: Given, dtype: str | None, site: Site | None) -> Traced | None:
    """The part of a call's result in the backward pass."""
    facets, first = call.row.facets, call.first
    before = None if first is None else first.traced
    if "shares" in facets and before is not None:
        if "cuts" not in facets:
            return before
        return None if before.kept is None or before.kept is LEAF.kept else Traced(needs=False, kept=before.kept)
    if "cuts" in facets or "fresh" in facets or is_of(dtype, WHOLE) or not gives_gradient(call):
        return None
    if "result" in facets.get("saves", "").split("|"):
        return Traced(kept=Kept(short_name(call.row), "result", site))
    return NEEDED


def gives_gradient(call: Given) -> bool:
    """True if the result of a call certainly needs a gradient."""
    if any(map(needs, call.picked.values())):
        return True
    facets = call.row.facets
    if "learns" in facets and call.is_layer:
        flag = call.row.argument("learns")
        return flag is None or call.flag(*flag, default=True) is True
    return ("cats" in facets or "piles" in facets) and any(map(needs, call.listed_tensors()))


def kept_places(call: Given) -> list[Place]:
    """The places of the operands that a call keeps, if its result needs a gradient."""
    facets = call.row.facets
    parts = facets.get("saves", "").split("|")
    unless = call.row.argument("kept-unless")
    if unless is not None and call.is_given(*unless):
        return []
    found: list[Place] = []
    pair = [*call.picked.items()][:2]
    for number, place in enumerate(call.picked):
        others = (one for other, one in pair if other != place)
        if (
            "all" in parts
            or ("input" in parts and number == 0)
            or ("second" in parts and number == 1)
            or ("factors" in parts and number < len(pair) and any(map(needs, others)))
        ):
            found.append(place)
    return found


def may_save(row: Operator) -> bool:
    """True for an operator that may keep its operands, or change them."""
    facets = row.facets
    return "saves" in facets or "changes-if" in facets or row.name.endswith("_")


def part_of(parameter: Shell) -> Traced | None:
    """The part of a parameter in the backward pass: a leaf, unless it needs no gradient."""
    flag = parameter.arguments.argument(1, "requires_grad")
    if flag is not None and not (len(flag) == 1 and isinstance(flag[0], Constant) and flag[0].value is True):
        return None
    return LEAF


def are_views(parts: Iterable[Value], evaluate: Callable[[Value], Atoms]) -> bool:
    """True if subscripts certainly make a view: slices and numbers."""
    return all(
        part.op in (Op.SLICE, Op.CONST) or all(is_number(atom) or isinstance(atom, Counter) for atom in evaluate(part))
        for part in parts
    )


def short_name(row: Operator) -> str:
    return row.name.rpartition(".")[2]
