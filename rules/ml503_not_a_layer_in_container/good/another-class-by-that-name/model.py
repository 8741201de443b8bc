from torch import nn


class Sequential(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.layers = nn.ModuleList(layers)


net = Sequential([nn.Linear(3, 3)])
