from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple


class Once:
    def __new__(cls, *args):
        return object.__new__(cls)

    def __init__(self):
        self.values = []


class Registered(type):
    def __call__(cls, *args, **kwargs):
        return type.__call__(cls)


class Built(metaclass=Registered):
    def __init__(self):
        self.values = []


@dataclass
class Config:
    width: int
    depth: int = 2


class Mode(Enum):
    TRAIN = "train"


class Pair(NamedTuple):
    left: int
    right: int = 0


made = [Once(1, 2), Built(3), Config(8, depth=3), Mode("train"), Pair(1)]
