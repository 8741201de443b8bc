from torch import nn


class Prenet(nn.Module):
    def __init__(self, feat_dim, d_model):
        super().__init__()
        self.embed = nn.Embedding(feat_dim, d_model)  # expect: ML101
        self.skip = nn.Linear(feat_dim, d_model)

    def forward(self, feats):
        return self.embed(feats) + self.skip(feats)
