import torch.nn as layers


def make(widths):
    made = []
    for a, b in zip(widths, widths[1:]):
        made.append(layers.Linear(a, b))
    return made


class Stack(layers.Module):
    def __init__(self, widths):
        super().__init__()
        self.stages = layers.ModuleList(make(widths))  # expect: ML204
        heads = [layers.Linear (width, 1) for width in widths]
        self.heads = layers.ModuleList(heads)  # expect: ML204
        self.skips = ( # expect: ML204
            layers.ModuleList([layers . Linear(width, width) for width in widths])
        )

    def forward(self, x):
        for stage, head, skip in zip(self.stages, self.heads, self.skips):
            x = stage(x) + head(x) + skip(x)
        return x
