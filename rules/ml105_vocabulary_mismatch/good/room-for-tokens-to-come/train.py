from torch import nn


def build(tokenizer, width):
    embed = nn.Embedding(len(tokenizer) + 2, width)
    tokenizer.add_tokens(["<image>", "<speech>"])
    return embed
