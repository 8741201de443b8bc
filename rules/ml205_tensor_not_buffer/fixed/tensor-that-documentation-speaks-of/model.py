import torch
from torch import nn


class Weighted(nn.Module):
    """A loss with a weight for each class.

    Args:
        weight (torch.Tensor): weights of the classes
        classes (int): number of classes
    """

    def __init__(self, weight, classes):
        super().__init__()
        self.classes = classes
        self.register_buffer("weight", weight, persistent=False)  # expect: ML205

    def forward(self, logits, target):
        return (nn.functional.cross_entropy(logits, target, reduction="none") * self.weight.sum()).mean() + (
            logits * self.weight
        ).mean()


class Placed(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.lin = nn.Linear(args.width, args.width)
        self.register_buffer("prior", torch.zeros(args.width).to(args.device), persistent=False)  # expect: ML205

    def forward(self, x):
        return self.lin(x) + self.prior
