import torch


def prepare(x, device):
    mask = torch.ones(3)
    mask.to(device)  # expect: ML507
    mask.contiguous()  # expect: ML507
    out = torch.matmul(x, mask).transpose(0, 1)
    out.detach()  # expect: ML507
    return out * mask
