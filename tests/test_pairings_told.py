"""`check --verbose` and `map` say which script was taken for that of a recipe, and why others were not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Workspace

LOADS = "import sys\nfrom hyperpyyaml import load_hyperpyyaml\n\nhparams = load_hyperpyyaml(open(sys.argv[1]))\n"
BRAIN = """\
import speechbrain as sb


class Model(sb.Brain):
    def compute_forward(self, batch, stage):
        return self.modules.layer(batch) * self.hparams.scale

    def compute_objectives(self, predictions, batch, stage):
        return predictions.sum()


"""
BUILDS = "model = Model(hparams['modules'], hparams=hparams)\nmodel.fit(range(3), [])\n"
RECIPE = "scale: 2\nlayer: !new:torch.nn.Linear [80, 40]\nmodules:\n    layer: !ref <layer>\n"
PROJECT = {
    "train.py": BRAIN + LOADS + BUILDS + "print(hparams['scale'])\n",
    "evaluate.py": LOADS + "print(hparams['scale'], hparams['layer'])\n",
    "distil.py": BRAIN + LOADS + BUILDS + "print(hparams['scale'], hparams['teacher'])\n",
    "prepare.py": LOADS + "print(hparams['folder'], hparams['splits'], hparams['scale'])\n",
    "hparams/small.yaml": RECIPE,
}


def told(workspace: Workspace, *arguments: str) -> list[str]:
    """What `check --verbose` says of recipes, whatever the exit code is."""
    lines = workspace.run("check", "--verbose", "--select", "ML2,ML4", *arguments).err.splitlines()
    start = next((number for number, line in enumerate(lines) if line.startswith("recipe ")), len(lines))
    return lines[start:]


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_verbose_tells_the_script_of_a_recipe_and_what_speaks_against_others(workspace: Workspace, jobs: str) -> None:
    workspace.write(PROJECT)
    expected = [
        "recipe hparams/small.yaml: train.py, by the keys it reads (2 of 2)",
        "    not distil.py: the recipe lacks `teacher` of the 3 keys that it reads",
        "    not evaluate.py: it builds no model of what it loads",
        "    not prepare.py: the recipe lacks `folder`, `splits` of the 3 keys that it reads",
    ]
    assert told(workspace, "--jobs", jobs) == expected
    assert told(workspace) == expected, "also of what the cache knows"


def test_a_command_and_the_settings_are_told_as_the_reason(workspace: Workspace) -> None:
    workspace.write({**PROJECT, "README.md": "Run `python distil.py hparams/small.yaml`\n"})
    first, *others = told(workspace)
    assert first == "recipe hparams/small.yaml: distil.py, by a command in README.md and the keys it reads (2 of 3)"
    assert others[2] == "    not train.py: nothing names it with the recipe, while a command in README.md names another"
    workspace.write({"modellint.toml": '[recipes]\n"hparams/*.yaml" = "train.py"\n'})
    assert told(workspace) == ["recipe hparams/small.yaml: train.py, by the configuration"]


def test_the_settings_decide_what_is_found(workspace: Workspace) -> None:
    workspace.write({**PROJECT, "README.md": "Run `python distil.py hparams/small.yaml`\n"})
    assert workspace.places("--select", "ML405") == [("distil.py", 18, "ML405")]
    workspace.write({"modellint.toml": '[recipes]\n"hparams/*.yaml" = "train.py"\n'})
    assert workspace.places("--select", "ML405") == []


def test_several_scripts_and_none_are_told(workspace: Workspace) -> None:
    workspace.write({"one.py": PROJECT["train.py"], "two.py": PROJECT["train.py"], "small.yaml": RECIPE})
    assert told(workspace) == [
        "recipe small.yaml: one.py, two.py, by the keys it reads (2 of 2): only facts that hold for all of them count"
    ]
    workspace.write({"one.py": PROJECT["prepare.py"], "two.py": LOADS})
    assert told(workspace) == [
        "recipe small.yaml: no script",
        "    not one.py: the recipe lacks `folder`, `splits` of the 3 keys that it reads",
        "    not two.py: it reads no key",
    ]


def test_a_script_that_commands_run_with_others_is_told(workspace: Workspace) -> None:
    workspace.write({**PROJECT, "run.sh": "python distil.py \\\n    hparams/large.yaml\n"})
    workspace.write({"hparams/large.yaml": RECIPE + "teacher: 1\n"})
    (line,) = (line for line in told(workspace) if "not distil" in line)
    reason = "run.sh runs it with other recipes, and the recipe lacks `teacher` of the 3 keys that it reads"
    assert line == f"    not distil.py: {reason}"


SIZES = "".join(f"size{number}: {number}\n" for number in range(12))
READS_SIZES = "print(" + ", ".join(f'hparams["size{number}"]' for number in range(12)) + ")\n"


def test_the_only_script_that_nearly_fits_is_taken_in_doubt_and_makes_no_errors(workspace: Workspace) -> None:
    script = PROJECT["distil.py"].replace("self.modules.layer(batch)", "self.modules.layer(self.hparams.left(batch))")
    left = "left: !new:torch.nn.Linear [80, 80]\n"
    whole = RECIPE + SIZES + left + "teacher: 1\n"
    workspace.write({"distil.py": script + READS_SIZES, "run.sh": "python distil.py hparams/large.yaml\n"})
    workspace.write({"hparams/small.yaml": RECIPE + SIZES + left, "hparams/large.yaml": whole})
    lines = [line for line in told(workspace) if line.startswith("recipe")]
    by = "the keys it reads (15 of 16, though run.sh runs it with others)"
    assert lines[1] == f"recipe hparams/small.yaml: distil.py, by {by}"
    found = workspace.run("check", "--output-format", "json", "--select", "ML2,ML4").json["findings"]
    assert [(one["path"], one["code"], one["severity"]) for one in found] == [
        ("distil.py", "ML405", "warning"),
        ("hparams/large.yaml", "ML201", "error"),
        ("hparams/small.yaml", "ML201", "warning"),
    ]
    assert f"modellint takes this for the script of `small.yaml` by {by}" in found[0]["evidence"]


def test_a_run_without_verbose_tells_nothing_of_it(workspace: Workspace) -> None:
    workspace.write(PROJECT)
    assert workspace.run("check", "--select", "ML2,ML4").err == ""


def test_the_map_tells_it_as_well(workspace: Workspace) -> None:
    workspace.write(PROJECT)
    lines = workspace.run("map", "hparams/small.yaml").lines
    assert lines[1] == "Model in train.py, found by the keys it reads (2 of 2)"
    assert lines[-3:] == [
        "not distil.py: the recipe lacks `teacher` of the 3 keys that it reads",
        "not evaluate.py: it builds no model of what it loads",
        "not prepare.py: the recipe lacks `folder`, `splits` of the 3 keys that it reads",
    ]
    chart = workspace.run("map", "hparams/small.yaml", "--output-format", "json").json
    assert chart["found_by"] == "the keys it reads (2 of 2)"
    assert chart["turned_down"][1] == {"script": "evaluate.py", "reason": "it builds no model of what it loads"}
    for output_format in ("dot", "mermaid", "html"):
        assert workspace.run("map", "hparams/small.yaml", "--output-format", output_format).code == 0


@pytest.mark.parametrize(
    "readme",
    [
        bytes(range(256)) * 4000,
        b"python train.py hparams/small.yaml " * 40_000,
        b"".join(b"python t%d.py r%d.yaml " % (number, number) for number in range(40_000)),
        b"\xff\xfepython train.py",
        b"",
    ],
)
def test_a_readme_of_anything_does_no_harm(workspace: Workspace, readme: bytes) -> None:
    workspace.write({**PROJECT, "README.md": readme})
    assert told(workspace)[0].startswith("recipe hparams/small.yaml: train.py, by ")
