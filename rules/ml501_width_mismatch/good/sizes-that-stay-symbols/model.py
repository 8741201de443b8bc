from torch import nn


class Mlp(nn.Module):
    def __init__(self, inside, hidden, outside, config):
        super().__init__()
        self.first = nn.Linear(inside, hidden)
        self.second = nn.Linear(outside, config.heads * config.head_size)
        self.third = nn.Linear(config.hidden_size, config.hidden_size // 2)
        self.fourth = nn.Linear(hidden, 2)
        self.fifth = nn.Linear(4, 2)

    def forward(self, x):
        return self.fourth(self.third(self.second(self.first(x))))

    def classify(self, x):
        return self.fifth(self.first(x))
