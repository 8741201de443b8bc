from dataclasses import dataclass


@dataclass
class Config:
    vocab_size: int = 1024
    width: int = 256
    bos_id: int = 1024
