"""The files that jsonargparse may load, by their bytes and by the programs of the project."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.frontends.recipe import names_class_path, read_cli
from modellint.graph.immutable import replace
from modellint.graph.recipe import CLASS_PATH
from modellint.source import UnreadableError

if TYPE_CHECKING:
    from pathlib import Path

    from modellint.graph.recipe import Recipe
    from modellint.link.project import Project

#: The keys beside a class path that only jsonargparse has.
_ARGUMENT_KEYS = (b"init_args", b"dict_kwargs")
#: Names that Lightning gives to what it keeps of a run, beside the copy of the configuration.
_OF_RUNS, _EVENTS = frozenset(("checkpoints", "metrics.csv", "hparams.yaml")), "events.out.tfevents"
#: Words of which a file has one that uses LightningCLI or jsonargparse.
_LIBRARIES = ("LightningCLI", "jsonargparse")


def may_be_loaded(path: Path, data: bytes, project: Project) -> bool:
    """True if jsonargparse may load a file: by a class path in it, or as the configuration of a program.

    Whether a program loads it is known once it is read.
    """
    if is_copy(path, project):
        return False
    if names_class_path(data):
        is_shown = any(key in data for key in _ARGUMENT_KEYS)
        return is_shown or mentions_library(project)
    return b":" in data and mentions_library(project) and _belongs(path, data, project)


def is_copy(path: Path, project: Project) -> bool:
    """True if a file is the copy that a run of Lightning has kept beside its logs and checkpoints."""
    names = project.files.listdir(path.parent)
    return any(name in _OF_RUNS or name.startswith(_EVENTS) for name in names)


def mentions_library(project: Project) -> bool:
    """True if a file of the project mentions LightningCLI or jsonargparse."""
    root = project.options.root
    return any(project.files.mentioning(root, word) for word in _LIBRARIES)


def _belongs(path: Path, data: bytes, project: Project) -> bool:
    from modellint.dialects.lightning_cli.loading import may_belong

    return may_belong(path, data, project)


def read_loaded(path: Path, project: Project) -> Recipe | None:
    """The configuration in a file that jsonargparse loads; None for another file, or one that is unreadable."""

    def load() -> Recipe | None:
        data = project.files.read(path)
        try:
            return None if data is None else read_checked(path, data, project)
        except UnreadableError:
            return None

    return project.once(("cli config", path), load)


def read_checked(path: Path, data: bytes, project: Project) -> Recipe | None:
    """The configuration in the bytes of a file that jsonargparse loads; None for another file.

    Raises UnreadableError where a file that names classes is not valid YAML.
    """
    if not may_be_loaded(path, data, project):
        return None
    is_named = names_class_path(data)
    try:
        recipe = read_cli(path, data)
    except UnreadableError:
        if is_named and any(key in data for key in _ARGUMENT_KEYS):
            raise
        return None
    if recipe is None:
        return None
    from modellint.dialects.lightning_cli.loading import groups_of, loaded_by

    is_written = is_named and any(node.get(CLASS_PATH) is not None for node in recipe.nodes())
    loaded = loaded_by(recipe, project)
    return replace(recipe, groups=groups_of(recipe, loaded)) if is_written or loaded else None
