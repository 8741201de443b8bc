"""Imported names that the code of a file mentions, and the definitions they resolve to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.graph.value import Op, walk_all
from modellint.link.names import DefinedModule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import ModuleFacts
    from modellint.link.names import Definition
    from modellint.link.project import Project


def reached(module: ModuleFacts, project: Project) -> tuple[tuple[str, ModuleFacts, Definition | None], ...]:
    """The imported names that a file's code mentions: name, importing file, definition or None."""
    return project.once(("reached", module), lambda: tuple(_find_reached(module, project)))


def _find_reached(module: ModuleFacts, project: Project) -> Iterator[tuple[str, ModuleFacts, Definition | None]]:
    """The imported names that a file's code mentions: name, importing file, definition or None.

    For a mentioned module, names that it only re-exports follow if the code mentions them, too.
    """
    used = _mentioned_names(module)
    seen: set[ModuleFacts] = set()
    pending: list[tuple[str, ModuleFacts]] = []

    def look_into(home: ModuleFacts) -> None:
        if home not in seen:
            seen.add(home)
            names = used if home is module and home.star_imports else used & home.imports.keys()
            pending.extend((name, home) for name in sorted(names))

    look_into(module)
    for name, home in pending:
        found = project.names.resolve(home, name)
        if isinstance(found, DefinedModule):
            look_into(found.module)
        yield name, home, found


def _mentioned_names(module: ModuleFacts) -> set[str]:
    """The names that a file's own code mentions, names that it only re-exports left out."""
    values = [event.value for event in module.body.flow.events]
    values += [value for cls in module.classes.values() for value in cls.bases]
    names = {str(value.data) for value in walk_all(values) if value.op is Op.GLOBAL or value.op is Op.ATTR}
    return names.union(*(function.words for function in module.all_functions()))
