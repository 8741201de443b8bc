import torch


def split(x):
    left, right = torch.chunk(x, 2)
    if left.sum() > right.sum():
        print("left")
        return
    print("right")


def halves():
    left, right = split(torch.rand(4))  # expect: ML514
    return left + right
