import torch
from torch import nn


class Hypotheses:
    def __init__(self, batch, length, device):
        self.device = device
        self.scores = torch.zeros(batch, device=device)
        self.tokens = torch.zeros(batch, length, dtype=torch.long, device=device)

    def add(self, active, scores, tokens, step):
        self.scores = torch.where(active, self.scores + scores, self.scores)
        self.tokens[:, step] = torch.where(active, tokens, self.tokens[:, step])


class Decoder(nn.Module):
    def __init__(self, width, vocabulary):
        super().__init__()
        self.step = nn.Linear(width, vocabulary)

    def forward(self, states):
        found = Hypotheses(states.shape[0], states.shape[1], states.device)
        active = torch.ones(states.shape[0], dtype=torch.bool, device=states.device)
        for at in range(states.shape[1]):
            scores, tokens = self.step(states[:, at]).max(-1)
            found.add(active, scores, tokens, at)
        return found.scores, found.tokens
