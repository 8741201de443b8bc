"""The kind of a tensor's elements, such as scores of a layer or probabilities, and if a gradient reaches it.

The facet `values` of an operator says what it makes. What only moves elements keeps them; any other operator makes
something of which nothing is known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import operators
from modellint.flow.domain import ClassRef, Constant, Counter, Number, Outside
from modellint.flow.shapes.atoms import Cut, Held
from modellint.flow.shapes.dtypes import WHOLE, is_of
from modellint.flow.shapes.shape import Refused
from modellint.flow.shapes.transfer import arguments

if TYPE_CHECKING:
    from modellint.flow.domain import Site
    from modellint.flow.shapes.atoms import Shaped
    from modellint.flow.shapes.given import Given
    from modellint.graph.size import Size
    from modellint.operators import Operator

#: Kinds of doubts: a loss or an activation that is seldom given such elements, and a loss that no gradient reaches.
STRANGE, UNTRAINED = "doubt-elements", "doubt-gradient"
#: The second of two linear layers in a row.
TWICE = "second Linear"
_LOGARITHMS = {"probabilities": "log-probabilities", "chances": "log-chances"}
#: Facets of what puts other elements among those of its operand.
_CHANGING = frozenset(("fill", "literal", "repeats", "grows", "stacks"))
#: Facets of layers that have parameters, and of losses whose targets have no gradients.
_TRAINED = frozenset(
    ("takes-features", "takes-channels", "normal", "weighted", "convolves", "deconvolves", "takes-ids")
)
_OF_CLASSES = frozenset(("classes", "real-target"))
_NUMBERS = (Constant, Number, Counter, Outside, ClassRef)


def held_by_result(call: Given, site: Site | None) -> Held | None:
    """The kind of the elements that a call gives."""
    made = call.row.facets.get("values")
    before = None if call.first is None else call.first.held
    if made is None:
        return before if before is not None and _keeps(call.row) else None
    behind = "" if before is None else before.kind
    kind = _LOGARITHMS.get(behind) if made == "log" else _or_logarithm(made, call)
    width = (
        call.size(*arguments(call.row, "takes-features")[0]).size if call.row.facets.get("seldom") == "maps" else None
    )
    return None if kind is None else Held(kind, behind, site, width)


def _or_logarithm(made: str, call: Given) -> str | None:
    """The kind of the elements, or of their logarithms, as a flag of the layer says; None if that is not known."""
    is_log = "logs" in call.row.facets and call.flag(*arguments(call.row, "logs")[0])
    return None if is_log is None else _LOGARITHMS.get(made) if is_log else made


def _keeps(row: Operator) -> bool:
    """True for an operator that gives the elements of its operand."""
    base = operators.row(row.name)
    return base is not None and "passed" in base.facets and base.facets.keys().isdisjoint(_CHANGING)


def cut_of_result(call: Given, dtype: str | None, site: Site | None) -> Cut | None:
    """Why no gradient reaches the result of a call; None if one may."""
    facets = call.row.facets
    if is_of(dtype, WHOLE) or "cuts" in facets:
        first = call.first
        return first.cut if first is not None and first.cut is not None else Cut(call.row.name.rpartition(".")[2], site)
    if call.first is None or (call.is_layer and not facets.keys().isdisjoint(_TRAINED)):
        return None
    targets = (1, "target") if not facets.keys().isdisjoint(_OF_CLASSES) else ()
    given = [one for place, one in call.picked.items() if place not in targets]
    further = () if call.is_layer else call.further()
    others = (atoms for place, atoms in further if place not in call.picked and place not in targets)
    if not call.is_complete or not all(isinstance(atom, _NUMBERS) for atoms in others for atom in atoms):
        return None
    return cut_of_all(given)


def cut_of_all(tensors: list[Shaped | None]) -> Cut | None:
    """Why no gradient reaches any of several tensors; None if one may reach some, or if there are none."""
    cuts = [None if one is None else one.cut for one in tensors]
    return cuts[0] if cuts and None not in cuts else None


def _is_one_map(held: Held, call: Given) -> bool:
    """True if a linear layer gets what another one gives, and one layer could do what both do.

    Not if fewer features than either side has stand between them: then both make a map of lower rank.
    """
    between, after = (call.size(*arguments(call.row, facet)[0]).size for facet in ("takes-features", "gives-features"))
    if held.kind != "scores" or held.width is None or between is None:
        return False
    return any(_is_least(outer, between) for outer in (held.width, after) if outer is not None)


def _is_least(size: Size, other: Size) -> bool:
    """True if a size is certainly not above another one."""
    if size.constant is None or other.constant is None:
        return size == other
    return size.constant <= other.constant


def doubt_of_elements(call: Given) -> Refused | None:
    """Why the elements of an operand are seldom meant: probabilities where scores are expected, and the like."""
    seldom, held = call.row.facets.get("seldom"), None if call.first is None else call.first.held
    if seldom is None or held is None:
        return None
    if seldom == "maps":
        return Refused(STRANGE, held, TWICE) if _is_one_map(held, call) else None
    is_seldom = not {held.kind, f"{held.kind}-of-{held.behind}"}.isdisjoint(seldom.split("|"))
    return Refused(STRANGE, held, call.row.name.rpartition(".")[2]) if is_seldom else None
