"""Positions: elements that count up from 0, and lengths that only a run knows."""

import math

import torch
import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence


def counted(x, n, texts):
    a = torch.arange(9)  # reveal: a → positions, sizes [9]
    a = torch.arange(n)  # reveal: a → positions, below n, sizes [n]
    a = torch.arange(len(texts))  # reveal: a → positions, below len(texts)
    a = torch.arange(x.shape[1])  # reveal: a → positions, below x.shape[1]
    a = torch.arange(x.shape[1])[None].expand(x.shape[0], -1)  # reveal: a → positions, sizes [x.shape, x.shape]
    a = torch.arange(2, 9)  # reveal: a → positions, sizes [?]
    a = torch.arange(2, n)  # reveal: a → positions, shifted
    return a


def ended(unknown):
    a = torch.arange(9) * 2  # reveal: a → tensor, sizes [9]
    a = torch.arange(9) + 1  # reveal: a → positions, shifted, sizes [9]
    a = torch.arange(9) * unknown  # reveal: a → tensor
    a = torch.arange(9).float()  # reveal: a → real numbers, sizes [9]
    a = torch.arange(9, dtype=torch.float)  # reveal: a → real numbers, sizes [9]
    return a


def padded(mask, ids, texts, unknown):
    a = mask.long().cumsum(-1)  # reveal: a → running total
    a = mask.long().cumsum(-1) - 1  # reveal: a → positions
    a = (mask.long().cumsum(-1) - 1).masked_fill(mask == 0, -100)  # reveal: a → positions, some -100
    a = mask.cumsum(-1).sub(1).masked_fill(mask == 0, -100)  # reveal: a → positions, some -100
    a = F.pad(torch.arange(9), (0, 1), value=-100)  # reveal: a → positions, some -100
    a = torch.arange(9).unsqueeze(0).masked_fill(mask, -100)  # reveal: a → positions, some -100
    a = pad_sequence([torch.arange(len(text)) for text in texts], padding_value=-100)  # reveal: a → positions, some -100
    a = torch.arange(9).masked_fill(mask, unknown)  # reveal: a → positions
    return a


def lengths(x, y, n):
    a = x.shape[1]  # reveal: a → length x.shape
    a = x.shape[-1]  # reveal: a → length x.shape
    a = x.size(1)  # reveal: a → length x.size(1)
    a = x.size()[1]  # reveal: a → length x.size()
    a = x.shape[-2:][0]  # reveal: a → length x.shape
    a = len(x)  # reveal: a → length len(x)
    a = x.numel()  # reveal: a → length x.numel()
    a = list(x.shape)[1]  # reveal: a → length x.shape
    a = [size for size in x.shape][0]  # reveal: a → length x.shape
    a = x.shape[1] + 1  # reveal: a → number from length x.shape
    a = 1 + n * x.shape[0] // 2  # reveal: a → number from length x.shape
    a = int(x.shape[1] / 2)  # reveal: a → number from length x.shape
    a = math.ceil(x.shape[1] / 2)  # reveal: a → number from length x.shape
    a = max(x.shape[1], n)  # reveal: a → number from length x.shape
    a = x[:, 1:].shape[1]  # reveal: a → length x[:, 1:].shape
    a = x[:, : y.shape[1]].shape[1]  # reveal: a → length x[:, : y.shape[1]].shape
    a = torch.zeros(x.shape[0], 4).shape[0]  # reveal: a → length x.shape
    a = torch.cat([x, y], dim=1).shape[1]  # reveal: a → length torch.cat([x, y], dim=1).shape
    a = (x + y).transpose(1, 2).shape[1]  # reveal: a → length (x + y).transpose(1, 2).shape
    return a


def known(x, y, n):
    a = n  # reveal: a → argument n
    a = min(x.shape[1], 512)  # reveal: a → plain value
    a = x[:, :512].shape[1]  # reveal: a → plain value
    a = x[:, :n].shape[1]  # reveal: a → plain value
    a = x[:, :512].contiguous().shape[1]  # reveal: a → plain value
    a = torch.zeros(3, 4).shape[0]  # reveal: a → 3
    a = torch.zeros(n, 4).size(0)  # reveal: a → n
    a = len([x, y])  # reveal: a → plain value
    a = x.shape[1] < n  # reveal: a → plain value
    a = x.ndim  # reveal: a → plain value
    a = torch.nn.Parameter(torch.zeros(3, 4)).shape[0]  # reveal: a → plain value
    a = x.shape  # reveal: a → shape
    a = torch.zeros(2, 3).shape  # reveal: a → shape, sizes [2, 3]
    return a
