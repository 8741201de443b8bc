from typing import List, Literal, Optional, Tuple

from lightning.pytorch import LightningModule
from torch import nn


class Tagger(LightningModule):
    def __init__(
        self,
        width: int,
        mode: Literal["fast", "exact"] = "fast",
        sizes: Tuple[int, int] = (1, 2),
        names: Optional[List[str]] = None,
        is_deep: bool = False,
        head: Optional[nn.Module] = None,
    ):
        super().__init__()
