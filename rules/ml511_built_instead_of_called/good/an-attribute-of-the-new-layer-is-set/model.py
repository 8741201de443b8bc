from torch import nn


class Net(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.fc = nn.Linear(config.width, 2)

    def forward(self, x):
        return self.fc(x)


def load(config):
    model = Net(config)
    model.cos = None
    model.requires_grad_(False)
    return model
