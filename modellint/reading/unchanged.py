"""Detect whether all dependencies of earlier results are unchanged, with one look at each file and folder.

A file is identified by its marks: size, times and inode number. A file that was changed so recently that another
change might leave the same times has no marks, and is read. Dependencies that marks cannot tell about make a state
unsound, and are compared one by one.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from time import time_ns
from typing import TYPE_CHECKING, Any

from modellint.reading.files import ABSENT, PART, Files, content_hash

if TYPE_CHECKING:
    from collections.abc import Mapping

#: The kinds of entries of a folder: a file, a folder, or neither.
FILE, FOLDER, OTHER = "file", "folder", "other"
#: Nanoseconds after which a change of a file gives it other times, on every file system.
_SETTLED = 2_000_000_000
#: True where names that differ only in case may be one file.
_IS_CASELESS = sys.platform in ("darwin", "win32")


class Look(Files):
    """A snapshot of files and folders; each is looked at once.

    `known` has for files what their contents look like, and the marks that they had with that.
    """

    def __init__(self, limit: int | None, known: Mapping[str, list[Any]] | None = None) -> None:
        super().__init__(record=False, limit=limit)
        #: By path: the fingerprint and marks of files in an earlier state.
        self.known = known or {}
        self._listings: dict[str, dict[str, str] | None] = {}
        self._asked: dict[str, dict[str, str | None]] = {}
        self._whole: set[str] = set()
        #: By path: the fingerprint, followed by the marks of a file that has any.
        self.marked: dict[str, list[Any]] = {}
        #: True as long as listings and marks reveal every change of the dependencies.
        self._is_sound = True

    # -- one look at all of it -------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any] | None:
        """The snapshot as JSON; None if it would not reveal every change."""
        if not self._is_sound:
            return None
        folders = {}
        for folder, asked in self._asked.items():
            kinds: dict[str | None, list[str]] = {None: [], FILE: [], FOLDER: [], OTHER: []}
            for name, kind in asked.items():
                kinds[kind].append(name)
            listing = self._names_hash(folder) if folder in self._whole else None
            folders[folder] = [listing, *kinds.values()]
        return {"limit": self.limit, "folders": folders, "files": self.marked}

    def confirms(self, state: Any) -> bool:
        """True if all is as in `state`. Raises ValueError, TypeError, AttributeError or KeyError if that is none."""
        if state["limit"] != self.limit:
            return False
        if not all(type(seen) is list and type(seen[0]) is str for seen in state["files"].values()):
            raise TypeError("a fingerprint is missing")
        self.known = state["files"]
        for folder, (names_hash, missing, *present) in state["folders"].items():
            listing = self._listing(folder)
            if listing is None or not listing.keys().isdisjoint(missing):
                return False
            for kind, names in zip((FILE, FOLDER, OTHER), present, strict=True):
                if any(listing.get(name) != kind for name in names):
                    return False
            if names_hash is not None and self._names_hash(folder) != names_hash:
                return False
        return all(self._is_as_known(path, *seen) for path, seen in self.known.items())

    def _is_as_known(self, path: str, fingerprint: str, *marks: int) -> bool:
        if marks:
            return _marks(path.removeprefix(PART)) == marks
        now = self._fingerprint(path) if path.startswith(PART) else self._file(path)
        return now == fingerprint

    # -- what results rest on --------------------------------------------------------------------------------------

    def _fingerprint(self, key: str) -> str:
        kind, _, name = key.partition(":")
        if kind == "file":
            return self._file(name)
        if kind == "is-file":
            return str(self._kind(name) == FILE)
        if kind == "is-dir":
            return str(self._kind(name) == FOLDER)
        if kind == "dir":
            return self._names_hash(name)
        if key.startswith(PART):
            return self._part(key, name)
        return super()._fingerprint(key)

    def _names_hash(self, folder: str) -> str:
        return content_hash("\0".join(self._names(Path(folder))).encode("utf-8", "surrogatepass"))

    def _file(self, name: str) -> str:
        """The fingerprint of a file's content; if its marks are unchanged, the earlier one."""
        marks = _marks(name)
        known = self.known.get(name)
        if known is not None and marks and tuple(known[1:]) == marks:
            self.marked[name] = known
            return str(known[0])
        data = self.peek(Path(name))
        found = ABSENT if data is None else content_hash(data)
        if data is not None or (self._kind(name) == FILE and self._is_too_large(Path(name))):
            is_settled = bool(marks) and time_ns() - max(marks[1:3]) > _SETTLED
            self.marked[name] = [found, *marks] if is_settled else [found]
        elif self._kind(name) == FILE:
            self._is_sound = False  # who may read it is not told
        return found

    def _part(self, key: str, name: str) -> str:
        """The fingerprint of a file of which parts were read; if its marks are unchanged, the earlier one."""
        marks = _marks(name)
        known = self.known.get(key)
        if known is not None and marks and tuple(known[1:]) == marks:
            self.marked[key] = known
            return str(known[0])
        found = self._mark(Path(name))
        if self._kind(name) == FILE:
            is_settled = bool(marks) and time_ns() - max(marks[1:3]) > _SETTLED
            self.marked[key] = [found, *marks] if is_settled else [found]
        return found

    def _is_too_large(self, path: Path) -> bool:
        return self.oversized(path) is not None

    def _is_dir(self, path: Path) -> bool:
        return self._kind(path.as_posix()) == FOLDER

    def _names(self, path: Path) -> list[str]:
        folder = path.as_posix()
        found = self._listing(folder)
        if found is None:
            self._is_sound &= self._kind(folder) != FOLDER  # who may list it is not told
            return []
        self._whole.add(folder)
        self._asked.setdefault(folder, {})
        return sorted(os.listdir(folder)) if _IS_CASELESS else sorted(found)

    def _kind(self, path: str) -> str | None:
        """The kind of entry at a path; None if there is none. The look is noted for the innermost existing folder."""
        folder, _, name = path.rstrip("/").rpartition("/")
        listing = self._listing(folder)
        if listing is not None:
            name = name.casefold() if _IS_CASELESS else name
            kind = self._asked.setdefault(folder, {})[name] = listing.get(name)
            return kind
        if not folder:
            self._is_sound = False  # there is nothing above that can be listed
        elif self._kind(folder) == FOLDER:  # which cannot be listed, or only just came to be
            self._is_sound = False
            return FILE if os.path.isfile(path) else FOLDER if os.path.isdir(path) else None
        return None

    def _listing(self, folder: str) -> dict[str, str] | None:
        """The kinds of a folder's entries, by name; None if it cannot be listed."""
        if folder not in self._listings:
            try:
                with os.scandir(f"{folder}/") as scan:
                    found = {entry.name: _kind_of(entry) for entry in scan}
                self._listings[folder] = {n.casefold(): kind for n, kind in found.items()} if _IS_CASELESS else found
            except (OSError, ValueError):
                self._listings[folder] = None
        return self._listings[folder]


def _kind_of(entry: os.DirEntry[str]) -> str:
    try:
        return FILE if entry.is_file() else FOLDER if entry.is_dir() else OTHER
    except OSError:
        return OTHER


def _marks(path: str) -> tuple[int, ...]:
    """The marks of a file; none if there is no such file."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return ()
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino
