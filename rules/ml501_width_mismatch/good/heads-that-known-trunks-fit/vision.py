import copy

import timm
import torch
from torch import nn
from torchvision import models
from torchvision.models import resnet18, wide_resnet50_2
from torchvision.models.resnet import Bottleneck, ResNet


class Ten(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = models.resnet18(num_classes=10)
        self.head = nn.Linear(10, 3)

    def forward(self, images):
        return self.head(self.net(images))  # reveal: [x_0, 3] float32


class Bare(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = wide_resnet50_2()
        self.net.fc = nn.Identity()
        self.head = nn.Linear(2048, 3)

    def forward(self, images):
        return self.head(self.net(images))


class Chosen(nn.Module):
    def __init__(self, arch):
        super().__init__()
        if arch == "resnet18":
            self.net = models.resnet18()
            width = 512
        elif arch == "resnet50":
            self.net = models.resnet50()
            width = 2048
        self.net.fc = nn.Linear(width, 7)
        self.other = models.__dict__[arch](pretrained=True)
        self.other.fc = nn.Linear(512, 5)

    def forward(self, images):
        return self.net(images), self.other(images)


class Gray(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = getattr(models, "resnet34")(weights="DEFAULT")
        self.net.conv1 = nn.Conv2d(1, 64, 7, 2, 3, bias=False)
        width = self.net.fc.in_features
        self.net.fc = nn.Sequential(nn.Linear(width, 100), nn.ReLU(), nn.Linear(100, 5))

    def forward(self, images):
        return self.net(images)


class Derived(ResNet):
    def __init__(self):
        super().__init__(Bottleneck, [3, 4, 6, 3])
        self.fc = nn.Linear(2048, 9)

    def forward(self, images):
        return super().forward(images)


class Stripped(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = models.resnet50()
        self.head = nn.Linear(2048, 3)

    def strip(self):
        self.net.fc = nn.Identity()

    def forward(self, images):
        return self.head(self.net(images))


class Stages(nn.Module):
    def __init__(self):
        super().__init__()
        trunk = resnet18(weights="DEFAULT")
        self.stem = nn.Sequential(trunk.conv1, trunk.bn1, trunk.relu, trunk.maxpool)
        self.layer1, self.layer2 = trunk.layer1, trunk.layer2
        self.layer3, self.layer4 = trunk.layer3, trunk.layer4
        self.up = nn.Conv2d(256 + 512, 256, 1)

    def forward(self, images):
        early = self.layer3(self.layer2(self.layer1(self.stem(images))))
        late = nn.functional.interpolate(self.layer4(early), scale_factor=2)
        return self.up(torch.cat([early, late], 1))


class Both(nn.Module):
    def __init__(self):
        super().__init__()
        self.base = models.resnet18()
        self.base.fc = nn.Linear(1024, 5)

    def forward(self, images, others):
        trunk = nn.Sequential(*list(self.base.children())[:-1])
        return self.base.fc(torch.cat([trunk(images).flatten(1), trunk(others).flatten(1)], 1))


class Heads(nn.Module):
    def __init__(self):
        super().__init__()
        self.dense = models.densenet121().features
        self.mobile = models.mobilenet_v2()
        self.mobile.classifier[1] = nn.Linear(self.mobile.last_channel, 4)
        self.vit = models.vit_b_16()
        self.vit.heads.head = nn.Linear(768, 4)
        self.squeeze = models.squeezenet1_0()
        self.squeeze.classifier[1] = nn.Conv2d(512, 4, 1)
        self.inception = models.inception_v3(aux_logits=True)
        self.inception.fc = nn.Linear(2048, 4)
        self.alex = models.alexnet()
        self.alex.classifier = nn.Sequential(*list(self.alex.classifier.children())[:-1])
        self.next = models.convnext_tiny()
        self.next.classifier._modules["2"] = nn.Linear(768, 4)
        self.copy = copy.deepcopy(self.next)

    def forward(self, x):
        dense = self.dense(x).mean((2, 3))  # reveal: [x_0, 1024] float32
        mobile = self.mobile(x)  # reveal: [x_0, 4] float32
        vit = self.vit(x)  # reveal: [x_0, 4] float32
        squeeze = self.squeeze(x)  # reveal: [x_0, 4] float32
        alex = self.alex(x)  # reveal: [x_0, 4096] float32
        copy = self.copy(x)  # reveal: [x_0, 4] float32
        return dense, mobile, vit, squeeze, self.inception(x)[0], alex, copy


class OfTimm(nn.Module):
    def __init__(self, name, classes):
        super().__init__()
        self.net = timm.create_model("resnet50", pretrained=True, num_classes=0)
        self.head = nn.Linear(self.net.num_features, classes)
        self.maps = timm.create_model("resnet50", features_only=True, out_indices=(1, 3))
        self.neck = nn.Conv2d(1024, 64, 1)
        self.any = timm.create_model(name, num_classes=0)
        self.last = nn.Linear(512, classes)

    def forward(self, images):
        early, late = self.maps(images)
        return self.head(self.net(images)), self.neck(late), self.last(self.any(images))


def frozen(classes):
    model = models.vgg16_bn()
    model.classifier[6] = nn.Linear(4096, classes)
    for parameter in model.features.parameters():
        parameter.requires_grad = False
    return model


def tuned(name, classes):
    model = models.resnet50()
    if name == "tuned":
        model.fc = nn.Linear(model.fc.in_features, classes)
    return model


def cut_off(images):
    parts = list(models.resnet18().children())
    parts.pop()
    del parts[-1]
    parts.append(nn.Conv2d(512, 7, 1))
    maps = nn.Sequential(*parts)(torch.zeros(2, 3, 224, 224))  # reveal: [2, 7, 7, 7] float32
    net = models.resnet18()
    net.avgpool = nn.AdaptiveAvgPool2d((2, 2))
    net.maxpool = nn.Identity()
    net.layer4 = nn.Identity()
    net.fc = nn.Linear(256 * 4, 10)
    return maps, net(images)


def with_heads_of_their_own(images):
    other = timm.create_model("resnet50", num_classes=0)
    other.fc = nn.Linear(2048, 10)
    third = timm.create_model("convnext_tiny", num_classes=0)
    third.head.fc = nn.Linear(768, 10)
    last = nn.Linear(10, 2)
    return last(other(images)), last(third(images))
