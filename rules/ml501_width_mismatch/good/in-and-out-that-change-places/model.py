from functools import partial

from torch import nn


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, norm=partial(nn.LayerNorm, eps=1e-6)):
        super().__init__()
        self.w_1 = nn.Linear(d_model, d_ff)
        self.w_2 = nn.Linear(d_ff, d_model)
        self.gate = nn.Linear(d_model, d_ff)
        self.norm = norm(d_model)

    def forward(self, x):
        x = self.norm(x)
        return self.w_2(self.w_1(x) * self.gate(x))


class Apart(nn.Module):
    def __init__(self, inside, outside):
        super().__init__()
        self.one = nn.Linear(inside, outside)
        self.other = nn.Linear(inside, outside)

    def forward(self, x, y):
        return self.one(x) + self.other(y)
