from torch import nn


class Classifier(nn.Module):
    def __init__(self, width, n_classes, weight):
        super().__init__()
        self.head = nn.Linear(width, n_classes)
        self.weight = weight

    def forward(self, x, labels):
        x = nn.Dropout(0.1)(nn.GELU()(x))
        x = nn.AdaptiveAvgPool1d(1)(x).squeeze(-1)
        x = nn.LayerNorm(x.size(-1), elementwise_affine=False)(x)
        logits = self.head(x)
        return nn.CrossEntropyLoss(weight=self.weight)(logits, labels)
