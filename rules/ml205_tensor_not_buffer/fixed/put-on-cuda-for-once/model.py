import torch
from torch import nn


class Loss(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.register_buffer("weight", torch.ones(classes).to("cuda"), persistent=False)  # expect: ML205
        if torch.cuda.is_available():
            self.scale = torch.ones(classes).cuda()
        else:
            self.scale = torch.ones(classes)  # expect: ML205

    def forward(self, scores):
        return (scores * self.weight + self.scale * scores).sum()
