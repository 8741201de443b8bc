import torch
from torch import nn


class Collate:
    def __call__(self, batch):
        from torch._six import string_classes  # expect: ML506

        if isinstance(batch, string_classes):
            return batch
        return [torch.stack(one) for one in batch]


def optimizer(model):
    from torch.optimizer import SGD  # expect: ML506

    return SGD(model.parameters(), 0.1)


layer = nn.Linear(2, 2)
