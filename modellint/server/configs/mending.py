"""Valid YAML from a text that is being typed, with a mark at the cursor.

The word at the cursor gets a mark, and what the parser misses around it is added: the colon behind a key, a closing
quote or bracket. Other lines that it refuses lose their values, or all they have; the number of lines stays.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: How many lines of a text are emptied before it is given up.
_MOST_REPAIRS = 12
_KEY = re.compile(r"[\"']?[\w.$/@ -]*\Z")
_DASHES = re.compile(r"[ \t]*(?:-[ \t]+)*")
#: A key with its colon, behind the dashes of a sequence.
_ENTRY = re.compile(r"[ \t]*(?:-[ \t]+)*(?:\"[^\"\n]*\"|'[^'\n]*'|[^\s#'\"{}\[\]!&*][^:#\n]*?)[ \t]*:(?=\s|\Z)")
_COLON = re.compile(r"[\w.$/@ -]*[\"']?[ \t]*:(?=\s|\Z)")
_REST = re.compile(r"[\w.$/@-]*")
_BRACKETS = {"{": "}", "[": "]"}


@dataclass(frozen=True)
class Marked:
    """A valid text in which `mark` stands at the cursor. `had_colon`: a colon follows the word in the editor's text."""

    text: str
    mark: str
    had_colon: bool = False


def mend(lines: Sequence[str]) -> str | None:
    """The lines as one text, those emptied that YAML refuses; None if more than a few would have to be."""
    return _mend(list(lines), -1)


def ways_to_read(lines: Sequence[str], line: int, column: int) -> Iterator[Marked]:
    """The ways to read lines whose cursor is in one of them (from 0) before a character; the most likely first.

    The lines have no ends; those of the text end at LF.
    """
    mark = _mark_for("\n".join(lines))
    whole = lines[line] if line < len(lines) else ""
    before, after = whole[:column], whole[column:]
    had_colon = _COLON.match(after) is not None
    for number, changed in enumerate(dict.fromkeys(_ways(before, after, mark))):
        # Trying all of them for a text that is broken elsewhere takes longer than a key press.
        if number > _MOST_REPAIRS:
            return
        found = _mend([*lines[:line], changed, *lines[line + 1 :]], line)
        if found is not None:
            yield Marked(found, mark, had_colon)


def _mark_for(text: str) -> str:
    mark = "qQcursorQq"
    while mark in text:
        mark += "Q"
    return mark


def _ways(before: str, after: str, mark: str) -> Iterator[str]:
    """The line with the mark in it, and with what may be missing around it."""
    dashes = _DASHES.match(before)
    own = before[dashes.end() :] if dashes is not None else before
    closing = _closing(before)
    rest = _REST.match(after)
    word = rest[0] if rest is not None else ""
    if _KEY.fullmatch(own) and not _COLON.match(after):
        quote = own[0] if own[:1] in ("'", '"') and own.count(own[0]) % 2 else ""
        key = f"{before}{mark}{word}{quote}:"
        if "-" in before[: dashes.end() if dashes is not None else 0]:
            yield f"{before}{mark}{word}{quote}"
        yield key
    yield before + mark + after
    yield before + mark + closing + after
    yield before + mark + word + closing
    yield before + mark + closing
    yield f"{before}{mark}: {closing}"


def _closing(before: str) -> str:
    """The quotes and brackets that close those which a line opens."""
    stack: list[str] = []
    quote = ""
    for at, character in enumerate(before):
        if quote:
            if character == quote:
                quote = ""
        elif character in "'\"" and (at == 0 or before[at - 1] in " \t[{,:"):
            quote = character
        elif character == "#" and (at == 0 or before[at - 1] in " \t"):
            break
        elif character in _BRACKETS and (character == "[" or before[at - 1 : at] != "$"):
            stack.append(_BRACKETS[character])
        elif stack and character == stack[-1]:
            stack.pop()
    return quote + "".join(reversed(stack))


def _mend(lines: list[str], kept: int) -> str | None:
    """The lines as one text, some emptied until it is valid; None if the line `kept` would have to be."""
    for _ in range(_MOST_REPAIRS):
        text = "\n".join(lines)
        refused = _refused_lines(text)
        if refused is None:
            return text
        number = next((line for line in refused if line != kept and _is_filled(lines, line)), None)
        if number is None:
            return None
        entry = _ENTRY.match(lines[number])
        has_value = entry is not None and lines[number][entry.end() :].strip()
        lines[number] = entry[0] if entry is not None and has_value else ""
    return None


def _is_filled(lines: list[str], number: int) -> bool:
    return 0 <= number < len(lines) and bool(lines[number].strip())


def _refused_lines(text: str) -> list[int] | None:
    """The lines, from 0, of which one has to be emptied next, the likeliest first; None if the text is valid."""
    import yaml

    loader: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    anchors: set[str] = set()
    documents = 0
    try:
        for event in yaml.parse(text, Loader=loader):
            kind, anchor = type(event).__name__, getattr(event, "anchor", None)
            documents += kind == "DocumentStartEvent"
            mark = event.start_mark
            if mark is not None and (documents > 1 or (kind == "AliasEvent" and anchor not in anchors)):
                return [_line(text, mark.index)]
            anchors.update([anchor] if anchor is not None else ())
    except yaml.MarkedYAMLError as error:
        marks = [mark for mark in (error.problem_mark, error.context_mark) if mark is not None]
        found = [_line(text, mark.index) for mark in marks]
        # A key without a colon is refused where the next token stands.
        if "could not find expected ':'" in str(error.problem):
            found.reverse()
        return [line for at in found for line in (at, at - 1)]
    except yaml.reader.ReaderError as error:
        return [_line(text, error.position if isinstance(error.position, int) else 0)]
    except (yaml.YAMLError, RecursionError, ValueError):
        return []
    return None


def _line(text: str, index: int) -> int:
    return text.count("\n", 0, index)
