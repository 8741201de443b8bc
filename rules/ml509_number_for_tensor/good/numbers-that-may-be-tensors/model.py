import torch
from torch import nn


class Scores(nn.Module):
    def __init__(self, width, is_scaled=False, is_cut=True, start=1.0):
        super().__init__()
        self.is_scaled = is_scaled
        self.query = nn.Linear(width, width)
        self.scale = torch.tensor(width).sqrt() if is_scaled else 1.0
        self.cut = torch.ones(width) if is_cut else 1.0
        self.start = start
        self.rate = 0.5
        self.share = 0.25
        self.ratio = 2.0

    def forward(self, x):
        scores = self.query(x) * self.cut.to(x.device)
        if self.is_scaled:
            scores = scores / self.scale.to(x.device)
        if torch.is_tensor(self.ratio):
            scores = scores * self.ratio.to(x.device)
        return scores * self.rate.to(x.device) + self.start.to(x.device) + self.share.conjugate()

    def warm_up(self):
        self.rate = torch.tensor(self.rate)


class Shared(nn.Module):
    def __init__(self):
        super().__init__()
        self.share = 1.0
        self.offset = 0.0

    def forward(self, x):
        return x * self.share.to(x.device) + self.offset.to(x.device)


class Learned(Shared):
    def __init__(self):
        super().__init__()
        self.offset = nn.Parameter(torch.zeros(1))


def train(model, batches):
    model.share = torch.ones(1)
    total = 0
    for x in batches:
        total = total + model(x).mean()
        total = total + 1
        total.detach()
    total.backward()
    try:
        return 0.0.item()
    except AttributeError:
        return model.start.is_integer()


class Steps(nn.Module):
    def __init__(self, width, limit: int = 10):
        super().__init__()
        self.limit = limit
        self.proj = nn.Linear(width, width)

    def forward(self, x, scale: float, step: int = 0, shift=0.0):
        if step:
            x = x / step.float()
        return self.proj(x) * scale.to(x.device) + shift.to(x.device) + self.limit.to(x.device)
