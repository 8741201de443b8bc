from dataclasses import dataclass


@dataclass
class Config:
    source_tokens: int = 42024
    target_tokens: int = 32000
    width: int = 64
    share: bool = False
