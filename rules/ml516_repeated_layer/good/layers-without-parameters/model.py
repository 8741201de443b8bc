from torch import nn


class Net(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        relu = nn.ReLU()
        self.acts = nn.ModuleList([nn.ReLU()] * depth)
        self.drops = nn.ModuleList([nn.Dropout(0.1)] * depth)
        layers = []
        for _ in range(depth):
            layers += [nn.Linear(width, width), relu]
        self.body = nn.Sequential(*layers)

    def forward(self, x):
        for act, drop in zip(self.acts, self.drops):
            x = drop(act(x))
        return self.body(x)
