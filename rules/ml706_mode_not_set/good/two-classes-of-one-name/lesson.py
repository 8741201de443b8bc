import torch
from torch import nn


class Lesson(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(8, 3)

    def forward(self, x):
        return self.out(x)


net = Lesson()
net.load_state_dict(torch.load("lesson.pt"))
with torch.no_grad():
    print(net(torch.rand(2, 8)))


class Lesson(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(8, 3)
        self.dropout = nn.Dropout(0.2)

    def forward(self, x):
        return self.dropout(self.out(x))
