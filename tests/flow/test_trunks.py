"""Networks of other packages, known by facts: the rows of the facts, and what takes precedence over them."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from modellint.knowledge import trunks

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conftest import Workspace

    from modellint.knowledge.trunks import Node

BUILDERS = "alexnet vgg16_bn resnet18 wide_resnet50_2 resnext101_32x8d densenet121 squeezenet1_1 mobilenet_v2".split()
BUILDERS += "mobilenet_v3_small efficientnet_v2_s convnext_tiny regnet_y_400mf vit_b_16 swin_t mnasnet1_0".split()
BUILDERS += ["shufflenet_v2_x1_0", "googlenet", "inception_v3"]

NET = """\
import torch
from torchvision import models

net = models.{name}()
y = net(torch.zeros(2, 3, 224, 224))
"""
#: A module of an installed torchvision, as short as can be.
INSTALLED = """\
from torch import nn


class ResNet(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc = nn.Linear(width, 1000)

    def forward(self, x):
        return self.fc(x)


def resnet18(*, weights=None):
    return ResNet(7)
"""


def nodes_in(nodes: tuple[Node, ...]) -> Iterator[Node]:
    for node in nodes:
        yield node
        yield from nodes_in(node.parts)


@pytest.mark.parametrize("name", BUILDERS)
def test_each_network_has_a_last_layer(name: str) -> None:
    nodes = list(nodes_in(trunks.network(name)))
    assert [node.kind for node in nodes if None in node.numbers] in (["L"], ["C"])
    assert {node.kind for node in nodes} <= set("CBNRDHSMAFLP~^?(.")


def test_names_of_builders() -> None:
    known = ("torchvision.models.resnet18", "torchvision.models.resnet.resnet18", "torchvision.models.get_model")
    assert [trunks.torchvision_name(name) for name in known] == ["resnet18", "resnet18", "get_model"]
    others = ("torchvision.models.quantization.resnet18", "torchvision.models.video.resnet.r3d", "torchvision.ops.nms")
    assert [trunks.torchvision_name(name) for name in others] == ["", "", ""]
    assert trunks.network("resnet19") == ()
    assert trunks.network_of_timm("resnet50") == (2048, 2048, "fc", 1000, (64, 256, 512, 1024, 2048))
    assert trunks.encoder("google-bert/bert-base-uncased") == trunks.encoder("bert-base-uncased") == ("BertModel", 768)
    assert trunks.encoder("bert-base-unknown") is None


@pytest.mark.parametrize("name", [name for name in BUILDERS if name not in ("googlenet", "inception_v3")])
def test_networks_are_shown_without_their_package(workspace: Workspace, name: str) -> None:
    workspace.write({"net.py": NET.format(name=name)})
    assert "  5  y  [2, 1000] float32" in workspace.run("shapes", "net.py").out


def test_facts_take_precedence_over_an_installed_package(workspace: Workspace) -> None:
    """But a module of the project of the same name is the project's."""
    package = {"models/__init__.py": "from .resnet import *\n", "models/resnet.py": INSTALLED, "__init__.py": ""}
    site = ".venv/lib/python3.12/site-packages/torchvision/"
    source = NET.format(name="resnet18")
    workspace.write({"net.py": source, **{f"{site}{name}": text for name, text in package.items()}})
    assert "  5  y  [2, 1000] float32" in workspace.run("shapes", "net.py").out
    workspace.write({"torchvision/" + name: text for name, text in package.items()})
    assert "  5  y  [2, 3, ?, 1000] float32" in workspace.run("shapes", "net.py").out


def test_nothing_is_read_for_files_without_trunks(workspace: Workspace) -> None:
    workspace.write({"net.py": "from torch import nn, zeros\n\ny = nn.Linear(3, 4)(zeros(2, 3))\n"})
    code = (
        "from modellint.__main__ import main; from modellint.knowledge import trunks\n"
        "import sys; sys.argv = ['modellint', 'check', '--no-cache', 'net.py']\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "assert trunks._facts.cache_info().misses == 0"
    )
    subprocess.run([sys.executable, "-c", code], cwd=workspace.root, check=True, capture_output=True)


def test_widths_of_timm() -> None:
    timm = pytest.importorskip("timm", exc_type=ImportError)
    import torch

    for name in ("resnet18", "mobilenetv3_large_100", "densenet121", "vit_tiny_patch16_224", "convnext_tiny"):
        known = trunks.network_of_timm(name)
        assert known is not None
        with torch.device("meta"):
            net = timm.create_model(name, num_classes=0).eval()
        assert net(torch.empty(1, 3, 224, 224, device="meta")).shape == (1, known.width)


def test_widths_of_encoders(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers", exc_type=ImportError)
    for name in ("Bert", "DistilBert", "Roberta", "Albert", "Electra", "GPT2", "ViT", "Wav2Vec2"):
        known = trunks.encoder_class(f"{name}Model")
        assert known is not None
        assert getattr(transformers, f"{name}Config")().hidden_size == known.width
