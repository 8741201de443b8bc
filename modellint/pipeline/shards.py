"""Shards of a tree for several machines: neighbouring files of about the same total size."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from modellint.config.errors import UsageError
from modellint.pipeline.workers import size_to_read
from modellint.source import YAML, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

#: The bytes that a file counts in addition to its size: opening one costs about as much as reading so many.
_OPENING = 1_000
#: A group of files that is larger than this fraction of a shard is divided.
_PIECES = 4


def parse_shard(wanted: str) -> tuple[int, int]:
    """The number of a shard and how many there are. Raises UsageError if `wanted` is not like `2/8`."""
    match = re.fullmatch(r"([0-9]+)/([0-9]+)", wanted)
    number, count = (int(match[1]), int(match[2])) if match else (0, 0)
    if not 1 <= number <= count:
        raise UsageError(f"--shard: `{wanted}` is no shard; expected a number and how many there are, such as `2/8`")
    return number, count


def shard_of(files: Sequence[Path], wanted: str, root: Path, limit: int) -> list[Path]:
    """The files of shard `K/N`, of which those above `limit` bytes count as empty.

    The shards follow the order of paths. Files of a folder stay together, and a recipe with the scripts in the nearest
    folder upward that has any, unless they are more than a quarter of a shard: files that import each other are read
    once then. Raises UsageError if `wanted` is not like `2/8`.
    """
    number, count = parse_shard(wanted)
    weights = {file: size_to_read(file, limit) + _OPENING for file in files}
    total = sum(weights.values())
    chosen: set[Path] = set()
    before = 0
    for unit in _units(weights, root, total // (count * _PIECES)):
        weight = sum(weights[file] for file in unit)
        if (2 * before + weight) * count // (2 * total) == number - 1:
            chosen.update(unit)
        before += weight
    return [file for file in files if file in chosen]


def _units(weights: Mapping[Path, int], root: Path, most: int) -> Iterator[list[Path]]:
    """The files in order, as lists that stay together; a group of more than `most` is divided into its files."""
    scripts = {file.parent for file in weights if kind_of(file.name) not in (YAML, None)}
    groups: dict[Path, list[Path]] = {}
    for file in sorted(weights, key=lambda file: _name(file, root)):
        groups.setdefault(_group(file, scripts, root), []).append(file)
    for folder in sorted(groups, key=lambda folder: _name(folder, root)):
        group = groups[folder]
        if sum(weights[file] for file in group) <= most:
            yield group
        else:
            yield from ([file] for file in group)


def _group(file: Path, scripts: set[Path], root: Path) -> Path:
    if kind_of(file.name) == YAML:
        for folder in file.parents:
            if folder in scripts:
                return folder
            if folder == root:
                break
    return file.parent


def _name(path: Path, root: Path) -> str:
    """The path from the root, by which all machines sort alike."""
    return Path(os.path.relpath(path, root)).as_posix()
