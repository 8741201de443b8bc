"""Ids that are drawn: what they are below, and what moves or lowers that."""

import torch
from torch import nn
from torch.distributions import Categorical


def sample(logits):
    return logits.argmax(-1)


def frames(head, x, steps):
    for _ in range(steps):
        yield sample(head(x))


class Model(nn.Module):
    def __init__(self, config, width=8):
        super().__init__()
        self.head = nn.Linear(width, 1028)
        self.own = nn.Linear(width, config.vocab_size)
        self.mlp = nn.Sequential(nn.Linear(width, 1028), nn.Dropout(0.1))
        self.act = nn.ReLU()

    def drawn(self, x):
        ids = self.head(x).argmax(-1)  # reveal: ids → ids below 1028; self.head(x) → real numbers, width 1028
        ids = torch.argmax(self.head(x), dim=-1)  # reveal: ids → ids below 1028
        ids = torch.multinomial(torch.softmax(self.head(x), -1), 1)  # reveal: ids → ids below 1028
        ids = self.head(x).topk(3).indices  # reveal: ids → ids below 1028
        ids = torch.topk(self.head(x), 3)[1]  # reveal: ids → ids below 1028
        ids = self.head(x).max(dim=-1)[1]  # reveal: ids → ids below 1028
        ids = Categorical(logits=self.head(x)).sample()  # reveal: ids → ids below 1028
        ids = Categorical(probs=self.head(x).softmax(-1)).sample()  # reveal: ids → ids below 1028
        ids = self.mlp(x).argmax(-1)  # reveal: ids → ids below 1028
        ids = self.act(self.head(x)).argmax(-1)  # reveal: ids → ids below 1028
        ids = sample(self.head(x)[:, -1])  # reveal: ids → ids below 1028
        ids = torch.stack([sample(self.head(x)) for _ in range(3)])  # reveal: ids → ids below 1028
        ids = torch.tensor(sample(self.head(x)).tolist())  # reveal: ids → ids below 1028
        ids = torch.stack(list(frames(self.head, x, 3)))  # reveal: ids → ids below 1028
        ids = self.head(x).clamp(max=3).argmax(-1)  # reveal: ids → ids below 1028
        values, indices = self.head(x).topk(3)  # reveal: indices → ids below 1028; values → real numbers
        ids = self.own(x).argmax(-1)  # reveal: ids → ids below vocab_size
        return ids

    def moved(self, x, unknown):
        ids = self.head(x).argmax(-1)
        more = ids + 2  # reveal: more → ids below 1030
        less = ids - 4  # reveal: less → ids below 1024
        any_ = ids - unknown.offset()  # reveal: any_ → tensor
        return more, less, any_

    def limited(self, x):
        ids = self.head(x).argmax(-1)
        low = ids.clamp(0, 1023)  # reveal: low → ids below 1024
        low = ids.clamp(max=1023)  # reveal: low → ids below 1024
        low = torch.clamp(ids, 0, 1023)  # reveal: low → ids below 1024
        low = ids % 1024  # reveal: low → ids below 1024
        low = torch.remainder(ids, 1024)  # reveal: low → ids below 1024
        low = ids.clamp(min=0)  # reveal: low → ids below 1028
        low = self.head(x)[..., :1024].argmax(-1)  # reveal: low → ids below 1024
        return low

    def kept(self, x, unknown):
        ids = torch.stack([self.head(x), self.head(x)], dim=1).argmax(-1)  # reveal: ids → ids below 1028
        ids = torch.cat([self.head(y) for y in unknown], 0).argmax(-1)  # reveal: ids → ids below 1028
        ids = self.head(x).flatten(0, 1).argmax(-1)  # reveal: ids → ids below 1028
        scores = self.head(x)
        ids = scores.view(-1, scores.size(-1)).argmax(-1)  # reveal: ids → ids below 1028
        ids = scores.reshape(-1, scores.shape[-1]).argmax(-1)  # reveal: ids → ids below 1028
        ids = [int(one) for one in scores.argmax(-1).tolist()]  # reveal: ids → list, holding ids below 1028
        return ids

    def lost(self, x, unknown):
        ids = torch.stack([self.head(x), self.head(x)], dim=-1).argmax(-1)  # reveal: ids → tensor
        ids = torch.cat([self.head(x), self.head(x)], -1).argmax(-1)  # reveal: ids → tensor
        ids = self.head(x).flatten(1).argmax(-1)  # reveal: ids → tensor
        ids = torch.stack([self.head(x), unknown(x)]).argmax(-1)  # reveal: ids → tensor
        ids = unknown.process(self.head(x)).argmax(-1)  # reveal: ids → unknown
        return ids

    def masked(self, x):
        scores = self.head(x)
        scores[..., 1024:] = -float("inf")
        return scores.argmax(-1)  # reveal: scores.argmax(-1) → tensor

    def excluded(self, x):
        token = sample(self.head(x)).item()
        if token == 1027:
            return None
        return token  # reveal: token → ids below 1028, without some ids

    def ended(self, x):
        token = sample(self.head(x))
        if token >= 1024:
            return None
        return token  # reveal: token → tensor

    def measured(self, x):
        token = sample(self.head(x))
        if token.shape[0] > 3 or token.size(0) > 4 or len(token) > 5:
            return None
        return token  # reveal: token → ids below 1028
