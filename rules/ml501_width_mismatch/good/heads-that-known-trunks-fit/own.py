from heads import replace_head
from torch import nn
from torchvision import models


def resnet18(width=64):
    """Another network of the same name."""
    net = models.resnet18()
    net.fc = nn.Linear(512, width)
    return net


class Own(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = resnet18(32)
        self.head = nn.Linear(32, 3)

    def forward(self, images):
        return self.head(self.net(images))


class Told(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = models.resnet18()
        replace_head(self.net, 32)
        self.head = nn.Linear(32, 3)

    def forward(self, images):
        return self.head(self.net(images))


class Slow(nn.Module):
    def __init__(self):
        super().__init__()
        net = models.resnet50()
        for _, layer in net.layer4.named_modules():
            if isinstance(layer, nn.Conv2d):
                layer.stride = (1, 1)
        self.body = nn.Sequential(*list(net.children())[:-2])
        self.head = nn.Linear(2048 * 14 * 14, 3)

    def forward(self, images):
        return self.head(self.body(images.view(-1, 3, 224, 224)).flatten(1))


def with_head(net, classes):
    if isinstance(net, models.ResNet):
        net.fc = nn.Linear(net.fc.in_features, classes)
    elif net.__class__.__name__ == "VGG":
        net.classifier[6] = nn.Linear(4096, classes)
    return net


class OfKind(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = with_head(models.resnet50(), 20)
        self.other = with_head(models.vgg16(), 20)
        self.head = nn.Linear(20, 3)

    def forward(self, images):
        return self.head(self.net(images)), self.head(self.other(images))
