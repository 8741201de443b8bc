"""The defaults lists of Hydra in an editor: the groups and files that an entry may name, and those that it does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.dialects.apps import programs_of, search_path
from modellint.dialects.defaults import entries_in
from modellint.dialects.hydra import SearchPath
from modellint.graph.immutable import dataclass
from modellint.graph.recipe import NodeKind
from modellint.server.configs.wholes import whole_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from modellint.dialects.defaults import Choice
    from modellint.graph.recipe import Node, Recipe
    from modellint.link.project import Project

#: The groups of Hydra itself, and what their entries may choose without a plugin but that for colours.
#: Source: hydra-core 1.3.8, `hydra/conf/hydra`.
_OF_HYDRA = {
    "hydra/env": ("default",),
    "hydra/help": ("default",),
    "hydra/hydra_help": ("default",),
    "hydra/hydra_logging": ("default", "colorlog", "disabled", "hydra_debug", "none"),
    "hydra/job_logging": ("default", "colorlog", "disabled", "none", "stdout"),
    "hydra/launcher": ("basic",),
    "hydra/output": ("default",),
    "hydra/sweeper": ("basic",),
}
#: How deep groups are listed below a folder.
_DEEPEST = 3


@dataclass(frozen=True)
class Groups:
    """The search path that a file belongs to, and the group in it that the file is of."""

    search: SearchPath
    base: str

    def options(self, group: str, project: Project) -> tuple[str, ...]:
        """The names in a group, `/` before it or not; those that Hydra brings are among them."""
        name = self.absolute(group)
        own = group.strip("/") if not group.startswith("/") and self.base else name
        found = dict.fromkeys((*self.search.options(name, project), *_OF_HYDRA.get(name, _OF_HYDRA.get(own, ()))))
        return tuple(found)

    def absolute(self, group: str) -> str:
        """A group from the top of the search path, as the file names it."""
        name = group.lstrip("/") if group.startswith("/") else f"{self.base}/{group}" if self.base else group
        return name.strip("/")

    def file(self, name: str, project: Project) -> Path | None:
        """The file with a name, as the file names it."""
        return self.search.file(self.absolute(name), project)

    def below(self, group: str, project: Project) -> list[str]:
        """The groups in a group of the search path, those in them too."""
        found: dict[str, None] = {}
        pending = [(group, 0)]
        for one, depth in pending:
            for folder in self.search.folders:
                for name in project.files.listdir(folder / one if one else folder):
                    inner = f"{one}/{name}" if one else name
                    if "." not in name and project.files.is_dir(folder / inner):
                        if self._has_files(inner, project):
                            found[inner] = None
                        if depth + 1 < _DEEPEST:
                            pending.append((inner, depth + 1))
        return list(found)

    def _has_files(self, group: str, project: Project) -> bool:
        return bool(self.search.options(group, project))


def groups_of(path: Path, project: Project) -> Groups:
    """The search path of the program that composes a file; its own folder if none is known."""
    composed = whole_of(path, project)
    program = composed.app if composed is not None else next(iter(programs_of(path, project)), None)
    folder = None if program is None else program.folder
    if program is None or folder is None:
        return Groups(SearchPath((path.parent,), is_known=False), "")
    group = path.relative_to(folder).parent.as_posix() if folder in path.parents else ""
    return Groups(search_path(program, project), "" if group == "." else group)


def entry_at(recipe: Recipe, node: Node) -> Choice | None:
    """The entry of a file's defaults list that a node is, or is a part of; None if it is in none."""
    for element, choice in entries_in(recipe):
        parts = [element, *(part for entry in element.entries for part in (entry.key, entry.value))]
        parts += [one for part in tuple(parts) if part.kind is NodeKind.SEQUENCE for one in part.elements]
        if choice is not None and any(part is node for part in parts):
            return choice
    return None


def files_of(choice: Choice, groups: Groups, project: Project) -> Iterator[tuple[str, Path]]:
    """The names that an entry chooses, as it is written, each with its file."""
    for name in choice.names or ():
        path = groups.file(f"{choice.group}/{name}" if choice.group is not None else name, project)
        if path is not None:
            yield name, path
