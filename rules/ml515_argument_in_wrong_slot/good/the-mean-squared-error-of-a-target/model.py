from torch import nn


class Task(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 3)
        self.criterion = nn.MSELoss()

    def forward(self, x, target):
        output = self.net(x)
        return self.criterion(target, output)
