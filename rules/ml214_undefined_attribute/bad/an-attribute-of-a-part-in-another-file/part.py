from torch import nn


class Fusion(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.width = config.width
        self.mix = nn.Linear(config.width, config.width)

    def forward(self, text, image):
        return self.mix(text + image)
