"""A small autoregressive model over parallel streams of codec ids."""

import torch
from torch import nn

from config import OmniConfig


class OmniModel(nn.Module):
    def __init__(self, config: OmniConfig):
        super().__init__()
        self.config = config
        self.audio_embedding = nn.Embedding(config.padded_audio_vocab, config.n_embd)
        self.backbone = nn.GRU(config.n_embd, config.n_embd, config.n_layer, batch_first=True)
        self.codebook_queries = nn.Parameter(torch.zeros(config.num_codebooks, config.n_embd))
        self.audio_head = nn.Linear(config.n_embd, config.padded_audio_vocab)

    def forward(self, history: torch.Tensor) -> torch.Tensor:
        """Logits of the next frame, (num_codebooks, padded_audio_vocab).

        history: (num_codebooks, frames) ids, marks included.
        """
        hidden = self.audio_embedding(history).sum(dim=0)
        hidden, _ = self.backbone(hidden.unsqueeze(0))
        return self.audio_head(hidden[0, -1] + self.codebook_queries)
