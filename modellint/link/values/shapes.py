"""Widths that layers have, and shapes that an author wrote down: in a docstring, a comment or an annotation."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from modellint import operators
from modellint.graph.size import is_proved
from modellint.graph.value import EventKind, Op, are_exclusive, dotted, self_attribute

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from modellint.graph.python import Class, Function, Parameter
    from modellint.graph.size import Size, Symbol
    from modellint.graph.value import Event, Value
    from modellint.link.project import Project
    from modellint.link.values.evaluator import Frame, Instance, Located

#: Where a layer takes the width (or the channels) of its input, a normalisation that of the model, a recurrent
#: layer its own, and a layer that of its output.
INPUT_WIDTH = operators.arguments("width") | operators.arguments("channels")
OWN_WIDTH = operators.arguments("own-width")
RECURRENT_WIDTH = operators.arguments("state-width")
OUTPUT_WIDTH = operators.arguments("makes-width") | operators.arguments("makes-channels")
#: What quantities of ids are called.
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

#: What may stand behind a parameter's name up to its shape, and where the next parameter begins.
_TAIL = r"\b{name}\b([^\n;]{{0,160}})"
_NEXT_NAME = re.compile(r"(?<=[\s,])\w+\s*(?:\([^(),]*\)\s*)?:(?!:)")
_SHAPE = re.compile(r"[(\[]([^()\[\]]*,[^()\[\]]*)[)\]]")


def documented_shape(function: Function, parameter: str) -> tuple[str, ...] | None:
    """The shape that a jaxtyping annotation, a docstring or a comment gives for a parameter."""
    declared = function.parameter(parameter)
    annotated = None if declared is None else _annotated_shape(declared)
    if annotated is not None:
        return annotated
    comments = "\n".join(line.partition("#")[2] for line in function.text.splitlines() if "#" in line)
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
    """Whether a class with the same base documents the same: it is the interface that takes such input."""
    owner = function.owner
    own = set() if owner is None else _interfaces(owner, project)
    return any(
        other.name == function.name
        and other.owner is not None
        and other.owner is not owner
        and not own.isdisjoint(_interfaces(other.owner, project))
        and documented_shape(other, parameter) == shape
        for other in function.module.all_functions()
    )


def _interfaces(cls: Class, project: Project) -> set[str]:
    """The bases of a class that are no library's."""
    bases = (base for base in cls.bases if project.evaluator.external_name(base, cls.module) is None)
    return {name for name in map(dotted, bases) if name is not None}


def documents_ids(symbols: Iterable[Symbol], function: Function) -> bool:
    """Whether the docstrings around say that one of the quantities counts ids."""
    owner = function.owner
    texts = [function.docstring or "", (owner.docstring if owner else None) or ""]
    for symbol in symbols:
        for text in texts:
            match = re.search(rf"\b{re.escape(str(symbol))}\b(.{{0,160}})", text, re.S)
            if match and _DOCUMENTS_IDS.search(match[1]):
                return True
    return False


def input_width(layer: Instance, project: Project) -> Size | None:
    """The width that a layer expects of its input."""
    if layer.external not in INPUT_WIDTH or layer.call is None or layer.frame is None:
        return None
    return project.evaluator.size(layer.call.argument(*INPUT_WIDTH[layer.external]), layer.frame)


def layers(frame: Frame, project: Project, widths: Mapping[str, tuple[int, str]]) -> Iterator[tuple[Event, Size]]:
    """The layers that a function builds and the width that the table `widths` points at."""
    for event in frame.function.flow.of(EventKind.CALL):
        name = project.evaluator.external_name(event.value.callee, frame.module)
        if name is not None and name in widths:
            size = project.evaluator.size(event.value.argument(*widths[name]), frame)
            if size is not None:
                yield event, size


def counts_ids(number: Located) -> bool:
    """Whether what a number is called says that it counts ids."""
    if number.value.op is Op.CALL and number.value.callee.data == "len":
        return True
    text = number.frame.module.text_of(number.value)
    return any(pattern.search(text) for pattern in (COUNTS_IDS, _COUNTS_CODES, _MAY_COUNT_UNITS))


def counts_anything(number: Located) -> bool:
    """Whether what a number is called says that it counts something: positions, speakers, classes."""
    text = number.frame.module.text_of(number.value)
    return bool(_COUNTS_ANYTHING.search(text)) and not _COUNTS_NOTHING.search(text)


def is_called_width(number: Located) -> bool:
    """Whether what a number is called says that it is a width; by itself that is no evidence."""
    return bool(_WIDTH.search(number.frame.module.text_of(number.value)))


def is_width(number: Located, frame: Frame, project: Project) -> bool:
    """Whether a number whose name may mean more than a vocabulary is the width of a layer beside."""
    text = number.frame.module.text_of(number.value)
    if COUNTS_IDS.search(text):
        return False
    taken = {**INPUT_WIDTH, **OWN_WIDTH}
    found = [width for _, width in layers(frame, project, taken)]
    if _MAY_COUNT_UNITS.search(text):
        found.extend(width for _, width in layers(frame, project, OUTPUT_WIDTH))
    return project.evaluator.size(number.value, number.frame) in found


def widths(event: Event, size: Size, frame: Frame, project: Project) -> Iterator[Size]:
    """The widths of the layers that may be built along with `event`, and in other classes, if `size` is a symbol."""
    kinds = {**INPUT_WIDTH, **OWN_WIDTH}
    yield from (width for other, width in layers(frame, project, kinds) if not are_exclusive(other.guard, event.guard))
    if size.symbols:
        for function in frame.module.all_functions():
            if function.name == "__init__" and function is not frame.function:
                yield from (width for _, width in layers(project.evaluator.root(function), project, kinds))


def is_own_width(event: Event, size: Size, frame: Frame, project: Project) -> bool:
    """Whether a number is the width of a layer of the same constructor, or of the file's other classes."""
    is_known = bool(size.symbols)
    return any(width == size and (is_known or is_proved(width, size)) for width in widths(event, size, frame, project))


def is_shared(event: Event, size: Size, frame: Frame, project: Project) -> bool:
    """Whether another part that a constructor builds is given the same number."""
    for other in frame.function.flow.of(EventKind.CALL):
        if (
            other is not event
            and self_attribute(other.value.callee) is None
            and not _is_inside(other.value, event.value)
        ):
            given = (*other.value.positional, *other.value.keywords.values())
            if any(
                project.evaluator.size(arg, frame) == size for arg in given if arg.op in (Op.PARAM, Op.ATTR, Op.BIN)
            ):
                return True
    return False


def _is_inside(value: Value, other: Value) -> bool:
    return any(part is other for part in value.walk())


def sharing(
    event: Event, rows: Size, columns: Located | None, frame: Frame, project: Project
) -> tuple[Event | None, Event | None]:
    """The layer that takes as many features as a table has rows, and another that has them as the model's own width.

    The width of a recurrent layer is the model's own where the table has that many columns as well.
    """
    if not rows.symbols or COUNTS_IDS.search(str(rows)) or _COUNTS_CODES.search(str(rows)):
        return None, None

    def first(kinds: Mapping[str, tuple[int, str]], beside: Event | None = None) -> Event | None:
        for other, width in layers(frame, project, kinds):
            if width == rows and other is not beside and not are_exclusive(other.guard, event.guard):
                return other
        return None

    own = first(OWN_WIDTH)
    if own is None and columns is not None and project.evaluator.size(columns.value, columns.frame) == rows:
        own = first(RECURRENT_WIDTH)
    return first(INPUT_WIDTH, own), own
