import torch
import torch.nn.functional as F


def distance(first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
    return (first - second).abs()


def loss(first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
    return distance(second, first) + F.mse_loss(second, first)
