from torch import nn


def build(tokenizer, width):
    embed = nn.Embedding(len(tokenizer), width)
    tokenizer.add_special_tokens({"pad_token": tokenizer.eos_token})
    return embed
