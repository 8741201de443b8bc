import torch
from torch import nn

from config import Config


class LanguageModel(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.embed = nn.Embedding(config.vocab_size, config.width)
        self.rnn = nn.GRU(config.width, config.width)
        self.head = nn.Linear(config.width, config.vocab_size, bias=False)

    def forward(self, ids):
        hidden, _ = self.rnn(self.embed(ids))
        return self.head(hidden)


def generate(model: LanguageModel, ids, steps):
    for _ in range(steps):
        ids = torch.cat([ids, model(ids)[:, -1:].argmax(-1)], dim=1)
    return model.embed(ids)
