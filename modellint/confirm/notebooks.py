"""Code and recipes of notebooks, laid out as files that can be imported and loaded.

Of a notebook's module only that is kept on which the names rest that are asked for: definitions, imports and values,
but no training.
"""

from __future__ import annotations

import ast
import os
import re
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modellint.claims import as_json, from_json
from modellint.frontends.syntax import tree_of
from modellint.link.project import Project
from modellint.notebook.places import out_of_notebook
from modellint.notebook.reading import read
from modellint.reading.files import Files
from modellint.source import NOTEBOOK, SourceFile, UnreadableError, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from modellint.confirm.plan import Group
    from modellint.confirm.setup import Setup
    from modellint.finding import Finding, Verdict
    from modellint.link.project import ProjectOptions
    from modellint.probes import Probe, Target


class Opened:
    """A notebook among the files of its project, with the files that its cells write."""

    def __init__(self, path: Path, options: ProjectOptions) -> None:
        self._path = path
        self._files = files_of(path)
        self._parts = read(path.read_bytes()).files(path) if self._files else []
        self.project = Project(options, Files().beside({part.path: part.data for part in self._parts}))

    def inner(self, finding: Finding) -> Finding:
        """A finding with its places in the files that they are about."""
        return out_of_notebook(finding, self._path, self._parts)

    def with_files(self, probe: Probe | None) -> Probe | None:
        """A probe with the notebook's files that have to be laid out for it."""
        return None if probe is None else replace(probe, files=self._files)


def files_of(path: Path) -> dict[Path, bytes]:
    """The module of a notebook and the files that its cells write; none if it cannot be read."""
    data = Files().read(path)
    try:
        book = None if data is None else read(data)
    except UnreadableError:
        book = None
    return {} if book is None else {part.path: part.data for part in (book.module(path), *book.files(path))}


class Layout:
    """Files of a notebook in the folder `scratch`, for a group of probes."""

    def __init__(self, group: Group, scratch: str) -> None:
        self._group = group
        self._folder = os.path.join(scratch, "notebook")
        self._files = {path: data for _, probe in group.probes for path, data in probe.files.items()}
        self._book = next((path for path in self._files if kind_of(path.name) == NOTEBOOK), None)
        self._paths = {path.as_posix(): self._place(path) for path in self._files}

    def _place(self, path: Path) -> str:
        """The path in the scratch folder: relative to the notebook's folder; the module is named like the notebook."""
        base = path.parent if self._book is None else self._book.parent
        name = os.path.relpath(path.with_suffix(".py") if path == self._book else path, base)
        return os.path.join(self._folder, name if not name.startswith("..") else path.name)

    def group(self) -> Group:
        """The probes, of the files that are laid out."""
        probes = ((number, self._probe(probe)) for number, probe in self._group.probes)
        return replace(self._group, target=self._target(self._group.target), probes=tuple(probes))

    def setup(self, setup: Setup) -> Setup:
        """The notebook's folder can be imported from, too."""
        return setup if self._book is None else replace(setup, roots=(self._book.parent.as_posix(), *setup.roots))

    def write(self) -> None:
        """Lay out the files. Raises OSError."""
        wanted = {word for _, probe in self._group.probes for word in _words(_texts_of(probe))}
        for path, data in self._files.items():
            place = Path(self._paths[path.as_posix()])
            place.parent.mkdir(parents=True, exist_ok=True)
            text = data.decode("utf-8", "replace")
            place.write_text(statements_for(text, wanted) if path == self._book else text, encoding="utf-8", newline="")

    def with_cells(self, verdict: Verdict) -> Verdict:
        """The verdict with lines of the module replaced by lines of cells."""
        if self._book is None or not verdict.detail:
            return verdict
        book = read(self._book.read_bytes())

        def in_cell(match: re.Match[str]) -> str:
            line = int(match[1])
            cell = book.cell_at(line)
            return match[0] if cell is None else f"cell {cell.number}, line {line - cell.first + 1}"

        module = re.escape(f"{self._book.stem}.py")
        detail = re.sub(rf"\b{module}:(\d+)", in_cell, verdict.detail.replace(self._folder + os.sep, ""))
        return replace(verdict, detail=re.sub(rf"\b{module}\b", self._book.name, detail))

    def _new_path(self, path: str) -> str:
        return self._paths.get(path, path)

    def _target(self, target: Target) -> Target:
        script = target.script and Path(self._new_path(target.script.as_posix()))
        return replace(target, path=Path(self._new_path(target.path.as_posix())), script=script)

    def _probe(self, probe: Probe) -> Probe:
        return replace(
            probe,
            target=self._target(probe.target),
            claim=from_json(self._in(as_json(probe.claim))),
            functions=tuple(map(self._target, probe.functions)),
            users=tuple(map(self._new_path, probe.users)),
        )

    def _in(self, value: Any) -> Any:
        """A claim as it is stored, with the paths of the laid-out files."""
        if isinstance(value, str):
            return self._new_path(value)
        if isinstance(value, dict):
            return {key: self._in(item) for key, item in value.items()}
        return [self._in(item) for item in value] if isinstance(value, list) else value


def _texts_of(probe: Probe) -> list[Any]:
    """The names and texts in a probe: its targets and the fields of its claim."""
    names = [target.name for target in (probe.target, *probe.functions)]
    return [*names, *as_json(replace(probe.claim, anchors=()))[2:]]


def _words(value: Any) -> Iterator[str]:
    """The names in what a probe says."""
    if isinstance(value, str):
        yield from re.findall(r"\w+", value)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _words(item)
    elif isinstance(value, list):
        for item in value:
            yield from _words(item)


def statements_for(text: str, names: Iterable[str]) -> str:
    """The statements of a module that `names` depend on, each at its line; the whole text if it cannot be parsed."""
    try:
        tree = tree_of(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text
    bound = [set(_bound_names(node)) for node in tree.body]
    wanted, kept = set(names), set[int]()
    while True:
        more = {n for n, known in enumerate(bound) if n not in kept and (known & wanted or _is_star(tree.body[n]))}
        if not more:
            break
        kept |= more
        wanted.update(node.id for n in more for node in ast.walk(tree.body[n]) if isinstance(node, ast.Name))
    return _without(text, [node for n, node in enumerate(tree.body) if n not in kept])


def _is_star(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.names[0].name == "*"


def _bound_names(node: ast.stmt) -> Iterator[str]:
    """The names that a statement of a module binds, or whose objects it stores into."""
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        yield node.name
        return
    for part in ast.walk(node):
        if isinstance(part, ast.Import | ast.ImportFrom):
            yield from ((alias.asname or alias.name).partition(".")[0] for alias in part.names)
        elif isinstance(part, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield part.name
        elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            yield part.id
        elif isinstance(part, ast.Attribute | ast.Subscript) and isinstance(part.ctx, ast.Store):
            inner: ast.expr = part
            while isinstance(inner, ast.Attribute | ast.Subscript):
                inner = inner.value
            if isinstance(inner, ast.Name):
                yield inner.id


def _without(text: str, nodes: Iterable[ast.stmt]) -> str:
    """A module without some of its statements, whose places are blank."""
    source = SourceFile(Path(), text)
    starts = list(accumulate(map(len, source.lines), initial=0))
    parts, at = [], 0
    for node in nodes:
        end_line = node.end_lineno or node.lineno
        span = source.span_of_bytes(node.lineno, node.col_offset, end_line, node.end_col_offset or 0)
        first = min((decorator.lineno for decorator in getattr(node, "decorator_list", ())), default=0)
        start = starts[first - 1] if first else starts[span.line - 1] + span.column - 1
        end = starts[span.end_line - 1] + span.end_column - 1
        parts += [text[at:start], re.sub(r"[^\r\n]", " ", text[start:end])]
        at = end
    return "".join((*parts, text[at:]))
