from torch import nn


def with_images(tokenizer):
    tokenizer.add_tokens(["<image>"])


def with_padding(tokenizer):
    if tokenizer.pad_token is None:
        tokenizer.add_special_tokens({"pad_token": "[PAD]"})


def prepare(model, tokenizer):
    tokenizer.add_tokens(["<image>"])
    model.resize_token_embeddings(len(tokenizer))


def build(tokenizer, other, width):
    with_images(tokenizer)
    embed = nn.Embedding(len(tokenizer), width)
    with_padding(tokenizer)
    with_images(other)
    return embed


def resized(model, tokenizer, width):
    embed = nn.Embedding(len(tokenizer), width)
    prepare(model, tokenizer)
    return embed
