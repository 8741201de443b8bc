import numpy as np
import torch


def accuracy(scores, labels):
    """Scores and labels as arrays of numpy."""
    n, classes = scores.shape
    hits = (scores.argmax(1) == labels).mean()
    return hits, (labels > 0).mean(axis=0), scores.round().std(), (n, classes)


def counted():
    table = np.arange(8)
    return table.mean(), np.ones(4, dtype=np.int64).std(), (table > 2).mean()


def average(values):
    return torch.tensor(values).mean(), torch.tensor([*values, 1]).mean()


def outliers(values, low, high, names=None):
    known = values[~np.isnan(values)]
    share = ((known < low) | (known > high)).mean()
    return share, names


def by_column(table, low, high):
    if table.ndim > 1:
        for column in range(table.shape[1]):
            outliers(table[:, column].flatten(), low, high)
    return outliers(table.flatten(), low, high)
