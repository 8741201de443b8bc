"""A decoder of one layer that learns from packed dialogues."""

import torch
import torch.nn.functional as F
from torch import nn

from constants import IGNORE_INDEX
from rotary import RotaryEmbedding, apply_rotary


class Attention(nn.Module):
    def __init__(self, hidden_size: int, num_heads: int):
        super().__init__()
        self.num_heads = num_heads
        self.head_dim = hidden_size // num_heads
        self.qkv_proj = nn.Linear(hidden_size, 3 * hidden_size)
        self.o_proj = nn.Linear(hidden_size, hidden_size)
        self.rotary_emb = RotaryEmbedding(self.head_dim)

    def forward(
        self, hidden: torch.Tensor, position_ids: torch.Tensor, attention_mask: torch.Tensor
    ) -> torch.Tensor:
        batch, length, _ = hidden.shape
        qkv = self.qkv_proj(hidden).view(batch, length, 3, self.num_heads, self.head_dim)
        query, key, value = qkv.permute(2, 0, 3, 1, 4)
        cos, sin = self.rotary_emb(int(position_ids.max()) + 1)
        query = apply_rotary(query, cos, sin, position_ids)
        key = apply_rotary(key, cos, sin, position_ids)
        causal = torch.ones(length, length, dtype=torch.bool, device=hidden.device).tril()
        mask = causal & attention_mask[:, None, None, :]
        out = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        return self.o_proj(out.transpose(1, 2).reshape(batch, length, -1))


class DialogueModel(nn.Module):
    def __init__(self, vocab_size: int = 256, hidden_size: int = 64, num_heads: int = 4):
        super().__init__()
        self.embed_tokens = nn.Embedding(vocab_size, hidden_size)
        self.attention = Attention(hidden_size, num_heads)
        self.norm = nn.LayerNorm(hidden_size)
        self.lm_head = nn.Linear(hidden_size, vocab_size)

    def forward(
        self,
        input_ids: torch.Tensor,
        labels: torch.Tensor,
        position_ids: torch.Tensor,
        attention_mask: torch.Tensor,
    ) -> torch.Tensor:
        """The loss of the next token."""
        hidden = self.embed_tokens(input_ids)
        hidden = hidden + self.attention(hidden, position_ids, attention_mask)
        logits = self.lm_head(self.norm(hidden))
        return F.cross_entropy(
            logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten(), ignore_index=IGNORE_INDEX
        )
