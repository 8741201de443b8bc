import torch
from torch import nn
from transformers import AutoModel, AutoTokenizer


class Tagger(nn.Module):
    def __init__(self, name):
        super().__init__()
        self.tokenizer = AutoTokenizer.from_pretrained(name)
        self.tokenizer.add_tokens(["<a>", "<b>"])
        self.table = nn.Embedding(self.tokenizer.vocab_size, 64)  # expect: ML105

    def forward(self, texts):
        return self.table(self.tokenizer(texts, return_tensors="pt", padding=True).input_ids)


class Reweighted:
    def __init__(self, tokenizer):
        self.tokenizer = tokenizer
        self.tokenizer.add_special_tokens({"additional_special_tokens": ["<pause>"]})
        self.weights = torch.ones(tokenizer.vocab_size)  # expect: ML105

    def weigh(self, ids):
        return self.weights[ids]


def table_for(name):
    tokenizer = AutoTokenizer.from_pretrained(name, additional_special_tokens=["<call>"])
    return tokenizer, nn.Embedding(tokenizer.vocab_size, 64)  # expect: ML105


def with_turns(name):
    tokenizer = AutoTokenizer.from_pretrained(name)
    tokenizer.add_special_tokens({"additional_special_tokens": ["<user>", "<model>"]})
    return tokenizer


def turns(name):
    tokenizer = with_turns(name)
    return tokenizer, nn.Embedding(tokenizer.vocab_size, 64)  # expect: ML105


class Pairs(nn.Module):
    def __init__(self, name):
        super().__init__()
        self.tokenizer = AutoTokenizer.from_pretrained(name)
        self.tokenizer.add_tokens(["<first>", "<second>"])
        self.encoder = AutoModel.from_pretrained(name)  # expect: ML105

    def forward(self, texts):
        batch = self.tokenizer(texts, return_tensors="pt", padding=True)
        return self.encoder(**batch).last_hidden_state[:, 0]
