"""Names of files that mean the same in every project, for what is kept about installed packages.

A file of an installed package is named below its site-packages folder, one of the project below the root. Facts about
an installed file rest on both: where a package is installed does not matter, what is installed there does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.graph.immutable import dataclass

if TYPE_CHECKING:
    from pathlib import Path

    from modellint.link.linked import Linked
    from modellint.link.search_path import SearchPath
    from modellint.reading.files import Trace
    from modellint.reading.index import Index, Indexes


@dataclass(frozen=True, slots=True)
class Anchors:
    """Folders with the names that stand for them, the innermost first; no folders for names that are the paths."""

    folders: tuple[tuple[str, str], ...] = ()

    def name(self, path: str) -> str:
        """The portable name of a path."""
        for name, folder in self.folders:
            if path == folder or path.startswith(f"{folder}/"):
                return f"{name}{path[len(folder) :]}"
        return path

    def path(self, name: str) -> str:
        """The path that a portable name stands for. Raises ValueError for one that no name of here is written as."""
        for anchor, folder in self.folders:
            if name.partition("/")[0] == anchor:
                path = f"{folder}{name[len(anchor) :]}"
                if self.name(path) != name:
                    raise ValueError(f"{path} has another name here")
                return path
        if self.name(name) != name or (self.folders and name.startswith("<")):
            raise ValueError(f"{name} has another name here")
        return name

    def key(self, dependency: str) -> str:
        """The portable key of a dependency, such as `file:<packages 0>/torch/__init__.py`."""
        kind, _, path = dependency.partition(":")
        return f"{kind}:{self.name(path)}"

    def dependency(self, key: str) -> str:
        """The dependency of a portable key. Raises ValueError."""
        kind, _, name = key.partition(":")
        return f"{kind}:{self.path(name)}"


@dataclass(frozen=True, slots=True)
class Shelf:
    """The index that keeps facts about a file, the names of files there, and the circumstances under which they hold.

    `given` are the dependencies of the anchors themselves, on which each answer rests besides.
    """

    index: Index
    anchors: Anchors
    circumstances: str
    given: Trace = ()


class Shelves:
    """The shelves of a project: one for installed packages, one for other files."""

    def __init__(self, indexes: Indexes, path: SearchPath, project: Linked) -> None:
        """`path` is the search path of the project."""
        self._indexes = indexes
        self._path = path
        self._project = project
        self._own = Shelf(indexes.own, Anchors(), indexes.circumstances)

    def of(self, path: Path) -> Shelf:
        """The shelf of a file."""
        return self._shared() if self._path.is_packaged(path) else self._own

    def _shared(self) -> Shelf:
        return self._project.once(("shelf of packages",), self._find_shared)

    def _find_shared(self) -> Shelf:
        project = self._project
        found, given = project.files.traced(lambda: self._path.site_packages)
        packages = self._path.packages
        named = [(f"<packages {at}>", folder.as_posix()) for at, folder in enumerate(packages)]
        named.append(("<root>", project.options.root.as_posix()))
        folders = tuple(sorted(named, key=lambda one: -len(one[1])))
        return Shelf(self._indexes.shared, Anchors(folders), f"{len(packages)} of {len(found)}", given)
