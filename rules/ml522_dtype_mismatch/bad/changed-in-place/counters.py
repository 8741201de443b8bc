import torch


def smooth() -> torch.Tensor:
    counts = torch.zeros(8, dtype=torch.long)
    counts += 0.5  # expect: ML522
    return counts


def scale() -> torch.Tensor:
    steps = torch.arange(8)
    steps /= 8  # expect: ML522
    return steps


def noisy() -> torch.Tensor:
    levels = torch.tensor([1, 2, 3])
    return levels.add_(torch.randn(3))  # expect: ML522


def fill() -> torch.Tensor:
    table = torch.zeros(4, 3)
    ids = torch.tensor([0, 2])
    table[ids] = torch.ones(2, 3, dtype=torch.float64)  # expect: ML522
    return table


def count(labels: torch.Tensor) -> torch.Tensor:
    one = torch.ones(4, 1, dtype=torch.long)
    return torch.zeros(4, 3).scatter_(1, labels.long(), one)  # expect: ML522
