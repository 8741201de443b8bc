import torch
from torch import nn


class Searcher(nn.Module):
    def __init__(self, width, words, beams):
        super().__init__()
        self.head = nn.Linear(width, words)
        self.beams = beams

    def forward(self, states, steps):
        pointers = torch.full((states.shape[0], self.beams), -1)  # expect: ML304
        for _ in range(steps):
            states = self.moved(states, pointers)
            pointers = self.head(states).amax(-1).topk(self.beams).indices
        return states

    def moved(self, states, pointers):
        return states.gather(1, pointers[..., None].expand(-1, -1, states.shape[-1]))


def kept(states, count):
    chosen = states.new_full((count,), -1).long()  # expect: ML304
    return torch.index_select(states, 0, chosen)
