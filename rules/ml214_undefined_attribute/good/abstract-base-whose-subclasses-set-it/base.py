from torch import nn


class Encoder(nn.Module):
    def forward(self, x):
        return self.head(self.embed(x))


class Frozen(nn.Module):
    def freeze(self):
        for parameter in self.backbone.parameters():
            parameter.requires_grad = False
