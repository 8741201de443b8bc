import torch
from torch import nn
from torch.nn import functional as F

inputs = torch.rand(64, 3)
targets = inputs.sum(dim=1, keepdim=True)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD([inputs[:, 0], inputs[:, 1]], lr=0.01)  # expect: ML209
for _ in range(20):
    optimizer.zero_grad()
    loss = F.mse_loss(model(inputs), targets)
    loss.backward()
    optimizer.step()


def paint(style, steps=100):
    image = torch.rand(1, 3, 64, 64).cuda()
    optimizer = torch.optim.Adam([image], lr=0.1)  # expect: ML209
    for _ in range(steps):
        optimizer.zero_grad()
        style(image).backward()
        optimizer.step()
    return image
