from dataclasses import dataclass


@dataclass
class Config:
    width: int = 256
    vocab_size: int = 32000
