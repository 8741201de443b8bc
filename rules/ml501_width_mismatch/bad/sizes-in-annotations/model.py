import jaxtyping
from jaxtyping import Float
from torch import Tensor, nn


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.scores = nn.Linear(128, 10)
        self.conv = nn.Conv2d(3, 8, 3)

    def forward(self, x: Float[Tensor, "batch 64"]) -> Float[Tensor, "batch 10"]:
        return self.scores(x)  # expect: ML501

    def of_any_batch(self, x: Float[Tensor, "*batch width=64"]):
        return self.scores(x.relu())  # expect: ML501

    def of_images(self, image: jaxtyping.Float[Tensor, "batch 1 height width"]):
        return self.conv(image)  # expect: ML501
