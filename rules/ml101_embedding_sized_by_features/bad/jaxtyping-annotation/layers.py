from torch import nn


class FrozenEmbedding(nn.Embedding):
    def __init__(self, rows, width):
        super().__init__(rows, width)
        self.requires_grad_(False)
