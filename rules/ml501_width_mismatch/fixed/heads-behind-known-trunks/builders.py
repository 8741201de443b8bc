from torch import nn
from torchvision import models


def build(classes):
    model = models.densenet121()
    model.classifier = nn.Linear(1024, classes)  # expect: ML501
    return model


def by_name(name, classes):
    if name == "small":
        model = models.get_model("shufflenet_v2_x1_0")
        model.fc = nn.Linear(1024, classes)  # expect: ML501
    else:
        model = models.efficientnet_b0()
        model.classifier = nn.Linear(1280, classes)
    return model


def of_two(name, classes):
    """One head for two networks fits neither."""
    model = models.resnet34() if name == "deep" else models.resnet18()
    model.fc = nn.Linear(2048, classes)
    return model
