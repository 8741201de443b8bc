import torch
from model import Encoder


def build(vocabulary):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    return Encoder(len(vocabulary), 256, device)
