import torch


def keep_best(found, top):
    _, order = found[:, :, 0].sort(1, descending=True)
    _, rank = order.sort(1)
    found[(rank < top).unsqueeze(-1).expand_as(found)] = 0  # expect: ML507
    return found


def without_padding(scores, tokens):
    padding = tokens.eq(0)
    scores[padding] = 0  # expect: ML507
    scores[:, [0, 2]] *= 2  # expect: ML507
    scores[~torch.isfinite(scores)] = 0  # expect: ML507
    return scores
