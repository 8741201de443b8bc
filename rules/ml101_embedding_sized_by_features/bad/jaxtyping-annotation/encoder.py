from jaxtyping import Float
from torch import Tensor, nn

from layers import FrozenEmbedding


class Encoder(nn.Module):
    def __init__(self, n_feats: int, width: int):
        super().__init__()
        self.front = FrozenEmbedding(n_feats, width)  # expect: ML101

    def forward(self, feats: Float[Tensor, "batch time n_feats"]):
        return self.front(feats)
