from typing import Optional, Union

import numpy as np
import torch
from jaxtyping import Float
from mypackage import Float as OtherFloat
from torch import Tensor, nn


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.scores = nn.Linear(128, 10)
        self.narrow = nn.Linear(64, 128)

    def forward(self, x):
        """Score each row.

        Args:
            x: tensor of shape (batch, 64)
        """
        # x: [batch, 64]
        x = torch.relu(x)  # [batch, 64]
        return self.scores(x)

    def in_signature(
        self,
        x,  # (B, 64)
        y: Tensor,  # [B, 64]
    ):
        return self.scores(x) + self.scores(y)

    def annotated(self, x: Float[Tensor, "batch 64"]):
        return self.scores(self.narrow(x))

    def named(self, x: Float[Tensor, "batch narrow"], y: Float[Tensor, "batch wide"]):
        return self.narrow(x) + y, self.scores(y)

    def of_one_or_many(self, x: Float[Tensor, "batch #64"]):
        return self.scores(x)

    def perhaps(self, x: Optional[Float[Tensor, "batch 64"]], y: Union[Float[Tensor, "b 64"], Float[Tensor, "b 128"]]):
        return self.scores(y) if x is None else self.scores(x)

    def of_another_package(self, x: OtherFloat[Tensor, "batch 64"]):
        return self.scores(x)

    def of_array(self, x: Float[np.ndarray, "batch 64"]):
        return self.scores(torch.from_numpy(x))

    def asked(self, x: Float[Tensor, "batch 64"]):
        if x.shape[-1] == 64:
            x = self.narrow(x)
        return self.scores(x)
