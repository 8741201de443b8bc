from torch import nn

net = nn.ModuleList([nn.Linear(3, 3), nn.ReLU()])
pairs = nn.ModuleDict([["first", nn.Linear(3, 3)]])
