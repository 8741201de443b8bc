import torch

NOTHING = -1


def masked_targets(tokens, chosen):
    return tokens.masked_fill(~chosen, -100)  # expect: ML106


def corrupted(tokens, chosen, mask_id):
    return torch.where(chosen, mask_id, tokens), masked_targets(tokens, chosen)
