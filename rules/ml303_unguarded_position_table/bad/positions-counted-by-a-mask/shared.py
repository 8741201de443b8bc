import torch
from torch import nn


def create_position_ids(input_ids, padding_idx, past=0):
    mask = input_ids.ne(padding_idx).int()
    incremental = (torch.cumsum(mask, dim=1).type_as(mask) + past) * mask
    return incremental.long() + padding_idx


class Emb(nn.Module):
    def __init__(self, config, padding_idx=2):
        super().__init__()
        self.padding_idx = padding_idx
        self.max_length = config.max_position_embeddings
        self.words = nn.Embedding(config.vocab_size, config.hidden_size, padding_idx=self.padding_idx)
        self.places = nn.Embedding(config.max_position_embeddings, config.hidden_size)  # expect: ML303

    def forward(self, input_ids):
        """Args:
            input_ids: Token ids of shape (batch, length).
        """
        input_ids = input_ids[:, : self.max_length]
        return self.words(input_ids) + self.places(create_position_ids(input_ids, self.padding_idx))


class Places(nn.Embedding):
    def __init__(self, num_embeddings, embedding_dim, padding_idx):
        super().__init__(num_embeddings, embedding_dim, padding_idx)
        self.max_positions = num_embeddings

    def forward(self, ids):
        """Args:
            ids: Token ids of shape (batch, length).
        """
        assert ids.size(1) <= self.max_positions
        mask = ids.ne(self.padding_idx).int()
        positions = (torch.cumsum(mask, dim=1).type_as(mask) * mask).long() + self.padding_idx
        return super().forward(positions)


class Encoder(nn.Module):
    def __init__(self, vocab=1000):
        super().__init__()
        self.words = nn.Embedding(vocab, 8)
        self.places = Places(512, 8, padding_idx=2)  # expect: ML303

    def forward(self, ids):
        """Args:
            ids: Token ids of shape (batch, length).
        """
        return self.words(ids) + self.places(ids)
