from torch import nn


def freeze(model):
    for parameter in model.parameters():
        parameter.require_grad = False  # expect: ML506


class Head(nn.Module):
    def __init__(self, trunk):
        super().__init__()
        self.trunk = trunk
        for name, parameter in self.trunk.named_parameters():
            if "bias" in name:
                parameter.requires_gard = False  # expect: ML506
