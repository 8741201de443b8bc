import torch

Backbone = getattr(torch.nn, "Module")
