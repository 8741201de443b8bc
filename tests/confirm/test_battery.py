"""`modellint probe`: every check of a class or recipe, through the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from conftest import Outcome, Workspace

MODEL = """
import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self, width=8, classes=20, rows=20, frames=16):
        super().__init__()
        self.head = nn.Linear(width, classes)
        self.table = nn.Embedding(rows, width)
        self.positions = nn.Parameter(torch.zeros(frames, width))
        {more}

    def forward(self, hidden):
        \"\"\"
        Args:
            hidden: (batch, time, width)
        \"\"\"
        hidden = hidden + self.positions[torch.arange(hidden.shape[1], device=hidden.device) {shift}]
        return {result}
"""
GOOD = {"more": "", "shift": "", "result": "self.table(self.head(hidden).argmax(-1))"}
RECIPE = """\
width: 8
encoder: !new:torch.nn.Linear [!ref <width>, 4]
head: !new:torch.nn.Linear [4, 2]
searcher: !new:model.Searcher
    layer: !ref <head>
modules:
    encoder: !ref <encoder>
    searcher: !ref <searcher>
"""
SEARCHER = """
import torch


class Scorer:
    def __init__(self, layer):
        self.layer = layer


class Searcher(torch.nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.scorer = {held}(layer)
"""


def written(**changes: str) -> str:
    text = MODEL
    for name, value in {**GOOD, **changes}.items():
        text = text.replace("{" + name + "}", value)
    return text


def checks(result: Outcome) -> dict[str, Any]:
    return {check["name"]: check for check in result.json["checks"]}


def statuses(result: Outcome) -> dict[str, str]:
    return {name: check["status"] for name, check in checks(result).items()}


def test_a_model_that_is_all_right(workspace: Workspace) -> None:
    workspace.write({"pkg/__init__.py": "", "pkg/model.py": written()})
    result = workspace.run("probe", "pkg.model:Decoder")
    assert (result.code, result.err) == (0, "")
    assert result.lines[0] == "pkg.model:Decoder"
    assert result.lines[1].startswith("  placement   passed   4 tensors move to cuda:0, and the call works there")
    assert "(assumed: hidden = float" in result.lines[1]
    assert "ids [0, 19] of a choice among 20 classes look up 20 rows in `model.py:20: embedding`" in result.lines[3]
    assert "lengths 1, 2, 5, 15, 16 work; a length of 17 raises IndexError" in result.lines[4]
    assert "no call that was made gives `positions`, `head.weight`, `head.bias` one: Dist" in result.lines[5]
    assert result.lines[6].startswith("  modes       passed   two calls in evaluation give the same")
    assert result.lines[-1] == "6 checks: 5 passed, 1 in part"


#: What a file may do with a library as it is imported.
LIBRARY = """
from abc import ABC
from typing import Protocol

import framework_that_nobody_has
from framework_that_nobody_has import Mixin, callback

if tuple(map(int, framework_that_nobody_has.__version__.split("."))) < (2, 6):
    raise ImportError("framework_that_nobody_has is too old")


class HasSettings(Protocol):
    settings: dict


class First(Mixin, HasSettings):
    @callback
    def begin(self): ...


class Second(ABC, Mixin): ...
"""


def test_what_a_library_is_needed_for_is_not_what_is_built(workspace: Workspace) -> None:
    workspace.write({"model.py": LIBRARY + written()})
    result = workspace.run("probe", "model.py::Decoder")
    assert (result.code, result.err) == (0, "")
    assert "not importable and replaced: framework_that_nobody_has" in result.lines[1]
    assert result.lines[-1] == "6 checks: 5 passed, 1 in part"


@pytest.mark.parametrize(
    ("changes", "failed", "says"),
    [
        ({"result": "self.table((self.head(hidden) + self.mask).argmax(-1))", "more": "self.mask = torch.zeros(20)"},
         "placement", "`mask` stayed on `cpu`; the call raises"),
        ({"more": "self.head = nn.Linear(width, classes + 3)"}, "values", "ids [0, 22] of a choice among 23 classes"),
        ({"result": "self.table(hidden)"}, "values", "real numbers from"),
        ({"shift": "+ 1"}, "boundaries", "one of 15 works, and `frames` is 16"),
        ({"shift": "+ 15 * (hidden.shape[1] == 2)"}, "boundaries", "a length of 2 raises IndexError"),
    ],
    ids=["device", "classes", "features", "one too many", "short"],
)  # fmt: skip
def test_a_model_that_fails(workspace: Workspace, changes: dict[str, str], failed: str, says: str) -> None:
    workspace.write({"model.py": written(**changes)})
    result = workspace.run("probe", "model.py::Decoder", "--output-format", "json")
    assert result.code == 1
    found = checks(result)
    assert [name for name, check in found.items() if check["status"] == "failed"] == [failed]
    assert says in found[failed]["detail"]
    assert found[failed]["device"] == ("fake" if failed == "placement" else "cpu")


@pytest.mark.parametrize(
    ("device", "ran"),
    [("fake", ["placement"]), ("cpu", ["shapes", "values", "boundaries", "modes"])],
    ids=["fake", "cpu"],
)
def test_only_checks_for_the_device_are_run(workspace: Workspace, device: str, ran: list[str]) -> None:
    workspace.write({"model.py": written()})
    result = workspace.run("probe", "model.py::Decoder", "--output-format", "json", "--device", device)
    assert result.code == 0
    assert [name for name, status in statuses(result).items() if status == "passed"] == ran
    others = [check["detail"] for check in checks(result).values() if check["status"] == "not-run"]
    assert all(f"and `--device {device}` was asked for" in detail for detail in others)


def test_a_model_that_is_too_large_to_be_made(workspace: Workspace) -> None:
    workspace.write(
        {"model.py": written(more="self.head = nn.Linear(width, 10**11)").replace("rows=20", "rows=10**11")}
    )
    result = workspace.run("probe", "model.py::Decoder", "--output-format", "json")
    expected = {"placement": "passed", "shapes": "passed", "values": "passed", "boundaries": "not-run"}
    assert statuses(result) == {**expected, "gradients": "not-run", "modes": "not-run"}
    assert "ids [0, 99999999999]" in checks(result)["values"]["detail"]
    assert checks(result)["values"]["device"] == "fake"
    assert "million parameters are too many to run on real numbers" in checks(result)["boundaries"]["detail"]


def test_what_the_settings_say_is_passed(workspace: Workspace) -> None:
    code = written().replace("width=8, classes=20, rows=20", "classes, rows, width=8")
    settings = '[tool.modellint.confirm.targets."model.py::Decoder"]\narguments = { classes = 20, rows = 10 }\n'
    workspace.write({"model.py": code, "pyproject.toml": settings})
    result = workspace.run("probe", "model.py::Decoder", "--output-format", "json")
    assert "ids [0, 19]" in checks(result)["values"]["detail"]
    assert "look up 10 rows" in checks(result)["values"]["detail"]


def test_a_failure_that_rests_on_assumed_numbers_is_none(workspace: Workspace) -> None:
    workspace.write(
        {
            "model.py": written()
            .replace("width=8, classes=20, rows=20", "n_rows, n_classes, width=8")
            .replace("classes)", "n_classes)")
            .replace("(rows,", "(n_rows - 3,")
        }
    )
    result = workspace.run("probe", "model.py::Decoder", "--output-format", "json")
    assert statuses(result)["values"] == "not-run"
    assert "it depends on numbers that were assumed" in checks(result)["values"]["detail"]


@pytest.mark.parametrize("parameters", ["", ", width", ", width=3"])
def test_nothing_that_can_be_run(workspace: Workspace, parameters: str) -> None:
    """The reason is told once, and what to say in the settings only if there is something that could be passed."""
    code = f"class Model:\n    def __init__(self{parameters}):\n        raise ValueError('not yet')\n"
    workspace.write({"model.py": code})
    result = workspace.run("probe", "model.py::Model")
    assert result.code == 2
    assert result.out.count("not run") == 7
    assert result.out.count("ValueError: not yet") == 1
    assert result.out.count("for the same reason") == 5
    asked = "say what to pass to it, and its inputs, under `[tool.modellint.confirm.targets]`"
    assert (asked in result.out) == bool(parameters)


@pytest.mark.parametrize(("held", "code", "status"), [("Scorer", 1, "failed"), ("torch.nn.Sequential", 0, "passed")])
def test_a_recipe(workspace: Workspace, held: str, code: int, status: str) -> None:
    workspace.write({"hparams.yaml": RECIPE, "model.py": SEARCHER.replace("{held}", held)})
    result = workspace.run("probe", "hparams.yaml", "--output-format", "json", "--output-file", "report.json")
    assert (result.code, result.out) == (code, "")
    result = workspace.run("probe", "hparams.yaml", "--output-format", "json")
    assert statuses(result) == {"loading": "passed", "placement": status}
    if code:
        assert "`modules['searcher'].scorer.layer.weight`" in checks(result)["placement"]["detail"]
    shown = (workspace.root / "report.json").read_text()
    assert shown.partition("duration_s")[0] == result.out.partition("duration_s")[0]


def test_what_was_moved_and_could_not_be_called_is_no_success(workspace: Workspace) -> None:
    workspace.write({"model.py": written(result="torch.load('nothing.pt')")})
    result = workspace.run("probe", "model.py::Decoder", "--output-format", "json", "--device", "fake")
    assert result.code == 2
    assert statuses(result)["placement"] == "not-run"
    said = checks(result)["placement"]["detail"]
    assert said.startswith(
        "all 4 tensors move to cuda:0, but no call got through: calling `Decoder`: FileNotFoundError"
    )


def test_a_recipe_that_does_not_load(workspace: Workspace) -> None:
    workspace.write({"hparams.yaml": RECIPE.replace("<width>", "<widht>")})
    result = workspace.run("probe", "hparams.yaml")
    assert result.code == 1
    assert 'loading    failed   loading the recipe raises ValueError: The reference "widht" is not valid' in result.out


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("nowhere.py::Model", "nowhere.py::Model: no such file"),
        ("model.py", "names no class; expected model.py::CLASS"),
        ("model.py::Decodr", "no class or function is called `Decodr`; did you mean `Decoder`?"),
        ("model.py::Decoder.backward", "no class or function is called `Decoder.backward`"),
        ("pkg.nowhere:Model", "no module `pkg.nowhere` in the project"),
        ("model:Encoder", "`model` defines no class or function `Encoder`"),
        (
            "Decoder",
            "expected `package.module:Class`, `folder/file.py::Class`, a recipe (.yaml, .yml) or a model folder",
        ),
        ("plain.yaml", "no HyperPyYAML recipe"),
        ("hparams.yaml::Model", "a recipe has no classes"),
        (".", "no model folder, which has `model_index.json`, "),
        (".", "beside weights or a tokenizer; expected `package.module:Class`"),
    ],
)
def test_a_target_that_is_not_there(workspace: Workspace, target: str, says: str) -> None:
    workspace.write({"model.py": written(), "plain.yaml": "a: 1\n", "hparams.yaml": RECIPE})
    result = workspace.run("probe", target)
    assert (result.code, result.out) == (2, "")
    assert says in result.err


LOOKUPS = """
from torch import nn


class Table(nn.Module):
    def __init__(self, width=None, rows=20):
        super().__init__()
        if width is None:
            raise ValueError("expected the width")
        self.table = nn.Embedding(rows, width)

    def forward(self, x):
        {says}
        return self.table({ids})
"""


@pytest.mark.parametrize(
    ("ids", "says", "status"),
    [
        ("x.long()", "pass", "nothing-to-check"),
        ("x", '"""x: (batch, time)"""', "nothing-to-check"),
        ("x + 1", "pass", "in-part"),
        ("x / 3", "pass", "failed"),
        ("x", '"""x: (batch, time) float features"""', "failed"),
    ],
)
def test_inputs_that_were_made_up_are_no_failure(workspace: Workspace, ids: str, says: str, status: str) -> None:
    code = LOOKUPS.replace("{ids}", ids).replace("{says}", says)
    workspace.write({"lib/models.py": code, "pyproject.toml": '[tool.modellint.confirm]\nroots = ["lib"]\n'})
    result = workspace.run("probe", "models:Table", "--output-format", "json")
    assert statuses(result)["values"] == status, result.out
