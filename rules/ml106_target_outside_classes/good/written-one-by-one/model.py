import torch
import torch.nn.functional as F


def loss(similarities, matches):
    pairs, views, slots = matches.shape
    targets = torch.full((pairs, views, slots), fill_value=-1)
    for pair in range(pairs):
        columns = matches[pair, 0].argsort()
        targets[pair, 0, :] = columns + slots
        targets[pair, 1, :] = columns
    return F.cross_entropy(similarities, targets.reshape(pairs * views * slots))
