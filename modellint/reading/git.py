"""Questions to git about a folder."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

#: Variables that git sets for hooks and aliases; their paths are relative to the top of that repository.
_LOCAL = (
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_DIR",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_WORK_TREE",
)


def run(folder: Path | str, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """Run a git command in `folder`, with English messages. Raises OSError if git cannot be run."""
    environment = {key: value for key, value in os.environ.items() if key not in _LOCAL} | {"LC_ALL": "C"}
    return subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, check=False, env=environment)


def top_of(folder: str) -> str | None:
    """The folder with `.git` that `folder` is, or lies in; None outside of a repository."""
    while not os.path.exists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent
    return folder
