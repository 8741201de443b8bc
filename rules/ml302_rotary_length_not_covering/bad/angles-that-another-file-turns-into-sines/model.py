from torch import nn

from rope import Angles
from block import Block


class Model(nn.Module):
    def __init__(self, config, limit):
        super().__init__()
        self.config = config
        self.limit = limit
        self.angles = Angles(config.head)
        self.blocks = Block(config)

    def forward(self, tokens, state=None):
        if state is not None:
            length = state.limit
        else:
            length = min(self.limit, tokens.size(0))
        angles = self.angles(length)  # expect: ML302
        return self.blocks(tokens, angles=angles)
