from torch import nn

from config import OUTPUTS, TEXT_TOKENS


class Model(nn.Module):
    def __init__(self, width=512, inner=512):
        super().__init__()
        assert width == inner, "tied layers are equally wide"
        self.embed = nn.Embedding(TEXT_TOKENS, width)
        self.head = nn.Linear(inner, OUTPUTS, bias=False)  # expect: ML105
        self.tie_weights()

    def tie_weights(self):
        self.head.weight = self.embed.weight

    def forward(self, ids):
        return self.head(self.embed(ids))
