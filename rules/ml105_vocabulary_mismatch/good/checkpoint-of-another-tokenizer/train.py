import torch
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM, AutoTokenizer


def train(options, lines):
    tokenizer = AutoTokenizer.from_pretrained(options.name)
    tokenizer.add_special_tokens({"sep_token": "<break>"})
    model = AutoModelForCausalLM.from_pretrained(options.teacher)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
    for batch in DataLoader(lines):
        model(batch, labels=batch).loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def load(name):
    tokenizer = AutoTokenizer.from_pretrained(name)
    tokenizer.add_special_tokens({"sep_token": "<break>"})
    model = AutoModelForCausalLM.from_pretrained(name)
    model.eval()
    return model, tokenizer
