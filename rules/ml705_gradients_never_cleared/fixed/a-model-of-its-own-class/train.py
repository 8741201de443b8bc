import torch
from torch import nn
from tqdm import tqdm


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(4, 1)

    def forward(self, inputs):
        return self.head(inputs)


class Meter:
    def __init__(self):
        self.values = []

    def add(self, value):
        self.values.append(value)


def train(loader, epochs, writer):
    net, meter = Net(), Meter()
    criterion = nn.MSELoss()
    optimizer = torch.optim.Adam(net.parameters())
    for epoch in range(epochs):
        bar = tqdm(loader)
        for inputs, targets in bar:
            net.train()
            loss = criterion(net(inputs), targets)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()  # expect: ML705
            meter.add(loss.item())
            writer.add_scalar("loss", loss.item(), epoch)
            bar.set_postfix(loss=loss.item())
        torch.save(net.state_dict(), "net.pt")
