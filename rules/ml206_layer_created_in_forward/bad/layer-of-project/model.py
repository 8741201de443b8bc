from torch import nn

from layers import make_gate


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        gate = make_gate(x.size(-1), True)
        return gate(self.proj(x))
