import torch
import torch.nn.functional as F


def rows(table: torch.Tensor) -> torch.Tensor:
    places = torch.linspace(0, 9, 4)
    return torch.rand(10, 3)[places]  # expect: ML522


def codes() -> torch.Tensor:
    classes = torch.zeros(4)
    return F.one_hot(classes, num_classes=3)  # expect: ML522


def pick(scores: torch.Tensor) -> torch.Tensor:
    best = scores.max(dim=1, keepdim=True).values.round().float()
    return torch.gather(scores, 1, best)  # expect: ML522
