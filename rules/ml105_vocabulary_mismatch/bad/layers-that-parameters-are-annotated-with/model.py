from torch import nn


class Words(nn.Embedding):
    def __init__(self):
        super().__init__(1000, 64)


class Head(nn.Linear):
    def __init__(self):
        super().__init__(64, 1024, bias=False)


def tie(words: Words, head: Head):  # expect: ML105
    head.weight = words.weight
