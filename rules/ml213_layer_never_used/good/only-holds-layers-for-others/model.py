from torch import nn


class Parts(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.encoder = nn.Linear(width, width)
        self.decoder = nn.Linear(width, width)
