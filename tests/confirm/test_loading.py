"""Recipes that HyperPyYAML cannot load: the error is put down to a place only if it is gone without that place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from served import served

from modellint.claims.recipes import NoKey, NotLoaded, NotMade
from modellint.confirm.child import answer
from modellint.confirm.plan import Group
from modellint.finding import Status, Verdict
from modellint.probes import Probe, Target
from modellint.source import Place, Span

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from modellint.claims import Claim

    Made = Callable[[Path], Claim]

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


def verdicts_of(folder: Path, recipe: str, *claims: Made, overrides: dict[str, Any] | None = None) -> Any:
    """The verdicts on claims about a recipe."""
    path = folder / "hparams.yaml"
    path.write_text(recipe)
    target = Target(path)
    probes = tuple((number, Probe(target, claim(path))) for number, claim in enumerate(claims))
    setup = served(overrides=tuple((overrides or {}).items()))
    answered = answer(Group(target, probes), setup)
    return [answered[number] for number in range(len(claims))]


def verdict_of(folder: Path, recipe: str, claim: Made) -> Verdict:
    (verdict,) = verdicts_of(folder, recipe, claim)
    assert isinstance(verdict, Verdict)
    return verdict


def place_of(path: Path, text: str) -> Place:
    """The only place that has a text."""
    found = [(n, line.index(text)) for n, line in enumerate(path.read_text().splitlines(), 1) if text in line]
    ((line, column),) = found
    return Place(path.as_posix(), Span(line, column + 1, line, column + 1 + len(text)))


def in_the_way(text: str) -> Made:
    return lambda path: NotLoaded(place_of(path, text), "0")


def not_made(tag: str, key: str, says: str = "") -> Made:
    return lambda path: NotMade(place_of(path, tag), key, tag.partition(":")[2], says)


def no_key(key: str, *, is_override: bool) -> Made:
    return lambda path: NoKey(Place(path.as_posix(), Span(1, 1, 1, 1)), key, is_override)


def test_a_reference_that_leads_nowhere(tmp_path: Path) -> None:
    recipe = RECIPE.replace("<n_mels> * 2", "<n_mel> * 2")
    verdict = verdict_of(tmp_path, recipe, in_the_way("<n_mel>"))
    assert verdict.status is Status.CONFIRMED
    assert 'ValueError: The reference "n_mel" is not valid' in (verdict.detail or "")


def test_a_reference_that_leads_somewhere(tmp_path: Path) -> None:
    verdict = verdict_of(tmp_path, RECIPE, in_the_way("<width>"))
    assert verdict == Verdict(Status.REFUTED, "cpu", "HyperPyYAML loads the recipe")


def test_an_error_elsewhere_proves_nothing(tmp_path: Path) -> None:
    recipe = RECIPE.replace("<n_mels> * 2", "<n_mel> * 2")
    verdict = verdict_of(tmp_path, recipe, in_the_way("<width>"))
    assert verdict.status is Status.UNCONFIRMED
    assert 'before that, loading the recipe raises ValueError: The reference "n_mel"' in (verdict.detail or "")


def test_two_places_do_not_hide_each_other(tmp_path: Path) -> None:
    recipe = RECIPE.replace("<n_mels> * 2", "<n_mel> * 2").replace("<encoder>", "<encodr>")
    found = verdicts_of(tmp_path, recipe, in_the_way("<n_mel>"), in_the_way("<encodr>"))
    assert [verdict.status for verdict in found] == [Status.CONFIRMED, Status.CONFIRMED]
    assert "encodr" in found[1].detail


def test_two_findings_at_one_place_do_not_hide_another(tmp_path: Path) -> None:
    recipe = RECIPE.replace("<n_mels> * 2", "<n_mel> * 2").replace("<width>", "<widht>")
    twice = in_the_way("<widht>")
    verdicts = verdicts_of(tmp_path, recipe, twice, twice, in_the_way("<n_mel>"))
    assert [verdict.status for verdict in verdicts] == [Status.CONFIRMED] * 3


def test_a_class_that_is_there_and_one_that_is_not(tmp_path: Path) -> None:
    assert verdict_of(tmp_path, RECIPE, not_made("!new:torch.nn.Linear", "encoder")).status is Status.REFUTED
    verdict = verdict_of(tmp_path, RECIPE.replace("Linear", "Liner"), not_made("!new:torch.nn.Liner", "encoder"))
    assert verdict.status is Status.CONFIRMED
    assert verdict.detail == "loading the recipe raises ImportError: There is no such class as torch.nn.Liner"


def test_a_package_that_is_not_installed_proves_nothing(tmp_path: Path) -> None:
    tag = "!new:package_that_nobody_has.nn.Linear"
    recipe = RECIPE.replace("!new:torch.nn.Linear", tag)
    verdict = verdict_of(tmp_path, recipe, not_made(tag, "encoder"))
    assert (verdict.status, verdict.detail) == (
        Status.UNCONFIRMED,
        "`package_that_nobody_has` is not installed",
    )


@pytest.mark.parametrize(("argument", "status"), [("lr", Status.REFUTED), ("momentum", Status.CONFIRMED)])
def test_a_call_that_is_prepared(tmp_path: Path, argument: str, status: Status) -> None:
    claim = not_made("!name:torch.optim.Adam", "opt_class", argument)
    verdict = verdict_of(tmp_path, RECIPE.replace("lr:", f"{argument}:"), claim)
    assert verdict.status is status
    if status is Status.CONFIRMED:
        assert "prepares a call that raises TypeError: got an unexpected keyword argument" in (verdict.detail or "")


def test_only_what_is_asked_for_is_built(tmp_path: Path) -> None:
    (tmp_path / "user.py").write_text("class Loud:\n    def __init__(self, size):\n        raise SystemExit\n")
    recipe = RECIPE + "loud: !new:user.Loud\n    sise: 3\n"
    assert verdict_of(tmp_path, recipe, not_made("!name:torch.optim.Adam", "opt_class")).status is Status.REFUTED


@pytest.mark.parametrize("is_override", [False, True])
@pytest.mark.parametrize(
    ("key", "status"), [("n_mels", Status.REFUTED), ("data", Status.REFUTED), ("n_mel", Status.CONFIRMED)]
)
def test_what_a_script_reads_or_overrides(tmp_path: Path, key: str, status: Status, is_override: bool) -> None:
    recipe = RECIPE.replace("torch.nn.Linear", "package_that_nobody_has.Linear")
    verdict = verdict_of(tmp_path, recipe, no_key(key, is_override=is_override))
    assert verdict.status is status, verdict


def test_a_recipe_that_does_not_load_has_no_keys(tmp_path: Path) -> None:
    verdict = verdict_of(tmp_path, "a: !ref <b>\n", no_key("c", is_override=False))
    assert verdict.status is Status.UNCONFIRMED


def test_keys_of_the_settings_count(tmp_path: Path) -> None:
    (verdict,) = verdicts_of(tmp_path, RECIPE, no_key("data", is_override=False), overrides={"data": "/data"})
    assert verdict.status is Status.REFUTED
    assert verdict.detail == "the recipe has `data` when it is loaded"
