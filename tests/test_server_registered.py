"""Configurations of OpenMMLab in an editor: names of registries, arguments, inherited files, and texts about them."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003  # the plugin looks its name up

import pytest
import pytest_lsp
from pytest_lsp import LanguageClient, client_capabilities
from test_server import SERVER, begin
from typed_configs import defined, hovered, labels, write

pytestmark = pytest.mark.asyncio

PROJECT = {
    "registry.py": 'from mmengine.registry import Registry\n\nMODELS = Registry("model")\n',
    "nets.py": '''\
from torch import nn

from registry import MODELS


@MODELS.register_module(name="WideHead")
class Head(nn.Module):
    """Scores of classes."""

    def __init__(self, width, classes, bias=True):
        super().__init__()
        self.out = nn.Linear(width, classes, bias=bias)


@MODELS.register_module()
class Net(nn.Module):
    def __init__(self, depth, head):
        super().__init__()
        self.depth = depth
        self.head = MODELS.build(head)
''',
    "configs/parts/small.py": "depth = 3\n",
    "configs/deep.yaml": "_base_: ./base.py\nmodel:\n  depth: 8\n",
    "configs/base.py": 'model = dict(type="Net", depth=2, head=dict(type="WideHead", width=8, classes=3))\n',
}
OTHERS = "_base_ = './base.py'\n"

#: By name: the text of a configuration, and the labels that are offered.
OFFERED = {
    "names": ("model = dict(type='¦')\n", ["Net", "WideHead"]),
    "a name that is begun": ('model = {"type": "Wi¦"}\n', ["Net", "WideHead"]),
    "arguments": ("model = dict(type='Net', ¦)\n", ["depth=", "head="]),
    "arguments that are left": (
        "model = dict(\n    type='Net',\n    depth=3,\n    head=dict(bias=False, ¦type='WideHead'),\n)\n",
        ["width=", "classes="],
    ),
    "arguments of an inherited type": (f"{OTHERS}model = dict(head=dict(¦))\n", ["width=", "classes=", "bias="]),
    "a value": ("model = dict(type='Net', depth=¦)\n", []),
    "another call": ("model = dict(type='Net', depth=max(¦))\n", []),
    "inherited values": (f"{OTHERS}depth = _base_.¦\n", ["model"]),
    "an inherited value that is begun": (f"{OTHERS}model = dict(depth=_base_.model.de¦)\n", ["depth", "head", "type"]),
    "inherited values in a text": (f"{OTHERS}name = '{{{{_base_.model.head.¦'\n", ["classes", "type", "width"]),
    "files to inherit": ("_base_ = ['./base.py', './¦']\n", ["base.py", "deep.yaml", "parts"]),
}
#: The same of a configuration in YAML.
IN_YAML = "_base_: ./base.py\n"
OFFERED_IN_YAML = {
    "names": (f"{IN_YAML}model:\n  type: ¦\n", ["Net", "WideHead"]),
    "arguments": (f"{IN_YAML}other:\n  type: Net\n  ¦\n", ["depth", "head"]),
    "arguments of an inherited type": (f"{IN_YAML}model:\n  head:\n    bias: 1\n    c¦\n", ["width", "classes"]),
    "arguments in braces": (f"{IN_YAML}other: {{type: WideHead, width: 3, ¦}}\n", ["classes", "bias"]),
    "inherited values": (f"{IN_YAML}depth: {{{{_base_.model.¦\n", ["depth", "head", "type"]),
    "files to inherit": ("_base_: ./¦\n", ["base.py", "deep.yaml", "parts"]),
    "a value": (f"{IN_YAML}model:\n  depth: ¦\n", []),
    "no configuration": ("model:\n  type: ¦\n", []),
}


@pytest_lsp.fixture(config=SERVER)
async def client(lsp_client: LanguageClient, tmp_path: Path):
    await begin(lsp_client, tmp_path, client_capabilities("visual-studio-code"))
    yield
    await lsp_client.shutdown_session()


async def test_completions(client: LanguageClient, tmp_path: Path) -> None:
    write(tmp_path, PROJECT)
    path = tmp_path / "configs/small.py"
    found = {name: await labels(path, text, client) for name, (text, _) in OFFERED.items()}
    assert found == {name: expected for name, (_, expected) in OFFERED.items()}


async def test_completions_in_yaml(client: LanguageClient, tmp_path: Path) -> None:
    write(tmp_path, PROJECT)
    path = tmp_path / "configs/small.yaml"
    found = {name: await labels(path, text, client) for name, (text, _) in OFFERED_IN_YAML.items()}
    assert found == {name: expected for name, (_, expected) in OFFERED_IN_YAML.items()}


async def test_other_python_files_have_none(client: LanguageClient, tmp_path: Path) -> None:
    write(tmp_path, PROJECT)
    text = "class Net:\n    def make(self):\n        return dict(type='¦')\n"
    assert await labels(tmp_path / "other.py", text, client) == []


#: Parts of the texts about what is at the cursor, and where it is defined.
PLACES = {
    "a name": (
        f"{OTHERS}model = dict(head=dict(type='Wide¦Head'))\n",
        ["class WideHead(width", "Scores"],
        ("nets.py", 7),
    ),
    "an argument": (f"{OTHERS}model = dict(head=dict(bi¦as=False))\n", ["bias=True", "WideHead"], ("nets.py", 10)),
    "a file": ("_base_ = ['./ba¦se.py']\nmodel = dict(depth=3)\n", ["configs/base.py"], ("base.py", 1)),
    "an inherited value": (f"{OTHERS}depth = _base_.model.de¦pth\n", ["model.depth", "2"], ("base.py", 1)),
    "a mapping of one": (f"{OTHERS}name = '{{{{_base_.model.he¦ad.width}}}}'\n", ["WideHead(…)"], ("base.py", 1)),
}
PLACES_IN_YAML = {
    "a name": (f"{IN_YAML}model:\n  head:\n    type: Wide¦Head\n", ["class WideHead(width"], ("nets.py", 7)),
    "an argument": (f"{IN_YAML}model:\n  head:\n    bi¦as: false\n", ["bias=True", "WideHead"], ("nets.py", 10)),
    "a file": ("_base_: ./de¦ep.yaml\nmodel:\n  depth: 3\n", ["configs/deep.yaml"], ("deep.yaml", 1)),
    "an inherited value": ("_base_: ./deep.yaml\nwidth: {{_base_.model.de¦pth}}\n", ["8"], ("deep.yaml", 3)),
}


@pytest.mark.parametrize(("file", "places"), [("small.py", PLACES), ("small.yaml", PLACES_IN_YAML)])
async def test_texts_and_definitions(
    client: LanguageClient, tmp_path: Path, file: str, places: dict[str, tuple[str, list[str], tuple[str, int]]]
) -> None:
    write(tmp_path, PROJECT)
    path = tmp_path / "configs" / file
    told = {name: await hovered(path, text, client) for name, (text, *_) in places.items()}
    parts = {name: [part for part in places[name][1] if part in text] for name, text in told.items()}
    assert parts == {name: expected for name, (_, expected, _) in places.items()}
    found = {name: await defined(path, text, client) for name, (text, *_) in places.items()}
    assert found == {name: [place] for name, (*_, place) in places.items()}
