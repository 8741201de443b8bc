from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)

    def forward(self, x):
        return self.fc(x)

    def train(self, x, y):  # expect: ML513
        loss = nn.functional.cross_entropy(self(x), y)
        loss.backward()


def evaluate(x):
    net = Net()
    net.eval()
    return net(x).argmax(-1)
