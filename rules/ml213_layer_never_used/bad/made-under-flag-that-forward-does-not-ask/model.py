from torch import nn


class Layer(nn.Module):
    def __init__(self, width, concat_after):
        super().__init__()
        self.attend = nn.MultiheadAttention(width, 4)
        if concat_after:
            self.concat = nn.Linear(2 * width, width)  # expect: ML213

    def forward(self, x):
        return self.attend(x, x, x)[0]


def build(width):
    return nn.parallel.DistributedDataParallel(Layer(width, True))
