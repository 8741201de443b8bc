"""Turn a report into text: one module for each output format, with a function `lines`."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from modellint.files import Files
from modellint.source import UnreadableError, decode_python, decode_yaml

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from modellint.linter import Report
    from modellint.rule import Rule


class View:
    """What a reporter needs besides the report: where we stand, the sources, the rules, and how it is to look."""

    def __init__(
        self,
        base: Path,
        files: Files,
        *,
        rules: Mapping[str, Rule] | None = None,
        colour: bool = False,
        quiet: bool = False,
    ) -> None:
        self.base = base
        self.rules = rules or {}
        self.colour = colour
        self.quiet = quiet
        self._files = files
        self._paths: dict[str, str] = {}
        self._lines: dict[str, list[str]] = {}

    def path(self, path: str) -> str:
        """A path relative to the working directory, with `/`."""
        if path not in self._paths:
            self._paths[path] = _relative(path, self.base)
        return self._paths[path]

    def source_lines(self, path: str) -> list[str]:
        """The lines of a file; none if it cannot be read."""
        if path not in self._lines:
            self._lines[path] = decoded_lines(Path(path), self._files)
        return self._lines[path]


def _relative(path: str, base: Path) -> str:
    try:
        return Path(os.path.relpath(path, base)).as_posix()
    except ValueError:  # another drive
        return path


def decoded_lines(file: Path, files: Files | None = None) -> list[str]:
    """The lines of a file as its encoding has them; none if it cannot be read."""
    data = (files or Files()).read(file)
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
