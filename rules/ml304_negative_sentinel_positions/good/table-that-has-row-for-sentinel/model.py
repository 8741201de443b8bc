from torch import nn
from torch.nn.utils.rnn import pad_sequence


class Relative(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.embed = nn.Embedding(2 * 100 + 1, width)

    def forward(self, distances):
        padded = pad_sequence(distances, batch_first=True, padding_value=-100)
        return self.embed(padded + 100)
