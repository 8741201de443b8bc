import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


class Positions(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.register_buffer("places", torch.arange(4))
        self.order = nn.Parameter(torch.tensor([3, 2, 1, 0]), requires_grad=False)

    def forward(self, x, labels):
        y = self.fc(self.places.float()) + self.fc(self.places.to(x.dtype))
        y = y + self.fc(torch.from_numpy(np.zeros(4)).float())
        y = y + self.fc(torch.from_numpy(np.zeros(4, dtype=np.float32)))
        y = y + self.fc(torch.tensor(np.arange(4.0).astype("float32")))
        y = y[:, self.order] / self.places
        accuracy = (y.argmax(1) == labels).float().mean()
        counted = (y.argmax(1) == labels).sum() / labels.numel()
        share = torch.mean(self.places, dtype=torch.float32) + F.softmax(self.places, 0, dtype=torch.float32)
        return y, accuracy, counted, share
