"""Resolve the target of a map, `RECIPE`, `FILE.py::Class` or a model folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from modellint.config.errors import nearest
from modellint.mapping.model import MapError
from modellint.source import YAML, UnreadableError, kind_of

if TYPE_CHECKING:
    from modellint.graph.python import Class
    from modellint.link.project import Project
    from modellint.mapping.model import Map

_SEPARATOR = "::"
#: How many names a message lists.
_MAX_NAMES = 12
_EXPECTED = "expected a recipe (.yaml, .yml), a class (FILE.py::Class) or a model folder"


def split(target: str) -> tuple[Path, str | None]:
    """The file and the class in a target."""
    name, separator, cls = target.rpartition(_SEPARATOR)
    return (Path(name), cls) if separator else (Path(target), None)


def map_of(target: str, project: Project) -> Map:
    """The map of a target. Raises MapError."""
    shown, cls = split(target)
    path = Path(os.path.abspath(shown))
    if os.path.isdir(path):
        from modellint.mapping.folders import map_folder

        return map_folder(path, shown, project, _EXPECTED)
    kind = kind_of(path.name)
    if kind is None:
        raise MapError(f"{shown}: is neither Python nor YAML; {_EXPECTED}")
    data = project.files.read(path)
    if data is None:
        oversized = project.files.oversized(path)
        reason = "cannot be read" if os.path.exists(path) else "no such file or folder"
        raise MapError(f"{shown}: {reason if oversized is None else oversized.reason}")
    try:
        if kind == YAML:
            if cls is not None:
                raise MapError(f"{shown}: a recipe has no class `{cls}`; expected the recipe alone, or FILE.py::Class")
            return _recipe(path, shown, data, project)
        return _class(path, shown, data, cls, project)
    except UnreadableError as error:
        raise MapError(f"{shown}:{error.span.line}:{error.span.column}: {error.reason}") from None


def _recipe(path: Path, shown: Path, data: bytes, project: Project) -> Map:
    from modellint.frontends import recipe as frontend
    from modellint.mapping.recipes import map_recipe

    recipe = project.recipe(path)
    if recipe is None:
        frontend.read(path, data)
        raise MapError(f"{shown}:1: no HyperPyYAML recipe; expected a mapping with tags such as `!new:` or `!ref`")
    return map_recipe(recipe, project)


def _class(path: Path, shown: Path, data: bytes, name: str | None, project: Project) -> Map:
    from modellint.mapping.classes import map_class

    module = project.whole(path)
    if module is None:
        project.parsed(path, data)
        raise MapError(f"{shown}: cannot be read")
    cls = None if name is None else _class_named(name, module.classes)
    if cls is not None:
        return map_class(cls, project)
    listed = ", ".join(f"`{known}`" for known in list(module.classes)[:_MAX_NAMES])
    listed += ", …" if len(module.classes) > _MAX_NAMES else ""
    available = f"it defines {listed}" if listed else "it defines no class"
    if name is None:
        raise MapError(f"{shown}: a Python file; expected {shown}{_SEPARATOR}CLASS, and {available}")
    raise MapError(f"{shown}: no class is called `{name}`{nearest(name, module.classes, f'; {available}')}")


def _class_named(name: str, classes: dict[str, Class]) -> Class | None:
    """A class by its qualified name (`Outer.Inner`), or by its own name if that is unique; else None."""
    if name in classes:
        return classes[name]
    found = [cls for cls in classes.values() if cls.name == name]
    return found[0] if len(found) == 1 else None
