"""Containers: how many entries they have, if that is known, and what they hold."""

import itertools
from collections import OrderedDict, defaultdict
from functools import reduce

from torch import nn


def made(n, flag):
    a = [nn.Linear(n, n), nn.ReLU()]  # reveal: a → list of 2, holding layer torch.nn.Linear, holding layer torch.nn.ReLU
    a = [nn.Linear(n, n) for _ in range(n)]  # reveal: a → list, holding layer torch.nn.Linear
    a = list(map(lambda i: nn.Linear(i, i), range(n)))  # reveal: a → list, holding layer torch.nn.Linear
    a = [*[nn.Linear(n, n)], *(nn.ReLU(),)]  # reveal: a → list of 2, holding layer torch.nn.ReLU
    a = [None] * 3  # reveal: a → list, holding None
    a = (1, "a")  # reveal: a → tuple of 2, holding 1, holding 'a'
    a = {nn.ReLU(), 3}  # reveal: a → set of 2, holding layer torch.nn.ReLU, holding 3
    a = {"a": nn.Linear(n, n)}  # reveal: a → dict of 1, holding layer torch.nn.Linear
    a = [[1], [2]]  # reveal: a → list of 2, holding list of 1
    a = (i for i in [1, 2])  # reveal: a → generator, holding 1, holding 2
    a = list(itertools.chain([nn.GELU()], [nn.ReLU()]))  # reveal: a → list, holding layer torch.nn.GELU
    a = sum([[nn.GELU()], [nn.ReLU()]], [])  # reveal: a → list, holding layer torch.nn.GELU, holding layer torch.nn.ReLU
    a = reduce(lambda a, b: a + [b], [nn.GELU()], [nn.ReLU()])  # reveal: a → list of 2 or list of 1
    a = nn.ModuleList([nn.ReLU()])  # reveal: a → layer torch.nn.ModuleList, holding layer torch.nn.ReLU
    a = nn.Sequential(OrderedDict([("a", nn.ReLU())]))  # reveal: a → layer torch.nn.Sequential, holding layer torch.nn.ReLU
    return a


def taken(n, flag):
    a = {"a": nn.Linear(n, n)}["a"]  # reveal: a → layer torch.nn.Linear
    a = dict(a=nn.Linear(n, n)).get("a")  # reveal: a → layer torch.nn.Linear
    a = next(iter([nn.Linear(n, n)]))  # reveal: a → layer torch.nn.Linear
    a = nn.ModuleList([nn.Linear(n, n)])[0]  # reveal: a → layer torch.nn.Linear
    a = [1, 2, 3][1]  # reveal: a → 2
    a = [1, 2, 3][-1]  # reveal: a → 3
    a = [1, 2, 3][flag]  # reveal: a → 1 or 2 or 3
    a, (b, *c) = 1, (2, 3)  # reveal: a → 1; b → 2
    a = dict(row=9).pop("row")  # reveal: a → 9
    return a, b, c


def grown(n):
    a = b = [nn.GELU()]
    b.append(nn.ReLU())
    x = a  # reveal: x → list of 2, holding layer torch.nn.GELU, holding layer torch.nn.ReLU
    y = []
    y += [nn.GELU()]
    x = y  # reveal: x → list of 1, holding layer torch.nn.GELU
    z = defaultdict(list)
    z["a"].append(nn.GELU())
    x = z["a"]  # reveal: x → unknown or list, holding layer torch.nn.GELU
    turns = []
    for i in range(n):
        turns.append(nn.Linear(i, i))
    x = turns  # reveal: x → list, holding layer torch.nn.Linear
    return x
