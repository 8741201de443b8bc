from torch import nn


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc1 = nn.Linear(width, width)
        self.fc2 = nn.Linear(width, 2)

    def forward(self, x):
        return self.fc2(self.fc1(x))


def show(net):
    print(net.fc2.weight.shape)


net = Net(4).eval()
print(net.fc1.weight.shape)
nn.init.zeros_(net.fc3.weight)  # expect: ML214
show(Net(3))
