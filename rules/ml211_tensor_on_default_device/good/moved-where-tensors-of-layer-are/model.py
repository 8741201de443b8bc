import torch
from torch import nn
from torch.nn import functional as F


class Margin(nn.Module):
    def __init__(self, width, classes, scale):
        super().__init__()
        self.scale = scale
        self.weight = nn.Parameter(torch.rand(classes, width))

    def forward(self, features, labels):
        cosine = F.linear(F.normalize(features), F.normalize(self.weight))
        chosen = torch.zeros(cosine.size())
        chosen = chosen.cuda() if cosine.is_cuda else chosen
        chosen.scatter_(1, labels.view(-1, 1), 1)
        return self.scale * (cosine - chosen)


class Smoothed(nn.Module):
    def forward(self, scores, labels):
        wanted = torch.full(scores.shape, 0.1)
        if scores.is_cuda:
            wanted = wanted.cuda()
        wanted.scatter_(1, labels.unsqueeze(1), 0.9)
        return -wanted.mul(scores).sum(1)


class Weighted(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(classes))

    def forward(self, scores, weights):
        spread = torch.ones(scores.size(1))
        if self.bias.device.type == "cuda":
            spread = spread.cuda(non_blocking=True)
        offset = torch.linspace(0, 1, scores.size(1))
        if weights.device != torch.device("cpu"):
            offset = offset.to(weights.device)
        return spread.mul(scores).add(offset.mul(weights)) + self.bias


class Kept(nn.Module):
    def forward(self, x, steps):
        self.ramp = torch.linspace(0, 1, x.size(1))
        if steps.is_cuda:
            self.ramp = self.ramp.cuda()
        rows = [torch.ones(x.size(1)) for _ in range(x.size(0))]
        if x.is_cuda:
            rows = [row.cuda() for row in rows]
        return self.ramp.mul(x) + torch.stack(rows).mul(x)


class Split(nn.Module):
    def __init__(self, gpu_ids):
        super().__init__()
        self.gpu_ids = gpu_ids

    def forward(self, x, labels):
        wanted = torch.zeros(x.size())
        if self.gpu_ids is not None:
            wanted = wanted.cuda(self.gpu_ids[0])
        wanted.scatter_(1, labels.view(-1, 1), 1)
        return wanted * x
