"""Multimodal rotary position embedding: each token has a temporal, a vertical and a horizontal position."""

import torch
from torch import nn


class RotaryEmbedding(nn.Module):
    def __init__(self, dim: int, max_position_embeddings: int, base: float):
        super().__init__()
        inv_freq = 1.0 / base ** (torch.arange(0, dim, 2).float() / dim)
        self.register_buffer("inv_freq", inv_freq, persistent=False)
        self._fill_cache(max_position_embeddings)

    def _fill_cache(self, seq_len: int) -> None:
        self.max_seq_len_cached = int(seq_len)
        t = torch.arange(self.max_seq_len_cached, device=self.inv_freq.device, dtype=torch.float32)
        angles = torch.outer(t, self.inv_freq)
        angles = torch.cat([angles, angles], dim=-1)
        self.register_buffer("cos_cached", angles.cos(), persistent=False)
        self.register_buffer("sin_cached", angles.sin(), persistent=False)

    def forward(self, x: torch.Tensor, seq_len: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Cosine and sine tables, (seq_len, dim)."""
        if seq_len > self.max_seq_len_cached:
            self._fill_cache(seq_len)
        return self.cos_cached[:seq_len].to(x.dtype), self.sin_cached[:seq_len].to(x.dtype)


def rotate_half(x: torch.Tensor) -> torch.Tensor:
    first, second = x.chunk(2, dim=-1)
    return torch.cat([-second, first], dim=-1)


def apply_multimodal_rotary(
    q: torch.Tensor,
    k: torch.Tensor,
    cos: torch.Tensor,
    sin: torch.Tensor,
    position_ids: torch.Tensor,
    mrope_section: tuple[int, int, int],
) -> tuple[torch.Tensor, torch.Tensor]:
    """q, k: (batch, heads, length, dim); position_ids: (3, batch, length)."""
    cos, sin = cos[position_ids], sin[position_ids]
    sections = list(mrope_section) * 2
    cos = torch.cat([part[i % 3] for i, part in enumerate(cos.split(sections, dim=-1))], dim=-1).unsqueeze(1)
    sin = torch.cat([part[i % 3] for i, part in enumerate(sin.split(sections, dim=-1))], dim=-1).unsqueeze(1)
    return q * cos + rotate_half(q) * sin, k * cos + rotate_half(k) * sin
