"""The dialect of a YAML file in an editor: by its text, and by the programs that read it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from modellint.dialects.apps import YAML, programs_of
from modellint.frontends.recipe import looks_like_recipe, names_target
from modellint.graph.recipe import Dialect
from modellint.server.configs.cursor import read_text
from modellint.server.configs.mending import mend
from modellint.server.configs.wholes import has_list_above
from modellint.source import decode_yaml

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from modellint.graph.recipe import Recipe, Writing
    from modellint.link.project import Project

#: The beginning of a tag of HyperPyYAML that is being typed.
_TAG_BEGUN = re.compile(rb"^[^#\n]*(?:[:-]|^)[ \t]+!(?:[nraci]\w*)?:?[ \t]*\r?$", re.MULTILINE)
#: Bytes of a text that is read at each key press.
_LARGEST = 300_000


def dialect_of(path: Path, data: bytes, project: Project) -> Dialect | None:
    """The dialect in which a YAML file is written; None for one that is no configuration, or is too large."""
    if len(data) > _LARGEST:
        return None
    if looks_like_recipe(data):
        return Dialect.HYPERPYYAML
    if path.suffix == YAML and (programs_of(path, project) or has_list_above(path, project)):
        return Dialect.OMEGACONF
    known = project.config(path)
    if known is not None:
        return known.dialect
    for dialect in Dialect:
        if dialect.writing.target and names_target(data, dialect) and _is_sure(dialect.writing, data):
            return dialect
    return Dialect.HYPERPYYAML if _TAG_BEGUN.search(data) else None


def _is_sure(writing: Writing, data: bytes) -> bool:
    """True if a file with the key that names a class is a configuration: a plain word is a key of other files, too."""
    if not writing.target.isalpha():
        return True
    arguments = re.escape(writing.arguments.encode())
    return bool(arguments) and re.search(rb"^[ \t-]*%s[ \t]*:" % arguments, data, re.MULTILINE) is not None


def recipe_in(path: Path, dialect: Dialect, project: Project) -> Recipe | None:
    """The configuration in a file; None if it is not valid YAML, or none."""
    if dialect is Dialect.OMEGACONF:
        return project.omegaconf(path)
    known = project.recipe(path) if dialect is Dialect.HYPERPYYAML else project.config(path)
    return known if known is not None and known.dialect is dialect else _plain(path, dialect, project)


def _plain(path: Path, dialect: Dialect, project: Project) -> Recipe | None:
    """A file without a tag or the name of a class, as it is while the first one is typed."""

    def read() -> Recipe | None:
        data = project.files.read(path)
        return None if data is None else read_text(path, decode_yaml(path, data).text, dialect)

    return project.once(("plain configuration", path, dialect.name), read)


def valid_text(lines: Sequence[str]) -> str | None:
    """The text of lines that may be half typed; None if no valid one is near."""
    return mend(lines)
