import torch
from torch import nn
from tqdm import tqdm
from transformers import get_linear_schedule_with_warmup


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
    schedule = get_linear_schedule_with_warmup(optimizer, 10, 100)
    for epoch in range(epochs):
        bar = tqdm(loader)
        for inputs, targets in bar:
            net.train()
            loss = criterion(net(inputs), targets)
            loss.backward()
            optimizer.step()  # expect: ML705
            meter.add(loss.item())
            schedule.step()
            writer.add_scalar("loss", loss.item(), epoch)
            bar.set_postfix(loss=loss.item())
        torch.save(net.state_dict(), "net.pt")
