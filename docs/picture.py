"""Draws what a run of modellint shows on a terminal: `python docs/picture.py > docs/run.svg`."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "examples/speechbrain/broken"
ARGUMENTS = ("check", "inference")
#: As many as can be read on a telephone.
COLUMNS = "50"
COLUMN, LINE, MARGIN = 8.0, 19, 16
COLOURS = {"31": "#ff7b72", "32": "#7ee787", "33": "#e3b341", "34": "#79c0ff", "35": "#d2a8ff", "36": "#76e3ea"}
#: A space, which SVG would fold with its neighbours, and what is drawn in its place.
SPACE = (" ", "\N{NO-BREAK SPACE}")
_STYLE = re.compile(r"\x1b\[([\d;]*)m")


def run() -> str:
    """The output in colour, as a narrow terminal has it, with the command above it."""
    command = [sys.executable, "-m", "modellint", *ARGUMENTS, "--no-cache", "--color", "always"]
    environment = {key: value for key, value in os.environ.items() if key != "FORCE_HYPERLINK"} | {"COLUMNS": COLUMNS}
    result = subprocess.run(
        command, cwd=FOLDER, capture_output=True, text=True, encoding="utf-8", check=False, env=environment
    )
    return f"$ modellint {' '.join(ARGUMENTS)}\n{result.stdout}"


def spans(line: str) -> Iterator[tuple[str, str]]:
    """The pieces of a line with their attributes in SVG."""
    colour, bold = "", False
    for number, part in enumerate(_STYLE.split(line)):
        if number % 2 == 0:
            if part:
                yield part, (f' fill="{colour}"' if colour else "") + (' font-weight="bold"' if bold else "")
            continue
        for code in (part or "0").split(";"):
            if code in ("0", ""):
                colour, bold = "", False
            elif code == "1":
                bold = True
            else:
                colour = COLOURS.get(code, colour)


def drawn(text: str) -> str:
    """A terminal that shows the text, as SVG."""
    lines = text.rstrip("\n").split("\n")
    columns = max(len(_STYLE.sub("", line)) for line in lines)
    width, height = round(columns * COLUMN + 2 * MARGIN), len(lines) * LINE + 2 * MARGIN
    rows = []
    for number, line in enumerate(lines):
        column, pieces = 0, []
        for piece, style in spans(line):
            place = f'x="{MARGIN + column * COLUMN:g}" textLength="{len(piece) * COLUMN:g}"'
            pieces.append(f"<tspan {place}{style}>{escape(piece).replace(SPACE[0], SPACE[1])}</tspan>")
            column += len(piece)
        rows.append(f'<text y="{MARGIN + (number + 0.75) * LINE:g}">{"".join(pieces)}</text>')
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    font = 'font-family="ui-monospace,Menlo,Consolas,monospace" font-size="13"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size}>',
            f"<title>{escape(lines[0])}</title>",
            f'<rect width="{width}" height="{height}" rx="8" fill="#0d1117"/>',
            f'<g fill="#e6edf3" {font}>',
            *rows,
            "</g>",
            "</svg>",
            "",
        ]
    )


if __name__ == "__main__":
    sys.stdout.buffer.write(drawn(run()).encode())
