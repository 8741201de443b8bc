"""The models of a project and the shapes in its files, collected for the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow.shapes.shown import UNKNOWN, shapes_on_lines
from modellint.graph.immutable import dataclass
from modellint.mapping.classes import map_class
from modellint.mapping.model import MapError
from modellint.mapping.recipes import map_recipe
from modellint.results.failures import RAISED
from modellint.source import PYTHON, YAML, UnreadableError, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from modellint.flow.shapes.shown import Shown
    from modellint.link.project import Project
    from modellint.mapping.model import ClassMap, RecipeMap


@dataclass(frozen=True, eq=False)
class FileModels:
    """The models in one file: classes of layers or a recipe, and the shapes of the tensors in its functions."""

    path: str
    classes: tuple[ClassMap, ...] = ()
    recipe: RecipeMap | None = None
    shapes: tuple[Shown, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not self.classes and self.recipe is None


def models_of(
    paths: Iterable[Path], project: Project, on_progress: Callable[[int], None] = lambda number: None
) -> Iterator[FileModels]:
    """The models in files, for each file that has some. `on_progress` gets the number of files that are done."""
    for number, path in enumerate(paths, 1):
        kind = kind_of(path.name)
        try:
            found = _of_python(path, project) if kind == PYTHON else _of_yaml(path, project) if kind == YAML else None
        except (UnreadableError, MapError, *RAISED):  # which the check has told
            found = None
        if found is not None and not found.is_empty:
            yield found
        on_progress(number)


def _of_python(path: Path, project: Project) -> FileModels | None:
    data = project.files.read(path)
    if data is None or b"class " not in data:
        return None
    module = project.whole(path)
    if module is None:
        return None
    layers = [cls for cls in module.classes.values() if cls.bases and project.classes.model(cls).is_module is True]
    if not layers:
        return None
    names = {cls.qualname for cls in layers}
    functions = [one for one in module.placed.values() if one.qualname.rpartition(".")[0] in names]
    shapes = [one for one in shapes_on_lines(module, project, functions) if one.shape != UNKNOWN]
    return FileModels(path.as_posix(), tuple(map_class(cls, project) for cls in layers), shapes=tuple(shapes))


def _of_yaml(path: Path, project: Project) -> FileModels | None:
    from modellint.frontends.recipe import looks_like_recipe

    data = project.files.read(path)
    recipe = project.recipe(path) if data is not None and looks_like_recipe(data) else None
    return None if recipe is None else FileModels(path.as_posix(), recipe=map_recipe(recipe, project))
