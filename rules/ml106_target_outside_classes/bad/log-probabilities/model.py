import torch
import torch.nn.functional as F


def loss(scores, labels, lengths):
    targets = torch.full((len(labels), max(lengths)), -1)  # expect: ML106
    for row, (label, length) in enumerate(zip(labels, lengths)):
        targets[row, :length] = label
    log_probabilities = F.log_softmax(scores, dim=-1).transpose(1, 2)
    return F.nll_loss(log_probabilities, targets, ignore_index=-100, reduction="sum")


def two_of_ten(scores, pairs):
    targets = torch.full((len(pairs), 10), -1)  # expect: ML106
    for row, (first, second) in enumerate(pairs):
        targets[row, 0] = first
        targets[row, 1] = second
    return F.cross_entropy(scores.transpose(1, 2), targets)
