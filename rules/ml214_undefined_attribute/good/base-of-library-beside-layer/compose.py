import torch
from torch import nn


class Compose(torch.distributions.ComposeTransform, nn.ModuleList):
    def __init__(self, parts, cache_size=0):
        super().__init__(parts, cache_size=cache_size)
        for part in parts:
            if isinstance(part, nn.Module):
                self.append(part)

    def with_cache(self, cache_size=1):
        if cache_size == self._cache_size:
            return self
        return Compose(self.parts, cache_size=cache_size)
