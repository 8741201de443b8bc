import torch
from model import Encoder


def build(vocabulary, sentences):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    longest = max(map(len, sentences))
    return Encoder(len(vocabulary), 256, device, longest)


def restored(vocabulary, sizes):
    encoder = Encoder(len(vocabulary), 256, torch.device("cpu"), max_length=sizes["longest"])
    encoder.load_state_dict(torch.load("encoder.pt"))
    return encoder
