"""Widths that layers have, and shapes that an author wrote down: in a docstring, a comment or an annotation."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from modellint.flow import queries
from modellint.graph.definitions import External
from modellint.graph.size import is_proved
from modellint.graph.value import Op, dotted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from modellint.graph.python import Class, Function
    from modellint.graph.size import Size, Symbol
    from modellint.graph.value import Parameter
    from modellint.rule import Project

    from .held import Held, HeldLayer, Holders, TableSize

#: The facets of the arguments for a layer's input width (or channels), the width that a normalisation keeps, the state
#: of a recurrent layer, and the output width.
INPUT_WIDTH = ("width", "channels")
OWN_WIDTH = ("own-width",)
RECURRENT_WIDTH = ("state-width",)
OUTPUT_WIDTH = ("makes-width", "makes-channels")
#: Names of numbers of ids.
COUNTS_IDS = re.compile(r"vocab|num_?embeddings|n_?tokens|num_?tokens|n_?symbols|num_?symbols|dictionary", re.I)
_COUNTS_CODES = re.compile(r"(?<!\w)(?:codebook_(?:size|num)|(?:num|n)_(?:codes|chars|speakers)|num_classes|n_e)(?!\w)")
_COUNTS_ANYTHING = re.compile(
    r"max_?(?:pos|seq|len|time)|(?<!\w)(?:n|num|number|max)_\w*s(?!\w)|_len(?:gth)?(?!\w)|spks|speakers|langs", re.I
)
_COUNTS_NOTHING = re.compile(r"heads|channels|feat|hidden|dims?(?!\w)|d_model|units|filters|width", re.I)
_WIDTH = re.compile(
    r"(?<!\w)(?!n_|num)\w*(?:dim|d_model|(?:hidden|embed|embedding|output)_size|hidden_channels|width)(?!\w)"
)
#: These count discrete units as often as they are the width of a layer.
_MAY_COUNT_UNITS = re.compile(r"(?<!\w)(?:n|num)_units(?!\w)")
_DOCUMENTS_IDS = re.compile(
    r"number of|vocabular|dictionary|codebook|how many|token|class|categor|bin|bucket|symbol|phone|speaker", re.I
)

#: The text behind a parameter's name that may hold its shape, and where the next parameter begins.
_TAIL = r"\b{name}\b([^\n;]{{0,160}})"
_NEXT_NAME = re.compile(r"(?<=[\s,])\w+\s*(?:\([^(),]*\)\s*)?:(?!:)")
_SHAPE = re.compile(r"[(\[]([^()\[\]]*,[^()\[\]]*)[)\]]")


def is_named(name: str, function: Function) -> bool:
    """True if a function's code, docstring or comments with shapes have a name."""
    return name in function.text or any(name in line for line in _lines(function))


def _lines(function: Function) -> list[str]:
    """The lines of a function, with the comments that have a shape."""
    return function.module.as_written(function.line, function.end_line, _SHAPE)


def documented_shape(function: Function, parameter: str) -> tuple[str, ...] | None:
    """The shape that a jaxtyping annotation, a docstring or a comment gives for a parameter."""
    declared = function.parameter(parameter)
    annotated = None if declared is None else _annotated_shape(declared)
    if annotated is not None:
        return annotated
    comments = "\n".join(line.partition("#")[2].rstrip("\r\n") for line in _lines(function) if "#" in line)
    for text in (function.docstring or "", comments):
        for match in re.finditer(_TAIL.format(name=re.escape(parameter)), text):
            tail = match[1]
            following = _NEXT_NAME.search(tail)
            found = _SHAPE.search(tail[: following.start()] if following else tail)
            if found is not None:
                shape = tuple(part.strip(" `*'\"") for part in found[1].split(","))
                return tuple(part for part in shape if part)
    return None


def _annotated_shape(parameter: Parameter) -> tuple[str, ...] | None:
    """`("batch", "time")` of `x: Float[Tensor, "batch time"]`."""
    annotation = parameter.annotation
    if annotation is None or annotation.op is not Op.INDEX or annotation.args[1].op is not Op.TUPLE:
        return None
    dimensions = annotation.args[1].args[-1]
    if dimensions.op is not Op.CONST or not isinstance(dimensions.data, str):
        return None
    return tuple(dimensions.data.split())


def is_shared_shape(shape: tuple[str, ...], parameter: str, function: Function, project: Project) -> bool:
    """True if a class of the same family documents the same shape: then it describes their common interface."""
    owner = function.owner
    own = set() if owner is None else _interfaces(owner, project)
    return any(
        other.name == function.name
        and other.owner is not None
        and not _are_one(owner, other.owner, project)
        and not own.isdisjoint(_interfaces(other.owner, project))
        and documented_shape(other, parameter) == shape
        for other in function.module.all_functions()
    )


def _are_one(one: Class | None, other: Class, project: Project) -> bool:
    """True if one of two classes derives from the other."""
    flow = queries.flow(other.module, project)
    return one is not None and (one in flow.mro(other) or other in flow.mro(one))


def _interfaces(cls: Class, project: Project) -> set[str]:
    """The names of the bases of a class, of their bases, and of its subclasses' in the file; none of libraries."""
    flow = queries.flow(cls.module, project)
    mixed = (other for other in cls.module.classes.values() if cls in flow.mro(other))
    owners = {owner for one in (cls, *mixed) for owner in flow.mro(one)}
    bases = ((base, owner.module) for owner in owners for base in owner.bases)
    own = (base for base, module in bases if not isinstance(project.names.definition(module, base), External))
    return {name for name in map(dotted, own) if name is not None}


def documents_ids(symbols: Iterable[Symbol], function: Function) -> bool:
    """True if the docstrings of a function and its class describe one of the symbols as a number of ids."""
    owner = function.owner
    texts = [function.docstring or "", (owner.docstring if owner else None) or ""]
    for symbol in symbols:
        for text in texts:
            match = re.search(rf"\b{re.escape(str(symbol))}\b(.{{0,160}})", text, re.S)
            if match and _DOCUMENTS_IDS.search(match[1]):
                return True
    return False


def counts_ids(number: TableSize) -> bool:
    """True if a size is `len(…)`, or has the name of a number of ids."""
    patterns = (COUNTS_IDS, _COUNTS_CODES, _MAY_COUNT_UNITS)
    return number.is_counted or any(pattern.search(number.names) for pattern in patterns)


def counts_anything(number: TableSize) -> bool:
    """True if a size has the name of a count: of positions, speakers, classes."""
    return bool(_COUNTS_ANYTHING.search(number.names)) and not _COUNTS_NOTHING.search(number.names)


def is_called_width(number: TableSize) -> bool:
    """True if a size has the name of a width; by itself that is no evidence."""
    return bool(_WIDTH.search(number.names))


def is_width(number: TableSize, table: Held, holders: Holders) -> bool:
    """True if a size whose name may mean more than a vocabulary is the width of a layer beside the table."""
    if COUNTS_IDS.search(number.names) or number.size is None:
        return False
    facets = [(*INPUT_WIDTH, *OWN_WIDTH), *([OUTPUT_WIDTH] if _MAY_COUNT_UNITS.search(number.names) else [])]
    parts = holders.parts(table.holder) if table.holder is not None else ()
    return any(holders.width(part.layer, some) == number.size for part in parts for some in facets)


def is_own_width(size: Size, table: Held, holders: Holders) -> bool:
    """True if a size is the width of a layer of the same object, or of objects of the file's other classes."""
    is_known = bool(size.symbols)
    facets = (*INPUT_WIDTH, *OWN_WIDTH)

    def is_width_of(part: HeldLayer) -> bool:
        width = holders.width(part.layer, facets)
        return width is not None and width == size and (is_known or is_proved(width, size))

    own = holders.parts(table.holder) if table.holder is not None else []
    if any(is_width_of(part) for part in own if not queries.are_exclusive(part.path, table.path)):
        return True
    return is_known and any(is_width_of(part) for part in holders.all_parts(table.holder, size))


def sharing(table: Held, holders: Holders) -> tuple[HeldLayer | None, HeldLayer | None]:
    """The layer that takes as many features as a table has rows, and another that has them as the model's own width.

    The width of a recurrent layer is the model's own where the table has that many columns as well.
    """
    rows = table.rows.size
    if rows is None or not rows.symbols or COUNTS_IDS.search(str(rows)) or _COUNTS_CODES.search(str(rows)):
        return None, None
    parts = holders.parts(table.holder) if table.holder is not None else ()

    def first(facets: tuple[str, ...], beside: HeldLayer | None = None) -> HeldLayer | None:
        others = (part for part in parts if part is not beside and not queries.are_exclusive(part.path, table.path))
        return next((part for part in others if holders.width(part.layer, facets) == rows), None)

    own = first(OWN_WIDTH)
    if own is None and table.columns is not None and table.columns.size == rows:
        own = first(RECURRENT_WIDTH)
    return first(INPUT_WIDTH, own), own
