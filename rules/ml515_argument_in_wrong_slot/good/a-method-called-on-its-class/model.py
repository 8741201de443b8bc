from torch import nn


class Base(nn.Module):
    def forward(self, x, scale=1.0, mask=None):
        return x * scale if mask is None else x * mask


class Net(Base):
    def forward(self, x, scale=2.0, mask=None):
        return Base.forward(self, x, scale, mask)
