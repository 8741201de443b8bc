import torch
from torch.nn.utils.rnn import pad_sequence


def pack(lengths):
    positions = [torch.arange(length) for length in lengths]
    return pad_sequence(positions, batch_first=True, padding_value=-100)  # expect: ML304
