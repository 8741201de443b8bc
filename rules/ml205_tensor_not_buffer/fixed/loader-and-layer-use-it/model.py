import torch
from torch import nn
from torch.utils.data import DataLoader


class Walks(nn.Module):
    def __init__(self, starts, width):
        super().__init__()
        self.starts = starts
        self.register_buffer("offset", torch.arange(len(starts)), persistent=False)  # expect: ML205
        self.embedding = nn.Embedding(sum(starts), width)

    def loader(self, **options):
        return DataLoader(range(self.starts[0]), collate_fn=self.sample, **options)

    def sample(self, batch: list[int]):
        return self.walks(torch.tensor(batch))

    def walks(self, nodes: torch.Tensor):
        nodes = nodes.repeat(len(self.starts))
        return nodes.view(-1, len(self.starts)) + self.offset

    def forward(self, nodes: torch.Tensor):
        return self.embedding(self.walks(nodes))


class Noisy(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.lin = nn.Linear(width, width)
        self.register_buffer("shift", torch.zeros(width), persistent=False)  # expect: ML205

    def loader(self, parts, collate):
        return DataLoader(parts, collate_fn=collate)

    def sample(self, batch: torch.Tensor):
        return self.lin(batch) + self.shift
