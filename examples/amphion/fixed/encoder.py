"""Conditioning encoder: content, pitch and singer become one sequence for the acoustic model."""

import math

import torch
from torch import nn

from config import EncoderConfig


class PitchEncoder(nn.Module):
    """Embeds the fundamental frequency, quantised on a logarithmic scale."""

    def __init__(self, cfg: EncoderConfig):
        super().__init__()
        edges = torch.linspace(math.log(cfg.f0_min), math.log(cfg.f0_max), cfg.pitch_bins - 1)
        self.register_buffer("edges", edges.exp())
        self.embedding = nn.Embedding(cfg.pitch_bins, cfg.d_model)

    def forward(self, f0: torch.Tensor) -> torch.Tensor:
        """f0: (N, T) in Hz, 0 where unvoiced."""
        return self.embedding(torch.bucketize(f0, self.edges))


class ContentEncoder(nn.Module):
    """Encodes the content features of a recording."""

    def __init__(self, cfg: EncoderConfig):
        super().__init__()
        self.input_layer = nn.Linear(cfg.input_dim, cfg.d_model)
        layer = nn.TransformerEncoderLayer(
            cfg.d_model, cfg.n_heads, 4 * cfg.d_model, cfg.dropout, batch_first=True
        )
        self.layers = nn.TransformerEncoder(layer, cfg.n_layers)
        self.norm = nn.LayerNorm(cfg.d_model)

    def forward(self, x: torch.Tensor, padding_mask: torch.Tensor | None = None) -> torch.Tensor:
        """x: (N, T, input_dim); padding_mask: (N, T), True on padding; returns (N, T, d_model)."""
        x = self.input_layer(x)
        x = self.layers(x, src_key_padding_mask=padding_mask)
        return self.norm(x)


class ConditionEncoder(nn.Module):
    """Sums what is sung, how high and by whom."""

    def __init__(self, cfg: EncoderConfig):
        super().__init__()
        self.content = ContentEncoder(cfg)
        self.pitch = PitchEncoder(cfg)
        self.singer = nn.Embedding(cfg.n_singers, cfg.d_model)
        self.output = nn.Linear(cfg.d_model, cfg.n_mels)

    def forward(self, content: torch.Tensor, f0: torch.Tensor, singer_id: torch.Tensor) -> torch.Tensor:
        """content: (N, T, input_dim); f0: (N, T); singer_id: (N,)."""
        h = self.content(content) + self.pitch(f0) + self.singer(singer_id).unsqueeze(1)
        return self.output(h)
