import torch
import torch.nn.functional as F
from torch import nn


class Speaker(nn.Module):
    def __init__(self, width, tokens=256, start=261, stop=0):
        super().__init__()
        self.start, self.stop = start, stop
        self.table = nn.Embedding(tokens, width)

    def forward(self, ids):
        ids = F.pad(ids, (0, 1), value=self.stop)
        ids = F.pad(ids, (1, 0), value=self.start)
        return self.table(ids)


def build(tokenizer):
    return Speaker(512, tokens=len(tokenizer), start=tokenizer.token_to_id("[START]"))


def small():
    return Speaker(32, tokens=300), Speaker(32, 256, 255)
