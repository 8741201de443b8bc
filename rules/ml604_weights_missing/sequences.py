"""Shards by their names alone: numbers that have gaps, and shards that no index names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.folders import ModelFolder

_NUMBER = re.compile(r".+?[-_.](\d+)-of-(\d+)\..+")
#: The names of weights that transformers and diffusers load, in shards by an index.
_INDEXED = re.compile(r"(?:model|pytorch_model|diffusion_pytorch_model)(?:\.[\w-]+)?\.(?:safetensors|bin)")


class Gap(NamedTuple):
    """A set of shards that cannot be loaded; `first` is one of them, `whole` the name without numbers."""

    first: str
    whole: str
    message: str
    evidence: tuple[str, ...]
    help: str
    is_sure: bool = True


def gaps(folder: ModelFolder) -> Iterator[Gap]:
    """The sets of shards that no index names and that cannot be loaded."""
    for whole, names in folder.unclaimed_shards.items():
        numbers = {int(match[1]): int(match[2]) for name in names if (match := _NUMBER.fullmatch(name))}
        counts = set(numbers.values())
        if len(counts) != 1:
            continue
        (count,) = counts
        first = min(min(numbers), 1)
        missing = [number for number in range(first, first + count) if number not in numbers] if count <= 10_000 else []
        if missing:
            told = ", ".join(map(str, missing[:4])) + ("" if len(missing) <= 4 else f" and {len(missing) - 4} more")
            what = f"shard {told}" if len(missing) == 1 else f"shards {told}"
            message = f"of {count} shards of `{whole}`, {what} {'is' if len(missing) == 1 else 'are'} not here"
            yield Gap(names[0], whole, message, (), "copy the missing shards into the folder")
        elif _INDEXED.fullmatch(whole) and folder.main_weights is None and _is_loaded_by_index(folder):
            message = f"no index names the {count} shards of `{whole}`"
            evidence = (f"`from_pretrained` looks for `{whole}.index.json`, and does not load shards without it",)
            yield Gap(names[0], whole, message, evidence, "save the model again with `save_pretrained`")


def _is_loaded_by_index(folder: ModelFolder) -> bool:
    """True if the configuration is one of transformers or diffusers."""
    config = folder.config
    return config is not None and any(config.has(key) for key in ("architectures", "model_type", "_class_name"))
