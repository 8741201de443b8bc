from dataclasses import dataclass


@dataclass
class SpeechConfig:
    width: int = 512
    codebook_size: int = 4096
    n_special: int = 64
