from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Optional, Union

import torch
from lightning.pytorch import LightningModule
from torch import nn


@dataclass
class Window:
    length: int
    hop: int = 4


class Loose(nn.Module):
    def __init__(self, depth: int = 1, **kwargs):
        super().__init__()
        self.options = kwargs


class Tagger(LightningModule):
    def __init__(
        self,
        width: int,
        window: Window,
        rate: float = 0.1,
        name: str = "tagger",
        steps: int = None,
        scale: int = 0.5,
        is_deep: bool = False,
        parts: Union[nn.Module, List[nn.Module], None] = None,
        optimizer: Callable[[Any], torch.optim.Optimizer] = torch.optim.Adam,
        table: Optional[Dict[str, int]] = None,
        anything=None,
        act: Callable = torch.relu,
    ):
        super().__init__()
