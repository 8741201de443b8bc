"""Names, shapes and dtypes of the tensors in weight files, as meta tensors: no data is read."""

from __future__ import annotations

import json
import os
import struct
from typing import TYPE_CHECKING, Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

if TYPE_CHECKING:
    from collections.abc import Iterable

#: The names that libraries give to weights, in the order in which they look for them, without and with an index.
_STEMS = ("model", "diffusion_pytorch_model", "pytorch_model", "adapter_model", "open_clip_pytorch_model")
_SUFFIXES = (".safetensors", ".safetensors.index.json", ".bin", ".bin.index.json")
_INDEX = ".index.json"
_SAFETENSORS = ".safetensors"
#: The longest header that safetensors reads, in bytes.
_LONGEST_HEADER = 100_000_000
_DTYPES = {
    "BOOL": "bool",
    "U8": "uint8",
    "I8": "int8",
    "I16": "int16",
    "U16": "uint16",
    "I32": "int32",
    "U32": "uint32",
    "I64": "int64",
    "U64": "uint64",
    "F16": "float16",
    "BF16": "bfloat16",
    "F32": "float32",
    "F64": "float64",
    "F8_E4M3": "float8_e4m3fn",
    "F8_E5M2": "float8_e5m2",
}

Tensors = dict[str, torch.Tensor]


class HeaderError(Exception):
    """A file of weights cannot be read; the message names it."""


def tensors_in(folder: str) -> Tensors | None:
    """The tensors in the weights of a folder; None without any. Raises HeaderError."""
    files = weight_files(folder)
    if not files:
        return None
    found: Tensors = {}
    for file in files:
        found.update(tensors_of(os.path.join(folder, file)))
    return found


def weight_files(folder: str) -> list[str]:
    """The names of the files with the weights of a folder, shards included. Raises HeaderError."""
    names = (f"{stem}{suffix}" for stem in _STEMS for suffix in _SUFFIXES)
    first = next((name for name in names if os.path.isfile(os.path.join(folder, name))), None)
    if first is None:
        others = sorted(name for name in os.listdir(folder) if name.endswith(_SAFETENSORS))
        return others if len(others) == 1 else []
    if not first.endswith(_INDEX):
        return [first]
    return sorted(set(weight_map(os.path.join(folder, first)).values()))


def weight_map(path: str) -> dict[str, str]:
    """The file of each tensor, by the index at `path`. Raises HeaderError."""
    try:
        with open(path, encoding="utf-8") as stream:
            found = json.load(stream)["weight_map"]
        return {str(name): str(file) for name, file in found.items()}
    except (OSError, ValueError, LookupError, AttributeError, TypeError, RecursionError) as error:
        raise HeaderError(f"`{os.path.basename(path)}` is no index of weights: {error}") from None


def tensors_of(path: str) -> Tensors:
    """The tensors in one file. Raises HeaderError."""
    found: Tensors = content_of(path) if path.endswith(_SAFETENSORS) else tensors_below(content_of(path))
    return found


def content_of(path: str) -> Any:
    """The content of one file, with tensors without data in it. Raises HeaderError."""
    try:
        return _of_safetensors(path) if path.endswith(_SAFETENSORS) else _of_pickle(path)
    except HeaderError:
        raise
    except Exception as error:
        name, text = os.path.basename(path), " ".join(str(error).split())
        raise HeaderError(f"`{name}` cannot be read: {type(error).__name__}: {text[:200]}") from None


def _of_safetensors(path: str) -> Tensors:
    with open(path, "rb") as stream:
        (length,) = struct.unpack("<Q", stream.read(8))
        if length > _LONGEST_HEADER:
            raise HeaderError(f"`{os.path.basename(path)}` has a header of {length} bytes")
        header: dict[str, Any] = json.loads(stream.read(length))
    header.pop("__metadata__", None)
    return {name: _on_meta(one["shape"], one["dtype"]) for name, one in header.items()}


def _on_meta(shape: Iterable[int], dtype: str) -> torch.Tensor:
    kind = getattr(torch, _DTYPES.get(dtype, "uint8"), torch.uint8)
    return torch.empty(tuple(shape), dtype=kind, device="meta")


def _of_pickle(path: str) -> Any:
    """The content of a file that `torch.save` wrote; within fake tensors, torch reads no data of an archive."""
    with FakeTensorMode():
        return torch.load(path, map_location="cpu", weights_only=True)


def tensors_below(content: Any) -> Tensors:
    """The tensors in nested mappings, on meta: those of the mapping with the most of them, by their own names."""
    if not isinstance(content, dict):
        return {}
    own = {str(name): _like(value) for name, value in content.items() if isinstance(value, torch.Tensor)}
    return max([own, *map(tensors_below, content.values())], key=len)


def _like(tensor: torch.Tensor) -> torch.Tensor:
    return torch.empty(tensor.shape, dtype=tensor.dtype, device="meta")
