import torch
from torch import nn


class Frontend(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(1, 40, 400, stride=160)

    def forward(self, waves):
        if waves.dim() == 1:
            waves = waves.unsqueeze(0)
        if waves.dim() == 2:
            waves = waves[:, None, :]
        x = self.conv(waves)
        if x.ndim == 4:
            x = x.mean(3)
        return x.transpose(1, 2)


def grey(image):
    if image.ndim == 4:
        b, c, h, w = image.shape
        image = image.view(b * c, h, w)
    elif image.ndim == 3:
        c, h, w = image.shape
    else:
        h, w = image.shape
    return image, h, w


def padded(x, least=4):
    y = torch.zeros(2, 3)
    if len(y.shape) > 2:
        y = y.sum(2)
    if y.shape[1] < 2:
        y = y + torch.zeros(2, 1)
    while y.dim() < 4:
        y = y.unsqueeze(-1)
    return y.permute(0, 2, 3, 1)


def scores(x):
    y = torch.zeros(5)
    return y.size(1) if y.dim() > 1 else y.size(0)
