import torch
from torchvision.models import resnet18


def export(path):
    model = resnet18()
    model.load_state_dict(torch.load(path))
    traced = torch.jit.trace(model, torch.rand(1, 3, 224, 224))  # expect: ML706
    traced.save("model.pt")
