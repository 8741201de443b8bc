import torch
from torch import nn
from torch.nn import functional as F


class Recogniser(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(64, 30)

    def forward(self, frames):
        return self.head(frames).log_softmax(dim=-1)


def step(model: Recogniser, optimizer, frames, sizes, texts, lengths):
    scores = model(frames)
    loss = F.ctc_loss(scores.transpose(0, 1), texts, sizes, lengths)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
