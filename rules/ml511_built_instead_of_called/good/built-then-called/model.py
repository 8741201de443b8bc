from torch import nn


class Net(nn.Module):
    def __init__(self, act=nn.ReLU):
        super().__init__()
        self.act = act()
        self.norm = nn.LayerNorm
        self.last = self.norm(8)

    def forward(self, x, y):
        x = nn.ReLU()(self.act(x))
        return nn.CrossEntropyLoss()(self.last(x), y)
