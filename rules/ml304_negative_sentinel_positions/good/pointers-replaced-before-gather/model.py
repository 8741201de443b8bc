import torch
from torch.nn.utils.rnn import pad_sequence


def limited(states, counts):
    pointers = pad_sequence([torch.arange(count) for count in counts], batch_first=True, padding_value=-1)
    return states.gather(1, pointers.clamp(min=0))


def masked(states, counts):
    pointers = pad_sequence([torch.arange(count) for count in counts], batch_first=True, padding_value=-1)
    return states.gather(1, pointers.masked_fill(pointers < 0, 0))


def chosen(states, counts):
    pointers = pad_sequence([torch.arange(count) for count in counts], batch_first=True, padding_value=-1)
    return states.gather(1, torch.where(pointers >= 0, pointers, 0))


def real(states, counts):
    pointers = pad_sequence([torch.arange(count) for count in counts], batch_first=True, padding_value=-1)
    return states.index_select(0, pointers[pointers != -1])


def filled_in(states, scores, steps):
    pointers = torch.full((steps, states.shape[0]), -1)
    for step in range(steps):
        pointers[step] = scores.argmax(-1)
    return states.gather(0, pointers)
