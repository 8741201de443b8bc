from torch import nn

layers = [nn.Linear(3, 3), nn.ReLU()]
net = nn.Sequential(*layers)
other = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
