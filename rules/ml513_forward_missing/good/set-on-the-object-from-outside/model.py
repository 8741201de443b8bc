import torch
from torch import nn


class Shell(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)


def run():
    shell = Shell()
    shell.forward = lambda x: shell.fc(x)
    return shell(torch.rand(2, 4))
