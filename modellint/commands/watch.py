"""`check --watch`: the same run again whenever a file below the paths changes."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from modellint.config import DEFAULT_EXCLUDES
from modellint.config.errors import UsageError
from modellint.process import is_unread

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

#: Files whose change may change a finding: checked files, notebooks, and configuration.
_SUFFIXES = (".py", ".pyi", ".yaml", ".yml", ".ipynb", ".toml", ".json", ".csv", ".gitignore")
#: Milliseconds to wait for a change before looking whether we are to end.
_PATIENCE = 200


def watch(paths: Sequence[Path], check: Callable[[], int]) -> int:
    """Run `check` now and after each change, until interrupted. Raises UsageError if watchfiles is missing."""
    try:
        import watchfiles
    except ImportError:
        raise UsageError("--watch needs the package watchfiles; expected `pip install 'modellint[watch]'`") from None
    missing = [path for path in paths if not os.path.exists(path)]
    if missing:
        raise UsageError(f"{missing[0]}: no such file or folder")

    def matters(change: watchfiles.Change, path: str) -> bool:
        parts = path.replace("\\", "/").split("/")
        return path.endswith(_SUFFIXES) and not any(part in DEFAULT_EXCLUDES for part in parts)

    changes = watchfiles.watch(
        *paths, watch_filter=matters, raise_interrupt=False, yield_on_timeout=True, rust_timeout=_PATIENCE
    )
    next(changes, None)  # it listens from here on, so that nothing is missed while we check
    code = _once(check)
    for change in changes:
        if is_unread():
            break
        if change:
            code = _once(check)
    return code


def _once(check: Callable[[], int]) -> int:
    """Run the check once; a usage error or a crash is printed, so that it can be corrected meanwhile."""
    if sys.stdout.isatty():
        click.clear()
    try:
        code = check()
    except UsageError as error:
        click.echo(f"Error: {error}", err=True)
        code = 2
    except Exception as error:
        click.echo(f"Error: internal error: {' '.join(f'{type(error).__name__}: {error}'.split())}", err=True)
        code = 2
    sys.stdout.flush()
    click.echo("Watching for changes; Ctrl+C ends it.", err=True)
    return code
