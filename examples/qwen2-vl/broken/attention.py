"""Attention over text and image tokens, with a cache of keys and values."""

import torch
import torch.nn.functional as F
from torch import nn

from config import TextConfig
from rotary import RotaryEmbedding, apply_multimodal_rotary


class KeyValueCache:
    """Keys and values of the tokens seen so far."""

    def __init__(self) -> None:
        self.keys: torch.Tensor | None = None
        self.values: torch.Tensor | None = None

    def update(self, keys: torch.Tensor, values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        if self.keys is not None and self.values is not None:
            keys = torch.cat([self.keys, keys], dim=2)
            values = torch.cat([self.values, values], dim=2)
        self.keys, self.values = keys, values
        return keys, values


class VisionLanguageAttention(nn.Module):
    def __init__(self, config: TextConfig):
        super().__init__()
        self.num_heads = config.num_heads
        self.num_key_value_heads = config.num_key_value_heads
        self.head_dim = config.hidden_size // config.num_heads
        self.mrope_section = config.mrope_section
        self.q_proj = nn.Linear(config.hidden_size, self.num_heads * self.head_dim)
        self.k_proj = nn.Linear(config.hidden_size, self.num_key_value_heads * self.head_dim)
        self.v_proj = nn.Linear(config.hidden_size, self.num_key_value_heads * self.head_dim)
        self.o_proj = nn.Linear(self.num_heads * self.head_dim, config.hidden_size, bias=False)
        self.rotary_emb = RotaryEmbedding(
            self.head_dim, config.max_position_embeddings, base=config.rope_theta
        )

    def forward(
        self,
        hidden_states: torch.Tensor,
        position_ids: torch.Tensor,
        cache_position: torch.Tensor,
        past_key_value: KeyValueCache | None = None,
    ) -> torch.Tensor:
        """hidden_states: (batch, length, hidden_size); position_ids: (3, batch, length).

        cache_position: (length,), the slots of the cache that these tokens fill.
        """
        batch, length, _ = hidden_states.shape
        query_states = self.q_proj(hidden_states).view(batch, length, self.num_heads, -1).transpose(1, 2)
        key_states = self.k_proj(hidden_states).view(batch, length, self.num_key_value_heads, -1).transpose(1, 2)
        value_states = self.v_proj(hidden_states).view(batch, length, self.num_key_value_heads, -1).transpose(1, 2)

        rotary_seq_len = cache_position[-1] + 10
        cos, sin = self.rotary_emb(value_states, seq_len=rotary_seq_len)
        query_states, key_states = apply_multimodal_rotary(
            query_states, key_states, cos, sin, position_ids, self.mrope_section
        )
        if past_key_value is not None:
            key_states, value_states = past_key_value.update(key_states, value_states)

        repeats = self.num_heads // self.num_key_value_heads
        key_states = key_states.repeat_interleave(repeats, dim=1)
        value_states = value_states.repeat_interleave(repeats, dim=1)
        slots = torch.arange(key_states.shape[2], device=hidden_states.device)
        mask = slots[None, :] <= cache_position[:, None]
        attn_output = F.scaled_dot_product_attention(query_states, key_states, value_states, attn_mask=mask)
        return self.o_proj(attn_output.transpose(1, 2).reshape(batch, length, -1))
