"""The search path of Python when a file is run, by the layout of folders: nothing is imported.

It is the root of the file's package, its folder, the folders above it up to the project root, `src`, and the
site-packages of the project's interpreter, which is not started.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from modellint.graph.python import ModuleFacts
    from modellint.link.linked import Linked


class SearchPath:
    """The folders of a project's modules. Reached as `project.names.path`."""

    def __init__(self, project: Linked) -> None:
        self._project = project
        #: The folders of files, always the same object, as a new path would compute its hash again.
        self._folders: dict[Path, Path] = {}

    def stems(self, folder: Path) -> frozenset[str]:
        """The names of a folder's files and folders, without what follows the first dot."""
        return frozenset(name.partition(".")[0] for name in self._project.files.listdir(folder)) - {""}

    def beside(self, near: Path) -> frozenset[str]:
        """The packages and modules that the file `near` can import from the folders of the project."""
        return frozenset[str]().union(*map(self._modules_in, self._roots(near.parent)))

    def _modules_in(self, base: Path) -> frozenset[str]:
        """The packages and modules in a folder."""
        return self._project.once(("held", base), lambda: frozenset(self._list_modules(base)))

    def _list_modules(self, base: Path) -> Iterator[str]:
        files = self._project.files
        for name in files.listdir(base):
            stem, _, suffix = name.partition(".")
            if stem.isidentifier() and (
                files.exists(base / name) if suffix == "py" else stem == name and files.is_dir(base / name)
            ):
                yield stem

    def is_installed(self, module: ModuleFacts) -> bool:
        """True if a file belongs to an installed package."""
        folders = self.site_packages
        return bool(folders) and not set(folders).isdisjoint(module.file.parents)

    def holding(self, top: str, near: Path) -> tuple[Path, ...]:
        """The folders with the package or module `top`, in the order in which Python searches for the file `near`."""
        folder = self._folders.get(near)
        if folder is None:
            folder = self._folders[near] = near.parent
        return self._project.once(("bases", folder, top), lambda: tuple(self._holders(folder, top)))

    def _holders(self, folder: Path, top: str) -> Iterator[Path]:
        for base in dict.fromkeys((*self._roots(folder), *self.site_packages)):
            if self._holds(base, top):
                yield base

    def _roots(self, folder: Path) -> tuple[Path, ...]:
        return self._project.once(("roots", folder), lambda: tuple(dict.fromkeys(self._search(folder))))

    def _search(self, folder: Path) -> Iterator[Path]:
        source_root = folder
        while self._project.files.exists(source_root / "__init__.py") and source_root.name:
            source_root = source_root.parent
        yield source_root
        yield folder
        if self.is_packaged(folder / "__init__.py"):
            return  # an installed package imports nothing of the project
        root = self._project.options.root
        if root in folder.parents:
            yield from folder.parents[: folder.parents.index(root)]
        yield root
        yield root / "src"

    def _holds(self, base: Path, top: str) -> bool:
        files = self._project.files
        return self._project.once(
            ("holds", base, top), lambda: files.is_dir(base / top) or files.exists(base / f"{top}.py")
        )

    def locate(self, base: Path, parts: Sequence[str]) -> tuple[Path, int] | None:
        """The file of the longest prefix of `parts` that is a module below `base`, and the length of the prefix."""
        return self._walk_once(base, tuple(parts))[1]

    def _walk_once(self, base: Path, parts: tuple[str, ...]) -> tuple[Path | None, tuple[Path, int] | None]:
        """The folder below `base` that `parts` name, if it is one, and the result of `locate`."""
        return self._project.once(("walked", base, parts), lambda: self._walk(base, parts)) if parts else (base, None)

    def _walk(self, base: Path, parts: tuple[str, ...]) -> tuple[Path | None, tuple[Path, int] | None]:
        files = self._project.files
        above, best = self._walk_once(base, parts[:-1])
        if above is None:
            return None, best
        folder = above / parts[-1]
        if files.exists(package := folder / "__init__.py"):
            return folder, (package, len(parts))
        if files.exists(file := above / f"{parts[-1]}.py"):
            return None, (file, len(parts))
        return folder if files.is_dir(folder) else None, best

    def is_packaged(self, file: Path) -> bool:
        """True if a file lies below a site-packages folder; those of an editable install lie elsewhere."""
        folders = self.packages
        return bool(folders) and not set(folders).isdisjoint(file.parents)

    @property
    def packages(self) -> tuple[Path, ...]:
        """The site-packages folders of the project's interpreter, by the layout of environments."""
        return self._project.once(("packages",), lambda: tuple(self._find_packages()))

    @property
    def site_packages(self) -> tuple[Path, ...]:
        """The site-packages folders of the project's interpreter, each with the folders that it adds to the path."""
        return self._project.once(("site-packages",), lambda: tuple(self._find_site_packages()))

    def _find_site_packages(self) -> Iterator[Path]:
        for folder in self.packages:
            yield folder
            yield from self._linked_from(folder)

    def _find_packages(self) -> Iterator[Path]:
        options = self._project.options
        if options.python is not None:
            interpreter = options.python
            prefixes = [interpreter.parent.parent, interpreter.parent, interpreter.resolve().parent.parent]
        elif active := os.environ.get("VIRTUAL_ENV"):
            prefixes = [Path(active)]
        else:
            prefixes = [options.root / ".venv"]
        for prefix in prefixes:
            found = list(self._packages_below(prefix))
            if found:
                yield from found
                return

    def _packages_below(self, prefix: Path) -> Iterator[Path]:
        files = self._project.files
        libraries = [prefix / "lib" / name for name in files.listdir(prefix / "lib") if name.startswith("python3")]
        for library in (*libraries, prefix / "Lib"):
            for name in ("site-packages", "dist-packages"):
                folder = library / name
                if files.is_dir(folder):
                    yield folder

    def _linked_from(self, folder: Path) -> Iterator[Path]:
        """Source folders that editable installs add to the search path."""
        files = self._project.files
        for name in files.listdir(folder):
            if name.endswith(".pth"):
                text = (files.read(folder / name) or b"").decode("utf-8", "replace")
                for line in text.splitlines():
                    linked = Path(line.strip())
                    if line.strip() and linked.is_absolute() and files.is_dir(linked):
                        yield linked
