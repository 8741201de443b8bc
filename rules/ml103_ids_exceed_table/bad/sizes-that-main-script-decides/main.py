from dataclasses import dataclass

import torch
from network import Speaker, Writer


@dataclass
class Config:
    vocabulary: int = 4000
    classes: int = 4096


def main(words):
    start = torch.zeros(1, 1, dtype=torch.long)
    print(Writer(Config()).write(start, 20))
    print(Speaker(len(words), len(words) + 1).speak(start))
