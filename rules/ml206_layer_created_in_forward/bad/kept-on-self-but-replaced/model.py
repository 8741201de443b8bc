from torch import nn


class Decoder(nn.Module):
    def __init__(self, width, n_classes):
        super().__init__()
        self.width = width
        self.n_classes = n_classes
        self.norm = nn.LayerNorm(width)

    def forward(self, x, return_hidden=False):
        hidden = self.norm(x)
        if return_hidden:
            return hidden
        self.head = nn.Linear(self.width, self.n_classes)  # expect: ML206
        return self.head(hidden)
