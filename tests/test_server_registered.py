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
}


async def test_texts_and_definitions(client: LanguageClient, tmp_path: Path) -> None:
    write(tmp_path, PROJECT)
    path = tmp_path / "configs/small.py"
    told = {name: await hovered(path, text, client) for name, (text, *_) in PLACES.items()}
    parts = {name: [part for part in PLACES[name][1] if part in text] for name, text in told.items()}
    assert parts == {name: expected for name, (_, expected, _) in PLACES.items()}
    found = {name: await defined(path, text, client) for name, (text, *_) in PLACES.items()}
    assert found == {name: [place] for name, (*_, place) in PLACES.items()}
