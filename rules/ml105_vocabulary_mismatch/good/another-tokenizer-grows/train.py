from torch import nn


def build(source, target, width):
    embed = nn.Embedding(len(source), width)
    target.add_tokens(["<image>"])
    return embed, nn.Embedding(len(target), width)
