"""The index: outlines of Python files and answers about them from earlier runs, by content.

One SQLite database, which processes and projects share. Each row has a checksum. A database that is cut, forged or of
another version counts as none; one that cannot be written stays as it is.
"""

from __future__ import annotations

import json
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modellint.reading.digest import digest
from modellint.reading.files import parse_json
from modellint.reading.sealed import documents_in, sealed

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable

#: The name of the database in its folder, and the names of what SQLite may leave beside it.
FILE_NAME = "index.sqlite"
BESIDE = tuple(f"{FILE_NAME}{suffix}" for suffix in ("-journal", "-wal", "-shm"))
#: The number of rows that are kept: a large environment has as many files, with an outline and answers each.
_MAX_KEPT = 40_000
#: How many new rows are written at once.
_BATCH = 128
#: How long, in seconds, to wait for another process that writes.
_PATIENCE = 2.0
_CREATE = "CREATE TABLE IF NOT EXISTS kept (name TEXT PRIMARY KEY, written INTEGER, data BLOB)"


class Index:
    """A database of data about files, valid for the modellint that `key` names."""

    def __init__(self, folder: Path | None = None, key: str = "", *, keeps_versions: bool = False) -> None:
        """Without a folder nothing is kept. With `keeps_versions`, all contents of a file are, else the latest one."""
        self._folder = folder
        self._key = key
        self._keeps_versions = keeps_versions
        self._reader: sqlite3.Connection | None = None
        self._is_open = False
        self._new: dict[str, bytes] = {}

    @property
    def is_on_disk(self) -> bool:
        """True if data is kept on disk."""
        return self._folder is not None

    def get(self, kind: str, file: str, *about: str) -> Any:
        """The data of a kind about a file, whose name and content are given; None if there is none that is ours."""
        row = self._row(kind, file, about)
        data = self._new.get(row) or self._read(row)
        if data is None:
            return None
        try:
            (document,) = documents_in(data)
            known = parse_json(document)
        except (TypeError, ValueError):
            return None
        is_ours = isinstance(known, list) and len(known) == 2 and known[0] == [self._key, kind, file, *about]
        return known[1] if is_ours else None

    def put(self, kind: str, file: str, known: Any, *about: str) -> None:
        """Keep data of a kind about a file. Failing to write is no error."""
        if self._folder is None:
            return
        head = [self._key, kind, file, *about]
        try:
            self._new[self._row(kind, file, about)] = sealed(json.dumps([head, known], separators=(",", ":")).encode())
        except ValueError:  # a name that is no Unicode
            return
        if len(self._new) >= _BATCH:
            self.flush()

    def flush(self) -> None:
        """Write the new rows, all of them or none."""
        new, self._new = self._new, {}
        if new and self._folder is not None:
            import sqlite3

            try:
                self._write(self._folder / FILE_NAME, new)
            except sqlite3.OperationalError:  # no space, no right, or a process that writes for long
                return
            except sqlite3.DatabaseError:  # no database, or a cut one
                with suppress(OSError, sqlite3.Error):
                    remove(self._folder)
                    self._write(self._folder / FILE_NAME, new)
            except OSError:
                return

    def close(self) -> None:
        """Close the database."""
        if self._reader is not None:
            self._reader.close()
        self._reader, self._is_open = None, False

    def __getstate__(self) -> dict[str, Any]:
        """The index for another process, which opens the database itself."""
        return {**self.__dict__, "_reader": None, "_is_open": False, "_new": {}}

    def _row(self, kind: str, file: str, about: tuple[str, ...]) -> str:
        parts = about if self._keeps_versions else about[1:]
        return digest("\0".join((kind, file, *parts)).encode("utf-8", "surrogatepass"))

    def _read(self, row: str) -> bytes | None:
        """The data of a row; None if there is none, or no database."""
        if not self._is_open:
            self._open()
        if self._reader is None:
            return None
        import sqlite3

        try:
            found = self._reader.execute("SELECT data FROM kept WHERE name = ?", (row,)).fetchone()
        except sqlite3.OperationalError:  # another process writes
            return None
        except sqlite3.DatabaseError:
            self.close()
            self._is_open = True  # and stays without a reader
            return None
        return found[0] if found is not None and isinstance(found[0], bytes) else None

    def _open(self) -> None:
        """Open the database to read it, if it is there."""
        self._is_open = True
        if self._folder is None or not (file := self._folder / FILE_NAME).is_file():
            return
        import sqlite3

        with suppress(sqlite3.Error):
            self._reader = _connect(file, "ro")

    def _write(self, file: Path, new: dict[str, bytes]) -> None:
        """Write rows. Raises OSError and sqlite3.Error."""
        file.parent.mkdir(parents=True, exist_ok=True)
        now = int(time.time())
        with closing(_connect(file, "rwc")) as database:
            database.execute("PRAGMA synchronous = OFF")  # what a crash of the machine spoils counts as none
            with database:
                database.execute("BEGIN IMMEDIATE")
                database.execute(_CREATE)
                rows = ((name, now, data) for name, data in new.items())
                database.executemany("INSERT OR REPLACE INTO kept VALUES (?, ?, ?)", rows)
                (count,) = database.execute("SELECT count(*) FROM kept").fetchone()
                if count > _MAX_KEPT:
                    oldest = "SELECT rowid FROM kept ORDER BY written, rowid LIMIT ?"
                    database.execute(f"DELETE FROM kept WHERE rowid IN ({oldest})", (count // 2,))
        if self._reader is None:
            self._is_open = False


class Indexes:
    """The index of a project's own files, and the one of installed packages, which projects share.

    Answers about the project's own files hold under its `circumstances`: rules, settings, the environment.
    """

    def __init__(self, own: Index, shared: Index, circumstances: str = "") -> None:
        self.own = own
        self.shared = shared
        self.circumstances = circumstances

    def flush(self) -> None:
        """Write what is new."""
        self.own.flush()
        self.shared.flush()


def create(folder: Path) -> None:
    """Create the database in a folder. Raises OSError if it cannot be written."""
    import sqlite3

    folder.mkdir(parents=True, exist_ok=True)
    try:
        with closing(_connect(folder / FILE_NAME, "rwc")) as database:
            database.execute(_CREATE)
    except sqlite3.Error as error:
        raise OSError(0, str(error)) from None


def remove(folder: Path) -> None:
    """Remove the database in a folder. Raises OSError."""
    for name in (FILE_NAME, *BESIDE):
        (folder / name).unlink(missing_ok=True)


def _connect(file: Path, mode: str) -> sqlite3.Connection:
    """A connection to a database, opened as SQLite's `mode` says. Raises sqlite3.Error."""
    import sqlite3
    from urllib.parse import quote

    address = f"file:{quote(Path(file).absolute().as_posix())}?mode={mode}"
    connect: Callable[..., sqlite3.Connection] = sqlite3.connect
    return connect(address, uri=True, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)
