"""The dialect of a YAML file in an editor: by its text, and by the programs that read it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from modellint.dialects.apps import programs_of
from modellint.frontends.recipe import looks_like_config, looks_like_recipe
from modellint.graph.recipe import Dialect
from modellint.server.configs.cursor import read_text
from modellint.server.configs.mending import mend
from modellint.source import decode_yaml

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from modellint.graph.recipe import Recipe
    from modellint.link.project import Project

#: The beginning of a tag of HyperPyYAML that is being typed.
_TAG_BEGUN = re.compile(rb"^[^#\n]*(?:[:-]|^)[ \t]+!(?:[nraci]\w*)?:?[ \t]*\r?$", re.MULTILINE)
#: Keys that name classes in other dialects.
_NAMING = re.compile(rb"^[ \t-]*(?:class_path|_component_)[ \t]*:", re.MULTILINE)
_TARGET, _PARAMS = (re.compile(rb"^[ \t-]*%s[ \t]*:" % key, re.MULTILINE) for key in (b"target", b"params"))
#: The ending of the files that Hydra composes.
_COMPOSED = ".yaml"
#: Bytes of a text that is read at each key press.
_LARGEST = 300_000


def dialect_of(path: Path, data: bytes, project: Project) -> Dialect | None:
    """The dialect in which a YAML file is written; None for one that is no configuration, or is too large."""
    if len(data) > _LARGEST:
        return None
    if looks_like_recipe(data):
        return Dialect.HYPERPYYAML
    if looks_like_config(data) or _NAMING.search(data) or (_TARGET.search(data) and _PARAMS.search(data)):
        return Dialect.OMEGACONF
    if path.suffix == _COMPOSED and programs_of(path, project):
        return Dialect.OMEGACONF
    return Dialect.HYPERPYYAML if _TAG_BEGUN.search(data) else None


def recipe_in(path: Path, dialect: Dialect, project: Project) -> Recipe | None:
    """The configuration in a file; None if it is not valid YAML, or none."""
    if dialect is Dialect.HYPERPYYAML:
        return project.recipe(path) or _plain(path, project)
    return project.omegaconf(path)


def _plain(path: Path, project: Project) -> Recipe | None:
    """A file without tags, which a recipe has while its first one is typed."""

    def read() -> Recipe | None:
        data = project.files.read(path)
        return None if data is None else read_text(path, decode_yaml(path, data).text, Dialect.HYPERPYYAML)

    return project.once(("plain recipe", path), read)


def valid_text(lines: Sequence[str]) -> str | None:
    """The text of lines that may be half typed; None if no valid one is near."""
    return mend(lines)
