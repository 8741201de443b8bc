"""The callers, which stand in another folder."""

import torch

from ops import masks
from ops.masks import Grid, steps as count_up


def weighted(loss, boxes):
    kept = masks.inside(boxes, loss.shape, device=loss.device)
    return (loss * kept).sum() / loss.shape[0]


def ranked(scores):
    order = scores.argsort()
    return order.new_tensor(count_up(len(order), torch.device("cuda")))


def offsets(points):
    grid = Grid(points.shape[0], points.device)
    return grid.near(points, device="cuda:0")
