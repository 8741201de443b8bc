import torch
from torch.nn.utils.rnn import pad_sequence


class Packing:
    def repack(self, embeds, lengths):
        positions = pad_sequence([torch.arange(n) for n in lengths], batch_first=True, padding_value=-100)
        packed = positions.ne(-100)
        return positions.masked_fill(~packed, 0), packed, embeds
