"""Questions from outside about the values on lines of code: by a command, or by comments in examples and tests.

`# reveal: ids → ids below 4160; x → argument x` claims what `ids` and `x` are on its line, `# reveal: x → [batch, 64]`
the shape of `x`, and `# reveal: [batch, 64]` that of the only tensor which the line assigns or returns.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from modellint import operators
from modellint.config.errors import UsageError, nearest
from modellint.flow.reveal import Revealed, reveal
from modellint.flow.shapes.shown import RETURNED, TensorExpression, tensors_in
from modellint.link.budget import ExhaustedError
from modellint.pipeline.analyser import Analyser
from modellint.source import NOTEBOOK, YAML, UnreadableError, kind_of, split_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from modellint.config import Settings
    from modellint.graph.python import ModuleFacts
    from modellint.link.project import Project
    from modellint.packs import RuleSet

T = TypeVar("T")

_COMMENT = re.compile(r"#\s*reveal:(.*?)(?=\s#\s|$)")
_CLAIM = re.compile(r"\s*(\S.*?)\s*(?:→|->)\s*(\S.*?)\s*\Z")
#: A claim of a shape and, perhaps, a type; with a name, unless the line has one tensor only.
_SHAPE_CLAIM = re.compile(r"\s*(?:(?!\[)(\S.*?)\s*(?:→|->)\s*)?(\[.*\](?: \w+)?)\s*\Z")
_EXPECTED = "expected a line of a Python file or notebook"


class RevealError(UsageError):
    """There is no such file or line, or it cannot be read. The message says what was expected."""


def reveal_lines(
    path: Path, lines: Collection[int], settings: Settings, rules: RuleSet, shown: str = ""
) -> dict[int, list[Revealed]]:
    """The beliefs about the expressions on some lines of a file, by line; lines of a notebook are those of its module.

    Operators and theories of rule packs are taken into account. Messages call the file `shown`. Raises RevealError.
    """
    return _answer(path, lines, settings, rules, shown, lambda module, project: reveal(module, project, lines))


def _answer(
    path: Path,
    lines: Collection[int],
    settings: Settings,
    rules: RuleSet,
    shown: str,
    question: Callable[[ModuleFacts, Project], T],
) -> T:
    """The answer to a question about lines of a file."""
    shown = shown or path.as_posix()
    path = Path(os.path.abspath(path))

    def ask(project: Project) -> T:
        data = None if path.is_dir() else project.files.read(path)
        if data is None:
            oversized = project.files.oversized(path)
            reason = "is a folder" if path.is_dir() else "cannot be read" if path.exists() else "no such file"
            raise RevealError(f"{shown}: {reason if oversized is None else oversized.reason}; {_EXPECTED}")
        try:
            module = project.whole(path) or project.parsed(path, data)
        except UnreadableError as error:
            raise RevealError(f"{shown}:{error.span.line}:{error.span.column}: {error.reason}") from None
        last = len(split_lines(module.source.text))
        for line in lines:
            if not 1 <= line <= last:
                raise RevealError(f"{shown}:{line}: the file has no such line; expected one from 1 to {last}")
        return question(module, project)

    kind = kind_of(path.name)
    if kind in (None, YAML) and not path.is_dir():
        reason = "is YAML, and only values in Python are revealed" if kind == YAML else "is no Python"
        raise RevealError(f"{shown}: {reason}; {_EXPECTED}")
    operators.add(rules.operators)
    try:
        return Analyser(rules, settings, record=False).ask(ask)
    except ExhaustedError as error:
        raise RevealError(f"{shown}: has too much code to be followed ({error.question})") from None


def line_in_cell(path: Path, shown: str, cell: int, line: int) -> int:
    """The line of a notebook's module that a line of a cell is, both from 1. Raises RevealError."""
    from modellint.notebook.reading import read

    if kind_of(path.name) != NOTEBOOK:
        raise RevealError(f"{shown}: is no notebook and has no cells; expected FILE:LINE")
    try:
        book = read(path.read_bytes())
    except OSError as error:
        raise RevealError(f"{shown}: {error.strerror}; {_EXPECTED}") from None
    except UnreadableError as error:
        raise RevealError(f"{shown}:{error.span.line}:{error.span.column}: {error.reason}") from None
    found = next((one for one in book.cells if one.number == cell), None)
    if found is None:
        known = ", ".join(str(one.number) for one in book.cells) or "none"
        raise RevealError(f"{shown}:cell {cell}: no such code cell; expected one of {known}")
    if not 1 <= line <= len(found.lines):
        last = len(found.lines)
        raise RevealError(f"{shown}:cell {cell}:{line}: the cell has no such line; expected one from 1 to {last}")
    return found.first + line - 1


def claims_in(lines: list[str]) -> dict[int, list[str]]:
    """The claims of `# reveal:` comments, by line (from 1)."""
    found = ((number, _COMMENT.search(line)) for number, line in enumerate(lines, 1) if "reveal:" in line)
    return {number: match[1].split(";") for number, match in found if match is not None}


def objections(
    path: Path, made: dict[int, list[str]], settings: Settings, rules: RuleSet, shown: str = ""
) -> Iterator[str]:
    """The objections to claims of comments in a file, in words. Raises RevealError."""
    believed = reveal_lines(path, made, settings, rules, shown) if made else {}
    shapes = {line for line, claims in made.items() if any(map(_SHAPE_CLAIM.match, claims))}
    tensors = _answer(path, shapes, settings, rules, shown, tensors_in) if shapes else []
    for line, found in sorted(believed.items()):
        on_line = [one for one in tensors if one.span.line == line]
        for claim in made[line]:
            match = _SHAPE_CLAIM.match(claim)
            objection = _objection(claim, found) if match is None else _objection_to_shape(match, on_line)
            if objection:
                yield f"{shown or path.as_posix()}:{line}: {objection}"


def _objection_to_shape(match: re.Match[str], found: list[TensorExpression]) -> str:
    name, claimed = match[1], match[2]
    shown = {RETURNED if one.is_returned else one.name: one for one in found if one.is_target or one.is_returned}
    names = ", ".join(f"`{one}`" for one in shown)
    if name is None:
        if len(shown) != 1:
            has = (
                f"assigns or returns {names}; expected `NAME → {claimed}`" if shown else "assigns or returns no tensor"
            )
            return f"`{claimed}` is claimed, and the line {has}"
        ((name, one),) = shown.items()
    else:
        known = {one.name: one for one in found} | shown
        if name not in known:
            return f"no tensor is called `{name}`{nearest(name, known, f'; expected {names}' if names else '')}"
        one = known[name]
    if claimed in (one.shape, one.words):
        return ""
    return f"`{name}` is expected to be `{claimed}`, and is `{one.words}`"


def _objection(claim: str, found: list[Revealed]) -> str:
    match = _CLAIM.match(claim)
    if match is None:
        return f"`{claim.strip()}` claims nothing; expected `NAME → WORDS`"
    one = expression_named(match[1], found)
    if isinstance(one, str):
        return one
    return "" if one.is_(match[2]) else f"`{one.name}` is expected to be `{match[2]}`, and is `{one.words}`"


def expression_named(name: str, found: list[Revealed]) -> Revealed | str:
    """The expression with a name on a line; without one, the reason in words."""
    names = [one.name for one in found]
    one = next((one for one in found if one.name == name), None)
    if one is not None:
        return one
    others = [f"`{known.name}`" for known in found if known.is_shown]
    listed = f"expected {', '.join(others)}" if others else "the line has none"
    return f"no value is called `{name}`{nearest(name, names, f'; {listed}')}"
