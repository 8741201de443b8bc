import torch
from torch import nn

layer = nn.Linear(8, 3)
print(layer(torch.randn(5, 7)))  # expect: ML501
