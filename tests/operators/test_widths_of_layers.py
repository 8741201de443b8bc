"""What ML501 says of the widths of torch's layers is what torch says when it runs them."""

from __future__ import annotations

import os
from inspect import signature
from typing import Any

import pytest

if "CI" not in os.environ:
    pytest.importorskip("torch")

import torch
from modellint_rules.ml501_width_mismatch.table import DIVIDED, POOLS, SECOND, SIZED
from torch import nn

#: What constructors need besides widths.
_MORE = {"num_heads": 2, "nhead": 2, "kernel_size": 1, "num_embeddings": 9, "num_groups": 2, "groups": 3, "padding": 1}


def _made(name: str, sizes: dict[str, int]) -> nn.Module:
    needed = signature(getattr(nn, name)).parameters
    more = {key: _MORE[key] for key, p in needed.items() if key in _MORE and (p.default is p.empty or key in sizes)}
    if name in ("RNN", "LSTM", "GRU"):
        sizes = {"hidden_size": 5, **sizes}
    made: nn.Module = getattr(nn, name)(**{**more, **sizes}).eval()
    return made


def _input(name: str, width: int) -> torch.Tensor:
    sized = SIZED[name]
    if sized.takes is None:
        return torch.zeros(2, 3, dtype=torch.long)
    if sized.axis == SECOND:
        return torch.zeros(2, width, 3)
    return torch.zeros(2, *([3] if sized.axis == -1 else []), width, *([3] * (-1 - sized.axis)))


def _run(layer: nn.Module, x: torch.Tensor) -> torch.Tensor:
    arguments = (x, x, x) if isinstance(layer, nn.MultiheadAttention) else (x, x)
    is_pair = isinstance(layer, nn.MultiheadAttention | nn.TransformerDecoderLayer)
    result: Any = layer(*arguments) if is_pair else layer(x)
    return result[0] if isinstance(result, tuple) else result


@pytest.mark.parametrize("name", SIZED)
def test_a_layer_takes_and_gives_the_widths_that_it_is_said_to(name: str) -> None:
    sized = SIZED[name]
    ends = {sized.takes: 4, sized.gives: 6}
    layer = _made(name, {argument[1]: size for argument, size in ends.items() if argument is not None})
    result = _run(layer, _input(name, 4))
    place = 1 if sized.axis == SECOND else sized.axis
    assert result.shape[place] == (4 if sized.gives is None else 6)
    assert isinstance(layer(_input(name, 4)), tuple) == sized.is_tuple if name in ("RNN", "LSTM", "GRU") else True
    if sized.dimensions is not None:
        assert result.dim() == sized.dimensions


@pytest.mark.parametrize("name", [name for name, sized in SIZED.items() if sized.takes is not None])
def test_a_layer_refuses_another_width(name: str) -> None:
    sized = SIZED[name]
    assert sized.takes is not None
    ends = {sized.takes: 4, sized.gives: 6}
    layer = _made(name, {argument[1]: size for argument, size in ends.items() if argument is not None})
    with pytest.raises((RuntimeError, AssertionError)):
        _run(layer, _input(name, 8))


@pytest.mark.parametrize("name", DIVIDED)
def test_a_constructor_refuses_what_does_not_divide_the_width(name: str) -> None:
    names = list(signature(getattr(nn, name)).parameters)
    for width, parts in DIVIDED[name]:
        assert names[width[0]] == width[1]
        assert names[parts[0]] == parts[1]
        sizes = {argument[1]: 6 for pair in DIVIDED[name] for argument in pair}
        with pytest.raises((ValueError, AssertionError)):
            _made(name, {**sizes, parts[1]: 3, width[1]: 7})


@pytest.mark.parametrize("name", POOLS)
def test_a_pool_keeps_the_channels(name: str) -> None:
    grid = POOLS[name]
    first = next((word for word in ("output_size", "padding") if word in signature(getattr(nn, name)).parameters), "")
    if name.startswith("LP"):
        pool = getattr(nn, name)(2.0, kernel_size=2)
    else:
        first = "kernel_size" if "kernel_size" in signature(getattr(nn, name)).parameters else first
        pool = getattr(nn, name)(**{first: 2})
    result = pool(torch.zeros(2, 5, *([8] * grid)))
    assert result.shape[:2] == (2, 5)
    assert result.dim() == grid + 2
    if first == "output_size":
        assert result.shape[2:] == (2,) * grid
