"""Programs of torchtune are found with the configurations that command lines name, and followed with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import modellint

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = """\
from torchtune import config


class Recipe:
    def __init__(self, cfg):
        self._cfg = cfg
        self._rate = cfg.rate

    def setup(self, cfg):
        self._model = config.instantiate(cfg.model, depth=2)
        self._sizes = [size for size in self._cfg.sizes]


@config.parse
def main(cfg):
    Recipe(cfg).setup(cfg)
"""
NETS = "class Net:\n    def __init__(self, width, depth, dropout=0.0):\n        self.width = width\n"
WHOLE = "rate: 0.1\nsizes: [1, 2]\nmodel:\n  _component_: nets.Net\n  width: 8\n"
BROKEN = WHOLE.replace("rate", "ratio").replace("width", "size")

#: The files, and the codes that are told.
PROJECTS: dict[str, tuple[dict[str, str], list[str]]] = {
    "all is there": ({"small.yaml": WHOLE}, []),
    "the only program": ({"small.yaml": BROKEN}, ["ML403", "ML403", "ML405"]),
    "a comment names it": ({"small.yaml": f"# tune run train --config small\n{BROKEN}"}, ["ML403", "ML403", "ML405"]),
    "another program": ({"small.yaml": f"# tune run other --config small.yaml\n{BROKEN}"}, ["ML403"]),
    "a page names it": (
        {"small.yaml": BROKEN, "README.md": "    python train.py --config=conf/../small.yaml \\\n  ratio=3\n"},
        ["ML403", "ML403", "ML405"],
    ),
    "the command line gives a key": (
        {"small.yaml": WHOLE.replace("rate: 0.1\n", ""), "run.sh": "tune run train.py --config small.yaml rate=0.2\n"},
        [],
    ),
    "a key that stands twice": ({"small.yaml": f"{WHOLE}rate: 0.2\n"}, ["ML404"]),
    "a broken reference": ({"small.yaml": WHOLE.replace("width: 8", "width: ${wide}")}, ["ML401"]),
    "a target of Hydra among components": (
        {"small.yaml": f"{WHOLE}  _target_: 3\nother:\n  _component_: nets.Nett\n"},
        ["ML402", "ML403"],
    ),
    "no component": ({"small.yaml": WHOLE.replace("_component_", "component")}, []),
}


@pytest.mark.parametrize("name", PROJECTS)
def test_programs_go_with_their_configurations(tmp_path: Path, name: str) -> None:
    files, expected = PROJECTS[name]
    for file, text in {"train.py": PROGRAM, "nets.py": NETS, **files}.items():
        (tmp_path / file).write_text(text, encoding="utf-8")
    found = modellint.check([tmp_path], isolated=True, cache=False, select=["ML4"])
    assert sorted(one.code for one in found) == expected
