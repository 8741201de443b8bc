import torch
import torch.nn.functional as F


def hinge(scores, is_real, labels):
    signs = torch.full_like(scores, -1.0)
    signs[is_real] = 1.0
    return F.hinge_embedding_loss(scores, signs) + F.cross_entropy(scores, labels)
