import torch
from torch import nn
from torch.nn import functional as F


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.map = nn.Linear(30, 12)

    def forward(self, x):
        return self.map(x)


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.map = nn.Linear(12, 30)

    def forward(self, code):
        return self.map(code)


class Trainer:
    def __init__(self, device):
        self.encoder = Encoder().to(device)
        self.decoder = Decoder().to(device)
        self.optimizer = torch.optim.Adam(self.encoder.parameters(), lr=1e-3)
        self.prepare()

    def prepare(self):
        self.second = torch.optim.Adam(self.decoder.parameters(), lr=1e-4)

    def step(self, batch):
        loss = F.mse_loss(self.decoder(self.encoder(batch)), batch)
        self.optimizer.zero_grad()
        self.second.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.second.step()
