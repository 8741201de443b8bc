"""The examples of a rule that is a folder: real files beside its module.

`bad/NAME/…` and `good/NAME/…` hold the files of one example each, `fixed/NAME/…` what becomes of those files of a bad
one that its fix changes. `examples.toml` has their titles, by name in the tables `bad` and `good`, in the order in
which they are shown. Its table `expect` has the lines to report in files that have no comments, such as JSON: lists of
`PATH:LINE`, by the name of the example. Nothing of it is read before somebody asks for the examples of a rule.

An installed pack may have the folders and titles of all of its rules in one file, `examples.json.xz` beside the
folders of the rules, as the built-in one has: an object with the texts of the files by their paths. A rule that has one
of the folders itself does without the file.
"""

from __future__ import annotations

import os
import re
import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from modellint.config.errors import UsageError
from modellint.reading.paths import shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Made = TypeVar("Made", covariant=True)


class Making(Protocol[Made]):
    """The files from which an example is made."""

    def __call__(
        self,
        title: str,
        files: Mapping[str, str],
        fixed: Mapping[str, str] | None,
        *,
        folder: Path | None,
        marked: tuple[tuple[str, int], ...],
    ) -> Made: ...


TITLES = "examples.toml"
PACKED = "examples.json.xz"
KINDS = ("bad", "good")
#: The table of the lines to report in files without comments.
EXPECT = "expect"
FIXED = "fixed"
#: The folders of examples within a rule's folder, which hold no code of the rule.
EXAMPLES = (*KINDS, FIXED)


def is_rule_folder(path: Path) -> bool:
    """True if a folder is a rule with examples."""
    has_titles = os.path.isfile(path / TITLES) or os.path.isfile(path.parent / PACKED)
    return has_titles and os.path.isfile(path / "__init__.py")


def folder_of(rule: type) -> Path | None:
    """The folder that has the examples of a rule, or of the nearest class that it derives from; None if none has."""
    for cls in rule.__mro__:
        file = getattr(sys.modules.get(cls.__module__), "__file__", None)
        if file is not None and os.path.basename(file) == "__init__.py" and is_rule_folder(Path(file).parent):
            return Path(file).parent
    return None


def has_fixes(rule: type) -> bool:
    """True if the folder of a rule has fixed examples; none of them is read."""
    folder = folder_of(rule)
    return folder is not None and bool(_shelf(folder).names(FIXED))


def examples_of(rule: type, kind: str, make: Making[Made]) -> tuple[Made, ...]:
    """The `bad` or `good` examples in the folder of a rule, in the order of their titles; none if it has no folder.

    Raises UsageError for files and titles that do not fit together, or cannot be read.
    """
    folder = folder_of(rule)
    return () if folder is None else tuple(_read(folder, kind, make))


def _read(folder: Path, kind: str, make: Making[Made]) -> Iterator[Made]:
    tables = _tables(folder)
    titles, marks = tables[kind], tables[EXPECT] if kind == "bad" else {}
    shelf = _shelf(folder)
    repaired = shelf.names(FIXED) if kind == "bad" else []
    for name in shelf.names(kind):
        if name not in titles:
            expected = f'`{name} = "…"` in [{kind}] of {TITLES}'
            raise UsageError(f"{shelf.path_text(kind, name)}: no title; expected {expected}")
    for name in repaired:
        if name not in titles:
            raise UsageError(f"{shelf.path_text(FIXED, name)}: no bad example has this name")
    for name, title in titles.items():
        files = shelf.files(kind, name)
        if not files:
            raise UsageError(f"{shelf.path_text(kind, name)}: no files; expected those of the example {title!r}")
        fixed = shelf.files(FIXED, name) if name in repaired else None
        for path in fixed or ():
            if path not in files:
                raise UsageError(f"{shelf.path_text(FIXED, name, path)}: no file of the bad example has this path")
        yield make(title, files, fixed, folder=shelf.folder(kind, name), marked=tuple(map(_mark, marks.get(name, ()))))


class _Folders:
    """The examples of a rule as files in its folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def names(self, kind: str) -> list[str]:
        return _folders(self._folder / kind)

    def files(self, kind: str, name: str) -> dict[str, str]:
        """The texts of an example by their paths in it, sorted."""
        return dict(sorted(_files(self._folder / kind / name)))

    def folder(self, kind: str, name: str) -> Path | None:
        return self._folder / kind / name

    def path_text(self, *parts: str) -> str:
        """A place in it, for messages."""
        return shown(self._folder.joinpath(*parts))


class _Packed:
    """The examples of a rule in the file that has those of its pack."""

    def __init__(self, file: Path, rule: str) -> None:
        self._file = file
        self._rule = rule

    def names(self, kind: str) -> list[str]:
        start = f"{self._rule}/{kind}/"
        return sorted({path[len(start) :].partition("/")[0] for path in self._texts() if path.startswith(start)})

    def files(self, kind: str, name: str) -> dict[str, str]:
        start = f"{self._rule}/{kind}/{name}/"
        return {path[len(start) :]: text for path, text in self._texts().items() if path.startswith(start)}

    def folder(self, kind: str, name: str) -> Path | None:
        return None

    def path_text(self, *parts: str) -> str:
        return shown(self._file.joinpath(self._rule, *parts))

    def _texts(self) -> Mapping[str, str]:
        return _read_texts(self._file)


def _shelf(folder: Path) -> _Folders | _Packed:
    """Where the examples of the rule in a folder are."""
    file = folder.parent / PACKED
    if not any(os.path.isdir(folder / kind) for kind in EXAMPLES) and os.path.isfile(file):
        return _Packed(file, folder.name)
    return _Folders(folder)


@cache
def _read_texts(file: Path) -> Mapping[str, str]:
    """The texts in a file with those of examples, by their paths."""
    import json

    try:
        from lzma import LZMAError, decompress  # some builds of Python lack it
    except ImportError as error:
        raise UsageError(f"{shown(file)}: cannot be read: {error}; expected a Python that has `lzma`") from None
    try:
        texts = json.loads(decompress(file.read_bytes()))
        if not isinstance(texts, dict) or not all(isinstance(text, str) for text in texts.values()):
            raise ValueError("no texts by their paths")
    except (LZMAError, EOFError, OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"{shown(file)}: cannot be read: {reason}; expected the examples of rules") from None
    return dict(sorted(texts.items()))


def _mark(text: str) -> tuple[str, int]:
    """The path and the line of `PATH:LINE`."""
    path, _, line = text.rpartition(":")
    return path, int(line)


def _tables(folder: Path) -> Mapping[str, Mapping[str, Any]]:
    """The titles by kind and name, in the order of the file; and the lines to report, by the name of the example."""
    file = folder / TITLES
    toml = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        packed = None if file.exists() else _read_texts(folder.parent / PACKED).get(f"{folder.name}/{TITLES}", "")
        tables: dict[str, Any] = toml.loads(file.read_text("utf-8") if packed is None else packed)
    except OSError as error:
        raise UsageError(f"{shown(file)}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(f"{shown(file)}: not valid TOML: {error}") from None
    for kind, entries in tables.items():
        if kind not in (*KINDS, EXPECT) or not isinstance(entries, dict):
            raise UsageError(f"{shown(file)}: `{kind}`: expected the tables [bad] and [good], and perhaps [{EXPECT}]")
        for name, entry in entries.items():
            if kind == EXPECT:
                if name not in tables.get("bad", {}) or not _are_marks(entry):
                    expected = "expected a list of `PATH:LINE` for a bad example"
                    raise UsageError(f"{shown(file)}: `{kind}.{name}`: {expected}")
            elif not isinstance(entry, str) or not entry:
                raise UsageError(f"{shown(file)}: `{kind}.{name}`: expected the title of the example")
    return {kind: tables.get(kind, {}) for kind in (*KINDS, EXPECT)}


def _are_marks(entry: object) -> bool:
    if not isinstance(entry, list):
        return False
    return all(isinstance(one, str) and re.fullmatch(r".+:[1-9][0-9]*", one) for one in entry)


def _folders(path: Path) -> list[str]:
    """The folders of a folder, which need not be there."""
    try:
        with os.scandir(path) as entries:
            return sorted(entry.name for entry in entries if entry.is_dir() and not _is_left_out(entry.name))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise UsageError(f"{shown(path)}: cannot be read: {error.strerror}") from None


def _files(folder: Path) -> Iterator[tuple[str, str]]:
    """The files of an example, by their paths in it.

    Bytes that are no UTF-8 become surrogates, of which `materialise` makes the same bytes again.
    """
    for where, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not _is_left_out(name)]
        for name in names:
            if not _is_left_out(name):
                path = Path(where, name)
                yield path.relative_to(folder).as_posix(), _text(path)


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8", "surrogateescape")
    except OSError as error:
        raise UsageError(f"{shown(path)}: cannot be read: {error.strerror}") from None


def _is_left_out(name: str) -> bool:
    """True for names that are not part of an example: compiled code, and hidden files of systems and editors."""
    return name == "__pycache__" or name.startswith(".")
