import torch


def prepare(ids, attention_mask):
    position_ids = attention_mask.long().cumsum(-1) - 1
    position_ids = position_ids.masked_fill(attention_mask == 0, 0)  # expect: ML304
    return {"input_ids": ids, "position_ids": position_ids}
