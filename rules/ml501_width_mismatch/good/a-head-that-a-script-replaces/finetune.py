import torch
from model import Model
from torch import nn

model = Model()
model.head = nn.Linear(16, 2)
print(model(torch.randn(4, 3, 20, 20)).shape)
