from torch import nn


class Head(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc = nn.Linear(width, 2)

    def forward(self, x):  # expect: ML513
        return self.fc(x)
