"""Recipes that are broken or enormous: one clear finding each, at the place, and an end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Workspace

MODULES = "lin: !new:torch.nn.Linear\n    in_features: 3\n    out_features: 4\nmodules:\n    lin: !ref <lin>\n"
SCRIPT = """\
import sys

import speechbrain as sb
from hyperpyyaml import load_hyperpyyaml


class Model(sb.Brain):
    def compute_forward(self, batch, stage):
        return self.modules.lin(batch)


if __name__ == "__main__":
    hparams_file, run_opts, overrides = sb.parse_arguments(sys.argv[1:])
    with open(hparams_file) as fin:
        hparams = load_hyperpyyaml(fin, overrides)
    model = Model(modules=hparams["modules"], hparams=hparams, run_opts=run_opts)
    model.fit(range(3), [], [])
"""
ALIASES = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 20)
)
KEYS = "1: a\n2.5: b\nnull: c\n[1, 2]: e\n{a: b}: f\n? !ref <lin>\n: g\n"
BAD = {
    "circular references": ("a: !ref <b>\nb: !ref <a>\n", [(1, "ML407")]),
    "an include of itself": ("a: !include:hparams.yaml\n", [(1, "ML407")]),
    "an include that is missing": ("a: !include:nowhere.yaml\n", [(1, "ML401")]),
    "tabs": ("b:\n\tc: 1\n", [(2, "ML001")]),
    "an alias of nothing": ("a: *nothing\n", [(1, "ML001")]),
    "keys that are one": ("1: a\ntrue: b\n", [(2, "ML404")]),
    "an alias bomb": (ALIASES, []),
    "anchors that stand twice": ("a: &x 1\nb: &x 2\nc: *x\n", []),
    "keys that are no strings": (KEYS, []),
}


@pytest.mark.parametrize("name", BAD)
def test_one_clear_finding(workspace: Workspace, name: str) -> None:
    text, expected = BAD[name]
    workspace.write({"hparams.yaml": text + MODULES, "train.py": SCRIPT})
    found = workspace.places("--isolated", "--no-cache")
    assert [(line, code) for _, line, code in found] == expected


def test_a_script_that_does_not_parse(workspace: Workspace) -> None:
    workspace.write({"hparams.yaml": MODULES, "train.py": SCRIPT.replace("return self", "return return self")})
    assert workspace.places("--isolated", "--no-cache") == [("train.py", 9, "ML001")]


def test_a_recipe_of_five_megabytes_ends(workspace: Workspace) -> None:
    layers = "".join(f"l{number}: !new:torch.nn.Linear [3, {number}]\n" for number in range(125_000))
    references = "".join(f"r{number}: !ref <l{number % 50}>\n" for number in range(20_000))
    text = f"{layers}{references}last: !ref <missing>\n{MODULES}"
    assert len(text) > 5_000_000
    workspace.write({"hparams.yaml": text, "train.py": SCRIPT})
    found = workspace.places("--isolated", "--no-cache", "--jobs", "1", "--max-file-size", "10 MB")
    assert [(line, code) for _, line, code in found] == [(145_001, "ML401")]
