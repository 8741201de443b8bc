"""Where the report goes: the formats that are asked for, each to stdout or to a file."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from modellint.config import OUTPUT_FORMATS
from modellint.config.errors import UsageError, nearest

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Formats that people read, in the encoding of their terminal.
HUMAN_FORMATS = ("full", "concise", "pylint")


@dataclass(frozen=True, slots=True)
class Output:
    """A format, and the file that it is written to; None for stdout."""

    format: str
    file: Path | None = None


def parse_outputs(wanted: Sequence[str], file: Path | None, default: str) -> list[Output]:
    """The outputs that `--output-format FORMAT`, `--output-format FORMAT=FILE` and `--output-file` ask for.

    Raises UsageError for an unknown format, a missing file name, and two formats for one file or for stdout.
    """
    outputs = list(dict.fromkeys(map(_parse_output, wanted))) or [Output(default)]
    unnamed = [output.format for output in outputs if output.file is None]
    if len(unnamed) > 1:
        where = "stdout" if file is None else str(file)
        raise UsageError(
            f"--output-format: `{unnamed[0]}` and `{unnamed[1]}` would both be written to {where}; "
            f"expected one of them, or a file, as in `{unnamed[0]}=FILE`"
        )
    if file is not None:
        if not unnamed:
            raise UsageError("--output-file: every format has a file of its own; expected `--output-format FORMAT`")
        outputs = [Output(output.format, output.file or file) for output in outputs]
    files = [os.path.abspath(output.file) for output in outputs if output.file is not None]
    for index, name in enumerate(files):
        if name in files[:index]:
            raise UsageError(f"--output-format: two formats would be written to {name}; expected a file for each")
    return outputs


def _parse_output(text: str) -> Output:
    name, equals, file = text.partition("=")
    if name not in OUTPUT_FORMATS:
        hint = nearest(name, OUTPUT_FORMATS, f"; expected one of {', '.join(OUTPUT_FORMATS)}")
        raise UsageError(f"--output-format: no format is called `{name}`{hint}")
    if equals and not file:
        raise UsageError(f"--output-format: `{text}` names no file; expected `{name}=FILE`")
    return Output(name, Path(file) if equals else None)


def deliver(text: str, target: Path | None, option: str = "--output-file", *, is_data: bool = False) -> None:
    """Write a report or other output to a file, whole or not at all, or to stdout. Raises UsageError.

    Data that programs read is UTF-8, whatever the terminal takes.
    """
    if target is None:
        if is_data and hasattr(sys.stdout, "reconfigure"):
            sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
        sys.stdout.write(text)
        return
    from modellint.reading.files import write_atomically

    data = text.encode("utf-8", "backslashreplace")
    try:
        if _takes_bytes(target):
            target.write_bytes(data)
        else:
            write_atomically(Path(os.path.realpath(target)), data)
    except (OSError, ValueError) as error:
        raise UsageError(f"{option}: {target}: {getattr(error, 'strerror', None) or error}") from None


def _takes_bytes(target: Path) -> bool:
    """True for a device, a pipe, or a descriptor of a process: such a file cannot be replaced."""
    if target.as_posix().startswith(("/dev/fd/", "/dev/std", "/proc/")):
        return True
    return os.path.exists(target) and not os.path.isfile(target) and not os.path.isdir(target)


#: Environment variables of terminals that follow links (OSC 8), with the first version that does.
_LINKING = (
    ("DOMTERM", 0),
    ("KITTY_WINDOW_ID", 0),
    ("KONSOLE_VERSION", 200400),
    ("VTE_VERSION", 5000),
    ("WT_SESSION", 0),
)
_LINKING_PROGRAMS = ("ghostty", "Hyper", "iTerm.app", "rio", "Tabby", "vscode", "WarpTerminal", "WezTerm", "zed")


def wants_links(choice: str) -> bool:
    """True if codes on stdout become links: by FORCE_HYPERLINK, or on a coloured terminal known to follow them."""
    forced = os.environ.get("FORCE_HYPERLINK")
    if forced:
        return forced != "0"
    if not (wants_colour(choice) and sys.stdout.isatty()) or os.environ.get("TERM") == "dumb":
        return False
    for name, least in _LINKING:
        value = os.environ.get(name, "")
        if value and (not least or (value.isdecimal() and int(value) >= least)):
            return True
    return os.environ.get("TERM_PROGRAM") in _LINKING_PROGRAMS


def terminal_width(choice: str) -> int | None:
    """The number of columns of the terminal that stdout is, or of COLUMNS if output is coloured anyway; else None."""
    if not sys.stdout.isatty() and not (wants_colour(choice) and os.environ.get("COLUMNS")):
        return None
    import shutil

    return shutil.get_terminal_size((0, 0)).columns or None


def wants_colour(choice: str) -> bool:
    """True if stdout is coloured: by `--color`, then by NO_COLOR and FORCE_COLOR, then if it is a terminal."""
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or sys.stdout.isatty()
