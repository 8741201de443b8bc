from torch import nn

from tokens import with_images


def build(tokenizer, width):
    embed = nn.Embedding(len(tokenizer), width)  # expect: ML105
    with_images(tokenizer, 4)
    return embed, nn.Linear(width, tokenizer.vocab_size)


def table(tokenizer, width):
    with_images(tokenizer, 4)
    return nn.Embedding(tokenizer.vocab_size, width)  # expect: ML105
