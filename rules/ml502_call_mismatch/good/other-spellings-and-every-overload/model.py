import torch
import torch.nn.functional as F


def reduce(x):
    x = F.relu(x)
    top = torch.max(x, axis=1, keepdims=True)
    both = torch.max(x, x)
    mean = x.mean((0, 1), True) + torch.mean(x=x, axis=0) + x.sum(-1)
    sizes = torch.zeros(2, 3), torch.zeros((2, 3)), torch.zeros(size=(2, 3)), x.view(2, -1), x.view([2, -1])
    views = x.permute(1, 0), x.permute((1, 0)), torch.permute(x, (1, 0)), x.expand(-1, 4), x.repeat(2, 2)
    moved = x.to("cpu"), x.to(torch.float64), x.to(x), x.to("cpu", torch.float64, non_blocking=True)
    ends = torch.arange(3), torch.arange(1, 3), torch.arange(0, 1, 0.5), torch.full((2,), 1), torch.clamp(x, min=0)
    for older in (x.add_(-0.1, x), x.addcdiv_(-0.1, x, x), torch.addcmul(x, 1, x, x), torch.addmm(1, x, 1, x, x)):
        x = x + older
    loss = F.mse_loss(x, x, size_average=False, reduce=True)
    return top, both, mean, sizes, views, moved, ends, loss, x.float(memory_format=torch.channels_last)
