import torch
from torch import nn

from unet import Unet

model = Unet()
criterion = nn.BCELoss()


def step(image, mask):
    loss = criterion(model(image), mask)  # expect: ML702
    loss.backward()
