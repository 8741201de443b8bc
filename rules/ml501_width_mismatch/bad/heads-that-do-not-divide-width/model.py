from torch import nn

WIDTH = 300


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.own = nn.MultiheadAttention(WIDTH, 7)  # expect: ML501


class ByDefault(nn.Module):
    def __init__(self, dim=100, heads=8):
        super().__init__()
        self.attention = nn.MultiheadAttention(dim, heads)  # expect: ML501


def encoder(layers):
    return nn.TransformerEncoder(nn.TransformerEncoderLayer(d_model=WIDTH, nhead=8), layers)  # expect: ML501


class Grouped(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.GroupNorm(32, 48)  # expect: ML501


class Depthwise(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(100, 64, 3, groups=8)  # expect: ML501


class Narrowed(nn.Module):
    def __init__(self):
        super().__init__()
        self.narrow = nn.Conv2d(64, 30, 3, groups=4)  # expect: ML501
        self.fits = nn.Conv2d(64, 32, 3, groups=4)

    def forward(self, x):
        return self.narrow(x), self.fits(x)
