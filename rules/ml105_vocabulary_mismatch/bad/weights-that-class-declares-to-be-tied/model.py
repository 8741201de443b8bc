from torch import nn


class Model(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size)  # expect: ML105

    def forward(self, ids):
        return self.embed_tokens(ids)


class ModelForGeneration(nn.Module):
    _tied_weights_keys = {"lm_head.weight": "model.embed_tokens.weight"}

    def __init__(self, config):
        super().__init__()
        self.model = Model(config)
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size + 8, bias=False)

    def forward(self, ids):
        return self.lm_head(self.model(ids))


class ModelForTagging(nn.Module):
    _tied_weights_keys = ["head.weight"]

    def __init__(self, config):
        super().__init__()
        self.table = nn.Embedding(config.vocab_size + 1, config.hidden_size)
        self.head = nn.Linear(config.hidden_size, config.vocab_size)  # expect: ML105

    def get_input_embeddings(self):
        return self.table
