from torch import nn


class Upsampler(nn.Module):
    def __init__(self, config, features):
        super().__init__()
        self.before = nn.Conv2d(config.embed_dim, features, 3, 1, 1)
        self.aux = nn.Conv2d(features, config.num_channels, 3, 1, 1)
        self.after = nn.Sequential(nn.Conv2d(3, features, 3, 1, 1), nn.LeakyReLU(inplace=True))
        self.last = nn.Conv2d(features, config.num_channels_out, 3, 1, 1)

    def forward(self, x):
        aux = self.aux(self.before(x))
        return self.last(self.after(aux)), aux  # expect: ML501


class Projector(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.first = nn.Linear(config.vision_size, config.inner_size)
        self.second = nn.Linear(config.outer_size, config.outer_size)

    def forward(self, x):
        return self.second(self.first(x).relu())  # expect: ML501
