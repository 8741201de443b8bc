from torch import nn


class Normed(nn.Sequential):
    def __init__(self, width):
        super().__init__()
        self.conv = nn.Conv1d(width, width, 3)
        self.norm = nn.BatchNorm1d(width)


class Layer(nn.TransformerEncoderLayer):
    def __init__(self, width, heads):
        super().__init__(width, heads)
        self.self_attn = nn.MultiheadAttention(width, heads, bias=False)
