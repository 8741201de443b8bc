"""The sizes of tensors: followed through what keeps or reorders them, unknown through everything else."""

import einops
import torch


def made(n, d, x):
    a = torch.zeros(1, n, d)  # reveal: a → tensor, sizes [1, n, d]
    a = torch.zeros(size=(n, d))  # reveal: a → tensor, sizes [n, d]
    a = torch.arange(n)  # reveal: a → positions, sizes [n]
    a = torch.arange(0, n)  # reveal: a → positions, sizes [n]
    a = torch.arange(end=n, start=0)  # reveal: a → positions, sizes [n]
    a = torch.arange(0, d, 2)  # reveal: a → positions, shifted, sizes [?]
    a = torch.arange(1, n)  # reveal: a → positions, shifted, sizes [?]
    a = torch.nn.Parameter(torch.randn(n, d))  # reveal: a → parameter, sizes [n, d]
    a = torch.full((n, d), 0.5).log2().bfloat16()  # reveal: a → real numbers, sizes [n, d]
    a = torch.hann_window(n)  # reveal: a → real numbers, sizes [?]
    a = torch.zeros(x.shape[0], d)  # reveal: a → tensor, sizes [x.shape, d]
    return a


def reordered(n, d, x):
    a = torch.zeros(n, d)
    b = torch.zeros((n, d)).unsqueeze(0)  # reveal: b → tensor, sizes [1, n, d]
    b = a[None]  # reveal: b → tensor, sizes [1, n, d]
    b = a.unsqueeze(-1)  # reveal: b → tensor, sizes [n, d, 1]
    b = a.transpose(0, 1)  # reveal: b → tensor, sizes [d, n]
    b = torch.transpose(a, dim0=0, dim1=-1)  # reveal: b → tensor, sizes [d, n]
    b = a.t()  # reveal: b → tensor, sizes [d, n]
    b = a.T  # reveal: b → tensor, sizes [d, n]
    b = torch.zeros(n, d, 2).permute(2, 0, 1)  # reveal: b → tensor, sizes [2, n, d]
    b = torch.permute(torch.zeros(n, d, 2), (2, 0, 1))  # reveal: b → tensor, sizes [2, n, d]
    b = a.reshape(d, n)  # reveal: b → tensor, sizes [d, n]
    b = a.view(-1, n)  # reveal: b → tensor, sizes [a.view(-1, n), n]
    b = einops.rearrange(a, "n d -> 1 d n")  # reveal: b → tensor, sizes [1, d, n]
    b = torch.cat([a, a], dim=-1)  # reveal: b → tensor, sizes [n, 2 * d]
    b = torch.concatenate([a, a])  # reveal: b → tensor, sizes [2 * n, d]
    b = torch.cat([a] * 3)  # reveal: b → tensor, sizes [?, d]
    b = torch.cat([a for _ in range(3)])  # reveal: b → tensor, sizes [?, d]
    b = torch.stack([a, a])  # reveal: b → tensor, sizes [?, n, d]
    b = a[..., 0]  # reveal: b → tensor, sizes [n]
    b = a[1:]  # reveal: b → tensor, sizes [?, d]
    b = a[: x.shape[0]]  # reveal: b → tensor, sizes [x.shape, d]
    b = torch.cat([torch.zeros(x.size(0), d), torch.zeros(1, d)])  # reveal: b → tensor, sizes [x.size(0), d]
    return b


def combined(n, d):
    a = torch.arange(n)[:, None] * 2  # reveal: a → tensor, sizes [n, 1]
    a = torch.arange(n)[:, None] - torch.arange(d)[None]  # reveal: a → tensor, sizes [n, d]
    a = torch.outer(torch.arange(n), torch.arange(0, d, 2)).cos()  # reveal: a → real numbers, sizes [n, ?]
    a = torch.einsum("i,j->ij", torch.arange(n), torch.zeros(d))  # reveal: a → tensor, sizes [n, d]
    a = torch.arange(n)[:, None] / 10000.0 ** (torch.arange(0, d, 2) / d)  # reveal: a → real numbers, sizes [n, ?]
    return a


def unknown(n, d, w, sizes, load):
    a = torch.zeros(*sizes)  # reveal: a → tensor
    a = load(n)  # reveal: a → unknown
    a = torch.zeros(n, d) @ w  # reveal: a → tensor
    a = torch.Tensor([n, d])  # reveal: a → tensor
    a = torch.outer(*(n, d))  # reveal: a → plain value
    a = einops.rearrange(torch.zeros(n, d), "(a b) d -> a b d", a=2)  # reveal: a → unknown
    a = torch.zeros(n, d)[w]  # reveal: a → tensor
    a = torch.cat([torch.zeros(n, d), load(n)])  # reveal: a → tensor
    return a


def table(rows):
    return torch.zeros(rows, 4)


def helped(n):
    t = table(n)
    t[:, 0] = 1
    return t  # reveal: t → tensor, sizes [n, 4]


def asked(n, x):
    size = torch.zeros(3, 4).shape[1]  # reveal: size → 4
    size = torch.zeros(n).size(-1)  # reveal: size → n
    batch, _, width = x.shape
    a = torch.zeros(batch, 2, width)  # reveal: a → tensor, sizes [x.shape, 2, x.shape]
    return a, size
