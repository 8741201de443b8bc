import torch


def column(values):
    row = torch.zeros(5)
    row.unsqueeze_(1)
    return row.expand(5, 3) + torch.zeros(5, 3)


def turned():
    table = torch.zeros(2, 7)
    table.t_()
    return table @ torch.zeros(2, 4)


def without_ones():
    scores = torch.zeros(4, 1, 6)
    scores.squeeze_(1)
    rows, columns = scores.shape
    return scores.view(24), rows, columns


def resized():
    buffer = torch.empty(0)
    buffer.resize_(3, 3)
    return buffer.sum(1) + torch.zeros(3)
