import torch
from torch import nn

weight = nn.Parameter(torch.tensor([1.0, -0.5]))
offset = nn.Parameter(torch.tensor(2.5), requires_grad=True)
optimizer = torch.optim.SGD([weight, offset], lr=0.1)
for step in range(10):
    optimizer.zero_grad()
    loss = offset + torch.dot(weight, torch.tensor([2.0, -1.0]))
    loss.backward()
    optimizer.step()
