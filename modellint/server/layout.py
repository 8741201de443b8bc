"""Move the results of files in which only comments and empty lines have changed since they were checked.

Rules see code without comments, so the same findings would be made, only on other lines. Where that is not certain
the file is checked again: a message may name a line, and a few questions depend on comments.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import replace
from typing import TYPE_CHECKING

from modellint.claims import moved, texts_of
from modellint.source import Place, Span, UnreadableError, decode_python, unified, with_comment, without_comments

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from modellint.finding import Finding, Fix
    from modellint.pipeline.analyser import FileResult

#: The separator of lines that a string or a backslash joins.
_FOLD = "\0"
_BLANKS = " \t\f"
#: The endings of recipes' names.
_RECIPES = (".yaml", ".yml")
_NUMBER = re.compile(r"\d+")
#: The span of findings about a whole file.
_WHOLE = Span(1, 1, 1, 1)
#: Bytes of a file that are searched for a comment on its generation, and the word in it.
_HEAD, _GENERATED = 2_000, b"generated"
#: Lines in which a comment may declare the encoding, and the word in it.
_DECLARING, _DECLARED = 2, "coding"


class _OtherCodeError(Exception):
    """Findings may have changed, so that the file has to be checked."""


class Layout:
    """The lines of a file, and which of them begin with code; lines that a string or a backslash joins count as one."""

    def __init__(self, text: str, *, is_generated: bool) -> None:
        self.is_generated = is_generated
        #: The ranges of lines whose comments rules have asked for, each with the expression for those that count.
        self.asked: frozenset[tuple[int, int, re.Pattern[str] | None]] = frozenset()
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
    """The result of a Python file whose layout was `before`, moved to its layout now; None if it has to be checked.

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
    """The move of code from one layout to another. Raises _OtherCodeError if a change may matter."""

    def __init__(self, path: str, before: Layout, now: Layout) -> None:
        self._path = path
        self._before, self._now = before, now
        pairs = zip(before.numbers, now.numbers, strict=True)
        #: The first line of code that has moved.
        self._first = next((old for old, new in pairs if old != new), len(before.all) + 1)
        self._check()

    def _check(self) -> None:
        """Check that no comment has changed that a rule asked for, or that may name the file that a script reads."""
        from modellint.link.recipes.loading import LOADERS

        words = (*_RECIPES, *LOADERS)
        end = 0
        for old, new in zip(self._before.parts(), self._now.parts(), strict=True):
            first, end = end + 1, end + len(old)
            if old != new and (
                any(
                    line <= end and end_line >= first and _counting(old, where) != _counting(new, where)
                    for line, end_line, where in self._before.asked
                )
                or any(word in line for line in (*old, *new) for word in words)
            ):
                raise _OtherCodeError
        self._now.asked = frozenset(
            (self._now_at(line), self._now_at(last), where) for line, last, where in self._before.asked
        )

    def _now_at(self, line: int) -> int:
        """The line now of a line of code, or of a line within a string."""
        at = bisect_right(self._before.numbers, line) - 1
        return line + (self._now.numbers[at] - self._before.numbers[at] if at >= 0 else 0)

    def place(self, place: Place) -> Place:
        """A place in the present layout. Raises _OtherCodeError if its lines have changed."""
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
        """A finding in the present layout. Raises _OtherCodeError if more than its place may have changed."""
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


def _counting(lines: Sequence[str], where: re.Pattern[str] | None) -> list[str]:
    """The lines that count for a question: all of them, or those of code and those with a comment that counts."""
    if where is None:
        return list(lines)
    counting = [with_comment(line, where).rstrip(_BLANKS) for line in lines]
    return counting[:1] + list(filter(None, counting[1:]))


def _texts(finding: Finding) -> Iterator[str]:
    """The texts of a finding: its message, and those of its related places and fix."""
    yield from (finding.message, finding.symbol, finding.help, finding.cause, *finding.evidence)
    yield from (one.message for one in finding.related)
    if finding.fix is not None:
        yield finding.fix.message
    if finding.claim is not None:
        yield from texts_of(finding.claim)
