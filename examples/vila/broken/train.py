"""A few steps of training on dialogues of random tokens."""

import torch

from model import DialogueModel
from packing import collate, pack


def make_dialogue(length: int, vocab_size: int) -> dict[str, torch.Tensor]:
    ids = torch.randint(1, vocab_size, (length,))
    return {"input_ids": ids, "labels": ids.clone()}


def train(steps: int = 3, vocab_size: int = 256) -> float:
    model = DialogueModel(vocab_size)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step in range(steps):
        rows = [
            pack([make_dialogue(12 + step, vocab_size), make_dialogue(8, vocab_size)]),
            pack([make_dialogue(9, vocab_size)]),
        ]
        loss = model(**collate(rows))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    return loss.item()


if __name__ == "__main__":
    print(train())
