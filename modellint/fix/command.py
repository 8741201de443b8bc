"""The options `--fix`, `--diff` and their kin: run the fixer, show the differences and the summary."""

from __future__ import annotations

import difflib
import sys
from collections import Counter
from contextlib import nullcontext, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from modellint.finding import Applicability
from modellint.fix.fixer import MAX_PASSES, Fixer
from modellint.reading.files import Files
from modellint.reporters import View
from modellint.reporters.text import position, printable
from modellint.results.outputs import wants_colour
from modellint.source import NOTEBOOK, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from modellint.config import Settings
    from modellint.finding import Finding
    from modellint.fix.writing import Rewrite
    from modellint.notebook.reading import Cell
    from modellint.packs import RuleSet
    from modellint.results.report import Report


@dataclass(frozen=True)
class Fixing:
    """A run that fixes, or shows what it would fix.

    `contents` are those that are not on the disk. If `is_silent`, what remains to be found is not shown.
    """

    fixer: Fixer
    is_diff: bool
    is_silent: bool
    contents: Mapping[Path, bytes]
    flags: Mapping[str, Any]

    @property
    def overlay(self) -> dict[Path, bytes]:
        """The contents that are not on the disk, after fixing."""
        changed = {rewrite.path: rewrite.after for rewrite in self.fixer.rewrites if rewrite.path in self.contents}
        return {**self.contents, **changed}

    def conclude(self, report: Report, write: Callable[[], None]) -> None:
        """Give out the differences, or the source that came on stdin, and the findings; say what was not done.

        Findings go where `write` writes them, but to stderr if the source goes to stdout.
        """
        view = View(Path.cwd(), Files(self.contents), rules={}, colour=wants_colour(self.flags["color"]))
        if self.is_diff:
            _write_bytes(b"".join(self._differences(view)))
        elif self.contents:
            _write_bytes(next(iter(self.overlay.values())))
        if not self.is_silent:
            with redirect_stdout(sys.stderr) if self.contents else nullcontext():
                write()
        if not self.flags["quiet"]:
            for line in self._summary(report, view):
                click.echo(line, err=True)
        for error in self.fixer.write_errors:
            click.echo(f"Error: {error}", err=True)

    def _summary(self, report: Report, view: View) -> Iterator[str]:
        for failure in self.fixer.failures:
            where = position(failure.finding.place, view)
            yield f"Warning: {where}: the fix for {failure.finding.code} was left out: {printable(failure.reason)}"
        if not self.fixer.is_finished:
            yield f"Warning: there is more to fix after {MAX_PASSES} passes; run modellint again"
        if self.flags["show_fixes"]:
            yield from _fixes_by_file(report.fixed, view)
        if self.is_silent:
            number, hidden = len(report.fixed), _hidden_text(report.findings, self.flags["unsafe_fixes"])
            done = "Would fix" if self.is_diff else "Fixed"
            yield f"{done} {number} finding{'s' * (number != 1)}{hidden}" if number else f"No fixes to make{hidden}"

    def _differences(self, view: View) -> Iterator[bytes]:
        for rewrite in self.fixer.rewrites:
            name = view.path(rewrite.path.as_posix())
            for part, before, after in _parts(rewrite):
                header = (name + part).encode("utf-8", "surrogateescape")
                for line in difflib.diff_bytes(difflib.unified_diff, before, after, header, header):
                    yield from _difference(line, view)


def _parts(rewrite: Rewrite) -> Iterator[tuple[str, list[bytes], list[bytes]]]:
    """The parts of a file with the lines before and after: the whole file, or the code of each cell."""
    if kind_of(rewrite.path.name) != NOTEBOOK:
        yield "", _lines(rewrite.before), _lines(rewrite.after)
        return
    from modellint.notebook.reading import read

    for old, new in zip(read(rewrite.before).cells, read(rewrite.after).cells, strict=True):
        yield f":cell {old.number}", _cell_lines(old), _cell_lines(new)


def _cell_lines(cell: Cell) -> list[bytes]:
    """The lines of a cell; that its last one has no end goes without saying."""
    return [line.rstrip("\n").encode("utf-8", "surrogatepass") + b"\n" for line in cell.lines]


def _lines(data: bytes) -> list[bytes]:
    """Lines as `diff` and `patch` split them."""
    *whole, rest = data.split(b"\n")
    return [line + b"\n" for line in whole] + ([rest] if rest else [])


def _difference(line: bytes, view: View) -> Iterator[bytes]:
    ending = b"" if line.endswith(b"\n") else b"\n\\ No newline at end of file\n"
    if not view.colour:
        yield line + ending
        return
    colour = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1].decode("latin-1"))
    text = printable(line.decode("utf-8", "replace").rstrip("\r\n"))
    yield (click.style(text, fg=colour) + "\n").encode() + ending.lstrip(b"\n")


def fixing(
    settings: Settings, rules: RuleSet, overlay: Mapping[Path, bytes] | None, flags: Mapping[str, Any]
) -> Fixing | None:
    """The fixing run that the command line asks for; None if it asks for none."""
    is_diff = flags["diff"]
    if not (flags["fix"] or flags["fix_only"] or is_diff):
        return None
    stdin = next(iter(overlay)) if overlay else None
    fixer = Fixer(
        settings,
        rules,
        unsafe=flags["unsafe_fixes"],
        write=not is_diff and stdin is None,
        only=stdin,
        overlay=overlay,
    )
    return Fixing(fixer, is_diff, is_diff or flags["fix_only"], overlay or {}, flags)


def _fixes_by_file(fixed: Iterable[Finding], view: View) -> Iterator[str]:
    """The fixes in lines: for each file, the number of fixes by rule."""
    counts: dict[str, Counter[tuple[str, str]]] = {}
    for finding in fixed:
        counts.setdefault(finding.path, Counter())[finding.code, finding.name] += 1
    for path, rules in sorted(counts.items()):
        yield f"- {printable(view.path(path))}:"
        for (code, name), number in sorted(rules.items()):
            yield f"    {number} x {code} ({name})"


def _hidden_text(findings: tuple[Finding, ...], unsafe: bool) -> str:
    number = sum(f.fix is not None and f.fix.applicability is Applicability.UNSAFE for f in findings)
    return "" if unsafe or not number else f" ({number} more with `--unsafe-fixes`)"


def _write_bytes(data: bytes) -> None:
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
