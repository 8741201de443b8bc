from torch import nn


class Cleaner(nn.Module):
    def __init__(self, width, depth=2):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))


class Judge(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.out = nn.Linear(width, 1)
