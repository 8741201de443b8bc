import torch


def run(x, y):
    a, b = torch.meshgrid(x, y)
    return torch.cat([x, y]), torch.stack((x, y)), torch.einsum("ij,jk->ik", x, y), torch.block_diag(x, y)
