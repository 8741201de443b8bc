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
#: What lines begin with that go on with what stands at the margin.
_WITHIN = f"{_BLANKS})]}}"
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
        self.all = text.split("\n")
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
        """The layout of a Python file; None if it cannot be decoded."""
        try:
            text = unified(decode_python(path, data).text)
        except UnreadableError:
            return None
        return cls(text, is_generated=_GENERATED in data[:_HEAD])

    def parts(self) -> Iterator[list[str]]:
        """The lines before the first code, and each line of code with those up to the next one."""
        start = 0
        for number in (*self.numbers, len(self.all) + 1):
            yield self.all[start : number - 1]
            start = number - 1

    def around(self, line: int) -> tuple[int, int]:
        """The first and last line of what stands at the margin, with all that is in it, and of what is beside it."""
        pairs = zip(self.numbers, self.code, strict=True)
        starts = [1, *(number for number, code in pairs if code[0] not in _WITHIN), len(self.all) + 1]
        at = bisect_right(starts, line) - 1
        return starts[max(at - 1, 0)], starts[min(at + 2, len(starts) - 1)] - 1

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
        """Check that no comment has changed which may be asked for: shapes, and what a script reads."""
        from modellint.link.recipes.loading import LOADERS
        from modellint.link.values.shapes import may_say_shape

        for old, new in zip(self._before.parts(), self._now.parts(), strict=True):
            for line in (*old, *new) if old != new else ():
                if may_say_shape(line) or any(word in line for word in (*_RECIPES, *LOADERS)):
                    raise _OtherCodeError

    def _now_at(self, line: int) -> int:
        """The line that one of code, or of a string that begins in one, is now."""
        at = bisect_right(self._before.numbers, line) - 1
        return line + (self._now.numbers[at] - self._before.numbers[at] if at >= 0 else 0)

    def _check_same(self, first: int, last: int) -> None:
        """Raise _OtherCodeError if the lines from the first to the last are not as they were."""
        start = self._now_at(first)
        if self._before.all[first - 1 : last] != self._now.all[start - 1 : start + last - first]:
            raise _OtherCodeError

    def place(self, place: Place) -> Place:
        """Where a place is now. Raises _OtherCodeError if its lines have changed."""
        span = place.span
        if place.path != self._path or (span == _WHOLE and self._first > 1):
            return place
        self._check_same(span.line, span.end_line)
        line = self._now_at(span.line)
        return replace(place, span=replace(span, line=line, end_line=line + span.end_line - span.line))

    def fix(self, fix: Fix) -> Fix:
        """A fix where its code is now. Raises _OtherCodeError if lines around have changed, as it keeps comments."""
        for edit in fix.edits:
            if edit.place.path == self._path:
                self._check_same(*self._before.around(edit.place.span.line))
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
