"""What trainings leave in their results is checked where it was copied from, and told once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import hyperpyyaml
import pytest

if TYPE_CHECKING:
    from conftest import Workspace

RECIPE = "seed: 1\nwidth: 2\nnet: !new:speechbrain.nnet.linear.Liner\n    n_neurons: !ref <width>\nother: 3\n"
SCRIPT = """\
import torch


class Net(torch.nn.Module):
    def __init__(self, size):
        super().__init__()
        self.layers = [torch.nn.Linear(size, 2)]

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
"""
HEAD = "# Generated 2024-04-08 from:\n# /home/someone/lab/{}\n# yamllint disable\n"
RUNS = [f"results/{seed}" for seed in (1, 2, 3)]


def resolved(workspace: Workspace, recipe: str, source: str) -> str:
    """A recipe as SpeechBrain writes it into the results of a training."""
    workspace.write({source: recipe})
    with (workspace.root / source).open() as file:
        text = str(hyperpyyaml.resolve_references(file).read())
    (workspace.root / source).unlink()
    return HEAD.format(source) + text


def results(workspace: Workspace, log: str = "log.txt") -> None:
    text = resolved(workspace, RECIPE, "train.yaml")
    for run in RUNS:
        workspace.write({f"{run}/hyperparams.yaml": text, f"{run}/train.py": SCRIPT, f"{run}/{log}": ""})


@pytest.mark.parametrize("log", ["log.txt", "env.log"])
def test_copies_are_left_to_what_they_are_copies_of(workspace: Workspace, log: str) -> None:
    results(workspace, log)
    workspace.write({"hparams/train.yaml": RECIPE, "zoo/train.py": SCRIPT})
    expected = [("hparams/train.yaml", 3, "ML402"), ("zoo/train.py", 7, "ML204")]
    select = ("--select", "ML402,ML204")
    assert workspace.places(*select) == expected
    assert workspace.places(*select) == expected, "also of what the cache knows"
    told = workspace.run("check", *select, "--verbose").err
    assert "hparams/train.yaml: checked for 3 copies of it in results of trainings" in told
    assert "zoo/train.py: checked for 3 copies of it in results of trainings" in told


def test_of_copies_alone_the_first_is_checked(workspace: Workspace) -> None:
    results(workspace)
    assert workspace.places("--select", "ML402,ML204") == [
        ("results/1/hyperparams.yaml", 6, "ML402"),
        ("results/1/train.py", 7, "ML204"),
    ]
    assert workspace.places("--select", "ML402", "results/2") == []


def test_a_script_that_was_changed_since_is_checked(workspace: Workspace) -> None:
    results(workspace)
    workspace.write({"train.py": SCRIPT.replace("size, 2", "size, 3")})
    places = [path for path, _, _ in workspace.places("--select", "ML204")]
    assert places == ["results/1/train.py", "train.py"]


def test_a_recipe_of_the_same_name_with_other_keys_is_not_what_was_copied(workspace: Workspace) -> None:
    results(workspace)
    workspace.write({"hparams/train.yaml": "a: 1\nseed: 3\nnet: !new:torch.nn.ReLU\n"})
    assert [path for path, _, _ in workspace.places("--select", "ML402")] == ["results/1/hyperparams.yaml"]


def test_a_recipe_that_was_made_from_another_but_lies_in_no_results_is_one_of_its_own(workspace: Workspace) -> None:
    text = resolved(workspace, RECIPE, "train.yaml")
    workspace.write({"train.yaml": RECIPE, "model/hyperparams.yaml": text, "other/hyperparams.yaml": RECIPE})
    workspace.write({"other/log.txt": ""})
    (finding,) = workspace.run("check", "--select", "ML402", "--output-format", "json").json["findings"]
    paths = [finding["path"], *(related["path"] for related in finding["related"])]
    assert paths == ["model/hyperparams.yaml", "other/hyperparams.yaml", "train.yaml"]
