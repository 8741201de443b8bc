"""Turn a report into text: one module for each output format, with a function `lines`."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from modellint.source import UnreadableError, decode_python, decode_yaml

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.files import Files
    from modellint.linter import Report


@dataclass(frozen=True)
class View:
    """What a reporter needs besides the report: where we stand, the sources, and whether colours are wanted."""

    base: Path
    files: Files
    colour: bool = False
    quiet: bool = False

    def path(self, path: str) -> str:
        """A path relative to the working directory, with `/`."""
        try:
            return Path(os.path.relpath(path, self.base)).as_posix()
        except ValueError:  # another drive
            return path

    def source_lines(self, path: str) -> list[str]:
        """The lines of a file; none if it cannot be read."""
        file = Path(path)
        data = self.files.read(file)
        if data is None:
            return []
        decode = decode_yaml if file.suffix.lower() in (".yaml", ".yml") else decode_python
        try:
            return decode(file, data).lines
        except UnreadableError:
            return data.decode("utf-8", "replace").splitlines(keepends=True)


def render(output_format: str, report: Report, view: View) -> str:
    """The report in one of the output formats, ready to be written."""
    module = import_module(f"{__name__}.{output_format.replace('-', '_')}")
    lines: Iterator[str] = module.lines(report, view)
    return "".join(f"{line}\n" for line in lines)
