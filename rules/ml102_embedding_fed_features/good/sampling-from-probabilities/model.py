import torch
from torch import nn
from torch.distributions import Categorical


class Sampler(nn.Module):
    def __init__(self, width, vocab_size):
        super().__init__()
        self.head = nn.Linear(width, vocab_size)
        self.embed = nn.Embedding(vocab_size, width)

    def forward(self, hidden):
        probabilities = torch.softmax(self.head(hidden), dim=-1)
        drawn = self.embed(torch.multinomial(probabilities, 1))
        return drawn + self.embed(Categorical(probs=probabilities).sample())
