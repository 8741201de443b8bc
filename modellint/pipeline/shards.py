"""Shards of a tree for several machines, by a stable hash of folders."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from modellint.config.errors import UsageError
from modellint.source import YAML, kind_of

if TYPE_CHECKING:
    from collections.abc import Sequence


def shard_of(files: Sequence[Path], wanted: str, root: Path) -> list[Path]:
    """The files of shard `K/N`.

    Files of a folder stay together, and a recipe with the scripts in the nearest folder upward that has any, so that
    one machine sees both sides of a finding between them. Raises UsageError if `wanted` is not like `2/8`.
    """
    match = re.fullmatch(r"([0-9]+)/([0-9]+)", wanted)
    number, count = (int(match[1]), int(match[2])) if match else (0, 0)
    if not 1 <= number <= count:
        raise UsageError(f"--shard: `{wanted}` is no shard; expected a number and how many there are, such as `2/8`")
    scripts = {file.parent for file in files if kind_of(file.name) != YAML}
    return [file for file in files if _share(_group(file, scripts, root), root) % count == number - 1]


def _group(file: Path, scripts: set[Path], root: Path) -> Path:
    if kind_of(file.name) == YAML:
        for folder in file.parents:
            if folder in scripts:
                return folder
            if folder == root:
                break
    return file.parent


def _share(folder: Path, root: Path) -> int:
    name = Path(os.path.relpath(folder, root)).as_posix()
    return int.from_bytes(hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")
