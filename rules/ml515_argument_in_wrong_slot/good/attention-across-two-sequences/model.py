from torch import nn


class Across(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2)

    def forward(self, query, key, value):
        return self.attention(key, query, value)[0]
