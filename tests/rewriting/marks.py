"""Lines that are followed through rewritings: each bears a comment `# mark: 0` until the result is read off.

A mark stands behind a whole statement (or behind the head of a compound one), so that a rewriting may break the line as
it likes. A rewriting that makes several statements of one gives each of them the mark: any of them will do.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: A project: texts by path.
Files: TypeAlias = "Mapping[str, str]"
#: A path and a line of it.
Line: TypeAlias = "tuple[str, int]"

MARK = re.compile(r"[ \t]*# mark: (\d+(?: \d+)*)")
_EXPECTATION = re.compile(r"[ \t]*# expect: [A-Z]+\d+(?:, ?[A-Z]+\d+)*")
_COMMENT_ENDS = re.compile(r"(?=\r?\n?\Z)")


@dataclass(frozen=True)
class Unmarked:
    """Files without marks, and for each mark the lines that it stood for."""

    files: dict[str, str]
    places: dict[int, frozenset[Line]]


def marked(files: Files, expected: set[Line]) -> dict[str, str]:
    """The files of an example without its expectations, and with a mark on each statement that has to be found."""
    result = {}
    number = 0
    for path, text in files.items():
        lines = text.splitlines(keepends=True)
        ends = []
        for first, last in _statements(path, text):
            if any((path, line) in expected for line in range(first, last + 1)):
                ends.append(last)
        lines = [_EXPECTATION.sub("", line) for line in lines]
        for end in ends:
            lines[end - 1] = _COMMENT_ENDS.sub(f"  # mark: {number}", lines[end - 1], count=1)
            number += 1
        result[path] = "".join(lines)
    return result


def unmarked(files: Files) -> Unmarked:
    """Read off where marks have come to."""
    places = defaultdict(set)
    for path, text in files.items():
        if not MARK.search(text):
            continue
        lines = text.splitlines()
        for first, last in _statements(path, text):
            for line in range(first, last + 1):
                for numbers in MARK.findall(lines[line - 1]):
                    for number in numbers.split():
                        places[int(number)].update((path, each) for each in range(first, last + 1))
    return Unmarked(
        {path: MARK.sub("", text) for path, text in files.items()},
        {number: frozenset(found) for number, found in places.items()},
    )


def _statements(path: str, text: str) -> Iterator[tuple[int, int]]:
    """The first and last line of each statement of Python, or of each line of another file."""
    if not path.endswith(".py"):
        yield from ((number, number) for number in range(1, len(text.splitlines()) + 1))
        return
    first = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NEWLINE:
            yield first or token.start[0], token.start[0]
            first = 0
        elif not first and token.type not in (tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT):
            first = token.start[0]
