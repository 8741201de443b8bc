import torch


def softcap(self, limit):
    return torch.tanh(self / limit) * limit


torch.Tensor.softcap = softcap


def run(x):
    return torch.cat(x).softcap(30.0)
