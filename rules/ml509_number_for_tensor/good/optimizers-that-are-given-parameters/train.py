import torch


def run(model):
    groups = [{"params": model.parameters(), "lr": 1e-4}]
    return torch.optim.Adam(groups, lr=1e-3), torch.optim.SGD(model.parameters(), lr=0.1)
