import torch
from torch import nn


class Layer(nn.Module):
    def __init__(self, use_cuda):
        super().__init__()
        self.use_cuda = use_cuda

    def forward(self, x):
        noise = torch.randn(x.shape)
        if self.use_cuda:
            noise = noise.cuda()
        if self.use_cuda:
            ones = torch.ones(4).cuda(non_blocking=True) / 4
        else:
            ones = torch.ones(4) / 4
        scale = torch.linspace(0, 1, 4)
        scale = scale.to(x.device)
        return (x + noise) * ones * scale
