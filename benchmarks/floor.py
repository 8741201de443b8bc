"""The floor of the benchmark: parse every Python file below the given paths, and do nothing else."""

from __future__ import annotations

import ast
import sys
import warnings
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


def python_files(paths: list[str]) -> Iterator[Path]:
    """The given files, and the Python files below the given folders."""
    for path in map(Path, paths):
        if path.is_dir():
            yield from sorted(path.rglob("*.py"))
        else:
            yield path


def main(paths: list[str]) -> None:
    warnings.simplefilter("ignore", SyntaxWarning)
    for path in python_files(paths):
        with suppress(SyntaxError, ValueError):
            ast.parse(path.read_bytes())


if __name__ == "__main__":
    main(sys.argv[1:])
