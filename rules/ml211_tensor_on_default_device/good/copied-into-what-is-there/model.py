import torch
from torch import nn


class Queue(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.register_buffer("queue", torch.zeros(size, 4))

    def forward(self, x):
        self.queue.copy_(torch.randn(self.queue.shape))
        self.queue[0] = torch.zeros(4)
        weights = torch.as_tensor(x.mean(0))
        return x * weights + self.queue
