import torch


def prepare(durations, attention_mask):
    ends = durations.cumsum(-1).masked_fill(attention_mask == 0, -100)
    position_ids = attention_mask.long().cumsum(-1) - 1
    return ends, position_ids.masked_fill(attention_mask == 0, 0)
