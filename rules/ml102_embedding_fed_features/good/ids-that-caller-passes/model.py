from torch import nn


class TextEncoder(nn.Module):
    def __init__(self, vocab_size, width):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, width)
        self.proj = nn.Linear(width, width)

    def forward(self, ids, mask):
        ids = ids.to(mask.device).long()
        return self.proj(self.embed(ids)) * mask.float().unsqueeze(-1)
