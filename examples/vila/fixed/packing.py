"""Packs several dialogues into each row of a batch, so that short ones do not waste it on padding."""

import torch
from torch.nn.utils.rnn import pad_sequence

from constants import IGNORE_INDEX, PAD_TOKEN_ID


def pack(dialogues: list[dict[str, torch.Tensor]]) -> dict[str, torch.Tensor]:
    """One row: the dialogues in sequence, the positions of each counted from 0."""
    return {
        "input_ids": torch.cat([dialogue["input_ids"] for dialogue in dialogues]),
        "labels": torch.cat([dialogue["labels"] for dialogue in dialogues]),
        "position_ids": torch.cat([torch.arange(len(dialogue["input_ids"])) for dialogue in dialogues]),
    }


def collate(rows: list[dict[str, torch.Tensor]]) -> dict[str, torch.Tensor]:
    """Pads packed rows to the longest one."""
    input_ids = pad_sequence(
        [row["input_ids"] for row in rows], batch_first=True, padding_value=PAD_TOKEN_ID
    )
    labels = pad_sequence([row["labels"] for row in rows], batch_first=True, padding_value=IGNORE_INDEX)
    position_ids = pad_sequence(
        [row["position_ids"] for row in rows], batch_first=True, padding_value=0
    )
    lengths = torch.tensor([len(row["input_ids"]) for row in rows])
    attention_mask = torch.arange(input_ids.shape[1]) < lengths.unsqueeze(1)
    return {
        "input_ids": input_ids,
        "labels": labels,
        "position_ids": position_ids,
        "attention_mask": attention_mask,
    }
