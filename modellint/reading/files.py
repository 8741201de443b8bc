"""The one door to the file system, which remembers what was looked at.

Everything the analysis reads goes through `Files`, so that an editor can overlay unsaved buffers and so that the
cache knows exactly which contents a finding depends on: files read, files found missing, folders listed.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from modellint.reading.digest import digest
from modellint.reading.mentioning import MENTIONS, Mentions, asked_by, key_of
from modellint.reading.sizes import Oversized, most_tokens, tokens_in
from modellint.source import NOTEBOOK, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

T = TypeVar("T")

#: The fingerprint of a file that does not exist.
ABSENT = "absent"


def content_hash(data: bytes) -> str:
    """A short hash of a file's content."""
    return digest(data)


def read_file(path: Path) -> bytes:
    """The content of a file. Raises OSError, for a pipe or a device too: these may keep us waiting, or have no end."""
    try:
        number = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except ValueError as error:  # a NUL in the name
        raise OSError(errno.EINVAL, str(error)) from None
    try:
        mode = os.fstat(number).st_mode
        if not stat.S_ISREG(mode):
            raise OSError(errno.EISDIR if stat.S_ISDIR(mode) else errno.EINVAL, "not a regular file")
        with os.fdopen(number, "rb", closefd=False) as file:
            return file.read()
    finally:
        os.close(number)


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file so that others see the old content or the new one, and nothing is left if we are killed."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(data)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def parse_json(data: bytes) -> Any:
    """The value of a JSON document. Raises ValueError if it is no JSON, or nested too deeply to be read."""
    import json

    try:
        return json.loads(data)
    except RecursionError:
        raise ValueError("nested too deeply") from None


#: The dependencies of a computation: keys of `Files.fingerprint`, each once. A tuple takes a sixth of a set's memory.
Trace: TypeAlias = "tuple[str, ...]"


class Files:
    """Reads files and folders, and records each access as a dependency of the running computation."""

    def __init__(
        self, overlay: Mapping[Path, bytes] | None = None, *, record: bool = True, limit: int | None = None
    ) -> None:
        """Without `record` nobody will ask for dependencies, and none are collected.

        Python files, YAML files and notebooks of more than `limit` bytes, or as dense, cannot be read.
        """
        self._record = record
        self.limit = limit
        self._overlay = dict(overlay or {})
        self._listed: dict[Path, set[str]] | None = None
        self._contents: dict[Path, bytes | None] = {}
        #: Of large files only.
        self._tokens: dict[Path, int] = {}
        self._fingerprints: dict[str, str] = {}
        self._traces: list[tuple[set[str], set[int]]] = []
        self._mentions: dict[Path, Mentions] = {}
        #: Tuples of dependencies, by the hash of their set, so that equal ones are stored once.
        self._shared: dict[int, Trace] = {}

    @property
    def overlay(self) -> dict[Path, bytes]:
        """The contents that replace those on disk."""
        return dict(self._overlay)

    @contextmanager
    def trace(self) -> Iterator[set[str]]:
        """Collect the dependencies of what runs inside: keys that `fingerprint` understands."""
        trace: set[str] = set()
        if not self._record:
            yield trace
            return
        self._traces.append((trace, set()))
        try:
            yield trace
        finally:
            self._traces.pop()
            if self._traces:
                self._traces[-1][0].update(trace)

    @contextmanager
    def untraced(self) -> Iterator[None]:
        """Context whose accesses are no dependencies of the running computation."""
        self._traces.append((set(), set()))
        try:
            yield
        finally:
            self._traces.pop()

    def traced(self, compute: Callable[[], T]) -> tuple[T, Trace]:
        """The result of `compute`, with its dependencies; equal sets of dependencies are one shared tuple."""
        if not self._record:
            return compute(), ()
        trace: set[str] = set()
        self._traces.append((trace, set()))
        try:
            result = compute()
        finally:
            self._traces.pop()
            if self._traces:
                self._traces[-1][0].update(trace)
        return result, self._shared_trace(trace)

    def joined(self, one: Trace, other: Trace) -> Trace:
        """The union of the dependencies of two computations, as a shared tuple."""
        return one if one is other or not other else self._shared_trace({*one, *other}) if one else other

    def _shared_trace(self, trace: set[str]) -> Trace:
        key = hash(frozenset(trace))
        known = self._shared.get(key)
        if known is None or len(known) != len(trace) or not trace.issuperset(known):
            known = self._shared[key] = tuple(trace)
        return known

    def depend(self, keys: Trace) -> None:
        """Add the dependencies of an earlier computation to those of the running one.

        The same ones are added once; whoever passes them keeps them alive.
        """
        if self._traces:
            trace, merged = self._traces[-1]
            if id(keys) not in merged:
                merged.add(id(keys))
                trace.update(keys)

    def read(self, path: Path) -> bytes | None:
        """The content of a file, None if it is missing or cannot be read."""
        if self._traces:
            self._traces[-1][0].add(f"file:{path.as_posix()}")
        if path not in self._contents:
            self._contents[path] = self._load(path)
        return self._contents[path]

    def is_overlaid(self, path: Path) -> bool:
        """True if the overlay has the content of a file."""
        return path in self._overlay

    def oversized(self, path: Path) -> Oversized | None:
        """Describe a file that is too large to be read; None if it is not too large."""
        kind = kind_of(path.name)
        if self.limit is None or kind is None:
            return None
        try:
            size = len(self._overlay[path]) if path in self._overlay else os.stat(path).st_size
        except (OSError, ValueError):
            return None
        if size > self.limit:
            return Oversized(path.as_posix(), size, self.limit)
        if size <= most_tokens(self.limit):
            return None
        if path not in self._tokens:
            self._tokens[path] = tokens_in(self._bytes(path) or b"", is_json=kind == NOTEBOOK)
        tokens = self._tokens[path]
        return Oversized(path.as_posix(), size, self.limit, tokens) if tokens > most_tokens(self.limit) else None

    def exists(self, path: Path) -> bool:
        """True if `path` is a file."""
        if self._traces:
            self._traces[-1][0].add(f"is-file:{path.as_posix()}")
        return path in self._overlay or self._contents.get(path) is not None or os.path.isfile(path)

    def is_dir(self, path: Path) -> bool:
        if self._traces:
            self._traces[-1][0].add(f"is-dir:{path.as_posix()}")
        return self._is_dir(path)

    def listdir(self, path: Path) -> list[str]:
        """The sorted names in a folder; empty if it is missing."""
        if self._traces:
            self._traces[-1][0].add(f"dir:{path.as_posix()}")
        return self._names(path)

    def mentioning(self, root: Path, *words: str) -> tuple[Path, ...]:
        """The Python files below a folder that mention all of `words`, as `Mentions` has it."""
        if self._traces:
            self._traces[-1][0].add(key_of(root, words))
        return self._mentions_below(root).of(words)

    def is_searched(self, root: Path) -> bool:
        """True if a folder has few enough Python files below it for all of them to be searched."""
        if self._traces:
            self._traces[-1][0].add(f"is-searched:{root.as_posix()}")
        return self._mentions_below(root).is_whole

    def _mentions_below(self, root: Path) -> Mentions:
        found = self._mentions.get(root)
        if found is None:
            with self.untraced():  # what is mentioned counts, not each file
                found = self._mentions[root] = Mentions(self, root)
        return found

    def beside(self, contents: Mapping[Path, bytes]) -> Files:
        """A new `Files` with `contents` over the present overlay."""
        return Files({**self._overlay, **contents}, record=self._record, limit=self.limit)

    def sharing(self, contents: Mapping[Path, bytes]) -> Files:
        """A new `Files` with the contents of some YAML files over the present overlay; it knows what this one has read.

        It shares searches for words, which look into Python files only.
        """
        other = self.beside(contents)
        other._contents = {path: data for path, data in self._contents.items() if path not in contents}
        other._mentions = dict(self._mentions)
        return other

    def update(self, path: Path, data: bytes | None) -> set[str]:
        """Replace the content of a file by `data`; with None, the file is read from disk again.

        Returns the keys of what may have changed with it.
        """
        if data is None:
            self._overlay.pop(path, None)
        else:
            self._overlay[path] = data
        self._listed = None
        self._contents.pop(path, None)
        self._tokens.pop(path, None)
        name, folder = path.as_posix(), path.parent.as_posix()
        keys = {f"file:{name}", f"is-file:{name}", f"is-dir:{name}", f"dir:{folder}", f"is-dir:{folder}"}
        for key in keys:
            self._fingerprints.pop(key, None)
        for root, known in self._mentions.items():
            was_searched = known.is_whole
            keys.update(key_of(root, words) for words in known.update(path))
            keys.update([f"is-searched:{root.as_posix()}"] if known.is_whole is not was_searched else ())
        if self._mentions:
            kinds = (MENTIONS, "is-searched:")
            self._fingerprints = {key: now for key, now in self._fingerprints.items() if not key.startswith(kinds)}
        return keys

    def forget(self, path: Path) -> None:
        """Drop the content held for a file that has been analysed; it is read again when needed."""
        self._contents.pop(path, None)

    def keep(self, keys: set[str]) -> None:
        """Drop the contents of files that are not among `keys`, the dependencies of results that are still needed."""
        self._contents = {path: data for path, data in self._contents.items() if f"file:{path.as_posix()}" in keys}

    def holds(self, key: str, fingerprint: str) -> bool:
        """True if a dependency still has a fingerprint, so that a recorded result holds."""
        if not key.startswith(MENTIONS):
            return self.fingerprint(key) == fingerprint
        state, _, answer = fingerprint.partition(" ")
        return (
            self._mentions_below(asked_by(key)[0]).state == state or self.fingerprint(key).partition(" ")[2] == answer
        )

    def renewed(self, key: str, fingerprint: str) -> str:
        """A present fingerprint of a dependency whose old one holds; files are not searched again."""
        if not key.startswith(MENTIONS):
            return fingerprint
        return f"{self._mentions_below(asked_by(key)[0]).state} {fingerprint.partition(' ')[2]}"

    def fingerprint(self, key: str) -> str:
        """The present fingerprint of a dependency."""
        found = self._fingerprints.get(key)
        if found is None:
            found = self._fingerprints[key] = self._fingerprint(key)
        return found

    def _fingerprint(self, key: str) -> str:
        kind, _, name = key.partition(":")
        path = Path(name)
        if kind == "file":
            data = self.peek(path)
            return ABSENT if data is None else content_hash(data)
        if kind == "is-file":
            return str(path in self._overlay or os.path.isfile(path))
        if kind == "is-dir":
            return str(self._is_dir(path))
        if kind == "dir":
            return content_hash("\0".join(self._names(path)).encode("utf-8", "surrogatepass"))
        if key.startswith(MENTIONS):
            root, words = asked_by(key)
            known = self._mentions_below(root)
            paths = map(Path.as_posix, known.of(words))
            return f"{known.state} {content_hash(chr(0).join(paths).encode('utf-8', 'surrogatepass'))}"
        if kind == "is-searched":
            return str(self._mentions_below(path).is_whole)
        raise ValueError(f"unknown kind of dependency: {key!r}")

    def peek(self, path: Path) -> bytes | None:
        """The content of a file, as by `read`, but not recorded as a dependency."""
        return self._contents[path] if path in self._contents else self._load(path)

    def _load(self, path: Path) -> bytes | None:
        return None if self.oversized(path) is not None else self._bytes(path)

    def _bytes(self, path: Path) -> bytes | None:
        if path in self._overlay:
            return self._overlay[path]
        try:
            return read_file(path)
        except OSError:
            return None

    @property
    def _folders(self) -> dict[Path, set[str]]:
        """The folders that overlaid files lie in, each with the names in it."""
        if self._listed is None:
            self._listed = {}
            for path in self._overlay:
                for name, folder in zip((path, *path.parents), path.parents, strict=False):
                    names = self._listed.setdefault(folder, set())
                    if name.name in names:
                        break
                    names.add(name.name)
        return self._listed

    def _is_dir(self, path: Path) -> bool:
        return bool(self._overlay and path in self._folders) or os.path.isdir(path)

    def _names(self, path: Path) -> list[str]:
        try:
            found = os.listdir(path)
        except OSError:
            found = []
        return sorted({*found, *self._folders.get(path, ())} if self._overlay else found)
