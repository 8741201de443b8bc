import torch


def mixed(a, b=1.0, p=0.5):
    return a * b + p


def run(x: torch.Tensor, p: float) -> torch.Tensor:
    return mixed(x, p)
