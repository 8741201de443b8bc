"""Sizes that `config.json` gives a class of transformers, against the tensors.

The names of tensors are those that the library's classes share: a table of tokens is called `embed_tokens`,
`word_embeddings`, `wte` or `shared`, whatever the class. A tensor of another name is not looked at.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from . import numbers as of
from .misfit import Misfit, shown
from .numbers import Part, numbers, parts_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from modellint.folders import ModelFolder, Tensor

CONFIG = "config.json"
_TABLE = re.compile(r"(?:.*\.)?(?:embed_tokens|word_embeddings|wte|shared|tok_embeddings|embed_in)\.weight")
_TOKEN_TYPES = re.compile(r"(?:.*\.)?token_type_embeddings\.weight")
_POSITIONS = re.compile(r"(?:.*\.)?(?:wpe|position_embeddings|embed_positions)\.weight")
_HEAD = re.compile(r"(?:lm_head|embed_out|model\.lm_head)\.weight")
_ATTENTION = re.compile(r".*\.(?:self_attn|attn|attention|self_attention)\.([qkv])_proj\.weight")
_QUERY = re.compile(r".*\.attention\.self\.(query|key|value)\.weight|.*\.SelfAttention\.([qkv])\.weight")
_INNER = re.compile(
    r".*\.(?:mlp\.(?:gate_proj|up_proj|fc1|fc_in|dense_h_to_4h|c_fc)|intermediate\.dense|fc1|ffn\.lin1"
    r"|DenseReluDense\.wi(?:_\d)?|feed_forward\.(?:w1|w3|intermediate_dense))\.weight"
)
_PATCHES = re.compile(r"(?:.*\.)?(?:patch_embeddings?(?:\.projection)?|patch_embed\.proj)\.weight")
_EXPERT = re.compile(r"(.*\.experts)\.(\d+)\..*")
_STACK = re.compile(r"((?:[A-Za-z_]+\.)*(?:layers|layer|h|block|blocks))\.(\d+)\.(.+)")
#: Parts of names of tensors that a change of the layer brings along.
_CHANGED = re.compile(r"lora_|base_layer|qweight|qzeros|absmax|quant|adapter|expert")
_FLOATS = ("float16", "bfloat16", "float32", "float64")
#: Parts of a model that have stacks of layers of their own.
_SIDES = re.compile(r"(?:^|\.)(encoder|decoder)(?:\.|$)")
_OF_SIDE = {
    "encoder": re.compile(r"(?:num_)?encoder_layers"),
    "decoder": re.compile(r"(?:num_)?decoder_layers"),
}
_FOLLOWING = re.compile(r"num_nextn_predict_layers|num_mtp_layers|mtp_num_layers|n_predict")
#: The least number of layers among which one that differs is a mistake, and the most tensors that it may lack.
_ENOUGH, _FEW = 4, 4


def misfits(folder: ModelFolder) -> Iterator[Misfit]:
    """The numbers of `config.json` that tensors refute."""
    config = folder.config
    name = folder.main_weights
    if config is None or name is None or not isinstance(config.value, dict) or not folder.is_main_known:
        return
    if not any(config.has(key) for key in ("architectures", "model_type")):
        return
    tensors = {key: one for key, one in folder.tensors().items() if not _CHANGED.search(key) or ".experts." in key}
    look = _Look(parts_of(config.table()), tensors)
    found: dict[tuple[str | int, ...], Misfit] = {}
    for misfit in look.widths():
        found.setdefault(misfit.keys, misfit)
    if not found:
        for misfit in look.derived():
            found.setdefault(misfit.keys, misfit)
    yield from found.values()
    if folder.are_known(name):
        yield from look.layers()
        yield from look.head(config.get("tie_word_embeddings"), config.get("architectures"))


class _Stack(NamedTuple):
    """The layers of one stack: its name, and the tensors of each layer by the rest of their names."""

    name: str
    layers: dict[int, dict[str, Tensor]]


class _Look:
    def __init__(self, parts: list[Part], tensors: Mapping[str, Tensor]) -> None:
        self._parts = parts
        self._tensors = tensors
        self._is_quantised = any("quantization_config" in part.entries for part in parts)

    def _matrices(self, pattern: re.Pattern[str]) -> Iterator[tuple[Tensor, re.Match[str]]]:
        """The tensors of two dimensions and of real numbers whose names match."""
        for name, tensor in self._tensors.items():
            match = pattern.fullmatch(name) if tensor.dtype in _FLOATS and len(tensor.shape) == 2 else None
            if match is not None:
                yield tensor, match

    # -- one number each -------------------------------------------------------------------------------------------

    def widths(self) -> Iterator[Misfit]:
        """The vocabulary and the width, against tables of tokens and heads."""
        rows = numbers(self._parts, of.VOCABULARY)
        rows |= {one + more for one in rows for more in self._additional()}
        columns = numbers(self._parts, of.WIDTH, of.EMBEDDING)
        for pattern in (_TABLE, _HEAD):
            for tensor, _ in self._matrices(pattern):
                key = self._key(of.VOCABULARY)
                if key is not None and tensor.shape[0] not in rows:
                    yield self._misfit(key, tensor, f"{tensor.shape[0]} rows", "ids")
                key = self._key(of.WIDTH)
                if key is not None and tensor.shape[1] not in columns:
                    yield self._misfit(key, tensor, f"{tensor.shape[1]} columns", "numbers for each id")

    def derived(self) -> Iterator[Misfit]:
        """The numbers of positions, heads, experts and inner sizes."""
        yield from self._rows(_TOKEN_TYPES, of.TYPES, (0,), "types")
        yield from self._rows(_POSITIONS, of.POSITIONS, (0, 1, 2), "positions")
        yield from self._inner()
        yield from self._heads()
        yield from self._experts()
        yield from self._patches()

    def _rows(
        self, pattern: re.Pattern[str], kind: re.Pattern[str], more: tuple[int, ...], what: str
    ) -> Iterator[Misfit]:
        """Tables whose number of rows no key of a kind explains; a class may have a few `more`."""
        explained = {one + extra for one in numbers(self._parts, kind) for extra in more}
        key = self._key(kind)
        for tensor, _ in self._matrices(pattern):
            if key is not None and tensor.shape[0] not in explained:
                yield self._misfit(key, tensor, f"{tensor.shape[0]} rows", what)

    def _inner(self) -> Iterator[Misfit]:
        if self._is_quantised:
            return
        widths = numbers(self._parts, of.WIDTH, of.EMBEDDING)
        inner = numbers(self._parts, of.INNER)
        key = self._key(of.INNER)
        explained = {one * times for one in inner for times in (1, 2)} | {4 * width for width in widths}
        for tensor, _ in self._matrices(_INNER):
            if ".experts." in tensor.name or key is None:
                continue
            if tensor.shape[0] not in explained and tensor.shape[1] in widths:
                yield self._misfit(key, tensor, f"{tensor.shape[0]} rows", "inner numbers")
            elif tensor.shape[1] not in widths and tensor.shape[0] in widths and tensor.shape[1] in explained:
                yield self._transposed(tensor)

    def _heads(self) -> Iterator[Misfit]:
        if self._is_quantised:
            return
        widths = numbers(self._parts, of.WIDTH, of.EMBEDDING)
        for part in self._parts:
            width, heads = part.width(), part.one(of.HEADS) or self._attention_heads(part)
            if width is None or heads is None or heads[1] <= 0:
                continue
            sizes = {size for _, size in part.integers(of.HEAD_SIZE)} or {width[1] // heads[1]}
            groups = {number for _, number in part.integers(of.KEY_HEADS)}
            if len(self._parts) > 1 and any(other is not part and other.width() for other in self._parts):
                continue  # whose tensors these are is not known
            for tensor, match in self._matrices(_ATTENTION):
                role, (rows, columns) = match[1], tensor.shape
                queries = {heads[1] * size * times for size in sizes for times in (1, 2)}
                keys = {one * size for one in groups for size in sizes} or queries
                explained = queries if role == "q" else keys
                if columns not in widths:
                    if rows in widths:
                        yield self._transposed(tensor)
                elif rows not in explained and role == "q":
                    yield self._misfit((*part.keys, heads[0]), tensor, f"{rows} rows", f"heads of {min(sizes)}")
                elif rows not in explained and groups:
                    key = next(part.integers(of.KEY_HEADS))[0]
                    yield self._misfit((*part.keys, key), tensor, f"{rows} rows", f"heads of {min(sizes)}")

    @staticmethod
    def _attention_heads(part: Part) -> tuple[str, int] | None:
        for key in ("num_attention_heads", "n_head", "num_heads", "n_heads"):
            value = part.entries.get(key)
            if isinstance(value, int) and not isinstance(value, bool):
                return key, value
        return None

    def _experts(self) -> Iterator[Misfit]:
        counts = numbers(self._parts, of.EXPERTS)
        key = self._key(of.EXPERTS)
        if key is None:
            return
        found: dict[str, tuple[set[int], Tensor]] = {}
        for name, tensor in self._tensors.items():
            match = _EXPERT.fullmatch(name)
            if match is not None:
                found.setdefault(match[1], (set(), tensor))[0].add(int(match[2]))
        for stack, (indices, tensor) in found.items():
            if indices == set(range(len(indices))) and len(indices) not in counts:
                message = f"`{'.'.join(map(str, key))}` is {self._value(key)}, and `{stack}` has {len(indices)} experts"
                yield Misfit(str(key[-1]), message, CONFIG, key, tensor, (shown(tensor),), _HELP)

    def _patches(self) -> Iterator[Misfit]:
        sizes = numbers(self._parts, of.PATCH)
        key = self._key(of.PATCH)
        for name, tensor in self._tensors.items():
            is_kernel = len(tensor.shape) == 4 and _PATCHES.fullmatch(name) is not None
            if key is not None and is_kernel and not sizes.issuperset(tensor.shape[2:]):
                yield self._misfit(key, tensor, f"a kernel of {tensor.shape[2]} by {tensor.shape[3]}", "points")

    def _key(self, kind: re.Pattern[str]) -> tuple[str, ...] | None:
        """The keys of the first number of a kind; those of the text first."""
        parts = sorted(self._parts, key=lambda part: any("text" not in key for key in part.keys))
        return next(((*part.keys, key) for part in parts for key, _ in part.integers(kind)), None)

    def _value(self, keys: tuple[str | int, ...]) -> object:
        part = next(part for part in self._parts if part.keys == keys[:-1])
        return part.entries[str(keys[-1])]

    def _additional(self) -> set[int]:
        return {
            value
            for part in self._parts
            for key, value in part.entries.items()
            if "additional" in key and isinstance(value, int) and not isinstance(value, bool)
        }

    def _misfit(self, keys: tuple[str, ...], tensor: Tensor, size: str, what: str) -> Misfit:
        message = f"`{'.'.join(keys)}` is {self._value(keys)} ({what}), and `{tensor.name}` has {size}"
        return Misfit(keys[-1], message, CONFIG, keys, tensor, (shown(tensor),), _HELP)

    @staticmethod
    def _transposed(tensor: Tensor) -> Misfit:
        message = f"`{tensor.name}` is transposed: it has the shape [{tensor.shape[0]}, {tensor.shape[1]}]"
        return Misfit(tensor.name, message, "", (tensor.name,), tensor, (), "save the tensor as the class has it")

    # -- layers ----------------------------------------------------------------------------------------------------

    def stacks(self) -> dict[str, _Stack]:
        """The stacks of layers, by name; those within a layer of another stack are left out."""
        found: dict[str, _Stack] = {}
        for name, tensor in self._tensors.items():
            match = _STACK.fullmatch(name)
            if match is not None:
                stack = found.setdefault(match[1], _Stack(match[1], {}))
                stack.layers.setdefault(int(match[2]), {})[match[3]] = tensor
        return found

    def layers(self) -> Iterator[Misfit]:
        """The number of layers, and layers that lack what all others have."""
        stacks = self.stacks()
        for stack in stacks.values():
            key = self._layers_key(stack, stacks)
            count = len(stack.layers)
            if set(stack.layers) != set(range(count)):
                yield from self._gap(stack)
                continue
            if key is not None:
                said = self._value(key)
                more = sum(numbers(self._parts, _FOLLOWING))
                if isinstance(said, int) and count not in (said, said + more):
                    first = next(iter(stack.layers[count - 1].values()))
                    few = "are at random" if count < said else "are not loaded"
                    message = f"`{'.'.join(map(str, key))}` is {said}, and `{stack.name}` has {count} layers"
                    evidence = (f"the last tensor is `{first.name}`", f"{abs(said - count)} layers {few}")
                    yield Misfit(str(key[-1]), message, CONFIG, key, first, evidence, _HELP, is_silent=True)
            yield from self._odd_layer(stack)

    def _layers_key(self, stack: _Stack, stacks: Mapping[str, _Stack]) -> tuple[str, ...] | None:
        """The key that gives the number of layers of a stack; None if that is not sure."""
        nested = [part for part in self._parts if part.keys and part.one(of.LAYERS) is not None]
        if nested:
            return None
        side = _SIDES.search(stack.name)
        top = self._parts[0]
        if len(stacks) > 1:
            keys = list(top.integers(_OF_SIDE[side[1]])) if side is not None else []
            return (keys[0][0],) if len(keys) == 1 else None
        found = list(top.integers(of.LAYERS))
        return (found[0][0],) if len({number for _, number in found}) == 1 else None

    @staticmethod
    def _gap(stack: _Stack) -> Iterator[Misfit]:
        """A layer whose tensors are all missing, between others."""
        last = max(stack.layers)
        missing = [number for number in range(last + 1) if number not in stack.layers]
        if len(stack.layers) >= _ENOUGH - 1 and len(missing) == 1:
            tensor = next(iter(stack.layers[last].values()))
            message = f"no tensor of `{stack.name}.{missing[0]}` is here, and the layers around it are"
            name = f"{stack.name}.{missing[0]}"
            yield Misfit(name, message, "", (name,), tensor, (), "save the model again", is_silent=True)

    @staticmethod
    def _odd_layer(stack: _Stack) -> Iterator[Misfit]:
        """A layer that lacks a tensor that all other layers have."""
        if len(stack.layers) < _ENOUGH:
            return
        for number, layer in stack.layers.items():
            others = [set(one) for at, one in stack.layers.items() if at != number]
            common = set.intersection(*others)
            known: set[str] = set().union(*others)
            lacking, own = sorted(common - set(layer)), set(layer) - known
            if not lacking or len(lacking) > _FEW or len(own) > len(lacking):
                continue
            model = next(one for at, one in stack.layers.items() if at != number)
            shapes = sorted(model[name].shape for name in lacking)
            is_renamed = bool(own) and sorted(layer[name].shape for name in own) == shapes
            if own and not is_renamed:
                continue
            name = f"{stack.name}.{number}.{lacking[0]}"
            tensor = layer[min(own)] if own else next(iter(layer.values()))
            message = f"`{name}` is missing, which all other layers of `{stack.name}` have"
            evidence = (f"the layer has `{tensor.name}` instead",) if own else ()
            yield Misfit(name, message, "", (name,), tensor, evidence, "save the model again", is_silent=True)

    # -- the head --------------------------------------------------------------------------------------------------

    def head(self, is_tied: object, architectures: object) -> Iterator[Misfit]:
        """A head that the configuration does not tie to the table of tokens, and that is not there."""
        names = architectures if isinstance(architectures, list) else []
        if is_tied is not False or not any(isinstance(name, str) and name.endswith("ForCausalLM") for name in names):
            return
        tables = [tensor for tensor, _ in self._matrices(_TABLE)]
        if len(tables) != 1 or self._is_quantised:
            return
        (table,) = tables
        rows = table.shape[0]
        if any(rows in one.shape and one is not table for one in self._tensors.values()):
            return
        message = (
            f"`tie_word_embeddings` is false, and no tensor but `{table.name}` has {rows} rows: the head is missing"
        )
        help = "save the model again, or set `tie_word_embeddings` to true if both are one tensor"
        key = ("tie_word_embeddings",)
        yield Misfit(key[0], message, CONFIG, key, table, (shown(table),), help, is_silent=True)


_HELP = "write the number that the weights have, or copy the weights that the configuration describes"
