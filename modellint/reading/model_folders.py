"""Folders of published models, by the names of the files in them.

The libraries that load such a folder look for files of fixed names: transformers for `config.json`, diffusers for
`model_index.json`, PEFT for `adapter_config.json`, sentence-transformers for `modules.json`, SpeechBrain for
`hyperparams.yaml`. Each of these files describes a model only if weights, a tokenizer or a `generation_config.json` lie
beside it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from modellint.reading.files import Files

PIPELINE, CONFIG, ADAPTER, SENTENCES, SPEECHBRAIN = (
    "model_index.json",
    "config.json",
    "adapter_config.json",
    "modules.json",
    "hyperparams.yaml",
)
#: A file that transformers alone writes, beside the configuration of a model.
GENERATION = "generation_config.json"
#: The files that describe a model; the first that a folder has stands for the folder.
MARKERS = (PIPELINE, CONFIG, ADAPTER, SENTENCES, SPEECHBRAIN)
#: The suffix of a table that says which shard holds which tensor.
INDEX = ".index.json"
#: The names of files with weights.
_INDEX = r"\.index(?:\.[\w-]+)?\.json"
_WEIGHTS = re.compile(rf"(?i).+\.(?:safetensors|bin|pt|pth|ckpt)(?:{_INDEX})?|.+{_INDEX}")
#: The names of files of `.bin` that hold weights: many other files end so.
_BIN = re.compile(r"(?i)(?:.*[._-])?(?:pytorch_model|adapter_model|model|weights)(?:[.-].*)?\.bin")
_TOKENIZER = re.compile(r"tokenizer\.json|tokenizer_config\.json|vocab\.\w+|.+\.model|.+\.tiktoken")


def is_weights(name: str) -> bool:
    """True if a file of this name holds weights, or is an index of their shards."""
    return _WEIGHTS.fullmatch(name) is not None and (not name.lower().endswith(".bin") or bool(_BIN.fullmatch(name)))


def is_tokenizer(name: str) -> bool:
    """True if a file of this name belongs to a tokenizer."""
    return _TOKENIZER.fullmatch(name) is not None


def is_part(name: str) -> bool:
    """True if a file of this name may belong to a published model."""
    return name.endswith((".json", ".jinja")) or is_weights(name) or is_tokenizer(name)


def marker_in(names: Collection[str]) -> str | None:
    """The file that stands for a folder with these names; None if it is no folder of a published model."""
    marker = next((name for name in MARKERS if name in names), None)
    if marker is None:
        return None
    if marker in (PIPELINE, SENTENCES):
        return marker
    if marker == SPEECHBRAIN:
        return marker if any(name.endswith((".ckpt", ".pt", ".safetensors")) for name in names) else None
    is_model = GENERATION in names or any(is_weights(name) or is_tokenizer(name) for name in names)
    return marker if is_model else None


def marker_of(folder: Path, files: Files) -> Path | None:
    """The file that stands for a folder on the disk; None if it is no folder of a published model."""
    if not any(files.exists(folder / name) for name in MARKERS):
        return None
    marker = marker_in(files.listdir(folder))
    return None if marker is None else folder / marker
