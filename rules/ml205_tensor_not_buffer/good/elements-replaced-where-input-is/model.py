import torch
from torch import nn


def fill(tables, number, like):
    if tables[number].shape != like.shape:
        tables[number] = torch.zeros(like.shape, device=like.device)


class Cells(nn.Module):
    def __init__(self, levels):
        super().__init__()
        self.levels = levels
        self.cells = [torch.zeros(1)] * levels
        self.spans = [torch.zeros(1) for _ in range(levels)]
        self.tables = [torch.zeros(1) for _ in range(levels)]

    def forward(self, images):
        found = []
        for level in range(self.levels):
            image = images[level]
            if self.cells[level].shape[2:] != image.shape[2:]:
                self.cells[level], self.spans[level] = self.make(image)
            fill(self.tables, level, image)
            found.append((image + self.cells[level]) * self.spans[level] + self.tables[level])
        return found

    def make(self, image):
        cells = torch.arange(image.shape[-1]).to(image.device)
        return cells.float(), torch.ones_like(cells)


class Named(nn.Module):
    def __init__(self):
        super().__init__()
        self.scales = {"low": torch.ones(1), "high": torch.ones(1)}

    def forward(self, x):
        for name in self.scales:
            self.scales[name] = self.scales[name].to(x.device)
        return x * self.scales["low"] + x * self.scales["high"]
