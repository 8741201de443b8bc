import torch
from torch import nn


class Coder(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(3, 3)

    def encode(self, x):
        return self.proj(x)

    def forward(self, x):
        return self.encode(x)


def train(rank, x, is_parallel):
    model = nn.parallel.DistributedDataParallel(Coder(), device_ids=[rank])
    with model.no_sync():
        model(x).sum().backward()
    print(model.module.encode(x), model.device_ids)
    fast = torch.compile(Coder())
    print(fast.encode(x), fast.proj.weight)
    maybe = Coder()
    if is_parallel:
        maybe = nn.DataParallel(maybe)
    inner = maybe.module if is_parallel else maybe
    return inner.encode(x)
