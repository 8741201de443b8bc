import torch
from torch import nn


def create_position_ids(input_ids, padding_idx, past=0):
    mask = input_ids.ne(padding_idx).int()
    incremental = (torch.cumsum(mask, dim=1).type_as(mask) + past) * mask
    return incremental.long() + padding_idx


class Emb(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.padding_idx = config.pad_token_id
        self.words = nn.Embedding(config.vocab_size, config.hidden_size, padding_idx=self.padding_idx)
        self.places = nn.Embedding(config.max_position_embeddings, config.hidden_size, padding_idx=self.padding_idx)

    def forward(self, input_ids):
        position_ids = create_position_ids(input_ids, self.padding_idx)
        return self.words(input_ids) + self.places(position_ids)


class Places(nn.Embedding):
    def __init__(self, num_embeddings, embedding_dim, padding_idx):
        super().__init__(num_embeddings + padding_idx + 1, embedding_dim, padding_idx)
        self.max_positions = num_embeddings

    def forward(self, ids):
        assert ids.size(1) <= self.max_positions
        mask = ids.ne(self.padding_idx).int()
        positions = (torch.cumsum(mask, dim=1).type_as(mask) * mask).long() + self.padding_idx
        return super().forward(positions)


class Encoder(nn.Module):
    def __init__(self, vocab):
        super().__init__()
        self.words = nn.Embedding(vocab, 64)
        self.places = Places(512, 64, padding_idx=1)

    def forward(self, ids):
        return self.words(ids) + self.places(ids)
