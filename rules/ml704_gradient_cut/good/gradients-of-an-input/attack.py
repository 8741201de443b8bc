import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 16)
        self.head = nn.Linear(16, 4)

    def forward(self, x):
        return self.head(F.relu(self.body(x)))


def attack(net: Net, image, label):
    image = image.detach()
    image.requires_grad_()
    loss = (image * 2).sum()
    loss.backward()
    other = image.data.clone()
    other.requires_grad = True
    F.cross_entropy(net(other), label).backward()
    return image.grad, other.grad
