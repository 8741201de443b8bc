import torch
import torch.nn.functional as F


def positions(x, y, rows):
    mask = F.relu(x) > 0
    found = torch.stack(torch.where(mask), -1)
    parts = torch.cat(F.relu(x).split(2), dim=1)
    rows_of = torch.stack(rows)
    joined = torch.cat(y)
    at_least = torch.cat(torch.atleast_1d(F.relu(x), F.relu(y)))
    typed = F.relu(x).long().type(F.relu(x).type())
    return found, parts, rows_of, joined, at_least, typed


def along(x, axis):
    x = F.relu(x)
    return x.sum(axis), x.transpose(0, axis), torch.cat([x, x], torch.tensor(0))
