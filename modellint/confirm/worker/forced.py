"""Force `argmax`, `topk` and sampling to draw chosen ids, as they could with other weights."""

from __future__ import annotations

from typing import Any

import torch

from .modes import ObservingMode

aten = torch.ops.aten
#: Scores beyond this are as good as infinite: the class cannot be drawn.
_DEAD = 1e4
#: The number of draws after which the id that ends them is drawn.
_ENOUGH = 256


class Forced(ObservingMode):
    """Draws the class `target`, or the last one that can be drawn, in some rows of scores.

    Which rows depends on `trial` and on the scores alone: whoever draws twice from the same scores gets the same id.
    Classes whose scores are minus infinity, or whose probability is zero, are never drawn.
    """

    def __init__(self, trial: int, target: int | None) -> None:
        super().__init__()
        self._trial = trial
        self._target = target

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        packet = func.overloadpacket
        if packet in (aten.argmax, aten.argmin):
            dim = args[1] if len(args) > 1 else kwargs.get("dim")
            if dim is None and args[0].dim() == 1:
                dim = 0
            if dim is not None:
                self._force(args[0], result.unsqueeze(dim) if result.dim() < args[0].dim() else result, dim, packet)
        elif packet in (aten.max, aten.min) and isinstance(result, tuple) and len(result) == 2:
            dim, indices = args[1], result[1]
            self._force(args[0], indices.unsqueeze(dim) if indices.dim() < args[0].dim() else indices, dim, packet)
        elif packet is aten.topk:
            self._force(args[0], result[1], args[2] if len(args) > 2 else -1, packet)
        elif packet is aten.multinomial:
            self._force(args[0], result, -1, packet)
        return result

    def _force(self, scores: torch.Tensor, drawn: torch.Tensor, dim: int, packet: Any) -> None:
        """Write the chosen class over the last id that was drawn from each row."""
        if not scores.dtype.is_floating_point or not scores.dim() or not scores.numel():
            return
        if packet is aten.multinomial:
            alive = scores > 0
        else:
            alive = scores < _DEAD if packet in (aten.argmin, aten.min) else scores > -_DEAD
        size = scores.shape[dim]
        shape = [1] * scores.dim()
        shape[dim] = size
        classes = torch.arange(size).view(shape)
        if self._target is not None and self._target < size:
            alive = alive & (classes == self._target)
        best = torch.where(alive, classes, -1).amax(dim, keepdim=True)
        share = (scores.nan_to_num(0, 0, 0).double().sum(dim, keepdim=True) * (7.13 * self._trial + 1)).frac().abs()
        chosen = (best >= 0) & ((share * 10 % 1 < 0.5) if self._trial else torch.ones_like(best, dtype=torch.bool))
        last = drawn.narrow(dim, drawn.shape[dim] - 1, 1)
        last.copy_(torch.where(chosen, best, last))


class Ended(ObservingMode):
    """Ends code that draws in a loop: draws the id that it compares the last one with, as it would sooner or later."""

    def __init__(self) -> None:
        super().__init__()
        self._drawn = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        packet = func.overloadpacket
        if packet in (aten.argmax, aten.multinomial):
            self._drawn += 1
        elif packet is aten.eq and self._drawn > _ENOUGH:
            last, end = args[:2]
            if last.numel() == 1 and not last.dtype.is_floating_point and type(end) is int:
                last.fill_(end)
        return func(*args, **(kwargs or {}))
