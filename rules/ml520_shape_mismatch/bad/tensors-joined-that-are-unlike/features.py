from torch import nn


class Frames(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width
        self.conv = nn.Conv1d(1, width, 4, stride=4)

    def forward(self, audio):
        return self.conv(audio).transpose(1, 2)
