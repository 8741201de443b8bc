"""Builders of latent-diffusion style are known by doing it, and only objects that something builds are judged."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import modellint

if TYPE_CHECKING:
    from pathlib import Path

LOADING = "import importlib\n\n\ndef load(name):\n    module, cls = name.rsplit('.', 1)\n"
LOADING += "    return getattr(importlib.import_module(module), cls)\n\n\n"
#: Functions that build the object of a node.
BUILDERS = {
    "as the paper's code": "def build(config):\n    return load(config['target'])(**config.get('params', dict()))\n",
    "with steps": "def build(c):\n    cls, params = load(c['target']), c.get('params', {})\n    return cls(**params)\n",
    "with more arguments": "def build(c, **more):\n    return load(c.target)(**c.get('params', {}), **more)\n",
    "with a check": "def build(config):\n    if 'target' not in config:\n        raise KeyError('target')\n"
    "    return load(config['target'])(**config.get('params', dict()))\n",
    "in one function": "def build(config):\n    module, name = config['target'].rsplit('.', 1)\n"
    "    return getattr(importlib.import_module(module), name)(**config.get('params', {}))\n",
}
#: Functions that do something else with such a node.
OTHERS = {
    "a dictionary": "def build(config):\n    return dict(target=config['target'], **config.get('params', {}))\n",
    "nothing imported": "KINDS = {}\n\n\ndef build(c):\n    return KINDS[c['target']](**c.get('params', {}))\n",
}
NETS = """\
from tools import build


class Part:
    def __init__(self, width):
        self.width = width


class Whole:
    def __init__(self, part_config, other_config=None):
        self.part = build(part_config)
"""
MAIN = "from omegaconf import OmegaConf\nfrom tools import build\n\nmodel = build(OmegaConf.load('small.yaml').model)\n"
CONFIG = """\
model:
  target: nets.Whole
  params:
    part_config:
      target: nets.Part
      params: {wide: 3}
    other_config:
      target: nets.Part
      params: {wide: 3}
"""


def codes(folder: Path, builder: str, config: str) -> list[tuple[str, int]]:
    files = {"tools.py": LOADING + builder, "nets.py": NETS, "main.py": MAIN, "small.yaml": config}
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    found = modellint.check([folder], isolated=True, cache=False, select=["ML4"])
    return [(one.code, one.span.line) for one in found]


@pytest.mark.parametrize("name", BUILDERS)
def test_what_is_built_is_judged(tmp_path: Path, name: str) -> None:
    assert codes(tmp_path, BUILDERS[name], CONFIG) == [("ML403", 6), ("ML403", 6)]


@pytest.mark.parametrize("name", OTHERS)
def test_other_functions_build_nothing(tmp_path: Path, name: str) -> None:
    assert codes(tmp_path, OTHERS[name], CONFIG) == []


def test_a_mapping_without_its_class_is_told(tmp_path: Path) -> None:
    config = CONFIG.replace("      target: nets.Part\n", "      taget: nets.Part\n", 1)
    assert codes(tmp_path, BUILDERS["with steps"], config) == [("ML402", 4)]


@pytest.mark.parametrize(("more", "expected"), [("", [("ML401", 10)]), ("size: 3\n", [])])
def test_a_reference_is_told_that_no_file_answers(tmp_path: Path, more: str, expected: list[tuple[str, int]]) -> None:
    (tmp_path / "base.yaml").write_text(f"other: 1\n{more}", encoding="utf-8")
    config = f"{CONFIG.replace('wide', 'width')}width: ${{size}}\n"
    assert codes(tmp_path, BUILDERS["with steps"], config) == expected


def test_a_folder_with_too_many_files_around_is_no_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(tmp_path)
    found = codes(project, BUILDERS["with steps"], CONFIG)
    monkeypatch.setattr("modellint.reading.mentioning.MAX_FILES", 3)
    (tmp_path / "other.py").touch()
    assert codes(project, BUILDERS["with steps"], CONFIG) == found == [("ML403", 6), ("ML403", 6)]
