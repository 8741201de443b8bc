"""The project: classes with all kinds of parameters, and programs that take them."""

PARTS = """\
from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Optional, Union

import torch
from torch import nn

Size = Union[int, tuple[int, int]]


class Shade(enum.Enum):
    dark = 1
    light = 2


@dataclass
class Window:
    length: int
    hop: int = 4
    kind: Literal["hann", "rect"] = "hann"
    marks: list[int] = field(default_factory=list)


class Block(nn.Module):
    def __init__(self, width: int, dropout: float = 0.1, bias: bool = True):
        super().__init__()


class WideBlock(Block):
    def __init__(self, factor: int = 2, **kwargs: Any):
        super().__init__(**kwargs)


class PooledBlock(Block):
    def __init__(self, size: Size = 2, **kwargs: Any):
        stride = kwargs.pop("stride", 1)
        super().__init__(bias=False, **kwargs)


class LooseBlock(Block):
    def __init__(self, depth: int = 1, **kwargs: Any):
        super().__init__(8)
        self.options = kwargs


class Stack(nn.Module):
    def __init__(
        self,
        blocks: list[Block],
        names: Sequence[str] = (),
        table: Optional[dict[str, int]] = None,
        activation: type[nn.Module] = nn.ReLU,
        shade: Shade = Shade.dark,
        window: Optional[Window] = None,
        place: Optional[Path] = None,
    ):
        super().__init__()


def small_stack(width: int = 3, depth: int = 1) -> Stack:
    return Stack([Block(width)])


def untold_stack(width: int = 3):
    return Stack([Block(width)])


Optim = Callable[[Iterable], torch.optim.Optimizer]
"""

MODEL = """\
from typing import Callable, List, Literal, Optional, Tuple, Union

from lightning.pytorch import LightningDataModule, LightningModule

from parts import Block, Optim, Shade, Size, Stack, Window


class Base(LightningModule):
    def __init__(self, rate: float = 0.1, warmup: Optional[int] = None):
        super().__init__()


class Tagger(Base):
    def __init__(
        self,
        width: int,
        encoder: Stack,
        name: str = "tagger",
        mode: Literal["fast", "exact"] = "fast",
        sizes: Tuple[int, int] = (1, 2),
        ratio: Union[float, str] = 0.5,
        window: Window = Window(8),
        block: Optional[Union[Block, List[Block]]] = None,
        extra=None,
        untold="text",
        steps: int = None,
        grid: Size = 2,
        weigh: Callable = print,
        optimizer: Optim = None,
        flag: bool = False,
        **kwargs,
    ):
        super().__init__(**kwargs)


class Counter(Base):
    def __init__(self, total: int = 3, shade: Shade = Shade.light, verbose: bool = False):
        super().__init__()


class Digits(LightningDataModule):
    def __init__(self, folder: str = "data", batch_size: int = 8, classes: int = 10, workers: int = 0):
        super().__init__()
        self.vocabulary = 12


class Letters(LightningDataModule):
    def __init__(self, alphabet: str, batch_size: int = 8):
        super().__init__()
"""

PLAIN = """\
from lightning.pytorch.cli import LightningCLI

from model import Digits, Tagger


def main(**options):
    return LightningCLI(Tagger, Digits, **options)


if __name__ == "__main__":
    LightningCLI(Tagger, Digits)
"""

LINKED = """\
from lightning.pytorch.cli import LightningCLI
from lightning.pytorch.callbacks import EarlyStopping

from model import Base, Digits


class OwnCLI(LightningCLI):
    def add_arguments_to_parser(self, parser):
        parser.add_argument("--title", type=str, default="run")
        parser.add_argument("--log.every", type=int, default=10)
        parser.add_lightning_class_args(EarlyStopping, "stop")
        parser.set_defaults({"stop.monitor": "loss"})
        parser.link_arguments("data.batch_size", "model.init_args.width")


def main(**options):
    return OwnCLI(Base, Digits, subclass_mode_model=True, seed_everything_default=1, **options)


if __name__ == "__main__":
    OwnCLI(Base, Digits, subclass_mode_model=True, seed_everything_default=1)
"""

FILES = {"parts.py": PARTS, "model.py": MODEL, "plain.py": PLAIN, "linked.py": LINKED}
