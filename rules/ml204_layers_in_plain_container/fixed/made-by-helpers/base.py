from torch import nn

from helpers import make_stages


class Base(nn.Module):
    def __init__(self, widths):
        super().__init__()
        self.stages = nn.ModuleList(make_stages(widths))  # expect: ML204
        self.skips = nn.ModuleList(self.make_skips(widths))  # expect: ML204

    def make_skips(self, widths):
        return [nn.Conv2d(width, width, 1) for width in widths]
