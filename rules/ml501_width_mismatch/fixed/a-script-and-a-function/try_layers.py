import torch
from torch import nn

layer = nn.Linear(7, 3)
print(layer(torch.randn(5, 7)))  # expect: ML501
