import torch
from torch import nn


class Recogniser(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(40, 64)
        self.head = nn.Linear(64, 30)

    def forward(self, frames):
        hidden, _ = self.rnn(frames)
        return self.head(hidden)


def step(model: Recogniser, frames: torch.Tensor, texts: torch.Tensor):
    sizes, lengths = torch.full((2,), len(frames)), torch.full((2,), 1)
    loss = nn.CTCLoss(blank=0)(model(frames), texts, sizes, lengths)  # expect: ML702
    loss.backward()
