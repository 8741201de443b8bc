"""Ranks and target modules of a LoRA adapter of PEFT, against its tensors."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .misfit import Misfit, shape_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.folders import Json, ModelFolder, Tensor

CONFIG = "adapter_config.json"
_PAIR = re.compile(r"base_model\.model\.(.+)\.lora_(?:embedding_)?([AB])(?:\.weight)?")


def misfits(folder: ModelFolder) -> Iterator[Misfit]:
    """The rank that tensors refute, target modules without tensors, and tensors without a target module."""
    config = folder.adapter_config
    name = next((name for name in ("adapter_model.safetensors", "adapter_model.bin") if name in folder.names), None)
    if config is None or name is None or config.text("peft_type") != "LORA" or not folder.are_known(name):
        return
    pairs = {one: match for one in folder.tensors_of(name) if (match := _PAIR.fullmatch(one)) is not None}
    tensors = folder.tensors_of(name)
    if not pairs:
        return
    yield from _ranks(config, [(tensors[one], match) for one, match in pairs.items()])
    modules = {match[1] for match in pairs.values()}
    targets = config.get("target_modules")
    if not isinstance(targets, list) or not all(isinstance(target, str) for target in targets):
        return
    first = tensors[next(iter(pairs))]
    for number, target in enumerate(targets):
        if not any(_is_of(module, target) for module in modules):
            message = f"the adapter has no tensors for the target module `{target}`"
            evidence = (f"it has tensors for {_name_list(modules)}",)
            help = "save the adapter again, or take the module off `target_modules`"
            keys = ("target_modules", number)
            yield Misfit(target, message, CONFIG, keys, first, evidence, help)
    others = sorted(module for module in modules if not any(_is_of(module, target) for target in targets))
    if others:
        parts = sorted({module.rpartition(".")[2] for module in others})
        message = f"the adapter has tensors for {_name_list(parts)}, which `target_modules` lacks"
        help = "add the module to `target_modules`: PEFT ignores its tensors"
        yield Misfit(parts[0], message, CONFIG, ("target_modules",), first, (), help)


def _ranks(config: Json, pairs: list[tuple[Tensor, re.Match[str]]]) -> Iterator[Misfit]:
    rank = config.integer("r")
    special = config.table("rank_pattern").values()
    if rank is None:
        return
    known = {rank, *(value for value in special if isinstance(value, int))}
    for tensor, match in pairs:
        is_embedding = "lora_embedding_" in tensor.name
        axis = 0 if match[2] == "A" else 1
        size = tensor.shape[axis] if len(tensor.shape) > axis else None
        if size is not None and size not in known and not (is_embedding and size in tensor.shape):
            message = f"`r` is {rank}, and `{tensor.name}` has rank {size}"
            help = "write the rank that the tensors have: PEFT refuses others"
            yield Misfit("r", message, CONFIG, ("r",), tensor, (shape_text(tensor),), help)
            return


def _is_of(module: str, target: str) -> bool:
    return module == target or module.endswith(f".{target}")


def _name_list(names: set[str] | list[str]) -> str:
    some = sorted({name.rpartition(".")[2] for name in names})
    return ", ".join(f"`{name}`" for name in some[:6]) + ("" if len(some) <= 6 else f" and {len(some) - 6} more")
