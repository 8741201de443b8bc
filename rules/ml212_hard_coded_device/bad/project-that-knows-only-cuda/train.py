import torch
from model import Model


def train(path):
    assert torch.cuda.is_available()
    model = Model(3).cuda()
    model.load_state_dict(torch.load(path, map_location="cpu"))
    return model(torch.zeros(2, 3, device="cuda")).cpu()
