import torch


def prepare(x, device):
    mask = torch.ones(3)
    mask = mask.to(device)  # expect: ML507
    mask = mask.contiguous()  # expect: ML507
    out = torch.matmul(x, mask).transpose(0, 1)
    out = out.detach()  # expect: ML507
    return out * mask
