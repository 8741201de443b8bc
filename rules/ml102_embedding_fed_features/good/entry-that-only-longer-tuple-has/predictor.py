import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.freq_emb = nn.Embedding(3, 8)

    def forward(self, past_values, freq):
        return self.freq_emb(freq) + past_values


class Predictor(nn.Module):
    def __init__(self):
        super().__init__()
        self.decoder = Model()

    def _preprocess(self, inputs, freq=None):
        stacked = torch.stack([one.float() for one in inputs], dim=0)
        result = (stacked, stacked)
        if freq is not None:
            result = result + (torch.tensor(freq[: len(inputs)], dtype=torch.int32).reshape(-1, 1),)
        return result

    def forward(self, inputs, freq=None):
        if freq is None:
            freq = [0] * len(inputs)
        values, padding, inp_freq = self._preprocess(inputs, freq)
        return self.decoder(past_values=values, freq=inp_freq)
