"""Calls of each operator whose shape the table tells."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from shape_calls import Sample, T, b, bad, bad_layer, i, layer, odd, odd_layer, s, t

if TYPE_CHECKING:
    from collections.abc import Iterable

#: By the last part of an operator's name, or by the full name where that is another.
SAMPLES: dict[str, list[Sample]] = {}


def rows(names: str, *samples: Sample) -> None:
    for name in names.split():
        SAMPLES.setdefault(name, []).extend(samples)


def rows_of(home: str, names: str, *samples: Sample) -> None:
    rows(" ".join(f"{home}.{name}" for name in names.split()), *samples)


F, NN = "torch.nn.functional", "torch.nn"
x23, x234 = t(2, 3), t(2, 3, 4)
UNARY = (s(t(2, 3)), s(t()), s(t(4, 1, 2)))

# -- elementwise -----------------------------------------------------------------------------------------------------

rows(
    "clone detach neg negative nan_to_num abs sign square exp log log1p log2 log10 sin cos tan sqrt rsqrt reciprocal "
    "sigmoid tanh relu floor trunc round ceil isnan isinf isfinite argsort logical_not",
    *UNARY,
)
rows("bitwise_not", s(b(2, 3)), s(i(4)))
rows("tril triu", s(t(2, 3)), s(t(4, 2, 2), 1), s(t(4, 2, 2), diagonal=-1), odd(t(3)))
rows("cumsum cumprod", s(t(2, 3), 0), s(t(2, 3), -1), s(t(2, 3), dim=1), s(t(), 0), odd(t(2, 3), 2))
rows("flip", s(t(2, 3), (0,)), s(t(2, 3), dims=(-1,)))
rows("Tensor.flip", s(t(2, 3), 0, 1))
rows("fliplr flipud", s(t(2, 3)), s(t(2, 3, 4)))
rows("roll", s(t(2, 3), 1), s(t(2, 3), (1, 2), (0, 1)), s(t(2, 3), shifts=1, dims=0))
rows("argsort", s(t(2, 3), 0), s(t(2, 3), dim=-1, descending=True))
rows("softmax log_softmax", s(t(2, 3), 0), s(t(2, 3), dim=-1), s(t(), 0))
rows("index_fill", s(t(2, 3), 1, i(2), 7.0))
rows("scatter", s(t(2, 3), 1, i(2, 1), t(2, 1)), s(t(2, 3), 1, i(2, 1), 1.0))
rows("scatter_add", s(t(2, 3), 1, i(2, 1), t(2, 1)), s(t(2, 3), dim=0, index=i(1, 3), src=t(1, 3)))
rows("index_add index_copy", s(t(2, 3), 1, i(1), t(2, 1)))
rows("masked_scatter", s(t(2, 3), b(2, 3), t(6)))

BINARY = (
    s(t(2, 3), t(2, 3)),
    s(t(2, 3), t(3)),
    s(t(3), t(2, 1)),
    s(t(4, 1, 5), t(2, 1)),
    s(t(), t(2)),
    s(t(2), t()),
    s(t(2, 3), other=t(1, 3)),
    bad(t(2, 3), t(2)),
    bad(t(2, 3), t(4, 1, 5)),
)
WITH_NUMBER = (s(t(2, 3), 2), s(t(), 2.0))
rows(
    "add sub subtract mul multiply floor_divide remainder fmod div divide true_divide lt less le less_equal gt greater "
    "ge greater_equal eq ne not_equal",
    *BINARY,
    *WITH_NUMBER,
)
rows("minimum maximum fmin fmax atan2 hypot logical_and logical_or logical_xor", *BINARY)
rows("add sub", s(t(2, 3), t(3), alpha=2))
rows("pow", *(one for one in BINARY if not one.names), *WITH_NUMBER, s(t(2, 3), exponent=t(3)))
rows("torch.pow", s(2.0, t(2, 3)))
rows("bitwise_and bitwise_or bitwise_xor", s(b(2, 3), b(3)), s(i(2, 1), i(3)), s(i(2, 1), 3), bad(i(2), i(3)))
rows("clamp clip", s(t(2, 3), 0, 1), s(t(2, 3), min=0.0), s(t(2, 3), max=t(3)), s(t(2, 3), t(2, 1), t(1, 3)))
rows("clamp", bad(t(2, 3), t(2)))
rows("clamp_max clamp_min", s(t(2, 3), 1), s(t(3), t(2, 1)))
rows("masked_fill", s(t(2, 3), b(2, 3), 0.0), s(t(2, 3), b(3), value=1.0), s(t(2, 3), mask=b(2, 1), value=1.0))
rows("masked_fill", bad(t(2, 3), b(2), 1.0), s(t(3), b(2, 1), 1.0), s(t(2, 3), b(2, 3), t()))
rows("lerp", s(t(2, 3), t(3), 0.5), s(t(2, 3), t(3), t(2, 1)), bad(t(2, 3), t(2), 0.5))
rows("addcmul addcdiv", s(t(2, 3), t(3), t(2, 1)), s(t(2, 3), t(3), t(2, 1), value=2), bad(t(2, 3), t(2), t(3)))
rows("torch.where", s(b(2, 1), t(3), t(2, 3)), s(b(2, 1), t(3), 0.0), s(b(2, 1), 1.0, 0.0), bad(b(2, 1), t(3), t(4)))
rows("Tensor.where", s(t(2, 3), b(3), t(2, 1)), s(t(2, 3), b(4, 2, 1), 0.0), bad(t(2, 3), b(2), t(3)))

# -- reductions ------------------------------------------------------------------------------------------------------

x345 = t(3, 4, 5)
ONE_DIM = (
    s(t(2, 3), 0), s(t(2, 3), -1), s(t(2, 3), dim=1), s(t(2, 3, 4), 1, True), s(t(2, 3, 4), dim=-2, keepdim=True),
    s(t(2, 3, 4), 1, keepdim=False), s(t(), 0), s(t(), -1), bad(t(2, 3), 2), bad(t(2, 3), dim=-3), bad(t(), 1),
)  # fmt: skip
DIMS = (
    s(t(2, 3, 4), (0, 2)), s(t(2, 3, 4), dim=(-1, -2), keepdim=True), s(t(2, 3, 4), [1]), s(t(2, 3, 4), (1,), True),
    bad(t(2, 3, 4), (0, 3)), bad(t(2, 3, 4), (0, 0)), bad(t(2, 3, 4), (0, -3)),
)  # fmt: skip
ALL = (s(t(2, 3)), s(t()))
rows(
    "sum mean amax amin all any nansum nanmean logsumexp argmax argmin prod max min median mode",
    *(one for one in ONE_DIM),
)
rows("sum mean amax amin all any nansum nanmean logsumexp", *DIMS)
rows("count_nonzero", s(t(2, 3), 1), s(t(2, 3), dim=-1), s(t(2, 3, 4), (0, 2)))
rows(
    "sum mean all any nansum nanmean prod max min median argmax argmin count_nonzero amax amin std var "
    "torch.norm Tensor.norm",
    *ALL,
)
rows("sum mean", s(t(2, 3), dim=None), s(t(2, 3), dim=None, keepdim=True), s(t(2, 3), None, True), s(t(2, 3), ()))
rows("sum", s(t(2, 3), dtype=None), s(t(2, 3), (), keepdim=True))
rows("argmax argmin", s(t(2, 3), None, True), s(t(2, 3), keepdim=True), s(t(2, 3), dim=None))
rows("max min", s(t(2, 3), t(3)), s(t(2, 3), other=t(4, 1, 3)), bad(t(2, 3), t(2)))
rows("all any", s(b(2, 3), 1))
rows("std var", s(t(2, 3), 0), s(t(2, 3), dim=-1), s(t(2, 3, 4), (0, 2)), s(t(2, 3, 4), dim=(1, 2), keepdim=True))
rows("std var", s(t(2, 3), False), s(t(2, 3), 1, False), s(t(2, 3), 1, False, True), s(t(2, 3), 1, unbiased=False))
rows("std var", s(t(2, 3, 4), (0, 1), True, True), s(t(2, 3), 1, correction=0, keepdim=True), bad(t(2, 3), 2))
rows("std var", s(t(2, 3), keepdim=True, dim=None), s(t(2, 3), unbiased=True))
rows(
    "torch.norm Tensor.norm", s(t(2, 3), 2), s(t(2, 3), dim=1), s(t(2, 3), 2, 1), s(t(2, 3), p=1, dim=-1, keepdim=True)
)
rows(
    "torch.norm Tensor.norm",
    s(t(2, 3), 2, 1, True),
    s(t(2, 3, 4), "fro", (0, 1)),
    s(t(2, 3, 4), p=2, dim=(1, 2), keepdim=True),
)
rows("torch.norm Tensor.norm", bad(t(2, 3), 2, 2))
rows("kthvalue", s(t(2, 3), 1), s(t(2, 3), 1, 0), s(t(2, 3), k=1, dim=0, keepdim=True), s(t(2, 3), 1, 0, True))
rows("topk", s(t(2, 3), 1), s(t(2, 3), 2, 0), s(t(2, 3), k=2, dim=1), s(t(2, 3), 2, dim=-1, largest=False))
rows("topk", bad(t(2, 3), 4), bad(t(2, 3), 1, 2), s(t(), 1), s(t(), 1, 0))
rows("sort", s(t(2, 3)), s(t(2, 3), 0), s(t(2, 3), dim=-1, descending=True), s(t(2, 3), 1, True), s(t()))

# -- order and other dimensions --------------------------------------------------------------------------------------

rows("transpose swapaxes swapdims", s(t(2, 3, 4), 0, 1), s(t(2, 3, 4), -1, 0), s(t(2, 3, 4), 1, -1), s(t(), 0, -1))
rows("transpose swapaxes swapdims", s(t(2, 3, 4), 1, 1), bad(t(2, 3), 1, 2), bad(t(2, 3), -3, 0), bad(t(), 1, 0))
rows("transpose swapdims", s(t(2, 3, 4), dim0=0, dim1=1))
rows("swapaxes", s(t(2, 3, 4), axis0=0, axis1=1))
rows("t", s(t(2, 3)), s(t(2)), s(t()), bad(t(2, 3, 4)))
rows("permute", s(t(2, 3, 4), (2, 0, 1)), s(t(2, 3, 4), (-1, 0, 1)), s(t(2, 3, 4), dims=(1, 0, 2)), s(t(), ()))
rows("permute", bad(t(2, 3, 4), (0, 1)), bad(t(2, 3, 4), (0, 0, 1)), bad(t(2, 3), (0, 1, 2)), bad(t(2, 3), (0, -2)))
rows("Tensor.permute", s(t(2, 3, 4), 2, 0, 1), s(t(2, 3, 4), 0, -1, 1), bad(t(2, 3, 4), 0, 1), bad(t(2, 3, 4), 0, 1, 3))
rows("movedim moveaxis", s(t(2, 3, 4), 0, 2), s(t(2, 3, 4), 0, -1), s(t(2, 3, 4), (0, 1), (1, 2)))
rows("movedim moveaxis", s(t(2, 3, 4), source=-1, destination=1), s(t(2, 3, 4, 5), (0, 1), (-1, -2)))
rows("movedim moveaxis", bad(t(2, 3), 0, 2), bad(t(2, 3, 4), (0, 0), (1, 2)), bad(t(2, 3, 4), (0, 1), (2,)))
VIEWS = (
    s(t(2, 6), (3, 4)), s(t(2, 6), (3, -1)), s(t(2, 6), (-1,)), s(t(2, 6), [2, 3, 2]), s(t(2, 6), (2, -1, 3)),
    s(t(), (1, 1)), s(t(1), ()), s(t(0, 3), (3, 0)), s(t(2, 6), (12, -1)),
    bad(t(2, 6), (5, 2)), bad(t(2, 6), (5, -1)), bad(t(2, 6), (-1, -1)), bad(t(2, 6), (-1, 24)),
    bad(t(2, 6), (2, -2)),
)  # fmt: skip
rows("reshape Tensor.view", *VIEWS)
rows("Tensor.view Tensor.reshape", s(t(2, 6), 3, 4), s(t(2, 6), -1), s(t(2, 6), 3, -1), bad(t(2, 6), 5, 2))
rows("torch.reshape", s(t(2, 6), shape=(3, 4)))
rows("Tensor.reshape", s(t(2, 6), shape=(3, 4)))
rows("Tensor.view", s(t(2, 6), size=(3, 4)))
rows("unflatten", s(t(2, 6), 1, (2, 3)), s(t(2, 6), -1, (2, -1)), s(t(2, 6), dim=0, sizes=(1, 2)), s(t(6), 0, [3, 2]))
rows("unflatten", bad(t(2, 6), 1, (2, 2)), bad(t(2, 6), 2, (2, 3)), bad(t(2, 6), 1, (4, -1)))
rows("flatten", s(t(2, 3, 4)), s(t(2, 3, 4), 1), s(t(2, 3, 4), 0, 1), s(t(2, 3, 4), start_dim=-2), s(t(2), 0))
rows("flatten", s(t(2, 3, 4), end_dim=1), s(t()), s(t(2, 3, 4), 1, 1), s(t(2, 3, 4), -2, -1), s(t(2, 3, 4, 5), 1, -2))
rows("flatten", bad(t(2, 3), 2), bad(t(2, 3), 1, 0), bad(t(2), 1), bad(t(2, 3), 0, 2), bad(t(), 1))
rows("ravel", *UNARY)
rows("unsqueeze", s(t(2, 3), 0), s(t(2, 3), 1), s(t(2, 3), 2), s(t(2, 3), -1), s(t(2, 3), -3), s(t(), 0), s(t(), -1))
rows("unsqueeze", s(t(2, 3), dim=1), bad(t(2, 3), 3), bad(t(2, 3), -4), bad(t(), 1))
rows("squeeze", s(t(2, 1, 3, 1)), s(t(2, 1), 1), s(t(2, 1), -1), s(t(2, 1), 0), s(t(2, 1), dim=1), s(t()), s(t(), 0))
rows(
    "squeeze",
    s(t(2, 1, 1), (1, 2)),
    s(t(1, 2, 1), (2, 0)),
    s(t(2, 1, 1), (0, 1)),
    s(t(1, 2, 1), dim=(-1, 0)),
    bad(t(2, 1), 2),
    s(t(1), -1),
)
rows("select", s(t(2, 3), 0, 1), s(t(2, 3), -1, 2), s(t(2, 3), dim=1, index=0), bad(t(2, 3), 2, 0), bad(t(), 0, 0))
rows("narrow", s(t(2, 5), 1, 0, 3), s(t(2, 5), -1, 1, 2), s(t(2, 5), dim=1, start=1, length=4), bad(t(2, 5), 1, 0, 6))
rows("narrow", bad(t(2, 5), 2, 0, 1))
rows("split", s(t(6, 2), 2), s(t(5, 2), 2), s(t(5, 2), 2, 1), s(t(5, 2), [2, 3]), s(t(2, 5), (1, 4), -1), s(t(2, 5), 9))
rows("split", s(t(2, 6), 3, dim=1), s(t(2, 6), [1, 2, 3], dim=-1), s(t(2, 6), split_size_or_sections=2).function)
rows("split", bad(t(5, 2), [2, 2]), bad(t(5, 2), 2, 2))
rows(
    "chunk",
    s(t(6, 2), 3),
    s(t(5, 2), 2),
    s(t(5, 2), 4),
    s(t(2, 6), 3, 1),
    s(t(2, 6), chunks=2, dim=-1),
    bad(t(2), 2, 1),
)
rows("chunk", s(t(2, 3), 5, 0), bad(t(), 2))
rows("tensor_split", s(t(7, 2), 3), s(t(7, 2), (2, 5)), s(t(2, 7), 2, 1), s(t(2, 7), [3], dim=-1), s(t(2, 7), 9, -1))
rows("tensor_split", s(t(2, 7), indices=(1, 2), dim=1), s(t(2, 7), sections=2, dim=1), bad(t(2, 7), 2, 2))
rows("unbind", s(t(2, 3)), s(t(2, 3), 1), s(t(2, 3), dim=-1), bad(t(2, 3), 2), bad(t()))
rows("index_select", s(t(2, 3), 1, i(5)), s(t(2, 3), dim=0, index=i(1)), s(t(2, 3), -1, i()), bad(t(2, 3), 1, i(2, 2)))
rows("index_select", bad(t(2, 3), 2, i(1)), s(t(3), 0, i(2)))
rows(
    "gather", s(t(2, 3), 1, i(2, 5)), s(t(2, 3), dim=0, index=i(1, 3)), bad(t(2, 3), 1, i(2)), odd(t(2, 3), 0, i(1, 4))
)

# -- joins -----------------------------------------------------------------------------------------------------------

rows("cat concat concatenate", s([t(2, 3), t(4, 3)]), s([t(2, 3), t(2, 1)], 1), s([t(2, 3), t(2, 3)], dim=-1))
rows("cat concat concatenate", s((t(2), t(3), t(1)), 0), s([t(0), t(2, 3)], 1), s([t(2, 3), t(0)], 0), s([t(2)]))
rows(
    "cat concat concatenate", bad([t(2, 3), t(2, 4)]), bad([t(2, 3), t(2)]), bad([t(2, 3), t(2, 3)], 2), bad([t(), t()])
)
rows("cat", s(tensors=[t(2, 3), t(4, 3)], dim=0))
rows("stack", s([t(2, 3), t(2, 3)]), s([t(2, 3), t(2, 3)], 1), s((t(2, 3),) * 3, dim=-1), s([t(), t()]), s([t(2)], 1))
rows("stack", s([t(2, 3)] * 2, dim=2), bad([t(2, 3), t(2, 4)]), bad([t(2, 3), t(2, 3)], 3), bad([t(2), t()]))

# -- products --------------------------------------------------------------------------------------------------------

rows(
    "matmul",
    s(t(2, 3), t(3, 4)), s(t(3), t(3)), s(t(3), t(3, 4)), s(t(2, 3), t(3)), s(t(5, 2, 3), t(3, 4)),
    s(t(5, 2, 3), t(5, 3, 4)), s(t(5, 2, 3), t(1, 3, 4)), s(t(6, 1, 2, 3), t(5, 3, 4)), s(t(2, 3), t(5, 3, 4)),
    s(t(3), t(5, 3, 4)), s(t(5, 2, 3), t(3)), s(t(2, 3), other=t(3, 1)),
    bad(t(2, 3), t(2, 3)), bad(t(2, 3), t(2)), bad(t(3), t(4)), bad(t(5, 2, 3), t(4, 3, 2)), bad(t(), t(3)),
    bad(t(3), t()), bad(t(2, 2, 3), t(3, 3, 1)), bad(t(2), t(3, 2)),
)  # fmt: skip
rows(
    "mm",
    s(t(2, 3), t(3, 4)),
    s(t(2, 3), mat2=t(3, 4)),
    bad(t(2, 3), t(2, 3)),
    bad(t(5, 2, 3), t(3, 4)),
    bad(t(3), t(3)),
)
rows(
    "bmm", s(t(5, 2, 3), t(5, 3, 4)), s(t(5, 2, 3), mat2=t(5, 3, 4)), bad(t(5, 2, 3), t(1, 3, 4)), bad(t(2, 3), t(3, 2))
)
rows("bmm", bad(t(5, 2, 3), t(5, 2, 3)))
rows("outer", s(t(2), t(3)), s(t(2), vec2=t(3)), bad(t(2, 3), t(3)))
rows(
    "einsum",
    s("ij,jk->ik", t(2, 3), t(3, 4)), s("ij,jk", t(2, 3), t(3, 4)), s("bhid,bhjd->bhij", t(2, 3, 4, 5), t(2, 3, 6, 5)),
    s("ii->i", t(3, 3)), s("ii", t(3, 3)), s("i,j->ij", t(2), t(3)), s("ij->", t(2, 3)),
    s("b i d -> d b i", t(2, 3, 4)),
    s("...ij,...jk->...ik", t(5, 2, 3), t(5, 3, 4)), s("...ij,jk->...ik", t(6, 5, 2, 3), t(3, 4)),
    s("...d,d->...", t(4, 2, 3), t(3)), s("...i", t(4, 2)), s("ij,ij->ij", t(2, 3), t(1, 3)), s("ba", t(2, 3)),
    s("...a,...b->...ab", t(5, 1, 2), t(4, 3)), s("ij,jk->ik", [t(2, 3), t(3, 4)]), s("a...b->b...a", t(2, 3, 4)),
    s("Ab,bc->Ac", t(2, 3), t(3, 4)), s("Ba,ac", t(2, 3), t(3, 4)),
    bad("ij,jk->ik", t(2, 3), t(4, 4)), bad("ijk->ij", t(2, 3)), bad("ij->ik", t(2, 3)), odd("ij,jk->ik", t(2, 3)),
    bad("...ij,...jk->...ik", t(5, 2, 3), t(4, 3, 4)), bad("ii->i", t(3, 4)), bad("ij->ijj", t(3, 4)),
)  # fmt: skip
rows(f"{F}.linear", s(t(2, 3), t(4, 3)), s(t(5, 2, 3), t(4, 3), t(4)), s(t(3), t(4, 3)), s(t(2, 3), weight=t(4, 3)))
rows(f"{F}.linear", s(t(5, 2, 3), t(3)), bad(t(2, 3), t(3, 4)), bad(t(2, 3), t(4, 3), t(3)))

# -- larger and smaller ----------------------------------------------------------------------------------------------

rows(
    "broadcast_to",
    s(t(3), (2, 3)),
    s(t(2, 1), (4, 2, 3)),
    s(t(2, 1), size=(2, 5)),
    s(t(2, 1), (-1, 3)),
    bad(t(2), (3,)),
)
rows("broadcast_to", bad(t(2, 3), (3,)), bad(t(3), (-1, 3)))
rows("Tensor.expand", s(t(2, 1), 2, 3), s(t(2, 1), -1, 3), s(t(2, 1), (4, 2, 3)), s(t(2, 1), size=(2, 5)), s(t(), 3))
rows("Tensor.expand", s(t(3), 2, -1), bad(t(2, 3), 3), bad(t(2), 3), bad(t(3), -1, 3), bad(t(2, 3), -1, 6))
rows("tile", s(t(2, 3), (2,)), s(t(2, 3), (2, 2)), s(t(2, 3), dims=(4, 1, 2)), s(t(), (2,)))
rows("Tensor.tile", s(t(2, 3), 2), s(t(2, 3), 2, 2), s(t(2, 3), 4, 1, 2))
rows("Tensor.repeat", s(t(2, 3), 2, 2), s(t(2, 3), (4, 1, 2)), s(t(2), 1, 1), s(t(2), repeats=(3, 1)), bad(t(2, 3), 2))
rows("Tensor.view_as Tensor.reshape_as", s(t(2, 6), t(3, 4)), s(t(2, 6), other=t(12)), bad(t(2, 6), t(5)))
rows("Tensor.expand_as", s(t(3), t(2, 3)), s(t(2, 1), other=t(4, 2, 3)), bad(t(2), t(3)), bad(t(2, 3), t(3)))

# -- new tensors -----------------------------------------------------------------------------------------------------

rows("rand_like randn_like zeros_like ones_like empty_like", s(t(2, 3)), s(t()))
rows("full_like randint_like", s(t(2, 3), 5))
MADE = (s(2, 3), s((2, 3)), s([4]), s(size=(2, 3)), s(()), s(5), s(2, 3, dtype=None))
rows("rand randn zeros ones empty", *MADE)
rows("full", s((2, 3), 7), s(size=(2,), fill_value=1.0), s((), 1.0), s([2, 1], True))
rows("randint", s(5, (2, 3)), s(2, 5, (2, 3)), s(5, size=(2,)), s(high=5, size=(2,)), s(low=0, high=5, size=(2, 2)))
rows("arange", s(5), s(2, 5), s(0, 10, 2), s(0, 9, 2), s(1, 10, step=3), s(end=5), s(start=1, end=4), s(0, 7, step=7))
rows(
    "arange",
    s(5, 0, -2).opened,
    s(5.0).opened,
    s(0, 1, 0.25).opened,
    s(0, 5, step=2),
    s(0),
    bad(5, 2),
    s(5, dtype=None),
)
rows("linspace logspace", s(0, 1, 5), s(0, 1, steps=7), s(start=0, end=1, steps=3))
rows("randperm", s(5), s(n=4))
rows("eye", s(3), s(3, 4), s(n=2), s(2, m=5))
rows(
    "Tensor.new_zeros Tensor.new_ones Tensor.new_empty", s(t(5), 2, 3), s(t(5), (2, 3)), s(t(5), size=(4,)), s(t(5), ())
)
rows("Tensor.new_full", s(t(5), (2, 3), 7.0), s(t(5), size=(4,), fill_value=1.0))
rows("tensor as_tensor", s(5.0).opened, s([1, 2]).opened)

# -- methods ---------------------------------------------------------------------------------------------------------

rows("contiguous cpu float double half bfloat16 long int short char byte bool requires_grad_ data", *UNARY)
rows("Tensor.type_as Tensor.to", s(t(2, 3), i(4)))
rows("Tensor.to Tensor.type", s(t(2, 3), torch.float64))
rows("Tensor.type", s(t(2, 3)), s(t(2, 3), dtype=torch.float64))
rows("copy_", s(t(2, 3), t(3)), s(t(2, 3), t()), bad(t(2, 3), t(2)), bad(t(3), t(2, 3)))
rows("normal_ uniform_ random_ exponential_ zero_ bernoulli_", *UNARY)
rows("fill_", s(t(2, 3), 1.0))
rows("masked_scatter_", s(t(2, 3), b(2, 3), t(6)))
rows("scatter_", s(t(2, 3), 1, i(2, 1), 1.0))
rows("index_add_ index_copy_", s(t(2, 3), 1, i(1), t(2, 1)))
rows("index_put_", s(t(2, 3), (i(1),), t(3)))

# -- functions of torch.nn.functional --------------------------------------------------------------------------------

rows(
    "relu6 hardtanh gelu silu mish elu selu celu leaky_relu softplus softsign logsigmoid hardswish hardsigmoid", *UNARY
)
rows("dropout alpha_dropout feature_alpha_dropout", s(t(2, 3)), s(t(2, 3), 0.5), s(t(2, 3), p=0.5, training=False))
rows("dropout1d", s(t(2, 3, 4)), s(t(2, 3)))
rows("dropout2d", s(t(2, 3, 4, 5)), s(t(2, 3, 4)))
rows("dropout3d", s(t(2, 3, 4, 5, 6)), s(t(2, 3, 4, 5)))
rows("prelu", s(t(2, 3), t(1)), s(t(2, 3), t(3)), s(t(4), weight=t(1)))
rows("gumbel_softmax normalize", s(t(2, 3)), s(t(2, 3), dim=0))
rows("batch_norm", s(t(2, 3), t(3), t(3)), s(t(2, 3, 4), None, None, training=True))
rows("group_norm", s(t(2, 6, 4), 3), s(t(2, 6, 4, 4), num_groups=2))
rows("instance_norm", s(t(2, 3, 4)), s(t(2, 3, 4, 5)))
rows(
    "layer_norm rms_norm", s(t(2, 3), (3,)), s(t(2, 3, 4), (3, 4)), s(t(2, 3), normalized_shape=[3]), bad(t(2, 3), (2,))
)
rows("layer_norm rms_norm", bad(t(3), (2, 3)))
rows("glu", s(t(2, 6)), s(t(4, 3), 0), s(t(4, 3), dim=-2), bad(t(2, 3)), bad(t(2, 6), 2))
CONVOLUTIONS = {
    1: (
        s(t(2, 4, 9), t(6, 4, 3)), s(t(4, 9), t(6, 4, 3)), s(t(2, 4, 9), t(6, 4, 3), t(6), 2, 1),
        s(t(2, 4, 9), t(6, 4, 3), None, (2,), (1,), (2,)), s(t(2, 4, 9), t(6, 2, 3), groups=2),
        s(t(2, 4, 9), weight=t(6, 4, 3), stride=3, padding=2), s(t(2, 4, 9), t(6, 4, 3), padding="same"),
        s(t(2, 4, 9), t(6, 4, 4), padding="same", dilation=2), s(t(2, 4, 9), t(6, 4, 3), padding="valid"),
        s(t(2, 4, 9), t(4, 1, 3), None, 1, 0, 1, 4),
        bad(t(2, 3, 9), t(6, 4, 3)), bad(t(2, 2, 4, 9), t(6, 4, 3)), bad(t(2, 4, 2), t(6, 4, 3)), bad(t(9), t(6, 4, 3)),
        bad(t(2, 4, 9), t(6, 4, 3, 3)), bad(t(2, 4, 9), t(6, 4, 3), padding="same", stride=2),
        bad(t(2, 4, 9), t(6, 4, 3), t(5)),
    ),
    2: (
        s(t(2, 4, 9, 8), t(6, 4, 3, 2)), s(t(4, 9, 8), t(6, 4, 3, 3)), s(t(2, 4, 9, 8), t(6, 4, 3, 3), t(6), 2, 1),
        s(t(2, 4, 9, 8), t(6, 4, 3, 3), None, (2, 1), (1, 0), (2, 1)), s(t(2, 4, 9, 8), t(6, 2, 3, 3), groups=2),
        s(t(2, 4, 9, 8), t(6, 4, 3, 3), padding="same"), bad(t(2, 3, 9, 8), t(6, 4, 3, 3)), bad(t(9, 8), t(6, 4, 3, 3)),
    ),
    3: (
        s(t(2, 4, 5, 6, 7), t(6, 4, 3, 2, 1)), s(t(4, 5, 6, 7), t(6, 4, 3, 2, 1), stride=(1, 2, 3)),
        bad(t(2, 3, 5, 6, 7), t(6, 4, 3, 2, 1)),
    ),
}  # fmt: skip
for _count, _samples in CONVOLUTIONS.items():
    rows(f"conv{_count}d", *_samples)
rows(
    "scaled_dot_product_attention",
    s(t(2, 3, 4, 5), t(2, 3, 6, 5), t(2, 3, 6, 7)), s(t(4, 5), t(6, 5), t(6, 7)),
    s(t(3, 4, 5), t(3, 6, 5), value=t(3, 6, 7)),
    s(t(2, 3, 4, 5), key=t(2, 3, 6, 5), value=t(2, 3, 6, 5)),
    s(t(2, 3, 4, 5), t(2, 3, 6, 5), t(2, 3, 6, 7), is_causal=True),
    s(t(2, 3, 4, 5), t(2, 3, 6, 5), t(2, 3, 6, 7), b(4, 6)), bad(t(2, 3, 4, 5), t(2, 3, 6, 4), t(2, 3, 6, 5)),
    odd(t(2, 3, 4, 5), t(4, 3, 6, 5), t(4, 3, 6, 7)),
)  # fmt: skip
rows(f"{F}.embedding", s(i(2, 3), t(9, 5)), s(i(), t(9, 5)), s(i(2), weight=t(9, 5)), bad(i(2, 3), t(9)))
rows("one_hot", s(i(2, 3), 5), s(i(2), num_classes=4), s(i(2)).opened, s(i(), 3), s(i(2, 3), -1).opened)
RESIZED = (
    s(t(2, 3, 4, 5), 8), s(t(2, 3, 4, 5), (8, 9)), s(t(2, 3, 4, 5), size=(8, 9), mode="bilinear"), s(t(2, 3, 4), 7),
    s(t(2, 3, 4, 5), scale_factor=2), s(t(2, 3, 4, 5), scale_factor=2.0).opened, s(t(2, 3, 4, 5), None, 3),
    s(t(2, 3, 4, 5), scale_factor=(2, 3)), s(t(2, 3, 4, 5), scale_factor=0.5).opened,
    s(t(2, 3, 4, 5, 6), scale_factor=2),
    s(t(2, 3, 4), size=[6], mode="linear"), bad(t(3, 4), 8), bad(t(2, 3, 4, 5), (8, 9, 10)), odd(t(2, 3, 4, 5)),
)  # fmt: skip
rows("interpolate", *RESIZED)
PADDED = (
    s(t(2, 3), (1, 2)), s(t(2, 3), (1, 2, 3, 4)), s(t(2, 3), pad=(1, 0)), s(t(2, 3), (-1, 1)),
    s(t(2, 3, 4), (0, 0, 0, 1)),
    s(t(2, 3), [1, 1], "constant", 7.0), s(t(2, 3, 4), (1, 1), mode="reflect"), s(t(2, 3), ()), s(t(2, 3), (0, -1)),
    bad(t(2), (1, 1, 1, 1)), bad(t(2, 3), (1, 2, 3)), bad(t(2, 3), (-2, -2)),
)  # fmt: skip
rows(f"{F}.pad", *PADDED)
for _n in (1, 2, 3):
    _x, _y = t(2, 4, *(9, 8, 7)[:_n]), t(4, *(9, 8, 7)[:_n])
    _wide = t(2, 3, 4, *(9, 8, 7)[:_n])
    _flat = t(*(9, 8, 7)[:_n])
    _each = (3, 2, 1)[:_n]
    rows(
        f"max_pool{_n}d avg_pool{_n}d",
        s(_x, 2),
        s(_y, 3),
        s(_x, 3, 2),
        s(_x, 3, 2, 1),
        s(_x, _each),
        s(_x, 3, stride=1),
    )
    rows(
        f"max_pool{_n}d avg_pool{_n}d",
        s(_x, kernel_size=2, stride=2),
        s(_x, 2, ceil_mode=True),
        s(_x, 3, 2, 1, ceil_mode=True),
    )
    rows(
        f"max_pool{_n}d avg_pool{_n}d",
        s(_x, 2, None),
        s(_x, _each, _each, (1,) * _n if _n == 1 else (1, *(0,) * (_n - 1))),
    )
    rows(f"max_pool{_n}d avg_pool{_n}d", bad(_flat, 2), bad(_x, 10), bad(_wide, 2), s(_x, 2, 3, 1, ceil_mode=True))
    rows(
        f"max_pool{_n}d",
        s(_x, 3, 1, 1, 2),
        s(_x, 3, dilation=2),
        s(_x, 2, 2, 0, 1, True),
        s(_x, 2, return_indices=True),
    )
    rows(f"avg_pool{_n}d", s(_x, 2, 2, 0, True))
    rows(f"adaptive_avg_pool{_n}d adaptive_max_pool{_n}d", s(_x, 5), s(_y, 1), s(_x, output_size=3), odd(_flat, 2))
    rows(f"adaptive_avg_pool{_n}d adaptive_max_pool{_n}d", s(_x, _each), odd(_wide, 2))
    rows(f"adaptive_max_pool{_n}d", s(_x, 5, return_indices=True), s(_x, 5, True))
    for _kind in ("Avg", "Max"):
        _name = f"Adaptive{_kind}Pool{_n}d"
        rows(_name, layer(5)(_x), layer(_each)(_y), layer(output_size=1)(_x), odd_layer(2)(_flat), odd_layer(2)(_wide))
        if _n > 1:
            rows(_name, layer((None, *_each[1:]))(_x).opened)
    rows(f"AdaptiveMaxPool{_n}d", layer(5, return_indices=True)(_x), bad_layer(2)(_flat), bad_layer(2)(_wide))
    for _kind in ("Avg", "Max"):
        rows(f"{_kind}Pool{_n}d", layer(2)(_x), layer(3)(_y), layer(3, 2)(_x), layer(3, 2, 1)(_x), layer(_each)(_x))
        rows(f"{_kind}Pool{_n}d", layer(3, stride=1, padding=1)(_x), layer(kernel_size=2, ceil_mode=True)(_x))
        rows(
            f"{_kind}Pool{_n}d",
            layer(3, 2, 1, ceil_mode=True)(_x),
            layer(2, 3, 1, ceil_mode=True)(_x),
            layer(2, None)(_x),
        )
        rows(f"{_kind}Pool{_n}d", bad_layer(2)(_flat), bad_layer(2)(_wide), bad_layer(10)(_x))
    rows(f"MaxPool{_n}d", layer(3, 1, 1, 2)(_x), layer(3, dilation=2)(_x), layer(2, return_indices=True)(_x))
    rows(f"AvgPool{_n}d", layer(2, 2, 0, True)(_x))
    rows(f"Conv{_n}d", layer(4, 6, 3)(_x), layer(4, 6, 3, 2)(_x), layer(4, 6, 3, 2, 1)(_x), layer(4, 6, 3, 1, 1, 2)(_x))
    rows(f"Conv{_n}d", layer(4, 6, 3, groups=2)(_x), layer(4, 6, kernel_size=_each, stride=_each)(_y))
    rows(f"Conv{_n}d", layer(4, 6, 3, padding="same")(_x), layer(4, 6, 4, padding="same", dilation=2)(_x))
    rows(f"Conv{_n}d", layer(4, 6, 3, padding="valid")(_x), layer(in_channels=4, out_channels=8, kernel_size=1)(_x))
    rows(f"Conv{_n}d", layer(4, 6, 3, padding=1, padding_mode="reflect")(_x), layer(4, 4, 3, 1, 1, 1, 4)(_x))
    rows(
        f"Conv{_n}d",
        bad_layer(3, 6, 3)(_x),
        bad_layer(4, 6, 3)(_flat),
        bad_layer(4, 6, 3)(_wide),
        bad_layer(4, 6, 10)(_x),
    )
    rows(f"Conv{_n}d", bad_layer(4, 6, 3, padding="same", stride=2)(_x), bad_layer(4, 6, 3, groups=3)(_x))
    rows(
        f"ConvTranspose{_n}d",
        layer(4, 6, 3)(_x),
        layer(4, 6, 3, 2)(_x),
        layer(4, 6, 3, 2, 1)(_x),
        layer(4, 6, 2, 2)(_y),
    )
    rows(f"ConvTranspose{_n}d", layer(4, 6, 3, 2, 1, 1)(_x), layer(4, 6, 3, stride=2, padding=1, output_padding=1)(_x))
    rows(
        f"ConvTranspose{_n}d",
        layer(4, 6, 3, 1, 0, 0, 2)(_x),
        layer(4, 6, 3, 2, 0, 0, 1, True, 2)(_x),
        bad_layer(3, 6, 3)(_x),
    )
    rows(f"ConvTranspose{_n}d", layer(4, 6, 3, 2, dilation=2)(_x), bad_layer(4, 6, 3)(_flat), bad_layer(4, 6, 3)(_wide))
    rows(f"BatchNorm{_n}d", layer(4)(_x), layer(num_features=4)(_x), layer(4, affine=False)(_x), bad_layer(3)(_x))
    rows(f"BatchNorm{_n}d", bad_layer(4)(_wide))
    rows(f"InstanceNorm{_n}d", layer(4)(_x), layer(4)(_y), layer(3)(_x), layer(4, affine=True)(_x), bad_layer(4)(_wide))
    rows(f"InstanceNorm{_n}d", bad_layer(3, affine=True)(_x), bad_layer(4)(_flat))
    for _kind in ("Zero", "Reflection", "Replication", "Constant"):
        _more = {"value": 1.0} if _kind == "Constant" else {}
        rows(f"{_kind}Pad{_n}d", layer(1, **_more)(_x), layer((1, 2) * _n, **_more)(_x), layer(padding=2, **_more)(_y))
rows("BatchNorm1d", layer(4)(t(2, 4)), bad_layer(4)(t(4)), bad_layer(4)(t(2, 3)))
rows("BatchNorm2d", bad_layer(4)(t(4, 9, 8)))
rows("AdaptiveAvgPool2d", layer((None, None))(t(2, 4, 9, 8)).opened, layer((1, 1))(t(2, 4, 9, 8)))

LOSSES = (
    s(t(2, 3), t(2, 3)), s(t(2, 3), target=t(2, 3)), s(t(2, 3), t(2, 3), reduction="sum"),
    s(t(2, 3), t(2, 3), reduction="mean"),
    s(t(2, 3), t(2, 3), reduction="none"), s(input=t(4), target=t(4)),
)  # fmt: skip
MSE = (
    s(t(2, 3), t(3), reduction="none"),
    s(t(2, 3), t(2, 1)),
    bad(t(2, 3), t(2)),
    bad(t(2, 3), t(2), reduction="none"),
)
rows("mse_loss l1_loss smooth_l1_loss huber_loss", *LOSSES, *MSE)
rows("binary_cross_entropy binary_cross_entropy_with_logits", *LOSSES, bad(t(2, 3), t(2)), bad(t(2, 1), t(2)))
rows("binary_cross_entropy", s(t(2, 3), t(2, 3), t(3)), s(t(2, 3), t(2, 3), weight=t(3), reduction="none"))
rows("binary_cross_entropy_with_logits", s(t(2, 3), t(2, 3), pos_weight=t(3)), bad(t(2, 3), t(2, 3), pos_weight=t(2)))
rows("binary_cross_entropy_with_logits", s(t(2, 3), t(2, 3), weight=t(2, 1), reduction="none"))
CLASSES = (
    s(t(5, 3), i(5)), s(t(5, 3), target=i(5)), s(t(5, 3), i(5), t(3)), s(t(5, 3), i(5), reduction="none"),
    s(t(5, 3, 4), i(5, 4)), s(t(5, 3, 4, 6), i(5, 4, 6), reduction="none"), s(t(3), i()),
    s(t(5, 3), i(5), reduction="sum"),
    s(t(3), i(), reduction="none"), s(t(5, 3), i(5), ignore_index=0, reduction="none"),
    bad(t(5, 3), i(4)), bad(t(5, 4, 3), i(5, 4)), bad(t(5, 3), i(5), t(4)), bad(t(5, 3), i(5, 1)), bad(t(5, 3), i()),
    odd(t(5, 3), i(5, 3)),
)  # fmt: skip
rows("cross_entropy nll_loss", *CLASSES)
rows(
    "cross_entropy",
    s(t(5, 3), t(5, 3)),
    s(t(5, 3), t(5, 3), reduction="none"),
    s(t(5, 3, 4), t(5, 3, 4), reduction="none"),
)
rows("cross_entropy", s(t(3), t(3)), s(t(3), t(3), reduction="none"), bad(t(5, 3), t(5, 4)), odd(t(5, 3), t(5)))
rows("cross_entropy", s(t(5, 3), i(5), label_smoothing=0.1, reduction="none"))
rows("pixel_shuffle PixelShuffle")
rows("pixel_shuffle", s(t(2, 8, 3, 4), 2), s(t(8, 3, 4), upscale_factor=2), bad(t(2, 6, 3, 4), 2), bad(t(8, 4), 2))
rows("pixel_unshuffle", s(t(2, 2, 6, 4), 2), s(t(2, 6, 4), downscale_factor=2), bad(t(2, 2, 5, 4), 2))
rows("PixelShuffle", layer(2)(t(2, 8, 3, 4)), layer(upscale_factor=2)(t(8, 3, 4)), bad_layer(2)(t(2, 6, 3, 4)))
rows("PixelUnshuffle", layer(2)(t(2, 2, 6, 4)), bad_layer(2)(t(2, 2, 5, 4)))

# -- layers ----------------------------------------------------------------------------------------------------------

PLAIN = (layer()(t(2, 3)), layer()(t(2, 3, 4)), layer()(t()))
rows(
    "Identity Dropout AlphaDropout ReLU ReLU6 GELU SiLU Mish ELU SELU CELU LeakyReLU Softplus "
    "Softsign Sigmoid LogSigmoid Tanh Hardtanh Hardswish Hardsigmoid Hardshrink Softshrink Tanhshrink",
    *(PLAIN),
)
rows("FeatureAlphaDropout", layer(0.5)(t(2, 3)))
rows("Dropout1d", layer(0.5)(t(2, 3, 4)), layer()(t(2, 3)))
rows("Dropout2d", layer(0.5)(t(2, 3, 4, 5)), layer()(t(2, 3, 4)))
rows("Dropout3d", layer(p=0.5)(t(2, 3, 4, 5, 6)))
rows("PReLU", layer()(t(2, 3)), layer(3)(t(2, 3, 4)), layer(num_parameters=1)(t(5)), bad_layer(4)(t(2, 3)))
rows("Softmax LogSoftmax Softmin", layer(-1)(t(2, 3)), layer(dim=0)(t(2, 3)), bad_layer(2)(t(2, 3)))
rows("ChannelShuffle", layer(2)(t(2, 4, 3, 3)))
rows("LayerNorm RMSNorm", layer(3)(t(2, 3)), layer((3, 4))(t(2, 3, 4)), layer(normalized_shape=[4])(t(4)))
rows("LayerNorm RMSNorm", bad_layer(4)(t(2, 3)), bad_layer((2, 3))(t(3)), bad_layer((3, 4))(t(2, 4, 4)))
rows("Flatten", layer()(t(2, 3, 4)), layer(0)(t(2, 3)), layer(1, 2)(t(2, 3, 4, 5)), layer(start_dim=2)(t(2, 3, 4)))
rows("Flatten", layer(end_dim=-2)(t(2, 3, 4, 5)), layer(-2)(t(2, 3, 4)), bad_layer()(t(3)))
rows(
    "Unflatten",
    layer(1, (2, 3))(t(5, 6)),
    layer(dim=-1, unflattened_size=(3, -1))(t(5, 6)),
    bad_layer(1, (2, 2))(t(5, 6)),
)
rows("Linear", layer(3, 5)(t(2, 3)), layer(3, 5)(t(3)), layer(in_features=3, out_features=5)(t(4, 2, 3)))
rows(
    "Linear",
    layer(3, 5, bias=False)(t(1, 3)),
    bad_layer(3, 5)(t(2, 4)),
    bad_layer(3, 5)(t()),
    layer(3, 5)(input=t(2, 3)),
)
rows("GroupNorm", layer(2, 4)(t(2, 4, 3)), layer(num_groups=1, num_channels=4)(t(2, 4)), bad_layer(2, 4)(t(2, 6, 3)))
rows(
    "Upsample",
    *(layer(*one.args[1:], **one.names)(one.args[0]) for one in RESIZED if not one.is_bad and not one.is_open),
)
rows("Upsample", layer(scale_factor=2.0)(t(2, 3, 4, 5)).opened, bad_layer(8)(t(3, 4)))
rows("UpsamplingNearest2d UpsamplingBilinear2d", layer(8)(t(2, 3, 4, 5)), layer((8, 9))(t(2, 3, 4, 5)))
rows("UpsamplingNearest2d UpsamplingBilinear2d", layer(scale_factor=2)(t(2, 3, 4, 5)))
rows("GLU", layer()(t(2, 6)), layer(0)(t(4, 3)), layer(dim=1)(t(2, 6, 3)), bad_layer()(t(2, 3)))
rows("Embedding", layer(9, 5)(i(2, 3)), layer(num_embeddings=9, embedding_dim=5)(i(2)), layer(9, 5)(i()))
LENGTHS = (
    layer(4, 5)(t(7, 2, 4)), layer(4, 5)(t(7, 4)), layer(4, 5, 2)(t(7, 2, 4)),
    layer(4, 5, batch_first=True)(t(2, 7, 4)),
    layer(4, 5, 2, bidirectional=True)(t(7, 2, 4)), layer(input_size=4, hidden_size=5, num_layers=3)(t(7, 2, 4)),
    layer(4, 5, bidirectional=True, batch_first=True)(t(2, 7, 4)), layer(4, 5, bidirectional=True)(t(7, 4)),
    bad_layer(4, 5)(t(7, 2, 3)), bad_layer(4, 5)(t(4)), bad_layer(4, 5)(t(1, 7, 2, 4)),
)  # fmt: skip
rows("RNN LSTM GRU", *LENGTHS)
rows("RNN GRU", layer(4, 5)(t(7, 2, 4), t(1, 2, 5)), bad_layer(4, 5)(t(7, 2, 4), t(1, 3, 5)))
rows("RNN GRU", layer(4, 5, batch_first=True)(t(2, 7, 4), t(1, 2, 5)), bad_layer(4, 5)(t(7, 2, 4), t(1, 2, 6)))
rows("RNN GRU", bad_layer(4, 5)(t(7, 2, 4), t(2, 5)), bad_layer(4, 5, 2)(t(7, 2, 4), t(1, 2, 5)))
rows("LSTM", layer(4, 5)(t(7, 2, 4), (t(1, 2, 5), t(1, 2, 5))), layer(4, 5, proj_size=3)(t(7, 2, 4)).opened)
rows("LSTM", layer(4, 5, proj_size=0)(t(7, 2, 4)), bad_layer(4, 5)(t(7, 2, 4), (t(1, 3, 5), t(1, 3, 5))))
rows("RNN", layer(4, 5, 1, "relu", True, True)(t(7, 2, 4)))
rows("LSTM GRU", layer(4, 5, 1, True, True)(t(2, 7, 4)))
rows("LSTMCell GRUCell RNNCell", layer(4, 5)(t(2, 4)), layer(4, 5)(t(4)), layer(input_size=4, hidden_size=5)(t(1, 4)))
rows("LSTMCell GRUCell RNNCell", bad_layer(4, 5)(t(2, 3)), bad_layer(4, 5)(t(7, 2, 4)))
ATTENDED = (
    layer(6, 2)(t(7, 2, 6), t(7, 2, 6), t(7, 2, 6)), layer(6, 2, batch_first=True)(t(2, 7, 6), t(2, 5, 6), t(2, 5, 6)),
    layer(6, 2)(t(7, 6), t(5, 6), t(5, 6)),
    layer(embed_dim=6, num_heads=3)(query=t(7, 2, 6), key=t(5, 2, 6), value=t(5, 2, 6)),
    layer(6, 2, kdim=4, vdim=3)(t(7, 2, 6), t(5, 2, 4), t(5, 2, 3)),
    layer(6, 2)(t(7, 2, 6), t(5, 2, 6), t(5, 2, 6), average_attn_weights=False).opened,
    layer(6, 2)(t(7, 2, 6), t(5, 2, 6), t(5, 2, 6), need_weights=False).opened,
    bad_layer(6, 2)(t(7, 2, 5), t(7, 2, 5), t(7, 2, 5)), bad_layer(6, 2)(t(6), t(6), t(6)),
    bad_layer(6, 2)(t(1, 7, 2, 6), t(7, 2, 6), t(7, 2, 6)),
)  # fmt: skip
rows("MultiheadAttention", *(one.opened for one in ATTENDED))
rows(
    "TransformerEncoderLayer",
    layer(6, 2, 8)(t(7, 2, 6)),
    layer(6, 2, 8, batch_first=True)(t(2, 7, 6)),
    layer(6, 2, 8)(t(7, 6)),
)
rows(
    "TransformerEncoderLayer",
    layer(d_model=6, nhead=2, dim_feedforward=8)(src=t(7, 2, 6)),
    bad_layer(6, 2, 8)(t(7, 2, 5)),
)
rows("TransformerDecoderLayer", layer(6, 2, 8)(t(7, 2, 6), t(5, 2, 6)), bad_layer(6, 2, 8)(t(7, 2, 5), t(5, 2, 6)))
rows("TransformerDecoderLayer", layer(6, 2, 8, batch_first=True)(t(2, 7, 6), memory=t(2, 5, 6)))


def layers_of_loss(samples: Iterable[Sample], **more: object) -> list[Sample]:
    """The calls of a loss's layer that do what calls of its function do."""
    kept = []
    for one in samples:
        made = {key: one.names[key] for key in one.names.keys() - {"target", "input"}}
        names = {key: value for key, value in one.names.items() if key in ("target", "input")}
        if len(one.args) > 2:
            made["weight"] = one.args[2]
        kept.append(Sample(one.args[:2], names, ((), made), one.is_bad, one.is_refused, one.is_open))
    return kept


rows("MSELoss L1Loss SmoothL1Loss HuberLoss", *layers_of_loss([*LOSSES, *MSE]))
rows("BCELoss BCEWithLogitsLoss", *layers_of_loss([*LOSSES, bad(t(2, 3), t(2)), bad(t(2, 1), t(2))]))
rows("CrossEntropyLoss NLLLoss", *layers_of_loss(CLASSES))
rows("CrossEntropyLoss NLLLoss", layer(T((3,)))(t(5, 3), i(5)), bad_layer(T((4,)))(t(5, 3), i(5)))

# -- einops (not installed: what it says of itself) ------------------------------------------------------------------

# -- further operators -----------------------------------------------------------------------------------------------

rows(
    "erf erfinv expm1 asin acos atan sinh cosh asinh acosh atanh exp2 frac deg2rad rad2deg logit digamma lgamma", *UNARY
)
rows("signbit isposinf isneginf isreal positive hardshrink softshrink tanhshrink", *UNARY)
rows("logcumsumexp cummax cummin", s(t(2, 3), 0), s(t(2, 3), dim=-1), bad(t(2, 3), 2))
rows("logaddexp logaddexp2 xlogy isclose copysign", *(one for one in BINARY if one.args[0].sizes))
rows("heaviside", *BINARY[:4])
rows("diag", s(t(3)), s(t(2, 3)), s(t(3), 1).opened, s(t(3, 3), diagonal=-1).opened, bad(t(2, 3, 4)))
rows(
    "diagonal",
    s(t(2, 3)),
    s(t(2, 3, 4), 0, 1, 2),
    s(t(2, 3, 4), dim1=-1, dim2=0),
    s(t(2, 3), 1).opened,
    bad(t(2, 3), 0, 0, 0),
)
rows("repeat_interleave", s(t(2, 3), 2), s(t(2, 3), 2, 1), s(t(2, 3), repeats=3, dim=-1), s(t(2, 3), i(3), 1).opened)
rows("repeat_interleave", bad(t(2, 3), 2, 2))
rows("masked_select", s(t(2, 3), b(2, 3)).opened)
rows("nonzero", s(t(2, 3)).opened, s(t(2, 3), as_tuple=True).opened)
rows("take_along_dim", s(t(2, 3), i(2, 1), 1), s(t(2, 3), i(1, 3), dim=0), s(t(2, 3), i(4)), bad(t(2, 3), i(2), 1))
rows(
    "baddbmm", s(t(5, 2, 4), t(5, 2, 3), t(5, 3, 4)), s(t(4), t(5, 2, 3), t(5, 3, 4)), bad(t(2), t(5, 2, 3), t(5, 3, 4))
)
rows("baddbmm", bad(t(5, 2, 4), t(5, 2, 3), t(5, 2, 4)))
rows("addmm", s(t(2, 4), t(2, 3), t(3, 4)), s(t(4), mat1=t(2, 3), mat2=t(3, 4)), bad(t(3), t(2, 3), t(3, 4)))
rows("addmm", bad(t(5, 2, 4), t(2, 3), t(3, 4)))
rows("mv", s(t(2, 3), t(3)), s(t(2, 3), vec=t(3)), bad(t(2, 3), t(2)), bad(t(2, 3), t(3, 1)))
rows("dot", s(t(3), t(3)), s(t(3), tensor=t(3)), bad(t(3), t(2)), bad(t(2, 3), t(3)))
rows("multinomial", s(t(2, 3), 2), s(t(3), num_samples=1))
rows(
    "meshgrid",
    s(t(2), t(3)),
    s([t(2), t(3)]),
    s(t(2), t(3), t(4), indexing="ij"),
    s(t(2), t(3), indexing="xy"),
    s(t(), t(2)),
)
rows("meshgrid", bad(t(2, 3), t(2)), s(t(2), t(3), t(4), indexing="xy"))
rows("broadcast_tensors", s(t(2, 1), t(3)), s(t(2)), bad(t(2), t(3)))
rows("hstack", s([t(2), t(3)]), s([t(2, 3), t(2, 4)]), s((t(), t())), bad([t(2, 3), t(3, 3)]))
rows("vstack", s([t(3), t(3)]), s([t(2, 3), t(3)]), s((t(2, 3, 4), t(1, 3, 4))), bad([t(2, 3), t(2, 4)]))
rows("dstack", s([t(3), t(3)]), s([t(2, 3), t(2, 3)]), s((t(2, 3, 4), t(2, 3, 1))), bad([t(2, 3), t(2, 4)]))
rows("atleast_1d atleast_2d atleast_3d", *UNARY, s(t(4)), s(t(2, 3, 4, 5)))
rows(
    "cdist",
    s(t(5, 3), t(6, 3)),
    s(t(2, 5, 3), t(2, 6, 3)),
    s(t(2, 5, 3), x2=t(6, 3)),
    bad(t(5, 3), t(6, 4)),
    bad(t(3), t(3)),
)
rows("bucketize", s(t(2, 3), t(4)), s(t(2, 3), boundaries=t(4)))
rows("searchsorted", s(t(4), t(2, 3)), s(t(2, 4), t(2, 3)), s(t(4), input=t(5)))
rows("isin", s(t(2, 3), t(4)), s(t(2, 3), 1.0))
rows("complex polar", s(t(2, 3), t(2, 3)), s(t(2, 3), t(3)), bad(t(2, 3), t(2)))
rows("torch.linalg.norm torch.linalg.vector_norm", s(t(2, 3)), s(t(2, 3), 2, 1), s(t(2, 3), dim=-1, keepdim=True))
rows("torch.linalg.norm torch.linalg.vector_norm", s(t(2, 3, 4), dim=(0, 1)), bad(t(2, 3), 2, 2))
rows("torch.linalg.inv", s(t(1, 1)), s(t(2, 1, 1)), odd(t(2, 3)))
rows("pad_sequence", s([t(2, 3), t(4, 3)]), s([t(2, 3), t(4, 3)], True), s([t(5), t(2)], batch_first=True))
rows_of(
    "torch.nn.init",
    "normal_ uniform_ zeros_ ones_ trunc_normal_ xavier_uniform_ xavier_normal_",
    s(t(2, 3)),
    s(t(4, 2, 3)),
)
rows_of("torch.nn.init", "kaiming_uniform_ kaiming_normal_ orthogonal_", s(t(2, 3)), s(t(4, 2, 3)))
rows("constant_", s(t(2, 3), 1.0))
rows("Tensor.T", s(t(2, 3)), s(t(2)))
rows("Tensor.mT Tensor.mH", s(t(2, 3)), s(t(4, 2, 3)), bad(t(2)))
rows(
    "Tensor.unfold",
    s(t(2, 7), 1, 3, 2),
    s(t(2, 7), -1, 2, 1),
    s(t(7, 2), dimension=0, size=3, step=3),
    bad(t(2, 7), 1, 8, 1),
)
rows("Tensor.unfold", bad(t(2, 7), 2, 1, 1))
for _n in (1, 2, 3):
    _x, _k = t(2, 4, *(9, 8, 7)[:_n]), (3, 2, 3)[:_n]
    rows(f"conv_transpose{_n}d", s(_x, t(4, 6, *_k)), s(_x, t(4, 6, *_k), t(6), 2, 1), s(_x, t(4, 3, *_k), groups=2))
    rows(
        f"conv_transpose{_n}d",
        s(_x, t(4, 6, *_k), None, 3, 1, 2, 1),
        s(_x, weight=t(4, 6, *_k), stride=2, output_padding=1),
    )
    rows(f"conv_transpose{_n}d", s(t(4, *(9, 8, 7)[:_n]), t(4, 6, *_k)), s(_x, t(4, 6, *_k), None, 1, 0, 0, 1, 2))
    rows(f"conv_transpose{_n}d", bad(_x, t(6, 4, *_k)), bad(_x, t(4, 6, *_k), t(4)), bad(_x, t(4, 6)))
    rows(
        f"LazyConv{_n}d",
        layer(6, 3)(_x),
        layer(6, 3, 2, 1)(_x),
        layer(out_channels=6, kernel_size=3, padding="same")(_x),
    )
    rows(f"LazyConv{_n}d", bad_layer(6, 10)(_x))
    if _n < 3:
        rows(f"lp_pool{_n}d", s(_x, 2.0, 2), s(_x, 2.0, 3, 2), s(_x, norm_type=2.0, kernel_size=2, ceil_mode=True))
        rows(f"LPPool{_n}d", layer(2, 2)(_x), layer(2.0, kernel_size=3, stride=2)(_x), layer(2, 2, ceil_mode=True)(_x))
        rows(f"LazyBatchNorm{_n}d", layer()(_x))
        rows(f"CircularPad{_n}d", layer(1)(_x), layer((1, 2) * _n)(_x))
rows(
    f"{F}.unfold",
    s(t(2, 3, 9, 8), 2),
    s(t(3, 9, 8), (3, 2)),
    s(t(2, 3, 9, 8), 3, 1, 1, 2),
    s(t(2, 3, 9, 8), kernel_size=3, stride=3),
)
rows(f"{F}.unfold", bad(t(9, 8), 2), bad(t(2, 3, 9, 8), 10))
rows(
    "Unfold", layer(2)(t(2, 3, 9, 8)), layer((3, 2), padding=1, stride=2)(t(3, 9, 8)), layer(2, 2, 1, 3)(t(2, 3, 9, 8))
)
rows("affine_grid", s(t(2, 2, 3), (2, 3, 5, 6)), s(t(2, 3, 4), size=[2, 1, 4, 5, 6]))
rows(
    "grid_sample",
    s(t(2, 3, 5, 6), t(2, 7, 8, 2)),
    s(t(2, 3, 4, 5, 6), t(2, 7, 8, 9, 3)),
    s(t(2, 3, 5, 6), grid=t(2, 1, 1, 2)),
)
rows("grid_sample", bad(t(2, 3, 5, 6), t(2, 7, 8, 3)), bad(t(2, 3, 5, 6), t(3, 7, 8, 2)), bad(t(3, 5, 6), t(7, 8, 2)))
rows(
    "cosine_similarity",
    s(t(2, 3), t(2, 3)),
    s(t(2, 3, 4), t(2, 3, 4), -1),
    s(t(2, 1, 4), t(3, 4), dim=-1),
    bad(t(2, 3), t(2, 4)),
)
rows(
    "pairwise_distance",
    s(t(2, 3), t(2, 3)),
    s(t(2, 3), x2=t(2, 3), keepdim=True),
    s(t(3), t(2, 3)),
    bad(t(2, 3), t(2, 4)),
)
rows("CosineSimilarity", layer()(t(2, 3), t(2, 3)), layer(-1)(t(2, 3, 4), t(2, 3, 4)), layer(dim=0)(t(3), t(3)))
rows(
    "PairwiseDistance",
    layer()(t(2, 3), t(2, 3)),
    layer(2.0, 1e-6, True)(t(2, 3), t(2, 3)),
    bad_layer()(t(2, 3), t(2, 4)),
)
rows(
    "bilinear",
    s(t(2, 3), t(2, 4), t(5, 3, 4)),
    s(t(2, 3), t(2, 4), weight=t(5, 3, 4)),
    bad(t(2, 4), t(2, 4), t(5, 3, 4)),
)
rows(
    "Bilinear",
    layer(3, 4, 5)(t(2, 3), t(2, 4)),
    layer(in1_features=3, in2_features=4, out_features=5)(t(6, 2, 3), t(6, 2, 4)),
)
rows("Bilinear", bad_layer(3, 4, 5)(t(2, 4), t(2, 4)))
rows("softmin", s(t(2, 3)), s(t(2, 3), dim=0))
rows("threshold", s(t(2, 3), 0.1, 0.0))
rows("Threshold", layer(0.1, 0.0)(t(2, 3)))
rows("local_response_norm", s(t(2, 3, 4), 2))
rows("LocalResponseNorm", layer(2)(t(2, 3, 4)))
rows("kl_div soft_margin_loss poisson_nll_loss", *LOSSES)
rows("kl_div poisson_nll_loss", *MSE)
rows("KLDivLoss SoftMarginLoss", *layers_of_loss(LOSSES))
rows("ctc_loss", s(t(5, 2, 4), i(2, 2), (5, 5), (2, 2)))
rows("CTCLoss", layer()(t(5, 2, 4), i(2, 2), (5, 5), (2, 2)))
rows("Softmax2d", layer()(t(2, 3, 4, 5)), layer()(t(3, 4, 5)), bad_layer()(t(3, 4)))
rows("LazyLinear", layer(5)(t(2, 3)), layer(out_features=5)(t(4, 2, 3)))
rows("Transformer", layer(6, 2, 1, 1, 8)(t(7, 2, 6), t(5, 2, 6)), bad_layer(6, 2, 1, 1, 8)(t(7, 2, 5), t(5, 2, 5)))
rows("TransformerEncoder", layer(torch.nn.TransformerEncoderLayer(6, 2, 8), 1)(t(7, 2, 6)))
rows("TransformerDecoder", layer(torch.nn.TransformerDecoderLayer(6, 2, 8), 1)(t(7, 2, 6), t(5, 2, 6)))
