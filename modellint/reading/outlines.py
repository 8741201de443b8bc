"""Outlines of Python files from earlier runs, by content, so that files which are only imported need not be parsed.

One file for each source file, with a checksum. What was cut, is of another modellint or Python, or is about another
content counts as none; whoever makes facts of an outline looks at each part of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from modellint.reading.digest import digest
from modellint.reading.sealed import read_sealed, write_sealed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: The number of outlines that are kept: a large environment has as many files.
MAX_KEPT = 20_000
#: The kinds of data kept about a file: its outline, and answers about it.
KINDS = ("outline", "answers")


class Outlines:
    """A folder with data about files, valid for the modellint that `key` names.

    `circumstances` are those under which answers hold: rules, settings, the environment.
    """

    def __init__(self, folder: Path | None = None, key: str = "", circumstances: str = "") -> None:
        """Without a folder nothing is kept beyond the process."""
        self._folder = folder
        self._key = key
        self.circumstances = circumstances

    @property
    def is_on_disk(self) -> bool:
        """True if data is kept on disk."""
        return self._folder is not None

    def get(self, path: Path, kind: str, *about: str) -> Any:
        """The data of a kind kept about a file under the same circumstances; None if there is none that is ours.

        What it is about begins with the content; for the rest there is another file.
        """
        if self._folder is None:
            return None
        try:
            known = read_sealed(_file(self._folder, path, kind, *about))
        except (OSError, ValueError):
            return None
        head = [self._key, path.as_posix(), *about]
        return known[1] if isinstance(known, list) and len(known) == 2 and known[0] == head else None

    def put(self, path: Path, kind: str, known: Any, *about: str) -> None:
        """Keep something of a kind about a file, as long as it is the same. Failing to write is no error."""
        if self._folder is None:
            return
        try:
            head = [self._key, path.as_posix(), *about]
            self._folder.mkdir(exist_ok=True)
            write_sealed(_file(self._folder, path, kind, *about), [head, known])
        except (OSError, ValueError):  # ValueError: a name that is no Unicode
            return


def files_in(folder: Path) -> Iterator[Path]:
    """The files that outlines are kept in."""
    return (file for kind in KINDS for file in folder.glob(f"*.{kind}"))


def tidy(folder: Path) -> None:
    """Remove the older half of too many outlines. Raises OSError."""
    found = list(files_in(folder))
    if len(found) > MAX_KEPT:
        for file in sorted(found, key=lambda file: file.stat().st_mtime)[: len(found) // 2]:
            file.unlink(missing_ok=True)


def _file(folder: Path, path: Path, kind: str, _: str, *about: str) -> Path:
    name = "\0".join((path.as_posix(), *about))
    return folder / f"{digest(name.encode('utf-8', 'surrogatepass'))}.{kind}"
