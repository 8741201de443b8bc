import argparse

import torch
from layers import Hands


def train(path, device):
    model = Hands(3).to(device)
    model.load_state_dict(torch.load(path, map_location=device))
    return model(torch.zeros(2, 3, device=device))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cpu")
    train("hands.pt", parser.parse_args().device)
