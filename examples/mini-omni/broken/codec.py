"""The decoder half of a neural audio codec: codebook ids in, samples out."""

import torch
from torch import nn

from config import OmniConfig


class Codec(nn.Module):
    def __init__(self, config: OmniConfig):
        super().__init__()
        self.codebooks = nn.ModuleList(
            nn.Embedding(config.audio_vocab_size, config.codebook_dim) for _ in range(config.num_codebooks)
        )
        self.upsample = nn.ConvTranspose1d(
            config.codebook_dim, 1, kernel_size=config.hop_length, stride=config.hop_length
        )

    def decode(self, codes: torch.Tensor) -> torch.Tensor:
        """Samples, (batch, time), of `codes`, (batch, num_codebooks, frames)."""
        latents = 0
        for index, codebook in enumerate(self.codebooks):
            latents = latents + codebook(codes[:, index])
        return self.upsample(latents.transpose(1, 2)).squeeze(1)
