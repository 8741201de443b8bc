import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, width, use_cuda=False, device="cuda"):
        super().__init__()
        self.use_cuda = self.is_cuda = use_cuda
        self.device = device
        self.proj = nn.Linear(width, width)
        if use_cuda:
            self.cuda()
            self.proj.cuda()

    def forward(self, x, on_gpu=True):
        noise = torch.randn(3, device=self.device)
        if self.use_cuda:
            noise = noise.cuda()
        if self.is_cuda:
            noise = noise.cuda()
        other = torch.randn(3).cuda() if on_gpu else torch.randn(3)
        return self.proj(x) + noise + other
