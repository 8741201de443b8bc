import torch
from model import Model


def train(path, options):
    model = Model(options.width)
    if options.cuda:
        model = model.cuda()
    model.load_state_dict(torch.load(path, map_location="cpu"))
    return model(torch.zeros(2, options.width))
