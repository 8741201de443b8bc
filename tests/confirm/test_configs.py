"""Findings about plain configurations are put to what they name, and to OmegaConf itself."""

from __future__ import annotations

from importlib.metadata import version
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest
from served import served

from modellint.claims.recipes import NotCalled, NotComposed, NotLocated, NotParsed, Unresolved
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
