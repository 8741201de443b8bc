import torch.nn.functional as F


def split(x, heads):
    x = x.view(x.size(0), heads, -1)
    return F.softmax(x / 2)  # expect: ML505
