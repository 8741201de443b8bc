import torch
from model import Model


def train(batches):
    model = Model(3)
    if torch.cuda.is_available():
        model.cuda()
    for x, y in batches:
        loss = (model(x.cuda()) - y.cuda()).abs().mean()
        loss.backward()
    return model
