"""Recipes that are broken or enormous: one clear finding each, at the place, and an end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from effort import IS_LARGE, calls_of

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


def _growing(value: str) -> str:
    """A chain of values each of which refers to the one before more than once."""
    return "a0: 99\n" + "".join(f"a{i}: {value.format(i - 1)}\n" for i in range(1, 60))


MERGES = "a0: &a0 {x: 1}\n" + "".join(
    f"a{i}: &a{i} {{<<: [*a{i - 1}, *a{i - 1}, *a{i - 1}], y{i}: 1}}\n" for i in range(1, 60)
)
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
    "texts that grow by references": (_growing("!ref <a{0}><a{0}><a{0}><a{0}>"), []),
    "numbers that grow by references": (_growing("!ref <a{0}> * <a{0}>"), []),
    "powers that grow by references": (_growing("!ref <a{0}> ** <a{0}>"), []),
    "lists that grow by references": (_growing("[!ref <a{0}>, !ref <a{0}>, !ref <a{0}>]"), []),
    "lists that grow by copies": (_growing("[!copy <a{0}>, !copy <a{0}>, !copy <a{0}>]"), []),
    "mappings that grow by merging": (MERGES, []),
    "thousands of anchors": ("".join(f"k{i}: &k{i} {i}\nl{i}: *k{i}\n" for i in range(3000)), []),
    "one long reference": ("a: 1\nb: !ref " + "<a>" * 100_000 + "\n", []),
    "a text of a megabyte": ("a: |\n" + "  of !ref <nothing> and more\n" * 40_000, []),
    "anchors that stand twice": ("a: &x 1\nb: &x 2\nc: *x\n", []),
    "keys that are no strings": (KEYS, []),
}


@pytest.mark.parametrize("name", BAD)
def test_one_clear_finding(workspace: Workspace, name: str) -> None:
    text, expected = BAD[name]
    workspace.write({"hparams.yaml": text + MODULES, "train.py": SCRIPT})
    found = workspace.places("--isolated", "--no-cache")
    assert [(line, code) for _, line, code in found] == expected


def test_files_that_are_included_ever_more_often_are_no_cycle(workspace: Workspace) -> None:
    twice = "a: !include:i{0}.yaml\nb: !include:i{0}.yaml\nc: !include:i{0}.yaml\n"
    workspace.write({f"i{number}.yaml": twice.format(number + 1) for number in range(20)})
    workspace.write({"i20.yaml": "x: !new:torch.nn.ReLU\n", "train.py": SCRIPT})
    workspace.write({"hparams.yaml": "i: !include:i0.yaml\n" + MODULES})
    assert workspace.places("--isolated", "--no-cache") == []


def test_a_cycle_of_includes_is_told_once(workspace: Workspace) -> None:
    workspace.write({"a.yaml": "b: !include:b.yaml\n", "b.yaml": "a: !include:a.yaml\n", "train.py": SCRIPT})
    workspace.write({"hparams.yaml": "i: !include:a.yaml\n" + MODULES})
    assert len([code for _, _, code in workspace.places("--isolated", "--no-cache") if code == "ML407"]) == 1


def test_a_script_that_does_not_parse(workspace: Workspace) -> None:
    workspace.write({"hparams.yaml": MODULES, "train.py": SCRIPT.replace("return self", "return return self")})
    assert workspace.places("--isolated", "--no-cache") == [("train.py", 9, "ML001")]


def check_large(workspace: Workspace, lines: int) -> str:
    """Check a recipe of that many lines, an eighth of which refer to others, and one more that refers to nothing."""
    references = lines // 8
    text = "".join(f"l{number}: !new:torch.nn.Linear [3, {number}]\n" for number in range(lines - references))
    text += "".join(f"r{number}: !ref <l{number % 50}>\n" for number in range(references))
    workspace.write({"hparams.yaml": f"{text}last: !ref <missing>\n{MODULES}", "train.py": SCRIPT})
    found = workspace.places("--isolated", "--no-cache", "--jobs", "1", "--max-file-size", "10 MB")
    assert [(line, code) for _, line, code in found] == [(lines + 1, "ML401")]
    return text


def test_a_large_recipe_ends(workspace: Workspace) -> None:
    text = check_large(workspace, 150_000 if IS_LARGE else 4_000)
    assert len(text) > 5_000_000 or not IS_LARGE


@pytest.mark.dear
def test_the_work_grows_no_faster_than_the_recipe(workspace: Workspace) -> None:
    check_large(workspace, 100)  # what is loaded once counts for neither
    many = calls_of(lambda: check_large(workspace, 4_000))
    assert many < 4 * calls_of(lambda: check_large(workspace, 1_000))
