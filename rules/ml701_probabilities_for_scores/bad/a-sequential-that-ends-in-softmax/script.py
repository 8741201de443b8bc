import torch
from torch import nn


model = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 3), nn.Softmax(dim=-1))
loss_fn = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters())
x = torch.randn(150, 4)
y = torch.randint(0, 3, (150,))
for epoch in range(100):
    prediction = model(x)
    loss = loss_fn(prediction, y)  # expect: ML701
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
