"""The numbers of a configuration, by what they mean: they say which sizes of tensors it explains.

transformers' classes give one meaning many names (`hidden_size`, `n_embd`, `d_model`), and have parts with numbers of
their own (`text_config`). A size counts as explained if any part explains it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

Keys = tuple[str, ...]

WIDTH = re.compile(r"hidden_size|n_embd|d_model|dim|embed_dim|model_dim|n_embed|emb_dim")
EMBEDDING = re.compile(r"\w*embed\w*_(?:dim|size)|d_embed|emb_size")
#: Widths of parts of a layer.
INSIDE = re.compile(r"\w*hidden_size\w*|\w*bottleneck\w*")
VOCABULARY = re.compile(r"(?!\w*type_vocab)(?:\w+_)?vocab_size(?:_\w+)?|n_vocab|n_words")
INNER = re.compile(
    r"\w*intermediate_size\w*|\w*ffn\w*|n_inner|d_ff|\w*ff_dim|ff_size|mlp_(?:dim|hidden\w*)|hidden_dim|\w*mlp_dim"
)
HEADS = re.compile(r"num_attention_heads|n_head|num_heads|n_heads|\w*_attention_heads")
KEY_HEADS = re.compile(r"num_key_value_heads|num_kv_heads|n_kv_heads|multi_query_group_num|\w*key_value_heads\w*")
HEAD_SIZE = re.compile(r"\w*head_dim\w*|d_kv|kv_channels|attention_head_size|\w*head_size|\w*d_head")
#: The size of a head, without the default.
OWN_HEAD_SIZE = re.compile(r"head_dim|d_kv|kv_channels|attention_head_size")
POSITIONS = re.compile(r"\w*positions?(?:_embeddings)?|n_ctx|\w*seq\w*_len\w*|max_length|context_length")
EXPERTS = re.compile(r"\w*(?:num|n)_(?:\w+_)?experts")
PATCH = re.compile(r"\w*patch_size\w*|kernel_size|\w*patch_kernel\w*")
TYPES = re.compile(r"type_vocab_size")
#: Keys that only a part about pictures or sound has: other numbers of such a part are not about text.
SENSES = re.compile(
    r"\w*patch_size\w*|image_size|num_mel_bins|num_channels|sampling_rate|conv_stride|input_feat_per_channel"
)
#: Keys of attention whose heads are computed from a smaller width.
LATENT = re.compile(r"kv_lora_rank|q_lora_rank|qk_\w*head_dim")
ABOUT_EXPERTS = re.compile(r"\w*expert\w*")
LAYERS = re.compile(r"num_hidden_layers|n_layers?|num_layers")
_DEEPEST = 4


class Part(NamedTuple):
    """One part of a configuration: the keys that lead to it, and its entries."""

    keys: Keys
    entries: Mapping[str, Any]

    def integers(self, kind: re.Pattern[str]) -> Iterator[tuple[str, int]]:
        """The whole numbers under keys of a kind, those in lists included."""
        for key, value in self.entries.items():
            if kind.fullmatch(key) is not None:
                yield from ((key, number) for number in _flat(value))

    @property
    def has_senses(self) -> bool:
        """True if the part describes what sees or hears."""
        return any(SENSES.fullmatch(key) for key in self.entries)

    def one(self, kind: re.Pattern[str]) -> tuple[str, int] | None:
        """The number of a kind, with its first key; None if there is none, or keys give different ones."""
        found = list(self.integers(kind))
        return found[0] if len({number for _, number in found}) == 1 else None


def parts_of(config: Mapping[str, Any]) -> list[Part]:
    """A configuration and the configurations in it."""
    found = [Part((), config)]
    for part in found:
        if len(part.keys) < _DEEPEST:
            found += [
                Part((*part.keys, key), value)
                for key, value in part.entries.items()
                if isinstance(value, dict) and not key.endswith("quantization_config")
            ]
    return found


def numbers(parts: Iterable[Part], *kinds: re.Pattern[str]) -> set[int]:
    """The whole numbers of some kinds in all parts."""
    return {number for part in parts for kind in kinds for _, number in part.integers(kind)}


def _flat(value: Any) -> Iterator[int]:
    if isinstance(value, int) and not isinstance(value, bool):
        yield value
    elif isinstance(value, list):
        for one in value[:512]:
            if isinstance(one, int) and not isinstance(one, bool):
                yield one
