import torch
from torch.distributed.tensor import distribute_tensor
from torch.nn import functional as F


def embed(weight, ids, mesh=None):
    rows = weight if mesh is None else distribute_tensor(weight, mesh)
    out = F.embedding(ids, rows)
    return out.unsqueeze(0)  # expect: ML506


def loss(logits, mesh):
    plain = torch.zeros(3, 4) + 1.0
    return distribute_tensor(logits, mesh).sum() + plain.to_local()  # expect: ML506
