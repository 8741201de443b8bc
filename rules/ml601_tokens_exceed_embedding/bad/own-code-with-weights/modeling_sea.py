from torch import nn
from transformers import PreTrainedModel


class Table(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.tok_embeddings = nn.Embedding(config.vocab_size, config.hidden_size)

    def forward(self, ids):
        return self.tok_embeddings(ids)


class SeaModel(PreTrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.table = Table(config)
        self.output = nn.Linear(config.hidden_size, config.vocab_size, bias=False)

    def get_input_embeddings(self):
        return self.table.tok_embeddings

    def forward(self, ids):
        return self.output(self.table(ids))
