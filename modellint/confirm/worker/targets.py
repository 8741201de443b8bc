"""Targets of losses, made for the scores that they are compared with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import nn

if TYPE_CHECKING:
    from collections.abc import Iterator

#: The losses of torch, and those whose targets are ids of classes.
LOSSES = frozenset(
    name for name in dir(nn.functional) if name.endswith(("_loss", "_entropy", "_with_logits", "kl_div"))
)
OF_CLASSES = frozenset(("cross_entropy", "nll_loss", "multi_margin_loss"))


def targets(name: str, scores: torch.Tensor) -> Iterator[torch.Tensor]:
    """Targets of the loss `name`, the likeliest first: ids of classes, or numbers between 0 and 1."""
    shares = torch.rand_like(scores.detach().float())
    if scores.dim() < 2:
        yield shares
        yield torch.randint(0, max(1, scores.numel()), ())
        return
    ids = torch.randint(0, scores.shape[1], (scores.shape[0], *scores.shape[2:]))
    if name == "kl_div":
        shares = shares / shares.sum(1, keepdim=True)
    yield from (ids, shares) if name in OF_CLASSES else (shares, ids)
