import torch
from torch import nn
from torch.nn import functional as F


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(100, 16)
        self.out = nn.Linear(16, 100)

    def forward(self, ids):
        hidden = F.dropout(self.table(ids), 0.2, training=self.training)
        return self.out(hidden)

    def write(self, ids, length):
        for _ in range(length):
            ids = torch.cat((ids, self(ids)[:, -1:].argmax(-1)), 1)
        return ids


def main(path, ids):
    decoder = Decoder()
    decoder.load_state_dict(torch.load(path))
    with torch.no_grad():
        print(decoder.write(ids, 20))  # expect: ML706
