from torch import nn

from part import Fusion


class Reader(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.text = nn.Linear(config.letters, config.width)
        self.fusion = Fusion(config)

    def forward(self, image, letters):
        text = self.text(letters) * self.fusion.scale  # expect: ML214
        return self.fusion(text, image)


class Loaded(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.fusion = Fusion(config)
        self.fusion.load_weights(config.path)  # expect: ML214

    def forward(self, image, text):
        return self.fusion(text, image)
