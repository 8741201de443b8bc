from torch import nn
from transformers import AutoConfig, AutoModel, PreTrainedModel


class Decoder(nn.Module):
    def __init__(self, name):
        super().__init__()
        config = AutoConfig.from_pretrained(name)
        self.embed = nn.Embedding(config.vocab_size, config.hidden_size)
        self.up = nn.Linear(config.hidden_size, 4 * config.hidden_size)
        self.head = nn.Linear(4 * config.hidden_size, config.vocab_size)

    def forward(self, input_ids):
        return self.head(self.up(self.embed(input_ids)))


class Second(nn.Module):
    def __init__(self, name):
        super().__init__()
        self.model = AutoModel.from_pretrained(name)
        self.embed = nn.Embedding(self.model.config.vocab_size, self.model.config.hidden_size)
        self.norm = nn.LayerNorm(self.model.config.hidden_size)

    def forward(self, input_ids):
        return self.model(inputs_embeds=self.norm(self.embed(input_ids)))


class Tagger(PreTrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.embed = nn.Embedding(self.config.type_vocab_size, self.config.hidden_size)
        self.norm = nn.LayerNorm(self.config.hidden_size)

    def forward(self, input_ids):
        return self.norm(self.embed(input_ids))


class Queries(nn.Module):
    def __init__(self, name):
        super().__init__()
        config = AutoConfig.from_pretrained(name)
        self.count = config.hidden_size
        self.queries = nn.Embedding(config.hidden_size, config.hidden_size)
        self.mix = nn.Linear(config.hidden_size, config.hidden_size)

    def forward(self, x):
        return self.mix(x) @ self.queries.weight
