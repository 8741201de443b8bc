"""A helper whose caller may leave the default, so that it works without CUDA."""

import torch


def inside(boxes, shape, device="cpu"):
    mask = torch.zeros(shape, dtype=torch.bool, device=device)
    for left, right in boxes.long().tolist():
        mask[..., left:right] = True
    return mask


def weighted(loss, boxes):
    return (loss * inside(boxes, loss.shape, device=loss.device)).sum()


def shown(boxes):
    return inside(boxes, (2, 3)).tolist()
