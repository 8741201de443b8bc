import torch
import torch.nn.functional as F
from torch import nn


class Attention(nn.Module):
    def __init__(self, width=64, heads=4):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.positions = nn.Parameter(torch.zeros(1, 128, width))

    def forward(self, x, mask=None):
        b, n, c = x.shape
        x = x + self.positions[:, :n]
        q, k, v = self.qkv(x).reshape(b, n, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        scores = torch.einsum("bhqd,bhkd->bhqk", q, k)  # reveal: [b, heads, n, n]; q → [b, heads, n, c // heads]
        if mask is not None:
            scores = scores.masked_fill(mask[:, None, None, :], -1e9)
        return self.out((scores.softmax(-1) @ v).transpose(1, 2).reshape(b, n, c))  # reveal: [b, n, width] float32


class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Conv2d(1, 16, 3, padding=1)
        self.middle = nn.Conv2d(16, 32, 3, padding=1)
        self.up = nn.ConvTranspose2d(32, 16, 2, stride=2)
        self.out = nn.Conv2d(32, 1, 1)

    def forward(self, x):
        left = self.down(x)  # reveal: [x_0, 16, x_2, x_3] float32
        right = self.up(self.middle(F.max_pool2d(left, 2)))
        return self.out(torch.cat([left, right], dim=1))  # reveal: return → [x_0, 1, x_2, x_3]


def train(net, images, labels):
    loss = F.binary_cross_entropy_with_logits(net(images), labels)
    loss.backward()
    return loss.item() + loss.data.view(-1)[0]


class MaxFeatureMap(nn.Module):
    def __init__(self, dim=1):
        super().__init__()
        self.dim = dim

    def forward(self, x):
        sizes = list(x.size())
        sizes[self.dim] = sizes[self.dim] // 2
        sizes.insert(self.dim, 2)
        found, _ = x.view(*sizes).max(self.dim)
        return found


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.front = nn.Sequential(nn.Conv2d(1, 64, 5), MaxFeatureMap(), nn.BatchNorm2d(32, affine=False))

    def forward(self, x):
        return self.front(x)


def neighbours(edges, x, count):
    values = torch.FloatTensor(torch.ones(edges.shape[1]))
    matrix = torch.sparse.FloatTensor(edges, values, torch.Size([count, count]))
    return torch.spmm(matrix.t(), x)


def accuracy(scores, labels):
    loss = F.cross_entropy(scores, labels)
    return loss.argmax(-1).eq(labels)


if __name__ == "__main__":
    images = torch.randn(2, 1, 32, 32)
    print(train(Small(), images, torch.ones_like(images)), Attention()(torch.randn(2, 10, 64)).shape)
