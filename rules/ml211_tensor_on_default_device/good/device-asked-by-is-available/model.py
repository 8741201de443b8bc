import torch
from torch import nn

if torch.cuda.is_available():
    import torch.cuda as maker
else:
    import torch as maker

USE_CUDA = torch.cuda.is_available()
tensor_type = torch.cuda.FloatTensor if torch.cuda.is_available() else torch.FloatTensor


def to_cuda(x):
    if torch.cuda.is_available():
        x = x.cuda()
    return x


class Decoder(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.embed = nn.Embedding(classes, width)
        self.cell = nn.LSTMCell(width, width)
        self.width = width

    def start(self, batch):
        if torch.cuda.is_available():
            return torch.zeros(batch, self.width).cuda()
        else:
            return torch.zeros(batch, self.width)

    def forward(self, features):
        batch = features.size(0)
        word = self.embed(maker.LongTensor([1] * batch))
        hidden, cell = self.start(batch), to_cuda(torch.zeros(batch, self.width))
        hidden, cell = self.cell(features[:, 0] + word, (hidden, cell))
        last = torch.zeros(batch, self.width)
        if USE_CUDA:
            last = last.cuda()
        more = tensor_type(batch, self.width).zero_()
        return hidden + last + more + maker.FloatTensor(batch, self.width).fill_(0)


def build():
    decoder = Decoder(8, 10)
    if torch.cuda.is_available():
        decoder = decoder.cuda()
    return decoder
