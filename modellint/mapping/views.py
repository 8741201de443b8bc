"""A map as a table: the columns and cells that the terminal and the web page show alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.graph.immutable import dataclass
from modellint.mapping.model import ClassMap, FolderMap, State
from modellint.mapping.text import class_text, counted, fact_text, memory_text, position, use_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from modellint.mapping.model import (
        Attribute,
        Count,
        Fact,
        FolderPart,
        Layer,
        Map,
        RecipeMap,
        Training,
        Usage,
    )
    from modellint.reporters import View


@dataclass(frozen=True, eq=False)
class Cell:
    """A text with the state that it expresses; None for a cell about something else than registration.

    `every` has the full lines that `text` shortens; `is_number` cells are aligned to the right.
    """

    text: str
    state: State | None = None
    every: tuple[str, ...] = ()
    is_number: bool = False


@dataclass(frozen=True, eq=False)
class Table:
    """A heading, rows of cells, and the lines below them: `loose` in red, then `notes`."""

    title: str
    subtitle: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    loose: tuple[str, ...]
    notes: tuple[str, ...]


def tables(chart: Map, view: View) -> list[Table]:
    """One table for a class or for each training of a recipe; two for each model of a folder."""
    if isinstance(chart, FolderMap):
        return [table for part in chart.parts for table in _of_part(chart, part, view)]
    if isinstance(chart, ClassMap):
        return [_of_class(chart, view)]
    return [_of_training(chart, training, view) for training in chart.trainings]


def _of_training(chart: RecipeMap, training: Training, view: View) -> Table:
    with_loaded = any(layer.loaded.state is not State.NO for layer in training.layers)
    with_frozen = any(layer.frozen.state is not State.NO for layer in training.layers)
    columns = ["layer", "class", "parameters", "used", "moved", "trained", "saved"]
    columns += ["loaded"] * with_loaded + ["frozen"] * with_frozen
    rows = [_row(layer, view, with_loaded, with_frozen) for layer in training.layers]
    if training.script is None:
        subtitle = "no script: only what the recipe says is known"
    else:
        subtitle = f"{training.brain} in {view.path(training.script)}, found by {chart.found_by}"
    loose = tuple(f"{position(one.place, view)}: {one.message}" for one in training.loose)
    counts = [layer.parameters for layer in training.layers]
    notes = (_sum(counts, "layer"), *(f"not {view.path(path)}: {reason}" for path, reason in chart.turned_down))
    return Table(view.path(chart.path), subtitle, tuple(columns), tuple(rows), loose, notes)


def _row(layer: Layer, view: View, with_loaded: bool, with_frozen: bool) -> tuple[Cell, ...]:
    cells = [
        Cell(layer.name, State.LOOSE if layer.is_loose else None),
        Cell(class_text(layer.class_name)),
        _count_cell(layer.parameters),
        _uses_cell(layer.uses, view),
        *(_fact_cell(fact, layer.name) for fact in (layer.moved, layer.trained, layer.saved)),
    ]
    if with_loaded:
        cells.append(_fact_cell(layer.loaded, layer.name))
    if with_frozen:
        cells.append(_fact_cell(layer.frozen))
    return tuple(cells)


def _of_class(chart: ClassMap, view: View) -> Table:
    bases = f"({', '.join(chart.bases)})" if chart.bases else ""
    kinds = {True: "", False: ", which is no torch.nn.Module", None: ", whose bases are not all known"}
    subtitle = f"class {class_text(chart.name)}{bases}{kinds[chart.is_module]}"
    rows = tuple(_attribute_row(attribute, view) for attribute in chart.attributes)
    loose = tuple(f"{position(one.place, view)}: {one.message}" for one in chart.loose)
    notes = [_sum([attribute.parameters for attribute in chart.attributes], "attribute")]
    if not chart.is_complete:
        notes.append("the constructor does more than can be followed: there may be more attributes")
    columns = ("attribute", "class", "parameters", "registered", "used")
    return Table(f"{view.path(chart.path)}:{chart.place.span.line}", subtitle, columns, rows, loose, tuple(notes))


def _of_part(chart: FolderMap, part: FolderPart, view: View) -> Iterator[Table]:
    """The tables of a model: its parts, and its tensors."""
    title = view.path(chart.path) + (f"/{part.name}" if part.name else "")
    files = part.files[0] if len(part.files) == 1 else counted(len(part.files), "file")
    subtitle = f"{part.class_name} in {files}" if part.class_name else files
    rows = (
        (Cell(name), _number_cell(number), _number_cell(parameters), Cell(memory_text(memory), is_number=True))
        for name, (number, parameters, memory) in part.by_part().items()
    )
    dtypes = ", ".join(f"{memory_text(memory)} {dtype}" for dtype, (_, memory) in part.by_dtype().items())
    number = sum(one.number for one in part.weights)
    notes = [f"{counted(number, 'tensor')}, {part.parameters:,} parameters, {dtypes}"]
    if part.is_tied:
        notes.append("`tie_word_embeddings`: the output layer shares the rows of the input embedding")
    yield Table(title, subtitle, ("part", "tensors", "parameters", "memory"), tuple(rows), part.unread, tuple(notes))
    tensors = (
        (
            Cell(one.name),
            _number_cell(one.number),
            Cell(str(list(one.shape))),
            Cell(one.dtype),
            _number_cell(one.parameters),
            Cell("?" if one.memory is None else memory_text(one.memory), is_number=True),
        )
        for one in part.weights
    )
    columns = ("tensor", "number", "shape", "dtype", "parameters", "memory")
    yield Table("Tensors", "", columns, tuple(tensors), (), ())


def _number_cell(number: int) -> Cell:
    return Cell(f"{number:,}", is_number=True)


def _attribute_row(attribute: Attribute, view: View) -> tuple[Cell, ...]:
    return (
        Cell(attribute.name, State.LOOSE if attribute.is_loose else None),
        Cell(attribute.class_name),
        _count_cell(attribute.parameters),
        _fact_cell(attribute.registered),
        _uses_cell(attribute.uses, view),
    )


def _fact_cell(fact: Fact, name: str = "") -> Cell:
    return Cell(fact_text(fact, name), fact.state)


def _count_cell(count: Count) -> Cell:
    return Cell(count.text, is_number=count.number is not None)


def _uses_cell(uses: Sequence[Usage], view: View) -> Cell:
    """The place of the first use, and the number of other places."""
    if not uses:
        return Cell("-")
    more = f", +{len(uses) - 1}" if len(uses) > 1 else ""
    return Cell(use_text(uses[0], view, short=True) + more, every=tuple(use_text(u, view, short=False) for u in uses))


def _sum(counts: Iterable[Count], noun: str) -> str:
    listed = list(counts)
    numbers = [count.number for count in listed if count.number is not None]
    text = counted(len(listed), noun)
    if numbers:
        text += f", {sum(numbers):,} parameters"
        if len(numbers) < len(listed):
            text += f" in the {len(numbers)} whose number is known"
    return text
