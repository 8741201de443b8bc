import torch.nn.functional as F


def scores(x, options):
    a, b, c = x.shape
    return F.softmax(x, -1), F.softmax(x, dim=1), x.softmax(-1), F.softmax(x, **options)
