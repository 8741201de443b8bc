import timm
import torch
import torchvision
from torch import nn
from torchvision import models


class Fine(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = torchvision.models.resnet18(weights=None)
        self.net.fc = nn.Linear(2048, 10)  # expect: ML501

    def forward(self, images):
        return self.net(images)


class Pooled(nn.Module):
    def __init__(self, classes):
        super().__init__()
        trunk = models.resnet50(weights="DEFAULT")
        self.body = nn.Sequential(*list(trunk.children())[:-1])
        self.head = nn.Linear(512, classes)

    def forward(self, images):
        return self.head(self.body(images).flatten(1))  # expect: ML501


class Rows(nn.Module):
    def __init__(self):
        super().__init__()
        vgg = models.vgg16()
        self.features = vgg.features
        self.classifier = vgg.classifier
        self.classifier[6] = nn.Linear(2048, 10)

    def forward(self, images):
        return self.classifier(self.features(images).flatten(1))  # expect: ML501


class Maps(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.net = timm.create_model("resnet50", pretrained=True, num_classes=0)
        self.maps = timm.create_model("resnet18", features_only=True)
        self.neck = nn.Conv2d(self.maps.feature_info.channels()[-2], 64, 1)
        self.head = nn.Linear(512, classes)

    def forward(self, images):
        neck = self.neck(self.maps(images)[-1])  # expect: ML501
        return self.head(self.net(images)), neck  # expect: ML501


class Gray(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = getattr(models, "resnet34")()
        self.net.conv1 = nn.Conv2d(1, 32, 7, 2, 3)  # as wide as another trunk

    def forward(self, images):
        x = self.net.bn1(self.net.conv1(images))  # expect: ML501
        return torch.relu(x)


class Deep(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = models.wide_resnet50_2(weights="DEFAULT")
        self.up = nn.Conv2d(512, 64, 1)

    def forward(self, x):
        return self.up(self.net.layer4(x))  # expect: ML501
