"""The command that prints the shapes of the tensors on the lines of a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from modellint.commands.help import Command
from modellint.commands.options import project_options
from modellint.config.errors import UsageError, nearest
from modellint.results.outputs import deliver

if TYPE_CHECKING:
    from collections.abc import Callable

    from modellint.flow.shapes.shown import Shown
    from modellint.graph.python import Function, ModuleFacts
    from modellint.link.project import Project

_EXAMPLES = """
\b
Examples:
  modellint shapes model.py
  modellint shapes model.py::Encoder
  modellint shapes model.py::Encoder.forward --output-format json

\b
Exit codes:
  0  the shapes are printed
  2  wrong usage, or no such file, class or function
"""


@click.command(cls=Command, epilog=_EXAMPLES)
@click.argument("target", metavar="FILE[::NAME]")
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", help="Format. Default: text.")
@project_options()
def shapes(target: str, output_format: str, config: Path | None, isolated: bool, python: Path | None) -> int:
    """Print the shape of each tensor that code assigns or returns.

    NAME is a class, a method (`Encoder.forward`) or a function of the file. A shape is a list of sizes: numbers,
    symbols (`batch`, `h // 2`), `?` for a size that is not known, and `*` for dimensions of unknown number. Lines of a
    notebook are those of its cells: `3:2`. Nothing is run.
    """
    from modellint.commands.checking import interpreter
    from modellint.config import settings_for
    from modellint.flow.shapes.shown import shapes_on_lines
    from modellint.link.project import Project, ProjectOptions
    from modellint.reading.files import Files

    name, _, wanted = target.partition("::")
    path = Path(name)
    settings = settings_for([path], config, isolated=isolated).with_options(python=interpreter(python))
    project = Project(
        ProjectOptions(settings.root, settings.python, settings.recipes), Files(limit=settings.max_file_size)
    )
    module = _module(path, name, project)
    shown = shapes_on_lines(module, project, _functions(module, wanted, name))
    place = _cell_and_line(path)
    text = _as_json(name, shown, place) if output_format == "json" else _as_text(name, shown, place)
    deliver(text, None, is_data=output_format == "json")
    if not shown:
        click.echo(f"{target}: no tensor is assigned or returned, or the code is never run", err=True)
    return 0


def _module(path: Path, name: str, project: Project) -> ModuleFacts:
    """The file of a target. Raises UsageError if it cannot be read."""
    from modellint.source import UnreadableError

    data = None if path.is_dir() else project.files.read(path.resolve())
    if data is None:
        reason = "is a folder" if path.is_dir() else "cannot be read" if path.exists() else "no such file"
        raise UsageError(f"{name}: {reason}; expected a Python file or a notebook")
    try:
        return project.whole(path.resolve()) or project.parsed(path.resolve(), data)
    except UnreadableError as error:
        raise UsageError(f"{name}:{error.span.line}:{error.span.column}: {error.reason}") from None


def _functions(module: ModuleFacts, wanted: str, name: str) -> list[Function]:
    """The functions that a target names. Raises UsageError if there is none."""
    every = list(module.placed.values())
    if not wanted:
        return every
    found = [one for one in every if one.qualname == wanted or one.qualname.startswith(f"{wanted}.")]
    if not found:
        names = dict.fromkeys((*module.classes, *(one.qualname for one in every)))
        raise UsageError(f"{name}::{wanted}: the file has no such class or function{nearest(wanted, names, '')}")
    return found


def _cell_and_line(path: Path) -> Callable[[int], tuple[int | None, int]]:
    """The cell of a notebook, and the line in it, by the line of its module; of any other file, None and the line."""
    from modellint.notebook.reading import read
    from modellint.source import NOTEBOOK, kind_of

    if kind_of(path.name) != NOTEBOOK:
        return lambda line: (None, line)
    book = read(path.read_bytes())

    def place(line: int) -> tuple[int | None, int]:
        cell = book.cell_at(line)
        return (None, line) if cell is None else (cell.number, line - cell.first + 1)

    return place


def _as_text(name: str, shown: list[Shown], place: Callable[[int], tuple[int | None, int]]) -> str:
    from modellint.reporters.text import printable

    lines: list[str] = []
    functions = dict.fromkeys(one.function for one in shown)
    for function in functions:
        own = [one for one in shown if one.function is function]
        width = max(len(one.name) for one in own)
        numbers = [str(line) if cell is None else f"{cell}:{line}" for cell, line in (place(one.line) for one in own)]
        number = max(map(len, numbers))
        lines.append(f"{name}::{function.qualname}")
        for one, line in zip(own, numbers, strict=True):
            shape = f"{one.shape} {one.dtype}".rstrip()
            lines.append(f"  {line:>{number}}  {one.name:{width}}  {shape}")
        lines.append("")
    return "".join(f"{printable(line)}\n" for line in lines[:-1])


def _as_json(name: str, shown: list[Shown], place: Callable[[int], tuple[int | None, int]]) -> str:
    import json

    values = [
        {
            "function": one.function.qualname,
            "cell": cell,
            "line": line,
            "name": one.name,
            "shape": one.shape,
            "dtype": one.dtype or None,
        }
        for one in shown
        for cell, line in [place(one.line)]
    ]
    return json.dumps({"path": name, "values": values}, indent=2, ensure_ascii=False) + "\n"
