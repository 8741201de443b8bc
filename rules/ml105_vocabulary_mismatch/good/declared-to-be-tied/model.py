from torch import nn


class ModelForTagging(nn.Module):
    _tied_weights_keys = ["head.weight", "head.bias", "other.weight"]

    def __init__(self, config):
        super().__init__()
        self.table = nn.Embedding(config.vocab_size, config.hidden_size)
        self.head = nn.Linear(config.hidden_size, config.vocab_size)
        self.other = nn.Linear(config.hidden_size, config.n_labels)

    def get_input_embeddings(self):
        return self.table
