import quantising
import torch
from records import Record
from torch import nn
from torch.distributed.tensor import DTensor, Shard, distribute_tensor
from torch.nn import functional as F


def embed(weight, ids, mesh):
    rows = distribute_tensor(weight, mesh, (Shard(0),))
    out = F.embedding(ids, rows)
    return out.redistribute(placements=(Shard(1),)).to_local()


def loss(logits, labels):
    return F.cross_entropy(logits, labels).to_local()


def gathered(x: DTensor):
    return torch.relu(x).full_tensor()


def padded(sequences):
    nested = torch.nested.nested_tensor(sequences)
    return torch.relu(nested).to_plain(0.0)


def quantised(weight):
    return torch.relu(quantising.pack(weight)).unpacked()


def whole(module):
    return [torch.relu(weight).full_tensor() for weight in module.parameters()]


def kept(batch):
    return torch.stack([batch.first, batch.second]).names_of()


def relabelled(x):
    return torch.zeros(3).as_subclass(Record).relabel("x")


class Scale(nn.Module):
    def forward(self, x: Record):
        return torch.relu(x).relabel("scaled")
