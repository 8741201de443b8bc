"""Prepares a data set: a flag says where some tensors are computed."""

import numpy as np
import torch

from . import overlap


def owners(points, boxes):
    found = points.new_full((len(points),), -1)
    overlap.owners(points.contiguous(), boxes.contiguous(), found)
    return found


def owners_on_host(points, boxes):
    return torch.cdist(points, boxes[:, :3]).argmin(dim=1)


def split(points, boxes, use_cuda=False):
    if use_cuda:
        found = owners(torch.from_numpy(points).float().cuda(), torch.from_numpy(boxes).float().cuda()).cpu().numpy()
    else:
        found = owners_on_host(torch.from_numpy(points), torch.from_numpy(boxes)).numpy()
    return [points[found == number] for number in range(len(boxes))]


def distances(points: torch.Tensor, settings):
    if settings.gpu_preparation:
        points = points.to("cuda")
    found = torch.cdist(points, points)
    return np.median(found.to("cpu"))


def overlaps(points, boxes, on_gpu):
    if on_gpu:
        table = torch.zeros(len(points), len(boxes), device="cuda")
        overlap.table(torch.tensor(points).cuda(), torch.tensor(boxes).cuda(), table)
        return table.tolist()
    return [[float(np.abs(point - box).max()) for box in boxes] for point in points]
