"""Helpers that make tensors, and a grid."""

import torch


def inside(boxes, shape, device=torch.device("cpu")):
    mask = torch.zeros(shape, dtype=torch.bool, device=device)
    for left, right in boxes.long().tolist():
        mask[..., left:right] = True
    return mask


def steps(count, device="cuda"):
    return torch.arange(count, device=device)


class Grid:
    def __init__(self, count, device="cpu"):
        self.centres = torch.arange(count, device=device) + 0.5

    def near(self, points, *, device="cpu"):
        return torch.as_tensor(points, device=device)[:, None] - self.centres
