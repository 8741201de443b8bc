"""Hover texts: the shape of a tensor, and the pages of rules with findings on the line or a layer's row of the map."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.mapping.model import ClassMap, MapError, RecipeMap
from modellint.mapping.targets import map_of
from modellint.mapping.views import tables
from modellint.reporters import View
from modellint.source import YAML, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from modellint.flow.shapes.shown import TensorExpression
    from modellint.link.project import Project
    from modellint.mapping.model import Map
    from modellint.rule import Rule

#: The characters of an expression that are shown.
_LONGEST = 60


def rule_text(rule: Rule) -> str:
    """The page of a rule, as Markdown. Editors show the finding itself above it, from the diagnostic."""
    docs = type(rule).docs()
    return f"**{rule.code}** {rule.name}\n\n{docs.summary}\n\n{docs.body}"


def tensor_text(tensor: TensorExpression) -> str:
    """The shape and the type of a tensor, as Markdown."""
    name = tensor.name if len(tensor.name) <= _LONGEST else f"{tensor.name[: _LONGEST - 1]}…"
    return f"```python\n{name}: {tensor.words}\n```"


def layer_text(path: Path, line: int, project: Project) -> str | None:
    """The row of the map for the layer that is defined on a line, as Markdown; None if there is none."""
    found = []
    for target in _targets(path, line, project):
        try:
            chart = map_of(target, project)
        except MapError:
            continue
        names = {name for name, at, last in _definitions(chart, path) if at <= line <= last}
        view = View(path.parent, project.files)
        for table in tables(chart, view):
            for row in table.rows:
                if row[0].text in names:
                    cells = zip(table.columns[1:], row[1:], strict=False)
                    found.append(
                        "\n".join([f"**{row[0].text}**", *(f"- {title}: {cell.text}" for title, cell in cells)])
                    )
    return "\n\n".join(dict.fromkeys(found)) or None


def _targets(path: Path, line: int, project: Project) -> Iterator[str]:
    if kind_of(path.name) == YAML:
        yield str(path)
        return
    module = project.python(path)
    for name, cls in module.classes.items() if module is not None else ():
        if cls.line <= line <= cls.end_line:
            yield f"{path}::{name}"


def _definitions(chart: Map, path: Path) -> Iterable[tuple[str, int, int]]:
    """Layers with the first and last line of their definition, in this file."""
    if isinstance(chart, ClassMap):
        defined = [(item.name, item.place) for item in chart.attributes]
    elif isinstance(chart, RecipeMap):
        defined = [(layer.name, layer.place) for training in chart.trainings for layer in training.layers]
    else:
        return []
    return [
        (name, place.span.line, place.span.end_line)
        for name, place in defined
        if place is not None and place.path == path.as_posix()
    ]
