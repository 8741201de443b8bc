"""Findings about plain configurations are put to what they name, and to OmegaConf itself."""

from __future__ import annotations

from importlib.metadata import version
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest
from served import served

from modellint.claims.recipes import (
    KeyTwice,
    NoEntry,
    NotCalled,
    NotComposed,
    NotLoaded,
    NotLocated,
    NotParsed,
    Unresolved,
)
from modellint.confirm.child import answer
from modellint.confirm.plan import Group
from modellint.finding import Status, Verdict
from modellint.probes import Probe, Target
from modellint.source import Place, Span

if TYPE_CHECKING:
    from pathlib import Path

    from modellint.claims import Claim

CONFIG = """\
model:
  width: 8
  layer:
    _target_: torch.nn.Linear
    in_features: ${model.width}
    out_features: ${..wdth}
"""


LAYERS = "WIDTH = 3\n\n\ndef build(width, *, depth=2):\n    return width\n"


def verdict_of(folder: Path, kind: type[Claim], *fields: Any, layers: str = LAYERS) -> Verdict:
    path = folder / "train.yaml"
    path.write_text(CONFIG)
    (folder / "layers.py").write_text(layers)
    setup = served((str(folder),))
    claim = kind(Place(path.as_posix(), Span(1, 1, 1, 1)), *fields)
    answered = answer(Group(Target(path), ((0, Probe(Target(path), claim)),)), setup)
    assert isinstance(answered[0], Verdict)
    return answered[0]


@pytest.mark.parametrize(
    ("name", "status", "says"),
    [
        ("torch.nn.Linear", Status.REFUTED, "is there"),
        ("torch.nn.Liner", Status.CONFIRMED, "AttributeError"),
        ("torch.nn.functional", Status.CONFIRMED, "cannot be called"),
        ("torch.optim.lr_scheduler.StepLR", Status.REFUTED, "is there"),
        ("layers.build", Status.REFUTED, "is there"),
        ("layers.biuld", Status.CONFIRMED, "AttributeError"),
        ("layers.WIDTH", Status.CONFIRMED, "is a int"),
        ("no_such_package.Model", Status.UNCONFIRMED, "`no_such_package` is not installed"),
    ],
)
def test_a_name_is_located(tmp_path: Path, name: str, status: Status, says: str) -> None:
    verdict = verdict_of(tmp_path, NotLocated, name)
    assert verdict.status is status
    assert says in (verdict.detail or "")


@pytest.mark.parametrize(
    ("positional", "keywords", "status"),
    [
        (0, ["width"], Status.REFUTED),
        (0, [], Status.REFUTED),
        (1, ["depth"], Status.REFUTED),
        (2, [], Status.CONFIRMED),
        (0, ["wdth"], Status.CONFIRMED),
        (1, ["width"], Status.CONFIRMED),
    ],
)
def test_arguments_are_bound(tmp_path: Path, positional: int, keywords: list[str], status: Status) -> None:
    verdict = verdict_of(tmp_path, NotCalled, "layers.build", positional, tuple(keywords))
    assert verdict.status is status


OPEN = """
class Base:
    def __init__(self, width, depth=2):
        if type(depth) is not int:
            raise TypeError(f"depth is no number: {depth}")


class Passing(Base):
    def __init__(self, labels, **kwargs):
        super().__init__(**kwargs)


class Picky(Base):
    def __init__(self, labels, **kwargs):
        if kwargs.get("rate") is None:
            raise ValueError("rate must be a number")
        super().__init__(8)


class Free(Base):
    def __init__(self, **options):
        super().__init__(8)
        self.options = options


class Hasty:
    def __init__(self, **kwargs):
        raise RuntimeError("no such file")


def build(**kwargs):
    return Passing(3, **kwargs)
"""


@pytest.mark.parametrize(
    ("target", "keywords", "is_final", "status", "says"),
    [
        ("layers.Passing", ["labels", "width", "depht"], False, Status.CONFIRMED, "argument 'depht'"),
        ("layers.Passing", ["depht", "width"], False, Status.CONFIRMED, "argument 'depht'"),
        ("layers.Passing", ["labels", "width", "depth"], True, Status.REFUTED, "can be made"),
        ("layers.Passing", ["labels"], True, Status.CONFIRMED, "missing 1 required positional argument: 'width'"),
        ("layers.Passing", ["labels"], False, Status.UNCONFIRMED, "'width'"),
        ("layers.Picky", ["rate"], False, Status.UNCONFIRMED, "rate must be a number"),
        ("layers.Free", ["anything"], True, Status.REFUTED, "can be made"),
        ("layers.Hasty", ["anything"], True, Status.UNCONFIRMED, "no such file"),
        ("layers.build", ["width"], True, Status.UNCONFIRMED, "is not called"),
    ],
)
def test_arguments_that_a_constructor_passes_on(
    tmp_path: Path, target: str, keywords: list[str], is_final: bool, status: Status, says: str
) -> None:
    verdict = verdict_of(tmp_path, NotCalled, target, 0, tuple(keywords), is_final, layers=OPEN)
    assert (verdict.status, says in (verdict.detail or "")) == (status, True), verdict.detail


@pytest.mark.parametrize(
    ("releases", "status"),
    [
        ((version("torch"),), Status.REFUTED),
        (("1.0 to 999.0",), Status.REFUTED),
        (("1.0", "1.1"), Status.UNCONFIRMED),
        ((), Status.REFUTED),
    ],
)
def test_another_release_than_the_described_one_refutes_nothing(
    tmp_path: Path, releases: tuple[str, ...], status: Status
) -> None:
    for kind, fields in ((NotLocated, ()), (NotCalled, (0, ("in_features",), False))):
        verdict = verdict_of(tmp_path, kind, "torch.nn.Linear", *fields, "torch", releases)
        assert verdict.status is status
        assert ("and the finding is about" in (verdict.detail or "")) is (status is Status.UNCONFIRMED)


@pytest.mark.parametrize(
    ("target", "arguments", "wanted", "status"),
    [
        ("layers.Layer", '{"width": 3}', "width", Status.REFUTED),
        ("layers.Layer", '{"width": "3", "depth": null}', "depth", Status.REFUTED),
        ("layers.Layer", '{"wdth": 3}', "wdth", Status.CONFIRMED),
        ("layers.Layer", '{"width": "many"}', "", Status.CONFIRMED),
        ("layers.Layer", '{"depth": 3}', "width", Status.CONFIRMED),
        ("layers.Layer", '{"depth": 3}', "height", Status.UNCONFIRMED),
        ("layers.Lyaer", '{"width": 3}', "width", Status.UNCONFIRMED),
        ("layers.grow", '{"by": [1]}', "", Status.CONFIRMED),
    ],
)
def test_arguments_are_parsed(tmp_path: Path, target: str, arguments: str, wanted: str, status: Status) -> None:
    layers = "class Layer:\n    def __init__(self, width: int, depth: int = 2): ...\n\n\ndef grow(by: int): ...\n"
    verdict = verdict_of(tmp_path, NotParsed, target, arguments, wanted, layers=layers)
    if find_spec("jsonargparse") is None:
        assert (verdict.status, verdict.detail) == (Status.UNCONFIRMED, "`jsonargparse` is not installed")
        return
    assert verdict.status is status, verdict.detail


def test_an_interpolation_is_resolved(tmp_path: Path) -> None:
    verdict = verdict_of(tmp_path, Unresolved, "${..wdth}")
    if find_spec("omegaconf") is None:
        assert (verdict.status, verdict.detail) == (Status.UNCONFIRMED, "`omegaconf` is not installed")
        return
    assert verdict.status is Status.CONFIRMED
    assert "InterpolationKeyError" in (verdict.detail or "")
    assert verdict_of(tmp_path, Unresolved, "${model.width}").status is Status.REFUTED
    assert verdict_of(tmp_path, Unresolved, "${nothing}").status is Status.UNCONFIRMED


def test_a_configuration_is_composed(tmp_path: Path) -> None:
    conf = tmp_path / "conf"
    (conf / "net").mkdir(parents=True)
    (conf / "net" / "wide.yaml").write_text("width: ${wdth}\n")
    (conf / "config.yaml").write_text("defaults:\n  - net: null\nwidth: 3\n")
    made = conf.as_posix(), "config"
    refusal = verdict_of(tmp_path, NotComposed, *made, ("net=narrow",), "net/narrow")
    resolved = verdict_of(tmp_path, Unresolved, "${wdth}", *made, ("net=wide",))
    if find_spec("hydra") is None:
        assert {(one.status, one.detail) for one in (refusal, resolved)} == {
            (Status.UNCONFIRMED, "`hydra` is not installed")
        }
        return
    assert refusal.status is resolved.status is Status.CONFIRMED
    assert "MissingConfigException" in (refusal.detail or "")
    assert verdict_of(tmp_path, NotComposed, *made, ("net=narrow",), "optim/adam").status is Status.UNCONFIRMED
    assert verdict_of(tmp_path, NotComposed, *made, ("net=wide",), "net/wide").status is Status.REFUTED
    (conf / "net" / "wide.yaml").write_text("width: ${width}\n")
    assert verdict_of(tmp_path, Unresolved, "${width}", *made, ("net=wide",)).status is Status.REFUTED


DATACLASSES = """
from dataclasses import dataclass

from hydra.core.config_store import ConfigStore


@dataclass
class Config:
    steps: int = 10


ConfigStore.instance().store(name="base", node=Config)
"""


@pytest.mark.parametrize(
    ("text", "wanted", "status"),
    [
        ("step: 3", "step", Status.CONFIRMED),
        ("steps: 3", "step", Status.REFUTED),
        ("steps: x", "step", Status.UNCONFIRMED),
    ],
)
def test_a_program_registers_configurations(tmp_path: Path, text: str, wanted: str, status: Status) -> None:
    pytest.importorskip("hydra")
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf/config.yaml").write_text(f"defaults: [base, _self_]\n{text}\n")
    script = tmp_path / "layers.py"
    fields = (tmp_path / "conf").as_posix(), "config", (), f"'{wanted}'", script.as_posix()
    verdict = verdict_of(tmp_path, NotComposed, *fields, layers=DATACLASSES)
    assert verdict.status is status, verdict.detail


@pytest.mark.parametrize(
    ("where", "key", "status"),
    [
        ("", "modle", Status.CONFIRMED),
        ("model", "widht", Status.CONFIRMED),
        ("model.layer", "_target_", Status.REFUTED),
        ("model.sizes.0", "rate", Status.UNCONFIRMED),
        ("model", "width", Status.REFUTED),
    ],
)
@pytest.mark.parametrize("library", ["omegaconf", "mmengine"])
def test_a_key_that_a_program_reads(tmp_path: Path, where: str, key: str, status: Status, library: str) -> None:
    path = tmp_path / ("train.yaml" if library == "omegaconf" else "config.py")
    (tmp_path / "config.py").write_text("model = dict(width=8, layer=dict(_target_='torch.nn.Linear'))\n")
    verdict = verdict_of(tmp_path, NoEntry, where, key, path.as_posix())
    if find_spec(library) is None:
        assert (verdict.status, verdict.detail) == (Status.UNCONFIRMED, f"`{library}` is not installed")
        return
    assert verdict.status is status, verdict.detail


@pytest.mark.parametrize(
    ("text", "is_kept", "status"),
    [
        ("one: 1\ntwo: 2\none: 3\n", False, Status.CONFIRMED),
        ("one: 1\ntwo: 2\none: 3\n", True, Status.CONFIRMED),
        ("one: 1\ntwo: 2\n", False, Status.REFUTED),
        ("one: 1\ntwo: {one: 2}\nthree: 3\n", True, Status.REFUTED),
        ("two: 1\ntwo: 2\n", False, Status.UNCONFIRMED),
    ],
)
def test_a_key_that_stands_twice(tmp_path: Path, text: str, is_kept: bool, status: Status) -> None:
    pytest.importorskip("omegaconf")
    path = tmp_path / "keys.yaml"
    path.write_text(text)
    place = Place(path.as_posix(), Span(3, 1, 3, 4))
    target = Target(path)
    group = Group(target, ((0, Probe(target, KeyTwice(place, "one", is_kept))),))
    verdict = answer(group, served((str(tmp_path),)))[0]
    assert verdict.status is status, verdict.detail


@pytest.mark.parametrize(
    ("text", "status"), [('{"a": 1, "b": 2, "a": 3}', Status.CONFIRMED), ('{"a": 1, "b": {"a": 3}}', Status.REFUTED)]
)
def test_a_key_that_stands_twice_in_python(tmp_path: Path, text: str, status: Status) -> None:
    path = tmp_path / "keys.py"
    path.write_text(f"keys = {text}\n")
    target = Target(path)
    claim = KeyTwice(Place(path.as_posix(), Span(1, 8, 1, 11)), "a", is_kept=True)
    assert answer(Group(target, ((0, Probe(target, claim)),)), served((str(tmp_path),)))[0].status is status


BASE = "n = 4\nsteps = [1, 2]\n"


@pytest.mark.parametrize(
    ("text", "found", "statuses"),
    [
        # Each is judged as if the others were mended.
        (
            "_base_ = './base.py'\none = _base_.m\ntwo = _base_.k\n",
            [("_base_.m", "0", "m"), ("_base_.k", "0", "k")],
            [Status.CONFIRMED, Status.CONFIRMED],
        ),
        ("_base_ = './base.py'\none = _base_.n\n", [("_base_.n", "0", "n")], [Status.REFUTED]),
        ("_base_ = './bsae.py'\n", [("'./bsae.py'", "", "bsae")], [Status.CONFIRMED]),
        ("_base_ = './bsae.py'\none = _base_.n\n", [("_base_.n", "0", "n")], [Status.UNCONFIRMED]),
        ("_base_ = './base.py'\nsteps = dict(a=1)\n", [("steps", "other", "steps")], [Status.CONFIRMED]),
        ("_base_ = './config.py'\n", [("'./config.py'", "", "recursion")], [Status.CONFIRMED]),
    ],
)
def test_a_configuration_that_mmengine_refuses(
    tmp_path: Path, text: str, found: list[tuple[str, str, str]], statuses: list[Status]
) -> None:
    (tmp_path / "base.py").write_text(BASE)
    path = tmp_path / "config.py"
    path.write_text(text)
    target, lines, probes = Target(path), text.splitlines(), []
    for number, (written, instead, wanted) in enumerate(found):
        line = next(n for n, one in enumerate(lines, 1) if written in one)
        column = lines[line - 1].index(written) + 1
        place = Place(path.as_posix(), Span(line, column, line, column + len(written)))
        probes.append((number, Probe(target, NotLoaded(place, instead, wanted))))
    answered = answer(Group(target, tuple(probes)), served((str(tmp_path),)))
    if find_spec("mmengine") is None:
        assert {verdict.detail for verdict in answered.values()} == {"`mmengine` is not installed"}
        return
    assert [answered[number].status for number in range(len(found))] == statuses, answered
