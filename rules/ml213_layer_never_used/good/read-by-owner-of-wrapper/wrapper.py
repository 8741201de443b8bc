from torch import nn


class Wrapper(nn.Module):
    def __init__(self, decoder):
        super().__init__()
        self.decoder = decoder
