import torch
import torch.distributed as dist
from torch import nn


class Model(nn.Module):
    def cuda(self, device=None):
        self.extra = self.extra.cuda()
        return super().cuda(device)

    def forward(self, x):
        if dist.is_initialized():
            count = torch.tensor([len(x)]).cuda()
            dist.all_reduce(count)
        torch.cuda.synchronize()
        return x
