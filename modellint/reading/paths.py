"""Files as messages and reports name them."""

from __future__ import annotations

import os
from pathlib import Path


def shown(path: Path | str, base: Path | None = None) -> str:
    """A path as messages and reports have it: from `base`, or the working directory; whole on another drive."""
    try:
        return Path(os.path.relpath(path, base or os.curdir)).as_posix()
    except ValueError:
        return Path(path).as_posix()


def no_json(file: Path, error: ValueError) -> str:
    """Where and why a file is no JSON, for messages."""
    import json

    if isinstance(error, json.JSONDecodeError):
        return f"{shown(file)}:{error.lineno}:{error.colno}: not valid JSON: {error.msg}"
    return f"{shown(file)}: not valid JSON: {error}"
