"""The rows of the table that looks up a tokenizer's ids, from `config.json` and the headers of the weights.

Sizes are upper limits: an id that is not below `rows` has a row in no table of the model.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from modellint.folders.values import Documents, mapping_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from modellint.folders.tensors import Tensor
    from modellint.folders.values import Keys

CONFIG: Final = "config.json"
ADAPTER: Final = "adapter_config.json"
#: Sizes of a vocabulary: `vocab_size`, `padded_vocab_size`, `src_vocab_size`, `n_vocab`. Not of types of segments.
_SIZE = re.compile(r"(?!type_|xvector|codebook)(?:\w+_)?vocab(?:ulary)?(?:_size|_len)?|n_vocab|n_words")
_ADDITIONAL = re.compile(r"additional_\w*vocab\w*")
#: Parts of a configuration that describe text. Where one has no size, it has its class's default.
_OF_TEXT = re.compile(r"(?:text|language|llm|lm|decoder|generator|thinker|talker)(?:_model)?(?:_config)?")
_NO_SIZE_FOR = re.compile(r"(?:vision|image|visual|audio|speech)\w*")
#: Tables of codes of sound have rows for special codes above their size.
_CODES = re.compile(r"\w*codebook\w*")
#: What says that a model hears a waveform, whose input is no ids.
_WAVEFORM: Final = ("conv_kernel", "feat_extract_norm", "feat_extract_activation")
_FLOATS: Final = ("float", "bfloat")
#: How deep parts lie in parts.
_DEEPEST: Final = 4


class Rows(NamedTuple):
    """The number of rows, and what says so: keys of `config.json`, or a tensor."""

    rows: int
    keys: Keys = ()
    tensor: Tensor | None = None

    def __str__(self) -> str:
        if self.tensor is not None:
            return f"`{self.tensor.name}` has {self.rows} rows"
        return f"`{'.'.join(map(str, self.keys))}` is {self.rows}"


class Weighted(Documents, Protocol):
    """A folder with weights: as much of `ModelFolder` as rows are found by."""

    @property
    def largest_table(self) -> Rows | None:
        """The rows that `largest` gives, computed once for each folder."""

    def tensors(self) -> Mapping[str, Tensor]:
        """The tensors that a library loads, by name."""


class Size(NamedTuple):
    """A size of a vocabulary that a configuration names."""

    size: int
    keys: Keys


def sizes(config: Mapping[str, Any], keys: Keys = ()) -> Iterator[Size]:
    """The sizes of vocabularies in a configuration and its parts, except parts that see or hear."""
    for key, value in config.items():
        if type(value) is int and value > 0 and _SIZE.fullmatch(key):
            yield Size(value, (*keys, key))
        elif isinstance(value, dict) and len(keys) < _DEEPEST and not _NO_SIZE_FOR.fullmatch(key):
            yield from sizes(value, (*keys, key))


def has_default(config: Mapping[str, Any]) -> bool:
    """True if a part that describes text names no size: transformers leaves out the defaults of parts."""
    return any(
        isinstance(value, dict) and value and _OF_TEXT.fullmatch(key) and next(sizes(value), None) is None
        for key, value in config.items()
    )


def has_codes(config: Mapping[str, Any], depth: int = 0) -> bool:
    """True if a configuration or a part of it is about codes of sound or images."""
    return any(
        _CODES.fullmatch(key) or (isinstance(value, dict) and depth < _DEEPEST and has_codes(value, depth + 1))
        for key, value in config.items()
    )


def hears_waveforms(config: Mapping[str, Any]) -> bool:
    """True if the ids of the tokenizer are labels of a model of sound, and no input."""
    has_waveform = any(key in config for key in _WAVEFORM) and config.get("is_encoder_decoder") is not True
    return has_waveform or _learns_by_ctc(config)


def _learns_by_ctc(config: Mapping[str, Any]) -> bool:
    names = config.get("architectures")
    return isinstance(names, list) and bool(names) and all(isinstance(one, str) and "CTC" in one for one in names)


def table_rows(folder: Weighted) -> Rows | None:
    """The rows of the table that looks ids up; None if they are unknown, or nothing looks ids up."""
    config = mapping_of(folder, CONFIG)
    if hears_waveforms(config):
        return None
    return folder.largest_table


def part_rows(folder: Weighted, keys: Keys) -> Rows | None:
    """The rows of the table that looks up ids which a part of `config.json` names, by the keys that lead to the ids.

    None if they are unknown, as for a model of codes, whose tables have rows for special codes above their size.
    """
    config = mapping_of(folder, CONFIG)
    if has_codes(config):
        return None
    part: Any = config
    for count, key in enumerate(keys, 1):
        part = part.get(key) if isinstance(part, dict) else None
        own = part.get("vocab_size") if isinstance(part, dict) else None
        if type(own) is int and own > 0:
            return Rows(own, (*keys[:count], "vocab_size"))
    return folder.largest_table


def class_rows(folder: Weighted) -> Rows | None:
    """The number of classes of a model of sound that learns by CTC; None for any other model, or if it is unknown."""
    config = mapping_of(folder, CONFIG)
    return folder.largest_table if _learns_by_ctc(config) else None


def largest(folder: Weighted) -> Rows | None:
    """The rows of the largest table that may be one of tokens; None if there is none, or if code decides."""
    config = mapping_of(folder, CONFIG)
    named = list(sizes(config))
    if named and not has_default(config):
        most = max(named, key=lambda one: (one.size, one.keys[-1] == "vocab_size"))
        more = sum(one.size for one in named if _ADDITIONAL.fullmatch(str(one.keys[-1])))
        stated = Rows(most.size + more, most.keys)
    else:
        stated = None
    matrices = [
        tensor for tensor in folder.tensors().values() if len(tensor.shape) == 2 and tensor.dtype.startswith(_FLOATS)
    ]
    tables = [tensor for tensor in matrices if _is_table(tensor.name)]
    if not tables and _has_own_code(config):
        return None  # its tables may have rows for more tokens
    if stated is not None:
        # Weights of other sizes do not load.
        is_so = not tables or any(tensor.shape[0] == most.size for tensor in tables)
        rows = stated.rows if is_so else max(stated.rows, *(tensor.shape[0] for tensor in tables))
        return stated if rows == stated.rows else Rows(rows, tensor=_most_rows(tables))
    if ADAPTER in folder.names:
        # A part that is trained as a whole; matrices of low rank say nothing about the table that they change.
        matrices = tables = [tensor for tensor in tables if "lora" not in tensor.name.lower()]
    return Rows(_most_rows(matrices).shape[0], tensor=_most_rows(matrices)) if tables else None


def _has_own_code(config: Mapping[str, Any]) -> bool:
    """True if the folder or another repository has the class of the model."""
    own = config.get("auto_map")
    return isinstance(own, dict) and any(key.startswith("AutoModel") for key in own)


def _is_table(name: str) -> bool:
    """True if a part of a tensor's name is one of a table of tokens."""
    lower = name.lower()
    # A regular expression takes ten times as long, and models have thousands of tensors.
    return "emb" in lower or "wte" in lower or "shared" in lower or "lm_head" in lower or "tok" in lower


def _most_rows(tensors: list[Tensor]) -> Tensor:
    return max(tensors, key=lambda tensor: (tensor.shape[0], _is_table(tensor.name), tensor.name))
