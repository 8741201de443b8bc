from torch import nn


class Model(nn.Module):
    def __init__(self, n_tokens, width=64):
        super().__init__()
        self.embed = nn.Embedding(n_tokens, width)

    def resize_token_embeddings(self, n_tokens):
        self.embed = nn.Embedding(n_tokens, self.embed.embedding_dim)


def build(tokenizer):
    model = Model(len(tokenizer))
    if tokenizer.add_tokens(["<image>"]):
        model.resize_token_embeddings(len(tokenizer))
    return model
