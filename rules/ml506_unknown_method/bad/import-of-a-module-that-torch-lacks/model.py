import torch
from torch import nn
from torch._six import container_abcs, string_classes  # expect: ML506


class Collate:
    def __call__(self, batch):
        from torch.optimizer import SGD  # expect: ML506

        if isinstance(batch, string_classes):
            return batch
        return [torch.stack(one) for one in batch], SGD


def pair(x):
    return x if isinstance(x, container_abcs.Iterable) else (x, x)


layer = nn.Linear(2, 2)
