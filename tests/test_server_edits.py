"""After each of many edits, the server says what a fresh check of the same text says.

The editor here counts lines and columns by itself. MODELLINT_EDITS=2000 makes two thousand edits of each kind of
document; by default there are fewer.
"""

from __future__ import annotations

import json
import os
import random
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from preloaded import Client

from modellint.config import settings_for
from modellint.linter import run
from modellint.packs import select_rules
from modellint.reading.files import Files
from modellint.reporters import View
from modellint.reporters.text import explained

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from modellint.source import Span

EDITS = int(os.environ.get("MODELLINT_EDITS", "60"))
pytestmark = pytest.mark.timeout(900 + EDITS)

#: What Python and YAML take for the end of a line here and there, and LSP does not.
SEPARATORS = ("\f", "\v", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029")
OTHERS = ("😀", "👩\u200d👩\u200d👧", "\U0001d4b3", "漢字", "é", "e\u0301", "\t", "ß", "\ufeff", "x", " ")
ENDS = ("\n", "\r\n", "\r")
_END = re.compile(r"\r\n|\r|\n")

MODEL = """\
from torch import nn  # head


class Text(nn.Module):  # 漢字 and 😀
    def __init__(self, vocab_size, width):
        super().__init__()
        self.note = "a 😀 note"; self.table = nn.Embedding(width, vocab_size)  # swapped
        self.layers = [nn.Linear(width, width) for _ in range(2)]  # plain
        self.known = [nn.Linear(width, width)]  # modellint: ignore[ML204]
        self.norm = nn.LayerNorm(width)  # e\u0301

    def forward(self, ids):
        hidden = self.norm(self.table(ids))  # a
        for layer in self.layers:
            hidden = layer(hidden)
        return self.known[0](hidden)
"""
RECIPE = """\
# a recipe 😀
width: 80  # 漢字
note: "a 😀 note"
enc: !new:torch.nn.Linear  # one
    in_features: !ref <width>
    out_features: !ref <missing>  # two
other: !new:torch.nn.Linear  # three
    in_features: !ref <missing>  # modellint: ignore[ML401]
    out_features: !ref <absent>
modules:  # four
    enc: !ref <enc>
"""
NAMES = {"model.py": ("table", "hidden", "norm"), "train.yaml": ("enc", "width", "other")}
#: What goes into comments. For YAML half of the separators end a line, and the others are not allowed.
ODD = {"model.py": SEPARATORS, "train.yaml": ("\x85# ", "\u2028# ", "\u2029# ", "\x85 #", "\u2028#")}
#: What is typed, and makes it unreadable; edits after which everything is as it was.
BREAKS = {"model.py": ("(", '"', "\u2028", "\x1c", "\x85"), "train.yaml": ("]", '"', "\f", "\x1e", "a\u2028")}
RESET = 25


@dataclass
class Document:
    """A text as an editor holds it, which tells the server of each change."""

    uri: str
    text: str
    units: Callable[[str], int]
    chance: random.Random
    kind: str = "model.py"
    version: int = 1
    original: str = field(init=False)
    _broken: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        self.original = self.text

    @property
    def is_broken(self) -> bool:
        """Whether the next edit takes back what made it unreadable."""
        return self._broken is not None

    def position(self, offset: int) -> dict[str, int]:
        """Where a character is; what is at the end of a line may be said to be behind it."""
        ends = [match.end() for match in _END.finditer(self.text) if match.end() <= offset]
        column = self.units(self.text[ends[-1] if ends else 0 : offset])
        if self.chance.random() < 0.3:
            if offset == len(self.text):
                return {"line": len(ends) + self.chance.randrange(1, 5), "character": self.chance.randrange(9)}
            if self.text[offset] in "\r\n":
                column += self.chance.choice((1, 2, 1000))
        return {"line": len(ends), "character": column}

    def change(self, start: int, end: int, new: str) -> dict[str, Any]:
        """Replace what is between two offsets: what the server is told of it."""
        if self.text[start - 1 : start + 1] == "\r\n":  # no editor has a pointer there
            start -= 1
        if self.text[end - 1 : end + 1] == "\r\n":
            end += 1
        if self.chance.random() < 0.03:
            self.text = self.text[:start] + new + self.text[end:]
            return {"text": self.text}
        change = {"range": {"start": self.position(start), "end": self.position(end)}, "text": new}
        self.text = self.text[:start] + new + self.text[end:]
        return change

    def edits(self) -> list[dict[str, Any]]:
        """The next changes, as somebody might make them."""
        self.version += 1
        if self.version % RESET == 0:
            self._broken = None
            return [self.change(0, len(self.text), self.original)]
        if self._broken is not None:
            place, self._broken = self._broken, None
            return [self.change(*place, "")]
        if self.chance.random() < 0.15:
            at, new = self.chance.choice(self._lines()), self.chance.choice(BREAKS[self.kind])
            self._broken = at, at + len(new)
            return [self.change(at, at, new)]
        return [self._edit() for _ in range(self.chance.choice((1, 1, 1, 2, 3)))]

    def _lines(self) -> list[int]:
        return [0, *(match.end() for match in _END.finditer(self.text))]

    def _edit(self) -> dict[str, Any]:
        chance, text = self.chance, self.text
        comments = [match.end() for match in re.finditer(r"#[^\r\n]*", text)] or [len(text)]
        match chance.randrange(8):
            case 0:
                start = chance.choice(self._lines())
                return self.change(start, start, f"# {self._odd()}{chance.choice(ENDS)}")
            case 1 | 2:
                end = chance.choice(comments)
                return self.change(end, end, self._odd())
            case 3 if old := [match.span() for match in re.finditer(r"^# [^\r\n]*(\r\n|\r|\n)", text, re.MULTILINE)]:
                return self.change(*chance.choice(old), "")
            case 4 if ends := list(_END.finditer(text)):
                return self.change(*chance.choice(ends).span(), chance.choice(ENDS))
            case 5 if inside := [match.end() for match in re.finditer(r'"a', text)]:
                at = chance.choice(inside)
                return self.change(at, at, chance.choice(OTHERS))
            case 6:
                return self._rename(chance.choice(NAMES[self.kind]), chance.choice(("漢", "ß", "x")))
            case _:
                last = chance.choice(comments)
                inner = re.search(r"#([^\r\n]*)$", text[:last])
                assert inner is not None
                return self.change(inner.start(1), last, f" {self._odd()}")

    def _rename(self, name: str, letter: str) -> dict[str, Any]:
        found = list(re.finditer(rf"\b{name}\b", self.text))
        if not found:
            return self.change(0, 0, "")
        place = self.chance.choice(found)
        return self.change(place.end(), place.end(), letter)

    def _odd(self) -> str:
        return "".join(self.chance.choices((*ODD[self.kind], *OTHERS), k=self.chance.randrange(1, 5)))


def utf(encoding: str) -> Callable[[str], int]:
    size = {"utf-8": 1, "utf-16": 2, "utf-32": 4}[encoding]
    name = encoding if size == 1 else f"{encoding}-le"
    return lambda text: len(text.encode(name)) // size


def ranged(span: Span, text: str, units: Callable[[str], int]) -> tuple[tuple[int, int], tuple[int, int]]:
    """A span as a range of the protocol."""
    lines = _END.split(text)

    def position(line: int, column: int) -> tuple[int, int]:
        content = lines[line - 1] if line <= len(lines) else ""
        return line - 1, units(content[: column - 1])

    return position(span.line, span.column), position(span.end_line, span.end_column)


Found = list[tuple[str, tuple[tuple[int, int], tuple[int, int]], str]]


def said(diagnostics: list[dict[str, Any]]) -> Found:
    def position(place: dict[str, int]) -> tuple[int, int]:
        return place["line"], place["character"]

    return sorted(
        (one["code"], (position(one["range"]["start"]), position(one["range"]["end"])), one["message"])
        for one in diagnostics
    )


class Fresh:
    """Checks a file that holds another text than on disk, as if for the first time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._settings = settings_for([path])
        self._rules = select_rules(self._settings)

    def check(self, data: bytes, texts: dict[int, str], units: Callable[[str], int]) -> dict[int, Found]:
        """What is found in the texts of cells, or of the file, which is cell 0."""
        overlay = {self._path: data}
        report = run([self._path], self._settings, self._rules, overlay=overlay, use_cache=False)
        assert report.crashes == ()
        found: dict[int, Found] = {number: [] for number in texts}
        for finding in View(self._path.parent, Files(overlay)).located(report).findings:
            number = finding.place.cell
            found[number].append((finding.code, ranged(finding.span, texts[number], units), explained(finding)))
        return {number: sorted(of_text) for number, of_text in found.items()}


def compare(expected: Found, shown: Found, text: str) -> bool:
    """Whether all could be compared: of what cannot be parsed, the rest is what was found before."""
    if any(code == "ML001" for code, *_ in expected):
        expected, shown = ([one for one in found if one[0] == "ML001"] for found in (expected, shown))
        assert shown == expected, text
        return False
    assert shown == expected, text
    return True


@pytest.mark.dear
@pytest.mark.parametrize("encoding", ["utf-16", "utf-8", "utf-32"])
@pytest.mark.parametrize(("name", "text"), [("model.py", MODEL), ("train.yaml", RECIPE)])
def test_diagnostics_are_those_of_a_fresh_check(tmp_path: Path, name: str, text: str, encoding: str) -> None:
    (tmp_path / "modellint.toml").write_text("")
    units = utf(encoding)
    client = Client(tmp_path, {"general": {"positionEncodings": [encoding]}})
    document = Document((tmp_path / name).as_uri(), text, units, random.Random(name), name)
    fresh, edits, whole = Fresh(tmp_path / name), 0, 0
    client.send(
        "textDocument/didOpen", {"textDocument": {"uri": document.uri, "languageId": "", "version": 1, "text": text}}
    )
    for _ in range(EDITS if encoding == "utf-16" else EDITS // 4):
        changes = document.edits()
        identity = {"uri": document.uri, "version": document.version}
        client.send("textDocument/didChange", {"textDocument": identity, "contentChanges": changes})
        shown = said(client.diagnostics(document.uri, document.version))
        expected = fresh.check(document.text.encode(), {0: document.text}, units)[0]
        edits += 1
        whole += compare(expected, shown, document.text) and len(expected) > 1
    client.process.kill()
    assert client.messages == []
    assert whole > edits // 2


@pytest.mark.dear
def test_diagnostics_of_cells_are_those_of_a_fresh_check(tmp_path: Path) -> None:
    (tmp_path / "modellint.toml").write_text("")
    units, chance = utf("utf-16"), random.Random(0)
    client = Client(tmp_path)
    path = tmp_path / "book.ipynb"
    head, _, body = MODEL.partition("\n\n\n")
    texts = [head, body, body.replace("class Text", "class Speech")]
    documents = [
        Document(f"vscode-notebook-cell:{path.as_posix()}#W{number}", text, units, chance)
        for number, text in enumerate(texts)
    ]
    book: dict[str, Any] = {"uri": path.as_uri(), "version": 1, "notebookType": "jupyter-notebook"}
    book["cells"] = [{"kind": 2, "document": document.uri} for document in documents]
    items = [
        {"uri": document.uri, "languageId": "python", "version": 1, "text": document.text} for document in documents
    ]
    client.send("notebookDocument/didOpen", {"notebookDocument": book, "cellTextDocuments": items})
    fresh, whole = Fresh(path), 0
    for number in range(EDITS):
        document = next((document for document in documents if document.is_broken), chance.choice(documents))
        changes = document.edits()
        content = {"document": {"uri": document.uri, "version": document.version}, "changes": changes}
        identity = {"uri": book["uri"], "version": number + 2}
        change = {"notebookDocument": identity, "change": {"cells": {"textContent": [content]}}}
        client.send("notebookDocument/didChange", change)
        expected = fresh.check(as_notebook(documents), {n: d.text for n, d in enumerate(documents, 1)}, units)
        is_broken = any(code == "ML001" for found in expected.values() for code, *_ in found)
        for place, document in enumerate(documents, 1):
            client.send("textDocument/diagnostic", {"textDocument": {"uri": document.uri}}, request=10 * number + place)
            shown = said(client.answer(10 * number + place)["result"]["items"])
            if is_broken:
                shown = [one for one in shown if one[0] == "ML001"]
                expected[place] = [one for one in expected[place] if one[0] == "ML001"]
            assert shown == expected[place], (place, document.text)
            whole += not is_broken and len(shown) > 1
    client.process.kill()
    assert whole > EDITS // 2


def as_notebook(documents: list[Document]) -> bytes:
    cells = [{"cell_type": "code", "metadata": {}, "source": document.text} for document in documents]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()
