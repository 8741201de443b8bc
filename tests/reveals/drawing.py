"""A file of which helpers.py imports functions."""

import torch


def best(scores):
    return scores.argmax(-1)


def zeros(rows, width=4):
    return torch.zeros(rows, width)
