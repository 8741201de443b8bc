import math

import torch


def likelihood(mu, logvar, x):
    return (-(x - mu) ** 2 / logvar.exp() - math.log(2 * math.pi)).sum(-1)  # expect: ML509
