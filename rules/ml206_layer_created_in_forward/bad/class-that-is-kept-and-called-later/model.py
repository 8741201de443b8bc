from torch import nn


class Builder:
    def build(self, width):
        return nn.Linear(width, width)  # expect: ML206


class Mixer(nn.Module):
    norm_class = nn.LayerNorm

    def __init__(self, width, is_image):
        super().__init__()
        self.layer_class = nn.Conv2d if is_image else nn.Conv1d
        self.builder = Builder()

    def forward(self, x):
        x = self.norm_class(x.size(-1))(x)  # expect: ML206
        x = self.layer_class(x.size(1), x.size(1), 3)(x)  # expect: ML206
        layer = self.builder.build(x.size(-1))
        return layer(x)
