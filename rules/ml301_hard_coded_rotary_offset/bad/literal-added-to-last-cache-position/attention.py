from torch import nn

from rotary import RotaryEmbedding, apply_rotary


class Attention(nn.Module):
    def __init__(self, head_dim):
        super().__init__()
        self.rotary_emb = RotaryEmbedding(head_dim)

    def forward(self, q, k, v, position_ids, cache_position):
        seq_len = cache_position[-1] + 10  # expect: ML301
        cos, sin = self.rotary_emb(v, seq_len)
        q, k = apply_rotary(q, k, cos, sin, position_ids)
        return q @ k.transpose(-1, -2)
