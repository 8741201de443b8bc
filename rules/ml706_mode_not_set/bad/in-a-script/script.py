import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(8)
        self.out = nn.Linear(8, 3)

    def forward(self, x):
        return self.out(self.norm(x))


loader = torch.load("batches.pt")
net = Net()
optimizer = torch.optim.Adam(net.parameters())
for epoch in range(5):
    for inputs, labels in loader["train"]:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(inputs), labels)
        loss.backward()
        optimizer.step()

hits = 0
with torch.no_grad():
    for inputs, labels in loader["test"]:
        hits += (net(inputs).argmax(1) == labels).sum()  # expect: ML706
print(hits)
