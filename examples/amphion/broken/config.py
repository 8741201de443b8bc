"""Sizes of the singing voice conversion model."""

from dataclasses import dataclass


@dataclass
class EncoderConfig:
    # Content features per frame: the phonetic posteriorgram of a speech recogniser.
    input_dim: int = 1583
    d_model: int = 64
    n_heads: int = 4
    n_layers: int = 2
    dropout: float = 0.1
    n_mels: int = 80
    n_singers: int = 12
    pitch_bins: int = 256
    f0_min: float = 50.0
    f0_max: float = 1100.0
