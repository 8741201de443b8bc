"""`modellint report`: findings in their code, the tree of modules, and shapes, in one page that loads nothing."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conftest import Workspace

MODEL = """\
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(8, 16)

    def forward(self, x):
        return self.up(x)


class Tower(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()
        self.layers = [nn.Linear(16, 16) for _ in range(3)]

    def forward(self, x: torch.Tensor):
        h = self.block(x)
        for layer in self.layers:
            h = layer(h)
        return h
"""
_VOID = {"meta", "input", "br", "link"}


class Checked(HTMLParser):
    """Follows the tags of a page, each of which must be closed where it should."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.loaded: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.ids += filter(None, [given.get("id")])
        self.links += filter(None, [given.get("href")])
        self.loaded += filter(None, [given.get("src")])
        if tag not in _VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def page(workspace: Workspace, *arguments: str) -> str:
    result = workspace.run("report", *arguments)
    assert result.code == 0, result.err
    return (workspace.root / "modellint-report.html").read_text("utf-8")


def test_a_finding_is_shown_in_its_code_with_its_fix(workspace: Workspace) -> None:
    workspace.write({"model.py": MODEL})
    text = page(workspace)
    assert re.search(r'<h4><span class="severity">error</span> <a href="[^"]+">ML204</a>', text)
    assert "<mark>self.layers</mark>" in text
    assert '<span class="added">+        self.layers = nn.ModuleList(' in text
    assert "<b>1</b> error<" in text


def test_the_page_is_whole_and_loads_nothing(workspace: Workspace) -> None:
    workspace.write({"model.py": MODEL, "a<b>.py": MODEL.replace("Tower", "Other")})
    text = page(workspace)
    checked = Checked()
    checked.feed(text)
    assert checked.open == []
    assert checked.loaded == []
    assert len(checked.ids) == len(set(checked.ids))
    assert all(link[1:] in checked.ids for link in checked.links if link.startswith("#"))
    assert "a<b>" not in text


def test_modules_are_a_tree_with_parameters_and_memory(workspace: Workspace) -> None:
    workspace.write({"model.py": MODEL})
    text = page(workspace)
    tree = text[text.index('<ul class="tree">') :]
    assert tree.count("<li><details><summary><code>Tower</code>") == 1
    assert "<code>block</code> <code>Block</code>" in tree
    assert "144 parameters, 576 B" in tree
    assert '<span class="left-out">left out</span>' in tree
    assert "<code>Block</code> <span" not in tree.partition("<code>Tower</code>")[0]


def test_shapes_are_shown_line_by_line(workspace: Workspace) -> None:
    workspace.write({"model.py": MODEL})
    text = page(workspace)
    shapes = text[text.index('id="shapes"') :]
    assert "model.py::Tower.forward" in shapes
    assert re.search(r"<code>h = self\.block\(x\)</code></td>\s*<td><code>h</code></td><td><code>\[[^\]]*16\]", shapes)


def test_findings_alone_need_no_models(workspace: Workspace) -> None:
    workspace.write({"model.py": MODEL})
    text = page(workspace, "--no-models")
    assert 'id="models"' not in text
    assert "ML204" in text


def test_a_page_without_findings_says_so(workspace: Workspace) -> None:
    workspace.write({"model.py": "x = 1\n", "broken.py": "def\n"})
    assert "ML001" in page(workspace)
    workspace.write({"broken.py": "y = 2\n"})
    assert "No findings." in page(workspace)


def test_bad_input_is_refused(workspace: Workspace) -> None:
    assert "nowhere" in workspace.run("report", "nowhere").err
    result = workspace.run("report", "--output-file", "no/folder/page.html")
    assert (result.code, result.err.startswith("Error: --output-file: ")) == (2, True)
