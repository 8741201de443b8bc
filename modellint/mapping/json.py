"""Maps for programs: one JSON object, whose form `schema` numbers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from modellint.mapping.model import ClassMap, FolderMap
from modellint.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.mapping.model import (
        Attribute,
        Count,
        Fact,
        FolderPart,
        Layer,
        Loose,
        Map,
        RecipeMap,
        Training,
        Usage,
    )
    from modellint.reporters import View
    from modellint.source import Place

#: Raised when a key changes its meaning or goes; new keys may come at any time.
SCHEMA = 1


def lines(chart: Map, view: View) -> Iterator[str]:
    """The map as one object. Paths are relative to the working directory, lines and columns start at 1."""
    if isinstance(chart, FolderMap):
        body = _folder(chart, view)
    else:
        body = _class(chart, view) if isinstance(chart, ClassMap) else _recipe(chart, view)
    document = {"version": __version__, "schema": SCHEMA, **body}
    yield json.dumps(document, indent=2, ensure_ascii=False)


def _recipe(chart: RecipeMap, view: View) -> dict[str, Any]:
    return {
        "kind": "recipe",
        "path": view.path(chart.path),
        "found_by": chart.found_by or None,
        "turned_down": [{"script": view.path(script), "reason": reason} for script, reason in chart.turned_down],
        "trainings": [_training(training, view) for training in chart.trainings],
    }


def _training(training: Training, view: View) -> dict[str, Any]:
    return {
        "brain": training.brain or None,
        "script": None if training.script is None else view.path(training.script),
        "optimizers": list(training.optimizers),
        "layers": [_layer(layer, view) for layer in training.layers],
        "missing": list(training.missing),
        "loose": [_loose(one, view) for one in training.loose],
    }


def _layer(layer: Layer, view: View) -> dict[str, Any]:
    return {
        "name": layer.name,
        "class": layer.class_name,
        **_place(layer.place, view),
        "parameters": _count(layer.parameters),
        "used": [_use(use, view) for use in layer.uses],
        "moved": _fact(layer.moved, view),
        "trained": _fact(layer.trained, view),
        "saved": _fact(layer.saved, view),
        "loaded": _fact(layer.loaded, view),
        "frozen": _fact(layer.frozen, view),
        "within": layer.within,
        "held_by": [
            {"kind": link.kind.value, "root": link.root, "group": link.group or None, "certain": link.certain}
            for link in layer.links
        ],
    }


def _class(chart: ClassMap, view: View) -> dict[str, Any]:
    return {
        "kind": "class",
        "name": chart.name,
        **_place(chart.place, view),
        "bases": list(chart.bases),
        "is_module": chart.is_module,
        "is_complete": chart.is_complete,
        "attributes": [_attribute(attribute, view) for attribute in chart.attributes],
        "loose": [_loose(one, view) for one in chart.loose],
    }


def _folder(chart: FolderMap, view: View) -> dict[str, Any]:
    return {"kind": "folder", "path": view.path(chart.path), "models": [_part(part) for part in chart.parts]}


def _part(part: FolderPart) -> dict[str, Any]:
    parts = part.by_part().items()
    return {
        "name": part.name or None,
        "class": part.class_name or None,
        "files": list(part.files),
        "parameters": part.parameters,
        "tied": part.is_tied,
        "dtypes": [
            {"dtype": dtype, "parameters": parameters, "bytes": memory}
            for dtype, (parameters, memory) in part.by_dtype().items()
        ],
        "parts": [
            {"name": name, "tensors": number, "parameters": parameters, "bytes": memory}
            for name, (number, parameters, memory) in parts
        ],
        "tensors": [
            {
                "name": one.name,
                "number": one.number,
                "shape": list(one.shape),
                "dtype": one.dtype,
                "parameters": one.parameters,
                "bytes": one.memory,
            }
            for one in part.weights
        ],
        "unread": list(part.unread),
    }


def _attribute(attribute: Attribute, view: View) -> dict[str, Any]:
    return {
        "name": attribute.name,
        "kind": attribute.kind,
        "class": attribute.class_name,
        "place": None if attribute.place is None else _place(attribute.place, view),
        "parameters": _count(attribute.parameters),
        "registered": _fact(attribute.registered, view),
        "conditional": attribute.conditional,
        "used": [_use(use, view) for use in attribute.uses],
    }


def _count(count: Count) -> dict[str, Any]:
    return {"number": count.number, "text": None if count.size is None else str(count.size)}


def _fact(fact: Fact, view: View) -> dict[str, Any]:
    return {
        "state": fact.state.value,
        "via": fact.via or None,
        "place": None if fact.place is None else _place(fact.place, view),
    }


def _use(use: Usage, view: View) -> dict[str, Any]:
    return {
        **_place(use.place, view),
        "function": use.function,
        "text": use.text,
        "stages": [stage.lower() for stage in use.stages],
        "through": list(use.owners),
        "certain": use.certain,
    }


def _loose(loose: Loose, view: View) -> dict[str, Any]:
    return {"name": loose.name, "message": loose.message, "kind": loose.kind, **_place(loose.place, view)}


def _place(place: Place, view: View) -> dict[str, Any]:
    return {"path": view.path(place.path), "line": place.span.line, "column": place.span.column}
