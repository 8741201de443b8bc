"""Notebooks as they are on disk (nbformat 4, and 3 with its worksheets) to one Python module.

The lines of all code cells stand one after the other, each cell behind an empty line of its own. What is no Python in
them is blank, so that a line of the module is as long as the line of the cell that it stands for. Other parts of a
module, the files that cells write, are texts of their own.
"""

from __future__ import annotations

import json
import os
import re
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modellint.frontends.python import parse
from modellint.notebook.magics import code_of
from modellint.source import PYTHON, YAML, SourceFile, Span, UnreadableError, kind_of, split_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from modellint.notebook.magics import WrittenFile

_EXPECTED = "expected a Jupyter notebook"
_PYTHON = re.compile(r"i?python(?:3(?:\.\d+)*)?", re.IGNORECASE)
_BLOCK = "if 1:\n"


@dataclass(frozen=True, slots=True)
class Cell:
    """A code cell: its `number` among all cells (from 1), its text, and the module's line that its first one is."""

    number: int
    source: str
    first: int

    @property
    def lines(self) -> list[str]:
        return split_lines(self.source)

    @property
    def last(self) -> int:
        """The module's line that its last line is; the one before `first` if it has none."""
        return self.first + len(self.lines) - 1


@dataclass(frozen=True)
class Part:
    """Code that is checked as a file of its own: the notebook's module, or a file that cells write.

    `lines` says for each line which one of the module it is.
    """

    path: Path
    text: str
    lines: Sequence[int]

    @property
    def data(self) -> bytes:
        """The content of a file with this text."""
        return self.text.encode("utf-8", "surrogatepass")

    @cached_property
    def source(self) -> SourceFile:
        return SourceFile(self.path, self.text)

    def outer(self, span: Span) -> Span:
        """A span of this part in lines of the module."""
        return Span(self._outer(span.line), span.column, self._outer(span.end_line), span.end_column)

    def inner(self, span: Span) -> Span | None:
        """A span of the module, in lines of this part; None if it is not within the part."""
        # An edit may begin or end behind the last line.
        known = {outer: number for number, outer in enumerate((*self.lines, self._outer(len(self.lines) + 1)), 1)}
        if span.line not in known or span.end_line not in known:
            return None
        return Span(known[span.line], span.column, known[span.end_line], span.end_column)

    def _outer(self, line: int) -> int:
        if line <= len(self.lines):
            return self.lines[line - 1]
        return (self.lines[-1] if self.lines else 0) + line - len(self.lines)


@dataclass(frozen=True, slots=True)
class Notebook:
    """The code cells of a notebook, `text` as one module, and the cells that are not Python, with the reasons."""

    cells: tuple[Cell, ...]
    text: str
    written: tuple[tuple[str, tuple[int, ...]], ...] = ()
    errors: tuple[UnreadableError, ...] = ()
    firsts: tuple[int, ...] = field(default=(), repr=False)

    @property
    def original(self) -> str:
        """The module with the cells' original text."""
        return "".join(f"\n{_with_line_end(cell.source)}" for cell in self.cells)

    def cell_at(self, line: int) -> Cell | None:
        """The cell that a line of the module is in; the empty line before a cell belongs to it."""
        if not self.cells:
            return None
        return self.cells[max(bisect_right(self.firsts, line + 1) - 1, 0)]

    def files(self, path: Path) -> list[Part]:
        """The Python and YAML files that the cells of the notebook `path` write, as they are at its end."""
        lines = split_lines(self.original)
        return [
            Part(_beside(path, name), "".join(lines[number - 1] for number in numbers), numbers)
            for name, numbers in self.written
        ]

    def module(self, path: Path) -> Part:
        """The code of all cells of the notebook `path`."""
        return Part(path, self.text, range(1, len(split_lines(self.text)) + 1))

    def part_at(self, path: Path, span: Span) -> Part:
        """The part of the notebook `path` that a span of its module belongs to."""
        for part in self.files(path) if self.written else ():
            if part.lines and part.lines[0] <= span.line and part.inner(span) is not None:
                return part
        return self.module(path)


@lru_cache(maxsize=4)
def read(data: bytes) -> Notebook:
    """The notebook in a file with the content `data`; one of another language than Python has no cells.

    Raises UnreadableError, with the place in the file, for what is no notebook.
    """
    if not data.strip():
        return Notebook((), "")
    document = _document(data)
    cells = _cells(document, data)
    if not _is_python(document.get("metadata")):
        return Notebook((), "")
    return _join_cells(
        (number, _text(cell, number, data)) for number, cell in enumerate(cells, 1) if _has_code(cell, number, data)
    )


def _document(data: bytes) -> dict[str, Any]:
    try:
        document = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        reason = f"byte 0x{data[error.start]:02x} is not valid utf-8; {_EXPECTED} in that encoding"
        raise UnreadableError(reason, Span(line, 1, line, 1)) from None
    except json.JSONDecodeError as error:
        span = Span(error.lineno, error.colno, error.lineno, error.colno + 1)
        raise UnreadableError(f"not valid JSON: {error.msg}; {_EXPECTED}", span) from None
    except RecursionError:
        raise UnreadableError(f"nested too deeply; {_EXPECTED}") from None
    except ValueError as error:
        raise UnreadableError(f"not valid JSON: {error}; {_EXPECTED}") from None
    if not isinstance(document, dict):
        raise UnreadableError(f"no JSON object; {_EXPECTED}")
    return document


def _cells(document: dict[str, Any], data: bytes) -> list[Any]:
    cells = document.get("cells")
    sheets = document.get("worksheets")
    if cells is None and isinstance(sheets, list):  # nbformat 3
        of_sheets = [sheet.get("cells") for sheet in sheets if isinstance(sheet, dict)]
        cells = [cell for some in of_sheets if isinstance(some, list) for cell in some]
    if not isinstance(cells, list):
        raise UnreadableError(f"no list `cells`; {_EXPECTED} (nbformat 4, or 3 with `worksheets`)")
    for number, cell in enumerate(cells, 1):
        if not isinstance(cell, dict) or not isinstance(cell.get("cell_type"), str):
            raise _misshapen(number, "no object with a `cell_type`", data)
    return cells


def _has_code(cell: dict[str, Any], number: int, data: bytes) -> bool:
    """True if a cell holds Python, as far as the notebook tells."""
    if cell["cell_type"] != "code":
        return False
    metadata = cell.get("metadata")
    editor = metadata.get("vscode") if isinstance(metadata, dict) else None
    language = editor.get("languageId") if isinstance(editor, dict) else cell.get("language")
    return not isinstance(language, str) or _PYTHON.fullmatch(language) is not None


def _text(cell: dict[str, Any], number: int, data: bytes) -> str:
    source = cell.get("source", cell.get("input"))
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        return "".join(source)
    if not isinstance(source, str):
        raise _misshapen(number, "`source` is neither a string nor a list of strings", data)
    return source


def _misshapen(number: int, problem: str, data: bytes) -> UnreadableError:
    from modellint.notebook.layout import Layout

    line, column = Layout(data.decode("utf-8-sig")).cell_position(number)
    return UnreadableError(f"cell {number}: {problem}; {_EXPECTED}", Span(line, column, line, column + 1))


def _is_python(metadata: Any) -> bool:
    """True if a notebook's kernel runs Python 3, or is not stated."""
    if not isinstance(metadata, dict):
        return True
    kernel, language = metadata.get("kernelspec"), metadata.get("language_info")
    kernel = kernel if isinstance(kernel, dict) else {}
    language = language if isinstance(language, dict) else {}
    names = (kernel.get("language"), language.get("name"))
    # Some editors write `version` 2.7.6 for any kernel.
    is_old = kernel["name"] == "python2" if "name" in kernel else str(language.get("version")).startswith("2.")
    return not is_old and all(_PYTHON.fullmatch(name) for name in names if isinstance(name, str) and name)


def _join_cells(sources: Iterator[tuple[int, str]]) -> Notebook:
    cells: list[Cell] = []
    texts: list[str] = []
    written: dict[str, tuple[int, ...]] = {}
    errors: list[UnreadableError] = []
    line = 1
    for number, source in sources:
        cell = Cell(number, source, line + 1)
        cells.append(cell)
        lines = split_lines(_with_line_end(source))
        code = code_of(lines)
        if code.writes is not None:
            numbers = tuple(range(cell.first + code.writes.first, cell.first + len(lines)))
            _write(written, code.writes, numbers)
        text, error = _check_cell(code.lines, cell)
        texts.append(text)
        errors += [] if error is None else [error]
        line += 1 + len(lines)
    files = tuple((name, numbers) for name, numbers in written.items() if numbers)
    firsts = tuple(cell.first for cell in cells)
    return Notebook(tuple(cells), "".join(texts), files, tuple(_told_once(errors)), firsts)


def _told_once(errors: list[UnreadableError]) -> Iterator[UnreadableError]:
    """The errors; of cells in Python 2, or templates, only the first, which stands for the others."""
    for error in errors:
        alike = [other for other in errors if other.other == error.other]
        if not error.other:
            yield error
        elif error is alike[0]:
            more = len(alike) - 1
            others = "" if not more else ", and so is one more" if more == 1 else f", and so are {more} more"
            yield UnreadableError(error.reason + others, error.span, "cell", tried=error.tried, other=error.other)


def _write(written: dict[str, tuple[int, ...]], file: WrittenFile, lines: tuple[int, ...]) -> None:
    if kind_of(file.name) in (PYTHON, YAML):
        before = written.get(file.name, ()) if file.appends else ()
        written[file.name] = (*before, *lines)


def _check_cell(lines: tuple[str, ...], cell: Cell) -> tuple[str, UnreadableError | None]:
    """A cell's code behind an additional first line, or blanks alone if it is no Python.

    IPython takes away what all lines of a cell are indented by; here, a block holds them.
    """
    text = "".join(lines)
    first = next((line for line in lines if line.strip() and not line.lstrip().startswith("#")), "")
    before = _BLOCK if first[:1] in (" ", "\t") else "\n"
    try:
        parse(SourceFile(Path(), before + text))
    except UnreadableError as error:
        span, above = error.span, cell.first - 2
        last = max(cell.last, cell.first)
        line, end_line = min(span.line + above, last), min(span.end_line + above, last)
        place = Span(line, span.column, end_line, span.end_column)
        return re.sub(r"[^\r\n]", " ", f"\n{text}"), error.within("cell", place)
    return before + text, None


def _with_line_end(text: str) -> str:
    return text if not text or text.endswith(("\n", "\r")) else f"{text}\n"


def _beside(notebook: Path, name: str) -> Path:
    """The path of a file that a cell writes; absolute paths are taken as relative to the notebook's folder."""
    return Path(os.path.normpath(notebook.parent / name.replace("\\", "/").lstrip("/~")))
