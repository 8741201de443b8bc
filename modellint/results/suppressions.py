"""Comments that silence findings, and which of them silence nothing.

    layer = nn.Embedding(80, 256)  # modellint: ignore[ML101]  ids of 80 phones
    # modellint: ignore-file[ML301]      (in the file's head)
    layer = nn.Embedding(80, 256)  # noqa: ML101

A comment covers its own line, and a finding whose primary span runs over several lines from any of them. Only real
comments count, in Python and in YAML: text inside a string or a block scalar is text.
"""

from __future__ import annotations

import re
import tokenize
from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from modellint.config.errors import closest_code
from modellint.frontends.syntax import tokens_of
from modellint.source import Span

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from modellint.finding import Finding
    from modellint.source import SourceFile

_DIRECTIVE = re.compile(r"#\s*modellint:\s*(ignore-file|ignore)(?![\w-])(?:\s*\[([^\]#]*)\])?")
_NOQA = re.compile(r"#\s*noqa\s*:\s*([A-Z]+[0-9]+(?:[\s,]+[A-Z]+[0-9]+)*)", re.IGNORECASE)
_OWN_MARKER = re.compile(rb"#\s*modellint:\s*ignore", re.IGNORECASE)
_NOQA_CODES = re.compile(rb"#\s*noqa\s*:([ \tA-Z0-9,]+)", re.IGNORECASE)
_SKIPPED = {tokenize.ENCODING, tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE}


@dataclass(frozen=True, slots=True)
class Suppression:
    """One comment: the codes it silences (none named: all of them), on its line or in the whole file.

    `is_noqa` marks a comment that other tools share; `misplaced` one for the whole file outside of its head. `within`
    are the first and the last line of the file that a comment for a whole file is about, where it is not all of it.
    """

    span: Span
    codes: tuple[str, ...]
    whole_file: bool = False
    is_noqa: bool = False
    misplaced: bool = False
    within: tuple[int, int] | None = None

    def covers(self, finding: Finding) -> bool:
        if self.misplaced or (self.codes and finding.code not in self.codes):
            return False
        if self.whole_file:
            return self.within is None or self.within[0] <= finding.span.line <= self.within[1]
        return finding.span.line <= self.span.line <= finding.span.end_line


@dataclass(frozen=True, slots=True)
class Stale:
    """A suppression with a fault: codes that silenced nothing, codes that do not exist, or a wrong place.

    A comment that names no code at all and silences nothing has neither. `nearest` is the code that the first
    unknown one may stand for.
    """

    suppression: Suppression
    unused: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    nearest: str | None = None


def has_marker(data: bytes, codes: frozenset[str]) -> bool:
    """True if a content may hold a suppression; a cheap test that is never wrong when it is False.

    `# noqa` counts only with one of the `codes`: it belongs to other linters too.
    """
    if b"modellint:" in data and _OWN_MARKER.search(data):
        return True
    if b"noqa" not in data and b"NOQA" not in data:
        return False
    named = b" ".join(match[1] for match in _NOQA_CODES.finditer(data)).decode().upper()
    return not codes.isdisjoint(re.findall(r"[A-Z]+[0-9]+", named))


def in_python(source: SourceFile) -> tuple[Suppression, ...]:
    """The suppressions of a Python file; those before the place where it stops being Python, if it does."""
    result: list[Suppression] = []
    in_head, docstring_seen = True, False
    try:
        for token in tokens_of(source.text):
            if token.type == tokenize.COMMENT:
                result.extend(_directives(token.string, *token.start, in_head))
            elif token.type == tokenize.STRING and in_head and not docstring_seen:
                docstring_seen = True
            elif token.type not in _SKIPPED:
                in_head = False
    except (tokenize.TokenError, SyntaxError):
        pass
    return tuple(result)


def in_yaml(source: SourceFile) -> tuple[Suppression, ...]:
    """The suppressions of a YAML file."""
    candidates = [
        (number, match.start())
        for number, line in enumerate(source.lines, 1)
        if "#" in line and (match := re.search(r"(?:^|(?<=\s))#\s*(?:modellint:|noqa)", line, re.IGNORECASE))
    ]
    if not candidates:
        return ()
    scalars, first = _scalars(source)
    starts = [start for start, _ in scalars]
    result: list[Suppression] = []
    for number, column in candidates:
        index = bisect_right(starts, (number, column)) - 1
        if index < 0 or scalars[index][1] <= (number, column):
            text = source.lines[number - 1].rstrip("\r\n")[column:]
            result.extend(_directives(text, number, column, (number, column) < first))
    return tuple(result)


def _scalars(source: SourceFile) -> tuple[list[tuple[tuple[int, int], tuple[int, int]]], tuple[int, int]]:
    """The (line, column) ranges that scalars fill, and where the first token stands, as far as it is YAML."""
    import yaml

    def place(mark: yaml.Mark) -> tuple[int, int]:
        # Where YAML counts lines, U+2028 ends one.
        line = bisect_right(source.starts, mark.index, hi=max(len(source.lines), 1))
        return line, mark.index - source.starts[line - 1]

    loader = getattr(yaml, "CLoader", yaml.Loader)
    ranges: list[tuple[tuple[int, int], tuple[int, int]]] = []
    first: tuple[int, int] | None = None
    try:
        for token in yaml.scan(source.text, Loader=loader):
            start, end = place(token.start_mark), place(token.end_mark)
            if isinstance(token, (yaml.StreamStartToken, yaml.StreamEndToken, yaml.DocumentStartToken)):
                continue
            first = first or start
            if isinstance(token, yaml.ScalarToken):
                # A comment may follow the `|` or `>` that opens a block scalar, on the same line.
                begin = (start[0] + 1, 0) if token.style in ("|", ">") else start
                ranges.append((begin, end))
    except yaml.YAMLError:
        pass
    return ranges, first or (len(source.text) + 1, 0)


def _directives(comment: str, line: int, column: int, in_head: bool) -> Iterator[Suppression]:
    for match in _DIRECTIVE.finditer(comment):
        codes = tuple(filter(None, re.split(r"[\s,]+", match[2] or "")))
        whole_file = match[1] == "ignore-file"
        span = _span(line, column, match)
        yield Suppression(span, codes, whole_file, misplaced=whole_file and not in_head)
    for match in _NOQA.finditer(comment):
        codes = tuple(code.upper() for code in re.split(r"[\s,]+", match[1]))
        yield Suppression(_span(line, column, match), codes, is_noqa=True)


def _span(line: int, column: int, match: re.Match[str]) -> Span:
    return Span(line, column + match.start() + 1, line, column + match.end() + 1)


def suppress(
    findings: Iterable[Finding], suppressions: Callable[[str], Sequence[Suppression]]
) -> tuple[list[Finding], dict[str, set[tuple[Suppression, str]]]]:
    """The findings that no comment silences, and by file which comment silenced which code."""
    kept: list[Finding] = []
    used: dict[str, set[tuple[Suppression, str]]] = defaultdict(set)
    for finding in findings:
        covering = [comment for comment in suppressions(finding.path) if comment.covers(finding)]
        if not covering:
            kept.append(finding)
        for comment in covering:
            used[finding.path].add((comment, finding.code))
    return kept, used


def stale(
    suppressions: Iterable[Suppression],
    used: Collection[tuple[Suppression, str]],
    *,
    known: Collection[str],
    active: Collection[str],
) -> list[Stale]:
    """The comments that silence nothing.

    `known` are all codes there are, `active` those that were looked for in this file: a comment for any other
    code is not judged, nor is one that other tools share.
    """
    result = []
    for comment in suppressions:
        if comment.is_noqa:
            continue
        silenced = {code for other, code in used if other == comment}
        unknown = tuple(code for code in comment.codes if code not in known)
        unused = tuple(code for code in comment.codes if code in active and code not in silenced)
        if unknown or unused or comment.misplaced or (not comment.codes and not silenced):
            result.append(Stale(comment, unused, unknown, closest_code(unknown[0], known) if unknown else None))
    return result
