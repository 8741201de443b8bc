import torch


def normalised(x):
    y = x / x.norm()


def prepared(x):
    return normalised(x)


print(torch.exp(prepared(torch.rand(3))))  # expect: ML514
