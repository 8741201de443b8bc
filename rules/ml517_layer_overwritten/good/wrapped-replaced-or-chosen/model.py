from torch import nn


class Net(nn.Module):
    def __init__(self, is_wide):
        super().__init__()
        self.head = nn.Linear(8, 2)
        if is_wide:
            self.head = nn.Linear(16, 2)
        self.body = nn.Linear(4, 8)
        self.body = nn.Sequential(self.body, nn.ReLU())
        self.norm = nn.LayerNorm(8)
        self.tail = nn.Sequential(self.norm, nn.ReLU())
        self.norm = nn.LayerNorm(2)
        self.last = nn.Identity()
        self.last = nn.Identity()

    def forward(self, x):
        return self.last(self.norm(self.head(self.tail(self.body(x)))))
