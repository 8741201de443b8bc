from torch import nn

WIDTH = 300


class Attention(nn.Module):
    def __init__(self, dim=100, heads=8):
        super().__init__()
        self.own = nn.MultiheadAttention(WIDTH, 7)  # expect: ML501
        self.by_default = nn.MultiheadAttention(dim, heads)  # expect: ML501
        self.layer = nn.TransformerEncoderLayer(d_model=WIDTH, nhead=8)  # expect: ML501
        self.norm = nn.GroupNorm(32, 48)  # expect: ML501
        self.conv = nn.Conv1d(100, 64, 3, groups=8)  # expect: ML501
