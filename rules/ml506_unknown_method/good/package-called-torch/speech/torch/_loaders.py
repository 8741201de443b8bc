import torch

from ._datasets import SpectParams


class LoaderParams:
    @classmethod
    def tunable(cls):
        return SpectParams.tunable() | {"batch_size"}

    def lengths(self, features):
        return torch.tensor([len(feature) for feature in features])
