import torch
from torch import nn


class Sparse(nn.Module):
    def __init__(self, width, input_dim, n_classes, n_codes, dim):
        super().__init__()
        self.dim = dim
        self.columns = nn.Embedding(width, n_classes)
        self.scores = nn.EmbeddingBag(input_dim, n_classes)
        self.codes = nn.Embedding(n_codes, dim)

    def forward(self, image, words, x):
        distance = (x.reshape(-1, 1, self.dim) - self.codes.weight).abs().clamp(max=self.dim - 1).sum(-1)
        return self.columns(torch.arange(image.shape[-1])), self.scores(words), self.codes(distance.argmin(-1))
