"""What tensors hold: constants among their elements, and real numbers."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pad_sequence


class Model(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.project = nn.Linear(width, width)
        self.norm = nn.BatchNorm1d(width)
        self.lstm = nn.LSTM(width, width)
        self.matrix = nn.Parameter(torch.randn(width, width))
        self.drop = nn.Dropout(0.1)
        self.pad = 1024

    def constants(self, ids, mask, texts):
        a = torch.full((2, 3), 7)  # reveal: a → tensor, some 7
        a = torch.full_like(ids, 7)  # reveal: a → tensor, some 7
        a = ids.new_full((2, 3), fill_value=7)  # reveal: a → tensor, some 7
        a = F.pad(ids, (1, 0), value=-1)  # reveal: a → tensor, some -1
        a = pad_sequence(texts, batch_first=True, padding_value=-100)  # reveal: a → tensor, some -100
        a = ids.masked_fill(mask, self.pad)  # reveal: a → tensor, some 1024
        a = torch.masked_fill(ids, mask, value=self.pad)  # reveal: a → tensor, some 1024
        a = torch.where(mask, ids, self.pad)  # reveal: a → tensor or tensor, some 1024 or plain value
        a = ids.where(mask, self.pad)  # reveal: a → tensor or tensor, some 1024 or plain value
        a = torch.tensor([[7]])  # reveal: a → tensor, some 7
        a = torch.tensor([7], dtype=torch.long).view(1, 1)  # reveal: a → tensor, some 7
        a = torch.as_tensor(self.pad)  # reveal: a → tensor, some 1024
        a = torch.LongTensor([7])  # reveal: a → tensor, some 7
        a = torch.full((2, 3), 7) + 1  # reveal: a → tensor, some 8
        a = torch.full((2, 3), 7).sub(8)  # reveal: a → tensor, some -1
        a = torch.cat([ids, ids.new_full((1, 1), 7)], dim=1)  # reveal: a → tensor, some 7
        a = self.drop(torch.full((2, 3), 7)).t().contiguous()  # reveal: a → tensor, some 7
        a = ids.masked_fill_(mask, self.pad + 1)  # reveal: a → tensor, some 1025
        return a

    def gone(self, ids, mask, unknown):
        a = torch.full((2, 3), 7.5)  # reveal: a → tensor
        a = F.pad(ids, (1, 0))  # reveal: a → plain value
        a = torch.full((2, 3), 7) == 7  # reveal: a → tensor
        a = torch.full((2, 3), 7).clamp(max=3)  # reveal: a → tensor
        a = torch.full((2, 3), 7) % 4  # reveal: a → tensor
        a = torch.full((2, 3), 7) * unknown  # reveal: a → tensor
        a = torch.full((2, 3), 7).masked_fill(mask, unknown)  # reveal: a → tensor
        a = torch.full((2, 3), 7).float().long()  # reveal: a → tensor
        a = F.pad(ids, (1, 0), value=-1)[:, 1:]  # reveal: a → tensor, perhaps -1
        a = F.pad(ids, (1, 0), value=-1)[:]  # reveal: a → tensor, some -1
        return a

    def real(self, x, ids, texts):
        a = self.project(x)  # reveal: a → real numbers
        a = self.norm(x)  # reveal: a → real numbers
        a = self.lstm(x)[0]  # reveal: a → real numbers
        a = self.drop(self.project(x))  # reveal: a → real numbers
        a = self.project(x).transpose(1, 2).long()  # reveal: a → real numbers
        a = torch.softmax(x, -1)  # reveal: a → real numbers
        a = x.tanh()  # reveal: a → real numbers
        a = ids / 2  # reveal: a → real numbers
        a = ids.div(2)  # reveal: a → real numbers
        a = torch.true_divide(ids, 2)  # reveal: a → real numbers
        a = ids.to(torch.float32)  # reveal: a → real numbers
        a = ids.float()  # reveal: a → real numbers
        a = torch.tensor(texts, dtype=torch.float)  # reveal: a → real numbers
        a = x @ self.matrix  # reveal: a → real numbers
        a = torch.matmul(x, self.matrix)  # reveal: a → real numbers
        a = torch.randn(2, 3)  # reveal: a → real numbers
        a = self.project(x) + ids  # reveal: a → real numbers
        a = self.project(x).clamp(0, 1)  # reveal: a → real numbers
        a = torch.cat([self.project(x), x])  # reveal: a → real numbers
        return a

    def whole(self, x, ids, unknown):
        a = x @ unknown  # reveal: a → plain value
        a = ids // 2  # reveal: a → ids // 2
        a = torch.div(ids, 2, rounding_mode="trunc")  # reveal: a → plain value
        a = (x / 2).long()  # reveal: a → tensor
        a = self.project(x).mul(10).int()  # reveal: a → tensor
        a = self.project(x).argmax(-1)  # reveal: a → ids below 8 (width)
        a = self.project(x).topk(3).indices  # reveal: a → ids below 8 (width)
        a = self.project(x) > 0  # reveal: a → tensor
        a = torch.bucketize(self.project(x), unknown)  # reveal: a → tensor
        a = int(self.project(x).item())  # reveal: a → tensor
        a = self.project(x).shape[0]  # reveal: a → length self.project(x).shape
        a = torch.randint(0, 5, (2, 3))  # reveal: a → tensor
        return a
