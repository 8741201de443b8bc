import torch
import torch.nn.functional as F


def padded(value: torch.Tensor, width: int) -> torch.Tensor:
    return F.pad(value, (0, width))
