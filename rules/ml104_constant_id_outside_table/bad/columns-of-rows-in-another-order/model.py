import random

import torch
from torch import nn

WORDS = {"pad": 0, "start": 1, "end": 2, "mask": 3}


class Pairs(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(len(WORDS), 8)
        self.kinds = nn.Embedding(2, 8)  # expect: ML104

    def forward(self, ids, kinds):
        return self.words(ids) + self.kinds(kinds)


def pairs(texts):
    rows = []
    while len(rows) < 8:
        first, second = random.sample(texts, 2)
        ids = [WORDS["start"]] + first + [WORDS["end"]] + second + [WORDS["end"]]
        kinds = [0] * (2 + len(first)) + [1] * (1 + len(second))
        for place in range(1, len(first)):
            ids[place] = WORDS["mask"]
        if random.random() < 0.5:
            rows.append([ids, kinds])
        else:
            rows.append([ids[:16], kinds[:16]])
    return rows


if __name__ == "__main__":
    model = Pairs()
    rows = pairs([[3, 3], [3]])
    kinds, ids = map(torch.LongTensor, zip(rows[0]))
    print(model(ids, kinds))
