from torch import nn


class Runner:
    def __init__(self, width):
        self.net = nn.Sequential(nn.Linear(width, width), nn.Dropout(0.1))

    def begin(self, learns):
        if learns:
            self.net.train()
        else:
            self.net.train()  # expect: ML706
