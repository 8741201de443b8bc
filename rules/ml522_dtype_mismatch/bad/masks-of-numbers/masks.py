import torch


def hide(scores: torch.Tensor) -> torch.Tensor:
    mask = torch.tril(torch.ones(4, 4, dtype=torch.long))
    return scores.masked_fill(mask, float("-inf"))  # expect: ML522


def choose(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    condition = (left > right).long()
    return torch.where(condition, left, right)  # expect: ML522


def invert() -> torch.Tensor:
    keep = torch.rand(4) > 0.5
    return 1 - keep  # expect: ML522


def both() -> torch.Tensor:
    first = torch.ones(4)
    second = torch.rand(4) > 0.5
    return first & second  # expect: ML522


def drop() -> torch.Tensor:
    kept = torch.rand(4).round()
    return ~kept  # expect: ML522
