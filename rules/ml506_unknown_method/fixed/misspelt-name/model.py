import torch


def packed(query, key, value):
    return torch.cat([query, key, value]).continous()  # expect: ML506


def batched(query):
    return torch.relu(query).unsqueeze(0)  # expect: ML506
