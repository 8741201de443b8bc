"""Computes features by a model, which another function has put where the flag says."""

import torch


def features(model, images, use_cuda=False):
    if use_cuda:
        return model(torch.stack(images).cuda()).cpu()
    return model(torch.stack(images))
