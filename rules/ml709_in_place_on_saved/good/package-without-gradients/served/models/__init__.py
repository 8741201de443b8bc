import torch

from .gemma import Decoder

torch.set_grad_enabled(False)


def get_model(settings, weights):
    return Decoder(settings, weights)
