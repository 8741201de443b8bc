"""ML101: an embedding whose number of rows is a feature dimension."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from modellint.finding import Applicability, Confidence, Edit, Finding, Fix, Related, Severity
from modellint.graph.size import is_proved
from modellint.graph.value import EventKind, Op, are_exclusive
from modellint.link.facts import FactKind
from modellint.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.size import Size
    from modellint.graph.value import Event, Value
    from modellint.link.arrivals import Arrival
    from modellint.link.evaluator import Frame
    from modellint.link.facts import Fact
    from modellint.link.project import Project
    from modellint.link.tables import Table

#: Where a layer takes the width of its input.
_INPUT_WIDTH = {
    "torch.nn.Linear": (0, "in_features"),
    "torch.nn.Conv1d": (0, "in_channels"),
    "torch.nn.Conv2d": (0, "in_channels"),
    "torch.nn.LSTM": (0, "input_size"),
    "torch.nn.GRU": (0, "input_size"),
    "torch.nn.RNN": (0, "input_size"),
}
_OWN_WIDTH = {"torch.nn.LayerNorm": (0, "normalized_shape"), "torch.nn.RMSNorm": (0, "normalized_shape")}
_COUNTS_IDS = re.compile(r"vocab|num_?embeddings|n_?tokens|num_?tokens|n_?symbols|num_?symbols|dictionary", re.I)
_DOCUMENTS_IDS = re.compile(
    r"number of|vocabular|dictionary|codebook|how many|token|class|categor|bin|bucket|symbol|phone|speaker", re.I
)
#: What may stand behind a parameter's name up to its shape, and where the next parameter begins.
_TAIL = r"\b{name}\b([^\n;]{{0,160}})"
_NEXT_NAME = re.compile(r"(?<=[\s,])\w+\s*(?:\([^(),]*\)\s*)?:(?!:)")
_SHAPE = re.compile(r"[(\[]([^()\[\]]*,[^()\[\]]*)[)\]]")


@dataclass(frozen=True)
class _Evidence:
    """One reason to believe that a table is sized by features."""

    text: str
    is_strong: bool
    related: Related | None = None


class EmbeddingSizedByFeatures(Rule):
    """An embedding has as many rows as its input has features

    ## What it does
    Finds `nn.Embedding(n, …)` where `n` is the width of the features that are fed to it, or the width of the model, and
    not a number of ids. It needs proof: real numbers of that very width index the table, the documented shape of the
    input ends in that very dimension, a layer beside it takes the same tensor with the same width, or the two
    arguments are swapped.

    ## Why is this bad
    Features are no ids. `nn.Embedding` fails on floating point input, and after a cast to `long` on the first value
    that is negative or larger than the number of features: `srcIndex < srcSelectDimSize`, a device-side assert.

    ## How to fix
    Project features with `nn.Linear(n, d)`. For ids, give the table the size of the vocabulary.

    ## References
    - Amphion: `nn.Embedding(1583, …)` where 1583 is the feature dimension of the input
    - [torch.nn.Embedding](https://pytorch.org/docs/stable/generated/torch.nn.Embedding.html)
    """

    code = "ML101"
    name = "embedding-sized-by-features"
    severity = Severity.ERROR
    triggers = ("torch", "Embedding")

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        for function in module.all_functions():
            if "Embedding(" not in function.text and "EmbeddingBag(" not in function.text:
                continue
            frame = project.evaluator.root(function)
            for event, table in project.tables.built_in(frame):
                if table.frame.function is function:
                    yield from self._check_table(event, table, frame, project)

    def _check_table(self, event: Event, table: Table, frame: Frame, project: Project) -> Iterator[Finding]:
        rows = project.tables.rows(table)
        if rows is None or rows.constant in (0, 1, 2):
            return
        evidence = list(_swapped(table, rows, frame, project))
        fix = _swap(table, frame) if evidence else None
        arrivals = _arrivals(table, frame, project)
        if not any(arrival.fact.kind is FactKind.POSITIONS for arrival in arrivals):
            for arrival in arrivals:
                evidence.extend(_continuous(arrival, table, rows, project))
                evidence.extend(_documented(arrival, rows))
                evidence.extend(_fed_beside(arrival, rows, project))
            if _is_fed_ids(arrivals) and not _is_documented_as_ids(rows, frame):
                evidence.extend(_shared_width(event, rows, frame, project))
        strong = [item for item in evidence if item.is_strong]
        if not strong and len({item.text for item in evidence}) < 2:
            return
        module = frame.module
        chosen = list({item.text: item for item in (*strong, *evidence)}.values())
        yield self.finding(
            module.place(event.value),
            f"`{module.text_of(event.value.callee)}` has `{module.text_of(table.rows)}` rows, a feature dimension",
            symbol=event.value.target or module.text_of(table.rows),
            confidence=Confidence.HIGH if strong else Confidence.MEDIUM,
            evidence=[item.text for item in chosen],
            related=[item.related for item in chosen if item.related is not None],
            help="use `nn.Linear` for features, or give the table as many rows as there are ids",
            fix=fix,
        )


def is_width_of_index(table: Table, fact: Fact, project: Project) -> bool:
    """Whether the rows of a table are the width of the real numbers that index it."""
    rows = project.tables.rows(table)
    if rows is None:
        return False
    return any(width == rows for width, _, _ in project.facts.classes(fact.origin.value, fact.origin.frame))


def _arrivals(table: Table, frame: Frame, project: Project) -> list[Arrival]:
    """What indexes a table, in the functions of its file."""
    return [
        arrival
        for function in project.relevance.table_users(frame.module)
        for arrival in project.arrivals.of(function)
        if arrival.lookup.table is not None and arrival.lookup.table.call is table.call
    ]


def _continuous(arrival: Arrival, table: Table, rows: Size, project: Project) -> Iterator[_Evidence]:
    fact = arrival.fact
    if fact.kind is FactKind.CONTINUOUS and not fact.conditional and is_width_of_index(table, fact, project):
        module = arrival.frame.module
        place = fact.origin.frame.module.place(fact.origin.value)
        yield _Evidence(
            f"it is indexed by real numbers of width `{rows}`, in `{module.text_of(arrival.event.value)}`",
            True,
            Related(place, "the features are made here"),
        )


def _documented(arrival: Arrival, rows: Size) -> Iterator[_Evidence]:
    """The documented shape of what indexes the table ends in the number of its rows."""
    symbol = rows.only_symbol
    fact = arrival.fact
    if symbol is None or fact.kind is not FactKind.PARAMETER or fact.changed or fact.parameter is None:
        return
    function = arrival.frame.function
    shape = documented_shape(function, fact.parameter)
    if shape is not None and len(shape) > 1 and shape[-1] == str(symbol):
        module = function.module
        yield _Evidence(
            f"`{function.name}` documents `{fact.parameter}` as ({', '.join(shape)}): its last dimension is `{symbol}`",
            True,
            Related(module.place(arrival.event.value), f"`{fact.parameter}` indexes the table here"),
        )


def documented_shape(function: Function, parameter: str) -> tuple[str, ...] | None:
    """The shape that a docstring, a comment or a jaxtyping annotation gives for a parameter."""
    declared = function.parameter(parameter)
    if declared is not None and declared.annotation is not None:
        annotation = declared.annotation
        if annotation.op is Op.INDEX and annotation.args[1].op is Op.TUPLE:
            dimensions = annotation.args[1].args[-1]
            if dimensions.op is Op.CONST and isinstance(dimensions.data, str):
                return tuple(dimensions.data.split())
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


def _fed_beside(arrival: Arrival, rows: Size, project: Project) -> Iterator[_Evidence]:
    """A layer takes the same tensor, with the same width, on a path that the lookup shares."""
    fact, frame = arrival.fact, arrival.frame
    if fact.kind is not FactKind.PARAMETER or fact.changed or arrival.calls:
        return
    for event in frame.function.flow.of(EventKind.CALL):
        target = project.evaluator.target(event.value, frame)
        layer = target.layer
        if layer is None or layer.call is None or layer.frame is None or layer.external not in _INPUT_WIDTH:
            continue
        width = project.evaluator.size(layer.call.argument(*_INPUT_WIDTH[layer.external]), layer.frame)
        given = event.value.argument(0, "input")
        if width != rows or given is None or are_exclusive(event.guard, arrival.event.guard):
            continue
        facts = project.facts.facts(given, frame)
        if any(f.parameter == fact.parameter and not f.changed for f in facts):
            yield _Evidence(
                f"`{frame.module.text_of(event.value)}` takes the same tensor with `{rows}` features",
                True,
                Related(frame.module.place(event.value), "a layer takes the same tensor"),
            )


def _layers(frame: Frame, project: Project, widths: dict[str, tuple[int, str]]) -> Iterator[tuple[Event, Size]]:
    """The layers that a function builds and the width that the table `widths` points at."""
    for event in frame.function.flow.of(EventKind.CALL):
        name = project.evaluator.external_name(event.value.callee, frame.module)
        if name in widths:
            size = project.evaluator.size(event.value.argument(*widths[name]), frame)
            if size is not None:
                yield event, size


def _swapped(table: Table, rows: Size, frame: Frame, project: Project) -> Iterator[_Evidence]:
    """The second argument counts ids, the first is a width that other layers of the class have."""
    if table.columns is None or not _counts_ids(table.columns, frame) or _counts_ids(table.rows, frame):
        return
    columns = project.evaluator.size(table.columns, frame)
    if columns == rows:
        return
    for _, width in _layers(frame, project, {**_INPUT_WIDTH, **_OWN_WIDTH}):
        if width == rows and (rows.symbols or is_proved(width, rows)):
            module = frame.module
            yield _Evidence(
                f"the arguments are swapped: `{module.text_of(table.columns)}` counts ids, and"
                f" `{module.text_of(table.rows)}` is the width of other layers",
                True,
            )
            return


def _counts_ids(value: Value, frame: Frame) -> bool:
    if value.op is Op.CALL and value.callee.data == "len":
        return True
    return bool(_COUNTS_IDS.search(frame.module.text_of(value)))


def _swap(table: Table, frame: Frame) -> Fix | None:
    first, second = table.rows, table.columns
    if second is None or table.call.has_unpacking or len(table.call.positional) < 2:
        return None
    module = frame.module
    edits = (
        Edit(module.place(first), module.text_of(second)),
        Edit(module.place(second), module.text_of(first)),
    )
    return Fix("Swap the arguments", Applicability.UNSAFE, edits)


def _is_fed_ids(arrivals: list[Arrival]) -> bool:
    return any(arrival.fact.kind is FactKind.PARAMETER and not arrival.conditional for arrival in arrivals)


def _is_documented_as_ids(rows: Size, frame: Frame) -> bool:
    """Whether the docstrings around say that the number of rows counts ids."""
    owner = frame.function.owner
    texts = [frame.function.docstring or "", (owner.docstring if owner else None) or ""]
    for symbol in rows.symbols:
        for text in texts:
            match = re.search(rf"\b{re.escape(str(symbol))}\b(.{{0,160}})", text, re.S)
            if match and _DOCUMENTS_IDS.search(match[1]):
                return True
    return False


def _shared_width(event: Event, rows: Size, frame: Frame, project: Project) -> Iterator[_Evidence]:
    """The number of rows is also the width of other layers, or of the model."""
    if not rows.symbols or _COUNTS_IDS.search(str(rows)):
        return
    module = frame.module
    for widths, what in ((_INPUT_WIDTH, "the input width of"), (_OWN_WIDTH, "the width of the model, as in")):
        for other, width in _layers(frame, project, widths):
            if width == rows and not are_exclusive(other.guard, event.guard):
                text = module.text_of(other.value)
                yield _Evidence(
                    f"`{rows}` is {what} `{text}`", False, Related(module.place(other.value), f"`{rows}` is a width")
                )
                break
