import torch
from torch import nn

model = nn.Linear(4, 1)
optimizer = torch.optim.Adam(model.parameters())
optimizer.zero_grad()
for _ in range(100):
    optimizer.zero_grad()
    (model(torch.rand(8, 4)) ** 2).mean().backward()
    optimizer.step()  # expect: ML705
