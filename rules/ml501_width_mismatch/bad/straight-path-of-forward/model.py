import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 3)
        self.conv2 = nn.Conv2d(32, 128, 3)
        self.norm = nn.BatchNorm2d(64)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(64, classes)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.max_pool2d(x, 2)
        x = self.conv2(x)  # expect: ML501
        x = self.norm(x)  # expect: ML501
        x = torch.flatten(self.pool(x), 1)
        return self.fc(x)  # expect: ML501
