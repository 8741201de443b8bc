from torch import nn


class Runner:
    def __init__(self, width):
        self.net = nn.Sequential(nn.Linear(width, width), nn.Dropout(0.1))

    def step(self, batch, is_packed):
        if is_packed:
            self.net.train()
            return self.net(batch[0])
        else:
            self.net.train()
            return self.net(batch)
