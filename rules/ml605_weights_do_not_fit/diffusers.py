"""Sizes that `config.json` gives a class of diffusers, against the tensors."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from .misfit import Misfit, shape_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from modellint.folders import ModelFolder, Tensor

CONFIG = "config.json"
_HELP = "write the number that the weights have, or copy the weights that the configuration describes"
#: Tensors with a size that one key gives: the name, the dimension, the key, the position in a list, the factor.
_SIZES: dict[str, tuple[tuple[str, int, str, int | None, int], ...]] = {
    "UNet2DConditionModel": (
        ("conv_in.weight", 0, "block_out_channels", 0, 1),
        ("conv_in.weight", 1, "in_channels", None, 1),
        ("conv_out.weight", 0, "out_channels", None, 1),
        ("conv_out.weight", 1, "block_out_channels", 0, 1),
    ),
    "UNet2DModel": (
        ("conv_in.weight", 0, "block_out_channels", 0, 1),
        ("conv_in.weight", 1, "in_channels", None, 1),
        ("conv_out.weight", 0, "out_channels", None, 1),
        ("conv_out.weight", 1, "block_out_channels", 0, 1),
    ),
    "ControlNetModel": (
        ("conv_in.weight", 0, "block_out_channels", 0, 1),
        ("conv_in.weight", 1, "in_channels", None, 1),
    ),
    "AutoencoderKL": (
        ("encoder.conv_in.weight", 0, "block_out_channels", 0, 1),
        ("encoder.conv_in.weight", 1, "in_channels", None, 1),
        ("encoder.conv_out.weight", 0, "latent_channels", None, 2),
        ("decoder.conv_in.weight", 0, "block_out_channels", -1, 1),
        ("decoder.conv_in.weight", 1, "latent_channels", None, 1),
        ("decoder.conv_out.weight", 0, "out_channels", None, 1),
        ("decoder.conv_out.weight", 1, "block_out_channels", 0, 1),
    ),
    "FluxTransformer2DModel": (
        ("x_embedder.weight", 1, "in_channels", None, 1),
        ("context_embedder.weight", 1, "joint_attention_dim", None, 1),
    ),
    "SD3Transformer2DModel": (
        ("pos_embed.proj.weight", 1, "in_channels", None, 1),
        ("context_embedder.weight", 1, "joint_attention_dim", None, 1),
    ),
}
#: Stacks of blocks with a number that a key gives; of a list, its length.
_STACKS: dict[str, tuple[tuple[str, str], ...]] = {
    "UNet2DConditionModel": (("down_blocks", "down_block_types"), ("up_blocks", "up_block_types")),
    "UNet2DModel": (("down_blocks", "down_block_types"), ("up_blocks", "up_block_types")),
    "ControlNetModel": (("down_blocks", "down_block_types"),),
    "AutoencoderKL": (("encoder.down_blocks", "down_block_types"), ("decoder.up_blocks", "up_block_types")),
    "FluxTransformer2DModel": (
        ("transformer_blocks", "num_layers"),
        ("single_transformer_blocks", "num_single_layers"),
    ),
    "SD3Transformer2DModel": (("transformer_blocks", "num_layers"),),
}
_CROSS = re.compile(r"(?:down_blocks|up_blocks|mid_block)\..*\.attn2\.to_k\.weight")


def misfits(folder: ModelFolder) -> Iterator[Misfit]:
    """The numbers of `config.json` that tensors refute, for classes whose arithmetic is known."""
    config = folder.config
    name = folder.main_weights
    if config is None or name is None or not folder.is_main_known:
        return
    cls = config.text("_class_name")
    if cls not in _SIZES:
        return
    entries, tensors = config.table(), folder.tensors()
    told: set[str] = set()
    for tensor_name, axis, key, at, factor in _SIZES[cls]:
        tensor, number = tensors.get(tensor_name), _number(entries.get(key), at)
        if tensor is None or number is None or len(tensor.shape) <= axis or key in told:
            continue
        if tensor.shape[axis] != factor * number:
            told.add(key)
            size = tensor.shape[axis]
            message = f"`{key}` gives {factor * number}, and `{tensor_name}` has {size} in dimension {axis}"
            yield Misfit(key, message, CONFIG, (key,), tensor, (shape_text(tensor),), _HELP)
    cross = _number(entries.get("cross_attention_dim"), None)
    is_plain = entries.get("encoder_hid_dim_type") is None and not entries.get("only_cross_attention")
    if cross is not None and is_plain and cls in ("UNet2DConditionModel", "ControlNetModel"):
        yield from _cross(tensors, cross)
    if folder.are_known(name):
        for stack, key in _STACKS[cls]:
            yield from _stack(stack, key, entries.get(key), tensors)


def _number(value: Any, at: int | None) -> int | None:
    if at is not None:
        value = value[at] if isinstance(value, list) and value else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _cross(tensors: Mapping[str, Tensor], cross: int) -> Iterator[Misfit]:
    for name, tensor in tensors.items():
        if _CROSS.fullmatch(name) and len(tensor.shape) == 2 and tensor.shape[1] != cross:
            key = "cross_attention_dim"
            message = f"`{key}` is {cross}, and `{name}` has {tensor.shape[1]} columns"
            yield Misfit(key, message, CONFIG, (key,), tensor, (shape_text(tensor),), _HELP)
            return


def _stack(stack: str, key: str, value: Any, tensors: Mapping[str, Tensor]) -> Iterator[Misfit]:
    said = len(value) if isinstance(value, list) else _number(value, None)
    found: dict[int, Tensor] = {}
    for name, tensor in tensors.items():
        number = name.removeprefix(f"{stack}.").partition(".")[0] if name.startswith(f"{stack}.") else ""
        if number.isdecimal():
            found.setdefault(int(number), tensor)
    if said is None or not found or set(found) != set(range(len(found))) or len(found) == said:
        return
    message = f"`{key}` gives {said} blocks, and `{stack}` has {len(found)}"
    tensor = found[max(found)]
    yield Misfit(key, message, CONFIG, (key,), tensor, (f"the last one has `{tensor.name}`",), _HELP)
