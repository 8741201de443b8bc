import torch
from torch.nn.functional import softmax


def accuracy(scores: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    predicted = torch.argmax(scores, dim=1)
    hits = torch.eq(predicted, labels)
    return torch.mean(hits)  # expect: ML522


def spread() -> torch.Tensor:
    counts = torch.tensor([3, 1, 4, 1, 5])
    return counts.std() / counts.max()  # expect: ML522


def shares() -> torch.Tensor:
    votes = torch.randint(0, 10, (4,))
    return softmax(votes, dim=0)  # expect: ML522
