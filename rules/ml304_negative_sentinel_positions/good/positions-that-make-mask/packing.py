import torch
from torch.nn.utils.rnn import pad_sequence


def pack(lengths):
    positions = pad_sequence([torch.arange(n) for n in lengths], batch_first=True, padding_value=-100)
    return positions.clamp(min=0), positions.ne(-100)
