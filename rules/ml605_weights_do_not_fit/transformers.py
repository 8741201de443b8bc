"""Sizes that `config.json` gives a class of transformers, against the tensors.

The names of tensors are those that the library's classes share: a table of tokens is called `embed_tokens`,
`word_embeddings`, `wte` or `shared`, whatever the class. A tensor of another name is not looked at. A number of the
configuration is refuted if all layers refute it, and if no tensor of the stack has the size that it asks for: classes
compute some of their sizes, and such a class has others that the number explains.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from . import numbers as of
from .misfit import Misfit, shape_text
from .numbers import Part, numbers, parts_of
from .stacks import ENOUGH, FLOATS, odd_layers, sizes_of, stacks_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from modellint.folders import ModelFolder, Tensor

    from .stacks import Stack

CONFIG = "config.json"
_TABLE = re.compile(
    r"((?:.*\.)?)(?:embed_tokens|word_embeddings?|wte|shared|tok_embeddings|embed_in|token_embedding|tokens_embed"
    r"|(?<![\w.])embeddings|(?:backbone|transformer)\.embeddings)\.weight"
)
_TOKEN_TYPES = re.compile(r"((?:.*\.)?)token_type_embeddings\.weight")
_POSITIONS = re.compile(r"((?:.*\.)?)(?:wpe|position_embeddings|embed_positions)\.weight")
_HEAD = re.compile(r"(?:lm_head|embed_out)\.weight")
_ANY_HEAD = re.compile(r"head|embed_out|output")
#: Names within a layer.
_ATTENTION = re.compile(
    r"(?:self_attn|attn|attention|self_attention)\.([qkv])_proj\.weight"
    r"|attention\.self\.([qkv])(?:uery|ey|alue)\.weight|layer\.0\.SelfAttention\.([qkv])\.weight"
)
_OUT = re.compile(r"(?:self_attn|attn|attention|self_attention)\.(?:o_proj|out_proj)\.weight")
_JOINED = re.compile(r"self_attn\.qkv_proj\.weight")
_NORM = re.compile(
    r"(?:\w*attention\.output\.LayerNorm|input_layernorm|ln_1|self_attn_layer_norm|layer\.0\.layer_norm|layer_norm1"
    r"|norm1|layernorm_before|attention_norm|sa_layer_norm|norm)\.weight"
)
_INNER = re.compile(
    r"(?:mlp\.(?:gate_proj|up_proj|gate_up_proj|fc1|fc_in|dense_h_to_4h|Wi)|intermediate\.dense|fc1|ffn\.lin1"
    r"|feed_forward\.(?:gate_proj|up_proj)|layer\.\d\.DenseReluDense\.wi(?:_\d)?"
    r"|(?:\w+\.)+experts\.\d+\.(?:w1|w3|gate_proj|up_proj))\.weight"
)
#: A layer that some classes have as `Conv1D`, whose weight is transposed.
_TURNED_INNER = re.compile(r"mlp\.c_fc\.weight")
_PATCHES = re.compile(r"(?:.*\.)?(?:patch_embeddings?(?:\.projection)?|patch_embed\.proj)\.weight")
_EXPERT = re.compile(r"((?:\w+\.)*experts)\.(\d+)\..*")
#: All experts in one tensor, and the layer that chooses among them.
_EXPERTS = re.compile(r"(?:\w+\.)*experts\.\w+|(?:mlp|block_sparse_moe|feed_forward)\.(?:gate|router)\.weight")
#: Parts of names of tensors that a change of the layer brings along.
_CHANGED = ("lora_", "base_layer", "qweight", "qzeros", "absmax", "quant", "adapter")
_SIDE = re.compile(r"(?:^|\.)(encoder|decoder)\.(?:layers|layer|block|blocks|h)$")
_OF_SIDE = {
    "encoder": re.compile(r"(?:num_)?encoder_layers"),
    "decoder": re.compile(r"(?:num_)?decoder_layers"),
}
_FOLLOWING = re.compile(r"num_nextn_predict_layers|num_mtp_layers|mtp_num_\w*layers|n_predict|num_mtp_\w+")
#: A class may have half of the layers, or twice as many, if there are so many.
_MANY = 8
#: A table of positions may have so many rows more than there are positions.
_RESERVED = (0, 1, 2)
_HELP = "write the number that the weights have, or copy the weights that the configuration describes"


def misfits(folder: ModelFolder) -> Iterator[Misfit]:
    """The numbers of `config.json` that tensors refute."""
    config = folder.config
    name = folder.main_weights
    if config is None or name is None or not isinstance(config.value, dict) or not folder.is_main_known:
        return
    if not any(config.has(key) for key in ("architectures", "model_type")):
        return
    tensors, names = folder.tensors(), " ".join(folder.tensors())
    if any(part in names for part in _CHANGED):
        tensors = {key: one for key, one in tensors.items() if not any(part in key for part in _CHANGED)}
    look = _Look(parts_of(config.table()), tensors)
    found: dict[tuple[str | int, ...], Misfit] = {}
    for misfit in look.widths():
        found.setdefault(misfit.keys, misfit)
    if not found:
        for misfit in look.other_sizes():
            found.setdefault(misfit.keys, misfit)
    yield from found.values()
    if folder.are_known(name) and not set(folder.shards_named).difference(folder.tensors()):
        yield from look.layers()
        yield from look.head(config.get("tie_word_embeddings"), config.get("architectures"))


class _Look:
    def __init__(self, parts: list[Part], tensors: Mapping[str, Tensor]) -> None:
        self._parts = parts
        self._tensors = tensors
        self._is_quantised = any("quantization_config" in part.entries for part in parts)
        self._stacks, self._outside = stacks_in(tensors)
        self._tables = list(self._matrices(_TABLE))
        #: The part that describes the text: the only one with a vocabulary and layers.
        self._spoken = [part for part in parts if not part.has_senses] or parts[:1]
        textual = [part for part in self._spoken if part.one(of.WIDTH) and _has_layers(part)]
        wide = [part for part in parts if any(True for _ in part.integers(of.WIDTH))]
        textual = [part for part in textual if part.one(of.VOCABULARY)] or (wide if len(wide) == 1 else [])
        self._text = textual[0] if len(textual) == 1 else None
        self._main = self._main_stacks()

    def _matrices(self, pattern: re.Pattern[str]) -> Iterator[tuple[Tensor, re.Match[str]]]:
        """The tensors outside of layers of two dimensions and of real numbers whose names match."""
        for name, tensor in self._outside.items():
            match = pattern.fullmatch(name) if tensor.dtype in FLOATS and len(tensor.shape) == 2 else None
            if match is not None:
                yield tensor, match

    def _main_stacks(self) -> list[Stack]:
        """The stacks of layers of the text: the one whose name is nearest to that of the table, or its two sides."""
        if not self._tables:
            wide = sum(any(True for _ in part.integers(of.WIDTH)) for part in self._parts)
            return list(self._stacks.values()) if len(self._stacks) == wide == 1 else []
        table = self._tables[0][0].name
        if len(self._parts) == 1 or all(part.one(of.WIDTH) is None for part in self._parts[1:]):
            sides = [stack for stack in self._stacks.values() if _SIDE.search(stack.name)]
            if len(sides) > 1:
                return sides
        ranks: dict[tuple[int, int], list[Stack]] = {}
        for stack in self._stacks.values():
            depth = stack.name.count(".")
            ranks.setdefault((_common(stack.name, table), -depth), []).append(stack)
        nearest = ranks[max(ranks)] if ranks else []
        return nearest if len(nearest) == 1 else []

    # -- one number each -------------------------------------------------------------------------------------------

    def widths(self) -> Iterator[Misfit]:
        """The vocabulary and the width, against tables of tokens and heads."""
        rows = {row for row in numbers(self._spoken, of.VOCABULARY) if row > 1}
        columns = numbers(self._parts, of.WIDTH, of.EMBEDDING)
        sizes = sizes_of(self._tensors.values())
        norms = [norm for stack in self._main for norm in stack.vectors(_NORM)]
        for tensor, _ in [*self._tables, *self._matrices(_HEAD)]:
            if tensor.shape[0] in columns - rows and tensor.shape[1] in rows - columns:
                yield self._transposed_misfit(tensor, "")
                continue
            key = self._key(of.VOCABULARY)
            # Classes with several vocabularies may add them up, so all but one have to be there.
            if key is not None and tensor.shape[0] not in rows and rows - sizes == {self._value(key)}:
                yield self._misfit(key, tensor, f"{tensor.shape[0]} rows")
            key = self._key(of.WIDTH)
            if key is not None and tensor.shape[1] not in columns and not self._is_width(self._value(key), norms):
                yield self._misfit(key, tensor, f"{tensor.shape[1]} columns")
        part = self._text
        width = None if part is None else part.one(of.WIDTH)
        if part is not None and width is not None and not self._is_width(width[1], norms):
            for norm in norms:
                if norm.shape[0] not in numbers(self._spoken, of.WIDTH, of.INSIDE):
                    yield self._misfit((*part.keys, width[0]), norm, f"{norm.shape[0]} numbers")

    def _is_width(self, width: object, norms: Sequence[Tensor]) -> bool:
        """True if the layers have a width: their norms, or else a part of all tensors."""
        if norms:
            return any(width in norm.shape for norm in norms)
        having = sum(width in tensor.shape for tensor in self._tensors.values())
        return 10 * having > len(self._tensors)

    def other_sizes(self) -> Iterator[Misfit]:
        """The numbers of positions, token types, heads, experts and inner sizes."""
        yield from self._rows(_TOKEN_TYPES, of.TYPES, (0,))
        yield from self._rows(_POSITIONS, of.POSITIONS, _RESERVED)
        yield from self._patches()
        if self._text is not None and not self._is_quantised:
            for stack in self._main:
                yield from self._inner(self._text, stack)
                yield from self._heads(self._text, stack)
                yield from self._experts(self._text, stack)

    def _rows(self, pattern: re.Pattern[str], kind: re.Pattern[str], reserved: tuple[int, ...]) -> Iterator[Misfit]:
        """Tables beside that of tokens whose number of rows no key of a kind explains."""
        explained = {one + more for one in numbers(self._parts, kind) for more in reserved}
        key = self._key(kind)
        beside = {match[1] for _, match in self._tables}
        for tensor, match in self._matrices(pattern):
            if key is not None and match[1] in beside and tensor.shape[0] not in explained:
                yield self._misfit(key, tensor, f"{tensor.shape[0]} rows")

    def _patches(self) -> Iterator[Misfit]:
        """The size of patches of pictures."""
        sizes = numbers(self._parts, of.PATCH)
        key = self._key(of.PATCH)
        for name, tensor in self._outside.items():
            is_kernel = len(tensor.shape) == 4 and _PATCHES.fullmatch(name) is not None
            if key is not None and is_kernel and not sizes.issuperset(tensor.shape[2:]):
                yield self._misfit(key, tensor, f"a kernel of {tensor.shape[2]} by {tensor.shape[3]}")

    def _inner(self, part: Part, stack: Stack) -> Iterator[Misfit]:
        """The inner size of the layers."""
        width, inner = part.one(of.WIDTH), [(key, size) for key, size in part.integers(of.INNER) if size > 0]
        side = _SIDE.search(stack.name)
        if side is not None:
            inner = [one for one in inner if one[0].startswith(side[1])] or inner
        if width is None or not inner:
            return
        explained = {size * times for _, size in inner for times in (1, 2)}
        for tensors, _ in stack.matrices(_INNER):
            turned = [one for one in tensors if one.shape[0] == width[1] and one.shape[1] in explained - {width[1]}]
            yield from self._transposed_in(tensors, turned if width[1] not in explained else [])
        for tensor, _ in stack.same(_TURNED_INNER):
            size = next((one for one in tensor.shape if one != width[1]), width[1])
            if width[1] in tensor.shape and size not in explained and explained.isdisjoint(stack.sizes - {width[1]}):
                yield self._misfit((*part.keys, inner[0][0]), tensor, f"{size} columns")
        for tensor, _ in stack.same(_INNER):
            if not self._tables and "_proj" in tensor.name:
                continue  # of a part that sees, whose gates have other sizes
            rows, columns = tensor.shape
            if columns == width[1] and rows not in explained and explained.isdisjoint(stack.sizes - {width[1]}):
                yield self._misfit((*part.keys, inner[0][0]), tensor, f"{rows} rows")

    def _heads(self, part: Part, stack: Stack) -> Iterator[Misfit]:
        """The heads of queries, and those of keys and values."""
        width, heads = part.one(of.WIDTH), part.one(of.HEADS)
        if width is None or heads is None or heads[1] <= 0 or any(True for _ in part.integers(of.LATENT)):
            return
        own = {size for _, size in part.integers(of.OWN_HEAD_SIZE)}
        sizes = own or {size for _, size in part.integers(of.HEAD_SIZE)} | {width[1] // heads[1]}
        groups = {number for _, number in part.integers(of.KEY_HEADS)}
        queries = {heads[1] * size for size in sizes}
        if any(tensor.shape[1] in queries for tensor, _ in stack.same(_OUT)):
            queries |= {2 * query for query in queries}  # half of them may be a gate
        keys = {group * size for group in groups for size in sizes}
        for tensors, _ in stack.matrices(_ATTENTION):
            others = (queries | keys) - {width[1]}
            turned = [one for one in tensors if one.shape[0] == width[1] and one.shape[1] in others]
            yield from self._transposed_in(tensors, turned)
        joined = {(heads[1] + 2 * group) * size for group in groups for size in sizes}
        is_joined = next(stack.matrices(_ATTENTION), None) is None
        for tensor, _ in stack.same(_JOINED) if is_joined else ():
            if groups and tensor.shape[0] not in joined and tensor.shape[1] == width[1]:
                key = next(part.integers(of.KEY_HEADS))[0]
                size = f"{tensor.shape[0]} rows, for heads of {_name_list(sizes)}"
                yield self._misfit((*part.keys, key), tensor, size)
        same = [(tensor, match[1] or match[2] or match[3]) for tensor, match in stack.same(_ATTENTION)]
        wrong = [tensor for tensor, role in same if role == "q" and tensor.shape[0] not in queries]
        if wrong:
            if own and wrong[0].shape[1] == width[1]:
                size = f"{wrong[0].shape[0]} rows, for heads of {_name_list(sizes)}"
                yield self._misfit((*part.keys, heads[0]), wrong[0], size)
            return
        for tensor, role in same:
            if role != "q" and groups and tensor.shape[0] not in keys and tensor.shape[1] == width[1]:
                key = next(part.integers(of.KEY_HEADS))[0]
                size = f"{tensor.shape[0]} rows, for heads of {_name_list(sizes)}"
                yield self._misfit((*part.keys, key), tensor, size)

    def _experts(self, part: Part, stack: Stack) -> Iterator[Misfit]:
        """The number of experts, against their numbers, tensors of all of them, and the layer that chooses."""
        counts = {number for _, number in part.integers(of.EXPERTS)}
        if not counts:
            return
        # Some choose among experts that others share, or that pass everything on.
        counts |= {one + more for one in counts for _, more in part.integers(of.ABOUT_EXPERTS)}
        key = (*part.keys, next(part.integers(of.EXPERTS))[0])
        found: dict[str, dict[int, Tensor]] = {}
        first = next((layer for layer in stack.layers.values() if any("expert" in rest for rest in layer)), {})
        for rest, tensor in first.items():
            match = _EXPERT.fullmatch(rest)
            if match is not None:
                found.setdefault(match[1], {})[int(match[2])] = tensor
            elif _EXPERTS.fullmatch(rest) and len(tensor.shape) in (2, 3) and counts.isdisjoint(tensor.shape):
                is_all = len(tensor.shape) == 3 or "experts" not in rest
                if is_all:
                    yield self._misfit(key, tensor, f"{tensor.shape[0]}")
        for experts in found.values():
            if set(experts) == set(range(len(experts))) and len(experts) not in counts:
                yield self._misfit(key, experts[0], f"one of {len(experts)} experts", verb="is")

    def _key(self, kind: re.Pattern[str]) -> tuple[str, ...] | None:
        """The keys of the first number of a kind; those of the text first."""
        parts = self._parts if self._text is None else [self._text, *self._parts]
        return next(((*part.keys, key) for part in parts for key, _ in part.integers(kind)), None)

    def _value(self, keys: tuple[str | int, ...]) -> object:
        part = next(part for part in self._parts if part.keys == keys[:-1])
        return part.entries[str(keys[-1])]

    def _misfit(self, keys: tuple[str, ...], tensor: Tensor, size: str, *, verb: str = "has") -> Misfit:
        message = f"`{'.'.join(keys)}` is {self._value(keys)}, and `{tensor.name}` {verb} {size}"
        return Misfit(keys[-1], message, CONFIG, keys, tensor, (shape_text(tensor),), _HELP)

    def _transposed_in(self, tensors: Sequence[Tensor], turned: Sequence[Tensor]) -> Iterator[Misfit]:
        """A matrix that is transposed in some or all layers; the only one among many is told as an odd layer."""
        if len(turned) > 1 or (turned and len(tensors) < ENOUGH):
            yield self._transposed_misfit(turned[0], ", as in all layers" if len(turned) == len(tensors) else "")

    @staticmethod
    def _transposed_misfit(tensor: Tensor, where: str) -> Misfit:
        message = f"`{tensor.name}` is transposed{where}: its shape is [{tensor.shape[0]}, {tensor.shape[1]}]"
        return Misfit(tensor.name, message, "", (tensor.name,), tensor, (), "save the tensors as the class has them")

    # -- layers and the head ---------------------------------------------------------------------------------------

    def layers(self) -> Iterator[Misfit]:
        """The number of layers, and layers that differ from all others."""
        for stack in self._main if self._text is not None else ():
            key = self._layers_key(stack)
            if key is None or not stack.is_whole:
                continue
            said, count = self._value(key), len(stack.layers)
            more = sum(numbers(self._parts, _FOLLOWING))
            if not isinstance(said, int) or count in (said, said + more):
                continue
            if max(said, count) == 2 * min(said, count) and said >= _MANY:
                continue
            last = next(iter(stack.layers[count - 1].values()))
            few = "are at random" if count < said else "are not loaded"
            message = f"`{'.'.join(key)}` is {said}, and `{stack.name}` has {count} layers"
            evidence = (f"the last tensor is `{last.name}`", f"{abs(said - count)} layers {few}")
            yield Misfit(key[-1], message, CONFIG, key, last, evidence, _HELP)
        for stack in self._stacks.values():
            yield from odd_layers(stack)

    def _layers_key(self, stack: Stack) -> tuple[str, ...] | None:
        """The key that gives the number of layers of a stack; None if that is not sure."""
        part = self._text
        if part is None:
            return None
        side = _SIDE.search(stack.name) if len(self._main) > 1 else None
        kinds = [of.LAYERS] if side is None else [_OF_SIDE[side[1]], of.LAYERS]
        for kind in kinds:
            found = list(part.integers(kind))
            if found:
                return (*part.keys, found[0][0]) if len({number for _, number in found}) == 1 else None
        return None

    def head(self, is_tied: object, architectures: object) -> Iterator[Misfit]:
        """A head that the configuration does not tie to the table of tokens, and that is not there."""
        names = architectures if isinstance(architectures, list) else []
        if is_tied is not False or not any(isinstance(name, str) and name.endswith("ForCausalLM") for name in names):
            return
        wide = sum(part.one(of.WIDTH) is not None for part in self._parts)
        if self._is_quantised or wide > 1:
            return
        heads = [tensor for tensor, _ in self._matrices(_HEAD)]
        if len(heads) == 1 and not self._tables:
            head = heads[0]
            if not any(head.shape[0] in one.shape and one is not head for one in self._tensors.values()):
                message = f"`tie_word_embeddings` is false, and the table is missing: only `{head.name}` has its rows"
                key = ("tie_word_embeddings",)
                yield Misfit(key[0], message, CONFIG, key, head, (shape_text(head),), "save the model again")
        if len(self._tables) != 1:
            return
        table = self._tables[0][0]
        rows = table.shape[0]
        if any(rows in one.shape and one is not table for one in self._tensors.values()):
            return
        if any(_ANY_HEAD.search(name) for name in self._outside):
            return
        message = f"`tie_word_embeddings` is false, and the head is missing: only `{table.name}` has {rows} rows"
        help = "save the model again, or set `tie_word_embeddings` to true if both are one tensor"
        key = ("tie_word_embeddings",)
        yield Misfit(key[0], message, CONFIG, key, table, (shape_text(table),), help)


def _common(one: str, other: str) -> int:
    """The number of parts with which two names begin alike."""
    count = 0
    for left, right in zip(one.split("."), other.split("."), strict=False):
        if left != right:
            break
        count += 1
    return count


def _has_layers(part: Part) -> bool:
    return any(True for kind in (of.LAYERS, *_OF_SIDE.values()) for _ in part.integers(kind))


def _name_list(sizes: set[int]) -> str:
    return " or ".join(map(str, sorted(sizes)[:3]))
