import torch
from torch import nn
from torch.nn import functional as F


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)

    def forward(self, x):
        return torch.relu(self.fc(x))


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 8)

    def forward(self, x):
        return self.fc(x)


encoder = Encoder()
decoder = Decoder()  # expect: ML209
first = torch.optim.SGD(encoder.parameters(), lr=0.1)
second = torch.optim.SGD(encoder.parameters(), lr=0.1)


def update(x):
    first.zero_grad()
    second.zero_grad()
    loss = F.mse_loss(decoder(encoder(x)), x)
    loss.backward()
    first.step()
    second.step()


for _ in range(10):
    update(torch.randn(4, 8))
