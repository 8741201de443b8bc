from torch import nn


class Front(nn.Module):
    pass


class NoFront(Front):
    def forward(self, x):
        """x (torch.Tensor): input (batch, time, idim)"""
        return x


class TableFront(Front):
    def __init__(self, idim, odim):
        super().__init__()
        self.embed = nn.Embedding(idim, odim)

    def forward(self, x):
        """x (torch.Tensor): input (batch, time, idim)"""
        return self.embed(x)


class Translator(nn.Module):
    def __init__(self, idim, width):
        super().__init__()
        self.embed = nn.Embedding(idim, width, padding_idx=0)

    def forward(self, xs):
        """xs: padded input (batch, time, idim)"""
        return self.embed(xs)
