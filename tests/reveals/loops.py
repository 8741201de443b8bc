"""Loops: what they count, what they carry from one turn to the next, and what they leave."""

import torch


def counted(n, x):
    for i in range(3):  # reveal: i → counter below 3
        a = i + 1  # reveal: a → plain value
    for i in range(n):  # reveal: i → counter
        a = i
    for i, one in enumerate([torch.zeros(2)]):  # reveal: one → tensor, sizes [2]
        a = one
    for left, right in zip([1, 2], "ab"):  # reveal: left → 1 or 2
        a = left
    for never in []:  # reveal: never → never
        a = never  # reveal: a → never
    return a


def carried(n, head):
    total = 0
    last = None
    for i in range(n):
        total += i  # reveal: total → plain value
        last = torch.zeros(2)
    x = last  # reveal: x → None or tensor, sizes [2]
    ids = head(n).argmax(-1)
    kept = []
    while True:
        kept.append(ids)
        if n:
            break
    return total, kept  # reveal: total → 0 or plain value; kept → list


def comprehended(n):
    a = [i for i in range(4)]  # reveal: a → list, holding counter below 4; i → counter below 4
    b = {k: v for k, v in {"x": 1}.items()}  # reveal: v → 1; k → 'x'
    return a, b
