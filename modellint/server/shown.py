"""The editor's documents, and the findings shown in them."""

from __future__ import annotations

import io
import tokenize
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from modellint.reporters import decoded_lines
from modellint.source import PYTHON, SourceFile, kind_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Set

    from modellint.finding import Finding

_BOM = "\ufeff"


@dataclass(frozen=True)
class Text:
    """A document in the editor, and the file that it is checked in: for a cell, its notebook."""

    version: int | None
    source: SourceFile
    file: str


@dataclass(frozen=True)
class Shown:
    """The last findings sent to the editor, by path, and the texts that they are about."""

    findings: dict[str, list[Finding]] = field(default_factory=dict)
    texts: dict[str, Text] = field(default_factory=dict)

    def source(self, path: str) -> SourceFile:
        """The text of a file as the editor has it, or as it is on disk."""
        shown = self.texts.get(path)
        return SourceFile(Path(path), "".join(decoded_lines(Path(path)))) if shown is None else shown.source

    def version(self, path: str) -> int | None:
        """The version of a document; None of a file that the editor does not have open."""
        shown = self.texts.get(path)
        return None if shown is None else shown.version


class Told:
    """The messages sent to the editor, so that only changes are sent."""

    def __init__(self) -> None:
        #: By file: its findings, and the versions of the documents that they are about.
        self._pushed: dict[str, tuple[list[Finding], dict[str, int | None]]] = {}
        #: Documents with their findings, when everything had been checked.
        self._settled: dict[str, tuple[Text, list[Finding]]] = {}

    def news(self, found: Mapping[str, list[Finding]], kept: Set[str], shown: Shown) -> list[str]:
        """The files whose findings have changed; those in `kept` are passed over now."""
        keys = []
        for key, findings in found.items():
            paths = {key, *(place.path for finding in findings for place in finding.places)}
            said = findings, {path: shown.version(path) for path in paths}
            if self._pushed.get(key) != said:
                self._pushed[key] = said
                keys.append(key)
        gone = sorted(self._pushed.keys() - found.keys() - kept)
        for key in gone:
            del self._pushed[key]
        return keys + gone

    def settle(self, shown: Shown) -> bool:
        """True if an unchanged text has other findings than before: a file that it is linked with has changed."""
        now = {key: (text, shown.findings[key]) for key, text in shown.texts.items() if key in shown.findings}
        before = {key: known for key, known in self._settled.items() if key in shown.texts}
        self._settled = before | now
        return any(
            before[key][0] == text and before[key][1] != findings
            for key, (text, findings) in now.items()
            if key in before
        )


def text_of(path: str, version: int | None, text: str) -> Text:
    """A file as the editor has it, which may begin with a mark of its byte order."""
    return Text(version, SourceFile(Path(path), text.removeprefix(_BOM), bom=text.startswith(_BOM)), path)


def encode(path: str, text: str) -> bytes:
    """The bytes of a text in a file, in the encoding that a Python file declares.

    What that encoding does not have is another character, so that all others keep their columns.
    """
    data = text.encode("utf-8", "surrogatepass")
    if b"coding" not in data[:1024] or kind_of(Path(path).name) != PYTHON:
        return data
    try:
        encoding = tokenize.detect_encoding(io.BytesIO(data).readline)[0]
        return data if encoding.startswith("utf-8") else text.encode(encoding, "replace")
    except (SyntaxError, UnicodeEncodeError):
        return data
