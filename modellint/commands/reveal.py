"""The command that prints what the engine believes of a line of code."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from modellint.commands.help import Command
from modellint.commands.options import project_options
from modellint.config.errors import UsageError
from modellint.results.outputs import deliver

if TYPE_CHECKING:
    from modellint.flow.reveal import Revealed

#: The file, the cell of a notebook, the line and the name in a target.
_TARGET = re.compile(r"(.+?)(?::cell (\d+))?:(\d+)(?::(.*))?", re.DOTALL)
_EXAMPLES = """
\b
Examples:
  modellint reveal model.py:31
  modellint reveal model.py:31:ids
  modellint reveal "tutorial.ipynb:cell 4:7" --output-format json

\b
Exit codes:
  0  the values are printed
  2  wrong usage, or no such line or value
"""


@click.command(cls=Command, epilog=_EXAMPLES)
@click.argument("target", metavar="FILE:LINE[:NAME]")
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", help="Format. Default: text.")
@project_options()
def reveal(target: str, output_format: str, config: Path | None, isolated: bool, python: Path | None) -> int:
    """Print what modellint believes of the values on a line.

    Without NAME, modellint prints what is assigned on the line, arguments and results of calls and subscripts, and what
    is returned. NAME is any expression on the line, as it is written. In a notebook, name the cell:
    `"FILE:cell 4:LINE"`.
    """
    from modellint.commands.checking import interpreter
    from modellint.config import settings_for
    from modellint.packs import select_rules
    from modellint.pipeline.reveals import expression_named, line_in_cell, reveal_lines
    from modellint.reporters.text import printable

    match = _TARGET.fullmatch(target)
    if match is None:
        raise UsageError(f"{target}: names no line; expected FILE:LINE or FILE:LINE:NAME")
    file, cell, number, name = match[1], match[2], int(match[3]), match[4]
    where = f"{file}:cell {cell}:{number}" if cell else f"{file}:{number}"
    line = line_in_cell(Path(file), file, int(cell), number) if cell else number
    settings = settings_for([Path(file)], config, isolated=isolated).with_options(python=interpreter(python))
    found = reveal_lines(Path(file), (line,), settings, select_rules(settings), file)[line]
    if name is None:
        found = [one for one in found if one.is_shown]
    else:
        one = expression_named(name, found)
        if isinstance(one, str):
            raise UsageError(f"{where}: {one}")
        found = [one]
    if output_format == "json":
        deliver(_as_json(file, int(cell) if cell else None, number, found), None, is_data=True)
        return 0
    deliver("".join(f"{printable(f'{one.name} → {one.words}')}\n" for one in found), None)
    if not found:
        click.echo(f"{where}: no value is assigned, passed or returned on this line, or it is never run", err=True)
    return 0


def _as_json(file: str, cell: int | None, line: int, found: list[Revealed]) -> str:
    import json

    values = [
        {"name": one.name, "words": one.words, "alternatives": [list(part) for part in one.facets]} for one in found
    ]
    return json.dumps({"path": file, "cell": cell, "line": line, "values": values}, indent=2, ensure_ascii=False) + "\n"
