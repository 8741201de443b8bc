import math

import torch


def run(x, dim):
    y = torch.tensor(math.pi)
    return torch.log(x), torch.log(y), torch.sqrt(dim), math.log(math.pi), torch.sqrt(x[0])
