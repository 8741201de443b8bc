from torch import nn


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)

    def forward(self, queries, memory):
        return self.proj(queries)


class Relative(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)

    def forward(self, queries, memory, bias=None):
        return self.proj(queries), bias


class Decoder(nn.Module):
    def __init__(self, width, layers):
        super().__init__()
        self.width, self.layers = width, layers
        self.attentions = nn.ModuleList()
        self.initialize_blocks()

    def initialize_blocks(self):
        for _ in range(self.layers):
            layer = Attention(self.width)
            self.attentions.append(layer)

    def forward(self, x):
        for layer in range(self.layers):
            x = x + self.attentions[layer](queries=x, memory=None)
        return x


class RelativeDecoder(Decoder):
    def initialize_blocks(self):
        for _ in range(self.layers):
            layer = Relative(self.width)
            if self.width != layer.proj.out_features:
                raise ValueError("widths")
            self.attentions.append(layer)

    def forward(self, x, bias=None):
        for layer in range(self.layers):
            found, bias = self.attentions[layer](queries=x, memory=None, bias=bias)
            x = x + found
        return x
