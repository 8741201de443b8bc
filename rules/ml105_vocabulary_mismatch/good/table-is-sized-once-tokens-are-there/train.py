from torch import nn


def build(tokenizer, width):
    tokenizer.add_tokens(["<image>", "<speech>"])
    return nn.Embedding(len(tokenizer), width)
