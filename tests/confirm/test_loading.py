"""Recipes that HyperPyYAML cannot load: the error is put down to a place only if it is gone without that place."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from modellint.confirm.child import Setup, answer
from modellint.confirm.plan import Group, Probe, Target
from modellint.finding import Status, Verdict

RECIPE = """\
n_mels: 80
width: !ref <n_mels> * 2
encoder: !new:torch.nn.Linear
    in_features: !ref <n_mels>
    out_features: !ref <width>
opt_class: !name:torch.optim.Adam
    lr: 0.1
data: !PLACEHOLDER
modules:
    encoder: !ref <encoder>
"""


def verdicts_of(folder: Path, recipe: str, *probes: dict[str, Any], overrides: dict[str, Any] | None = None) -> Any:
    """The verdicts of probes of a recipe. A probe that says `text` is about the only place which has it."""
    path = folder / "hparams.yaml"
    path.write_text(recipe)
    target = Target(path)
    group = []
    for number, data in enumerate(probes):
        if "text" in data:
            data = {"edits": [[*place_of(path, data["text"]), data["instead"]]], **data}
        group.append((number, Probe(target, data.get("kind", "recipe-loading"), data)))
    setup = Setup(Path(sys.executable), (), overrides=tuple((overrides or {}).items()))
    answered = answer(Group(target, tuple(group)), setup)
    return [answered[number] for number in range(len(probes))]


def place_of(path: Path, text: str) -> list[Any]:
    found = [(n, line.index(text)) for n, line in enumerate(path.read_text().splitlines(), 1) if text in line]
    ((line, column),) = found
    return [path.as_posix(), line, column + 1, line, column + 1 + len(text)]


def verdict_of(folder: Path, recipe: str, **probe: Any) -> Verdict:
    (verdict,) = verdicts_of(folder, recipe, probe)
    assert isinstance(verdict, Verdict)
    return verdict


def test_a_reference_that_leads_nowhere(tmp_path: Path) -> None:
    recipe = RECIPE.replace("<n_mels> * 2", "<n_mel> * 2")
    verdict = verdict_of(tmp_path, recipe, text="<n_mel>", instead="0")
    assert verdict.status is Status.CONFIRMED
    assert 'ValueError: The reference "n_mel" is not valid' in (verdict.detail or "")


def test_a_reference_that_leads_somewhere(tmp_path: Path) -> None:
    verdict = verdict_of(tmp_path, RECIPE, text="<width>", instead="0")
    assert verdict == Verdict(Status.REFUTED, "cpu", "HyperPyYAML loads the recipe")


def test_an_error_elsewhere_proves_nothing(tmp_path: Path) -> None:
    recipe = RECIPE.replace("<n_mels> * 2", "<n_mel> * 2")
    verdict = verdict_of(tmp_path, recipe, text="<width>", instead="0")
    assert verdict.status is Status.UNCONFIRMED
    assert 'before that, loading the recipe raises ValueError: The reference "n_mel"' in (verdict.detail or "")


def test_two_places_do_not_hide_each_other(tmp_path: Path) -> None:
    recipe = RECIPE.replace("<n_mels> * 2", "<n_mel> * 2").replace("<encoder>", "<encodr>")
    found = verdicts_of(tmp_path, recipe, {"text": "<n_mel>", "instead": "0"}, {"text": "<encodr>", "instead": "0"})
    assert [verdict.status for verdict in found] == [Status.CONFIRMED, Status.CONFIRMED]
    assert "encodr" in found[1].detail


def test_two_findings_at_one_place_do_not_hide_another(tmp_path: Path) -> None:
    recipe = RECIPE.replace("<n_mels> * 2", "<n_mel> * 2").replace("<width>", "<widht>")
    twice = {"text": "<widht>", "instead": "0"}
    verdicts = verdicts_of(tmp_path, recipe, twice, twice, {"text": "<n_mel>", "instead": "0"})
    assert [verdict.status for verdict in verdicts] == [Status.CONFIRMED] * 3


def test_a_class_that_is_there_and_one_that_is_not(tmp_path: Path) -> None:
    data = {"text": "!new:torch.nn.Linear", "instead": "", "about": "torch.nn.Linear", "keys": ["encoder"]}
    assert verdict_of(tmp_path, RECIPE, **data).status is Status.REFUTED
    wrong = {key: str(value).replace("Linear", "Liner") for key, value in data.items()} | {"keys": ["encoder"]}
    verdict = verdict_of(tmp_path, RECIPE.replace("Linear", "Liner"), **wrong)
    assert verdict.status is Status.CONFIRMED
    assert verdict.detail == "loading the recipe raises ImportError: There is no such class as torch.nn.Liner"


def test_a_package_that_is_not_installed_proves_nothing(tmp_path: Path) -> None:
    tag = "!new:package_that_nobody_has.nn.Linear"
    recipe = RECIPE.replace("!new:torch.nn.Linear", tag)
    verdict = verdict_of(tmp_path, recipe, text=tag, instead="", about=tag[5:], keys=["encoder"])
    assert (verdict.status, verdict.detail) == (
        Status.UNCONFIRMED,
        "`package_that_nobody_has` is not installed",
    )


@pytest.mark.parametrize(("argument", "status"), [("lr", Status.REFUTED), ("momentum", Status.CONFIRMED)])
def test_a_call_that_is_prepared(tmp_path: Path, argument: str, status: Status) -> None:
    tag = "!name:torch.optim.Adam"
    data = {"text": tag, "instead": "", "about": tag[6:], "says": argument, "keys": ["opt_class"]}
    verdict = verdict_of(tmp_path, RECIPE.replace("lr:", f"{argument}:"), **data)
    assert verdict.status is status
    if status is Status.CONFIRMED:
        assert "prepares a call that raises TypeError: got an unexpected keyword argument" in (verdict.detail or "")


def test_only_what_is_asked_for_is_built(tmp_path: Path) -> None:
    (tmp_path / "user.py").write_text("class Loud:\n    def __init__(self, size):\n        raise SystemExit\n")
    recipe = RECIPE + "loud: !new:user.Loud\n    sise: 3\n"
    data = {"text": "!name:torch.optim.Adam", "instead": "", "about": "torch.optim.Adam", "keys": ["opt_class"]}
    assert verdict_of(tmp_path, recipe, **data).status is Status.REFUTED


@pytest.mark.parametrize("is_override", [False, True])
@pytest.mark.parametrize(
    ("key", "status"), [("n_mels", Status.REFUTED), ("data", Status.REFUTED), ("n_mel", Status.CONFIRMED)]
)
def test_what_a_script_reads_or_overrides(tmp_path: Path, key: str, status: Status, is_override: bool) -> None:
    recipe = RECIPE.replace("torch.nn.Linear", "package_that_nobody_has.Linear")
    verdict = verdict_of(tmp_path, recipe, kind="recipe-reading", key=key, is_override=is_override)
    assert verdict.status is status, verdict


def test_a_recipe_that_does_not_load_has_no_keys(tmp_path: Path) -> None:
    verdict = verdict_of(tmp_path, "a: !ref <b>\n", kind="recipe-reading", key="c", is_override=False)
    assert verdict.status is Status.UNCONFIRMED


def test_keys_of_the_settings_count(tmp_path: Path) -> None:
    probe = {"kind": "recipe-reading", "key": "data", "is_override": False}
    (verdict,) = verdicts_of(tmp_path, RECIPE, probe, overrides={"data": "/data"})
    assert verdict.status is Status.REFUTED
    assert verdict.detail == "the recipe has `data` when it is loaded"
