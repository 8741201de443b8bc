import torch
from torch import nn


class LabelEmbedder(nn.Module):
    def __init__(self, num_classes, hidden_size, dropout_prob):
        super().__init__()
        has_empty_label = dropout_prob > 0
        self.embedding_table = nn.Embedding(num_classes + has_empty_label, hidden_size)

    def forward(self, labels):
        return self.embedding_table(labels)


class DiffusionTransformer(nn.Module):
    def __init__(self, hidden_size=1152, class_dropout_prob=0.1, num_classes=1000):
        super().__init__()
        self.num_classes = num_classes
        self.embedder = LabelEmbedder(num_classes, hidden_size, class_dropout_prob)

    def forward(self, x, labels=None):
        if labels is None:
            labels = torch.full((x.shape[0],), self.num_classes, dtype=torch.long, device=x.device)
        return x + self.embedder(labels)
