import torch


def last(states, count):
    chosen = torch.full((count,), -1)
    return states[chosen], states.take(chosen)
