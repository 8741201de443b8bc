"""Sizes of the speech model and of the codec that turns its ids into sound."""

from dataclasses import dataclass


@dataclass
class OmniConfig:
    n_embd: int = 64
    n_layer: int = 2
    num_codebooks: int = 7
    # Rows of each codebook of the codec.
    audio_vocab_size: int = 4096
    # What the model predicts: the codec's ids, then 64 marks (end, begin, padding, tasks).
    padded_audio_vocab: int = 4096 + 64
    audio_end: int = 4096
    audio_begin: int = 4097
    codebook_dim: int = 8
    hop_length: int = 320
