from dataclasses import dataclass


@dataclass
class Config:
    vocab_size: int = 32000
    width: int = 256
    pad_id: int = 0
    bos_id: int = 31999
