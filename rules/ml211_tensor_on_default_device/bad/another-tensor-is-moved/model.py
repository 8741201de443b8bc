import torch
from torch import nn


def on_gpu_if_any(tensor):
    if torch.cuda.is_available():
        return tensor.cuda()
    return tensor


class Margin(nn.Module):
    def forward(self, scores, labels):
        chosen = torch.zeros(scores.size())  # expect: ML211
        margin = torch.ones(scores.size())
        if scores.is_cuda:
            margin = margin.cuda()
        chosen.scatter_(1, labels.view(-1, 1), 1)
        return chosen * margin.mul(scores)


class Late(nn.Module):
    def forward(self, scores, labels):
        chosen = torch.zeros(scores.size())  # expect: ML211
        chosen.scatter_(1, labels.view(-1, 1), 1)
        if scores.is_cuda:
            chosen = chosen.cuda()
        return chosen * scores


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.lin = nn.Linear(width, width)

    def forward(self, x):
        states = self.lin(x)
        weights = on_gpu_if_any(torch.ones(states.size(0), 1, states.size(1)))
        bias = torch.zeros(states.size(0), 1, states.size(1))  # expect: ML211
        return weights.bmm(states) + bias.bmm(states)
