from torch import nn


def mixture(width, num_experts=4, experts=None):
    experts = nn.ModuleList(nn.Linear(width, width) for _ in range(num_experts)) if experts is None else experts
    return nn.Sequential(*experts)


def build(width: int, experts: int) -> nn.Module:
    return mixture(width, experts)
