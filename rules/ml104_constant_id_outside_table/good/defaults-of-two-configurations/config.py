from dataclasses import dataclass


@dataclass
class TextConfig:
    vocab_size: int = 1000


@dataclass
class SpeechConfig:
    mask_id: int = 4096
