"""Results of files in which nothing but comments and empty lines has changed since they were checked.

Rules see code without comments, so that what was found before is found again, only in other lines. Where that is not
certain the file is to be checked: what a finding says may be about a line, and a few questions are about comments.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import replace
from typing import TYPE_CHECKING

from modellint.claims import moved, texts_of
from modellint.source import Place, Span, UnreadableError, decode_python, unified, without_comments

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from modellint.finding import Finding, Fix
    from modellint.pipeline.analyser import FileResult

#: What joins the lines of a string, or those that a backslash continues, to one.
_FOLD = "\0"
_BLANKS = " \t\f"
#: What names of recipes end with.
_RECIPES = (".yaml", ".yml")
_NUMBER = re.compile(r"\d+")
#: Where something stands that is about a whole file.
_WHOLE = Span(1, 1, 1, 1)
#: How many bytes of a file are searched for comments on how it came to be, and what these say.
_HEAD, _GENERATED = 2_000, b"generated"
#: In how many lines a comment may tell the encoding, and the word.
_DECLARING, _DECLARED = 2, "coding"


class _OtherCodeError(Exception):
    """What is found may be another thing than before."""


class Layout:
    """The lines of a file, and which of them begin with code; those that a string or a backslash joins are one."""

    def __init__(self, text: str, *, is_generated: bool) -> None:
        self.is_generated = is_generated
        #: The lines that rules have asked for with their comments.
        self.asked: frozenset[tuple[int, int]] = frozenset()
        #: Each without the LF at its end.
        self.all = text.split("\n")
        text = unified(text)
        self.code: list[str] = []
        self.numbers: list[int] = []
        folded = without_comments(text, lambda string: string.replace("\n", _FOLD)).replace("\\\n", f"\\{_FOLD}")
        number = 1
        for line in folded.split("\n"):
            code = line.rstrip(_BLANKS)
            if code:
                self.code.append(code)
                self.numbers.append(number)
            number += 1 + line.count(_FOLD)

    @classmethod
    def of(cls, path: Path, data: bytes) -> Layout | None:
        """The layout of a Python file; None if it cannot be decoded, or CR alone ends lines."""
        try:
            text = decode_python(path, data).text
        except UnreadableError:
            return None
        if "\r" in text and "\r" in text.replace("\r\n", ""):
            return None
        return cls(text, is_generated=_GENERATED in data[:_HEAD])

    def parts(self) -> Iterator[list[str]]:
        """The lines before the first code, and each line of code with those up to the next one."""
        start = 0
        for number in (*self.numbers, len(self.all) + 1):
            yield self.all[start : number - 1]
            start = number - 1

    @property
    def declaring(self) -> list[str]:
        """The lines that tell the encoding."""
        return [line for line in self.all[:_DECLARING] if _DECLARED in line]


def relaid(result: FileResult, before: Layout, now: Layout) -> FileResult | None:
    """What a Python file gives whose layout was `before` when it gave a result; None if that has to be found out.

    It says the same of what it rests on.
    """
    if not result.readable or result.crashes or result.paired is not None:
        return None
    if before.code != now.code or before.declaring != now.declaring or before.is_generated is not now.is_generated:
        return None
    try:
        move = _Move(result.path, before, now)
        return replace(result, findings=tuple(map(move.finding, result.findings)))
    except _OtherCodeError:
        return None


class _Move:
    """From one layout of some code to another. Raises _OtherCodeError if what has changed may be asked for."""

    def __init__(self, path: str, before: Layout, now: Layout) -> None:
        self._path = path
        self._before, self._now = before, now
        pairs = zip(before.numbers, now.numbers, strict=True)
        #: The first line of code that has moved.
        self._first = next((old for old, new in pairs if old != new), len(before.all) + 1)
        self._check()

    def _check(self) -> None:
        """Check that no comment has changed that was asked for, or that may say what a script reads."""
        from modellint.link.recipes.loading import LOADERS

        words = (*_RECIPES, *LOADERS)
        end = 0
        for old, new in zip(self._before.parts(), self._now.parts(), strict=True):
            first, end = end + 1, end + len(old)
            if old != new and (
                any(line <= end and end_line >= first for line, end_line in self._before.asked)
                or any(word in line for line in (*old, *new) for word in words)
            ):
                raise _OtherCodeError
        self._now.asked = frozenset((self._now_at(line), self._now_at(last)) for line, last in self._before.asked)

    def _now_at(self, line: int) -> int:
        """The line that one of code, or of a string that begins in one, is now."""
        at = bisect_right(self._before.numbers, line) - 1
        return line + (self._now.numbers[at] - self._before.numbers[at] if at >= 0 else 0)

    def place(self, place: Place) -> Place:
        """Where a place is now. Raises _OtherCodeError if its lines have changed."""
        span = place.span
        if place.path != self._path or (span == _WHOLE and self._first > 1):
            return place
        line = self._now_at(span.line)
        last = line + span.end_line - span.line
        if self._before.all[span.line - 1 : span.end_line] != self._now.all[line - 1 : last]:
            raise _OtherCodeError
        return replace(place, span=replace(span, line=line, end_line=last))

    def fix(self, fix: Fix) -> Fix:
        """A fix where its code is now. Raises _OtherCodeError if the lines that it edits have changed."""
        return replace(fix, edits=tuple(replace(edit, place=self.place(edit.place)) for edit in fix.edits))

    def finding(self, finding: Finding) -> Finding:
        """A finding at the place where it is now. Raises _OtherCodeError if that is not all that may be another."""
        last = len(self._before.all)
        if any(self._first <= int(found) <= last for text in _texts(finding) for found in _NUMBER.findall(text)):
            raise _OtherCodeError  # perhaps the number of a line
        return replace(
            finding,
            place=self.place(finding.place),
            related=tuple(replace(one, place=self.place(one.place)) for one in finding.related),
            fix=None if finding.fix is None else self.fix(finding.fix),
            claim=None if finding.claim is None else moved(finding.claim, self.place),
        )


def _texts(finding: Finding) -> Iterator[str]:
    """All that a finding tells in words."""
    yield from (finding.message, finding.symbol, finding.help, finding.cause, *finding.evidence)
    yield from (one.message for one in finding.related)
    if finding.fix is not None:
        yield finding.fix.message
    if finding.claim is not None:
        yield from texts_of(finding.claim)
