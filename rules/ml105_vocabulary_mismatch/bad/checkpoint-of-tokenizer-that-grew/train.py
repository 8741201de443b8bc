import torch
from data import Lines
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM, AutoTokenizer


def train(options, lines):
    tokenizer = AutoTokenizer.from_pretrained(options.name)
    tokenizer.add_special_tokens({"sep_token": "<break>"})
    model = AutoModelForCausalLM.from_pretrained(options.name)  # expect: ML105
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
    for batch in DataLoader(Lines(lines, tokenizer)):
        model(batch, labels=batch).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
