from torch import nn


def build(tokenizer, width):
    tokenizer.add_tokens(["<image>", "<speech>"])
    return nn.Embedding(tokenizer.vocab_size, width)  # expect: ML105
