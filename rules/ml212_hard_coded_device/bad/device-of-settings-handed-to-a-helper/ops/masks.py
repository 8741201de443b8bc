"""A helper whose only caller passes what the settings say."""

import torch


def model_on(model, device="cuda"):
    return model.to(device)


def built(make, settings):
    return model_on(make(settings.width), settings.device)
