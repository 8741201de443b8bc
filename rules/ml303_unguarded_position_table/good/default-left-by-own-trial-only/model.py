import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self, vocab_size, width, length=120):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, width)
        self.positions = nn.Embedding(length, width)

    def forward(self, ids):
        return self.embed(ids) + self.positions(torch.arange(ids.shape[1], device=ids.device))


if __name__ == "__main__":
    model = Decoder(100, 64)
    print(model(torch.randint(100, (2, 120))))
