import torch


class Record(torch.Tensor):
    def relabel(self, name):
        return self


def first(x):
    return torch.relu(x).relabel("first")
