import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class Propagation(nn.Module):
    def __init__(self, width, cpu_cache):
        super().__init__()
        self.cpu_cache = cpu_cache
        self.proj = nn.Linear(width, width)

    def forward(self, features):
        outputs = []
        for feature in features:
            if self.cpu_cache:
                feature = feature.cuda()
            output = self.proj(feature)
            outputs.append(output.cpu() if self.cpu_cache else output)
        return torch.stack(outputs)


class Wrapped(nn.Module):
    def __init__(self, module, device_ids):
        super().__init__()
        self.module = DistributedDataParallel(module.cuda(), device_ids=device_ids)

    def forward(self, x):
        return self.module(x)
