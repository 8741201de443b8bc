import torch


def run(x):
    y = torch.zeros(3)
    y = y.masked_fill(y == 0, 1).contiguous().clamp_(0).to(x.device)
    return y.logsumexp(-1).item(), y.T.numpy().astype("float32"), y.tolist().index(0), y.shape.count(3)
