"""Sizes of the language half of the vision language model."""

from dataclasses import dataclass


@dataclass
class TextConfig:
    hidden_size: int = 64
    num_heads: int = 2
    num_key_value_heads: int = 1
    max_position_embeddings: int = 32
    rope_theta: float = 1000000.0
    # How much of a head turns with the frame, the row and the column of a patch.
    mrope_section: tuple[int, int, int] = (4, 6, 6)
