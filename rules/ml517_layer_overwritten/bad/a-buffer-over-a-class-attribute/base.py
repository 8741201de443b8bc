from torch import nn


class Base(nn.Module):
    scale = 1.0
