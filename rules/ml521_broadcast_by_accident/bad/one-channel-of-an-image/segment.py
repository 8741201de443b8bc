import torch
from torch import nn


class Segment(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Conv2d(3, 16, 3, padding=1)
        self.head = nn.Conv2d(16, 1, 1)

    def forward(self, image):
        scores = self.head(torch.relu(self.features(image)))
        return scores.softmax(dim=1)  # expect: ML521

    def predict(self, image):
        return self.head(self.features(image)).argmax(dim=1)  # expect: ML521
