import numpy as np
import torch

from model import Bumps


def build(low, high, **options):
    means = np.linspace(low, high, 10)
    return Bumps(means=means, scales=torch.ones(10), **options)
