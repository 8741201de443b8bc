"""What tags name is judged as HyperPyYAML judges it, and their arguments as Python does."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import hyperpyyaml
import pytest

import modellint
from modellint.graph.value import Parameter
from modellint.knowledge.catalogue import catalogue, read_parameters, write_parameters
from modellint.link.project import Project, ProjectOptions
from modellint.link.recipes import queries
from modellint.link.recipes.targets import TargetKind

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_SHAPES = """\
import abc
import functools
from math import sqrt
from collections import OrderedDict as Table

SIZES = (1, 2)


class Plain:
    pass


class Box(metaclass=abc.ABCMeta):
    def __init__(self, width, height=1, *, depth=2, colour):
        self.size = width * height * depth


class Cube(Box):
    def __init__(self, width, **options):
        super().__init__(width, width, depth=width, **options)


class Same(Box):
    pass


class Open:
    def __init__(self, *sizes):
        self.sizes = sizes

    @classmethod
    def make(cls, size):
        return cls(size)


class Made:
    def __new__(cls, *args, **kwargs):
        return object.__new__(Plain)


Alias = Box


def volume(width, height=1, *rest, depth):
    return width * height * depth


def nothing():
    return 0


@functools.lru_cache
def cached(width):
    return width
"""

NAMED = [
    ("!new:{m}.Plain", None),
    ("!new:{m}.Plain [1]", "ML403"),
    ("!new:{m}.Plain {{a: 1}}", "ML403"),
    ("!new:{m}.Plin", "ML402"),
    ("!new:{m}.volume", "ML402"),
    ("!new:{m}.SIZES", None),  # a value of which we do not know what it is
    ("!new:{m}", "ML402"),
    ("!new:{m}.Box {{width: 1, colour: 2}}", None),
    ("!new:{m}.Box {{width: 1}}", "ML403"),
    ("!new:{m}.Box", "ML403"),
    ("!new:{m}.Box [1, 2, 3]", "ML403"),
    ("!new:{m}.Box {{width: 1, colour: 2, hight: 3}}", "ML403"),
    ("!new:{m}.Same {{width: 1, colour: 2}}", None),
    ("!new:{m}.Same {{width: 1, color: 2}}", "ML403"),
    ("!new:{m}.Cube {{width: 1, colour: 2}}", None),
    ("!new:{m}.Open [1, 2, 3, 4]", None),
    ("!new:{m}.Open {{sizes: 1}}", "ML403"),
    ("!new:{m}.Open.make", "ML402"),
    ("!apply:{m}.Open.make [1]", None),
    ("!new:{m}.Made {{a: 1}}", None),
    ("!new:{m}.Alias {{width: 1, colour: 2}}", None),
    ("!new:{m}.Alias {{widht: 1, colour: 2}}", "ML403"),
    ("!new:{m}.Table", None),
    ("!name:{m}.Box", None),
    ("!name:{m}.Box {{colour: 2}}", None),
    ("!name:{m}.SIZES", None),
    ("!name:{m}.volumes", "ML402"),
    ("!name:{m}.volume {{height: 2}}", None),
    ("!apply:{m}.volume [1, 2, 3]", "ML403"),
    ("!apply:{m}.volume {{width: 1, depth: 2}}", None),
    ("!apply:{m}.volume {{width: 1, dept: 2}}", "ML403"),
    ("!apply:{m}.nothing", None),
    ("!apply:{m}.nothing [1]", "ML403"),
    ("!apply:{m}.Box {{width: 1, colour: 2}}", "ML402"),
    ("!apply:{m}.cached [3]", None),
    ("!apply:{m}.sqrt [4]", None),
    ("!applyref:{m}.volume {{_args: [1], _kwargs: {{depth: 2}}}}", None),
    ("!applyref:{m}.volume {{_args: [1], _kwargs: {{dept: 2}}}}", "ML403"),
    ("!applyref:{m}.volume {{width: 1}}", "ML403"),
    ("!applyref:{m}.Box", "ML402"),
    ("!module:{m}", None),
    ("!module:{m}.Box", "ML402"),
    ("!module:{m}x", None),  # no such file, but it may be installed
    ("!new:{m}..Plain", None),
    ("!new:dict {{a: 1}}", None),
    ("!new:sorted", "ML402"),
    ("!apply:dict", "ML402"),
    ("!new:", "ML402"),
]


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A module with classes and functions in the recipe's folder, which the library imports from there."""
    name = f"shapes_{abs(hash(tmp_path)) % 10**9}"
    (tmp_path / f"{name}.py").write_text(_SHAPES, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield name
    sys.modules.pop(name, None)


def codes(folder: Path, text: str) -> set[str]:
    (folder / "r.yaml").write_text(text, encoding="utf-8")
    return {finding.code for finding in modellint.check([folder], isolated=True) if finding.code.startswith("ML4")}


@pytest.mark.parametrize(("tag", "code"), NAMED)
def test_the_library_refuses_what_is_found(tag: str, code: str | None, module: str, tmp_path: Path) -> None:
    text = f"seed: 1\nvalue: {tag.format(m=module)}\nother: !ref <seed>\n"
    found = codes(tmp_path, text)
    assert found == ({code} if code else set())
    try:
        hyperpyyaml.load_hyperpyyaml(text)
    except (ImportError, TypeError, ValueError):
        return  # it may know better than we do
    assert not found


def test_a_partial_never_takes_an_unknown_argument(module: str, tmp_path: Path) -> None:
    text = f"seed: 1\nvalue: !name:{module}.volume {{dept: 2}}\nother: !ref <seed>\n"
    assert codes(tmp_path, text) == {"ML403"}
    with pytest.raises(TypeError):
        hyperpyyaml.load_hyperpyyaml(text)["value"](1, depth=3)


def test_arguments_that_another_described_release_takes_are_fine(tmp_path: Path) -> None:
    listing = catalogue("speechbrain")
    assert listing is not None
    loss = listing.module("speechbrain.nnet.losses")
    assert loss is not None
    assert len(loss.signatures("transducer_loss")) == 2
    text = "loss: !name:speechbrain.nnet.losses.transducer_loss {{{}: false}}\nother: !ref <loss>\n"
    assert codes(tmp_path, text.format("use_torchaudio")) == set()
    assert codes(tmp_path, text.format("use_torchaudi")) == {"ML403"}


GONE = "speechbrain.lobes.augment.TimeDomainSpecAugment"
MOVED = "speechbrain.processing.speech_augmentation.AddNoise"
KEPT = "speechbrain.nnet.linear.Linear"
NEW = "speechbrain.augment.time_domain.SpeedPerturb"
NEVER = "speechbrain.processing.speech_augmentation.Adder"


@pytest.mark.parametrize(
    ("requirement", "missing"),
    [
        ("", {GONE, MOVED, NEVER}),
        ("speechbrain", {GONE, MOVED, NEVER}),
        ("speechbrain>=0.5.10", {GONE, MOVED, NEVER}),
        ("speechbrain==1.0.3", {GONE, MOVED, NEVER}),
        ("speechbrain==0.5.13", {NEW, NEVER}),
        ("speechbrain<1.0", {NEW, NEVER}),
        ("speechbrain~=0.5.9", {NEW, NEVER}),
        ("speechbrain==0.4.1", set()),
        ("speechbrain @ git+https://github.com/speechbrain/speechbrain@develop", set()),
    ],
)
def test_the_releases_count_that_a_project_asks_for(requirement: str, missing: set[str], tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text(f"{requirement}\n")
    for name in (GONE, MOVED, KEPT, NEW, NEVER, "speechbrain.pretrained.EncoderClassifier", "speechbrain.nnet"):
        found = codes(tmp_path, f"seed: 1\nx: !name:{name}\ny: !ref <seed>\n")
        assert found == ({"ML402"} if name in missing else set()), name


@pytest.mark.parametrize(
    ("names", "requirement", "severity", "told"),
    [
        ((GONE,), "", "warning", "going by the names in the recipe, it needs one of 0.5"),
        ((GONE, NEW), "", "warning", "the project asks for no release, so modellint takes the newest ones"),
        ((GONE,), "speechbrain>=0.5", "error", "`requirements.txt` asks for other releases"),
        ((NEW,), "speechbrain<1", "error", "`requirements.txt` asks for other releases"),
        ((NEVER,), "", "error", "HyperPyYAML raises `ImportError`"),
    ],
)
def test_a_name_of_other_releases_says_which_have_it(
    names: tuple[str, ...], requirement: str, severity: str, told: str, tmp_path: Path
) -> None:
    (tmp_path / "requirements.txt").write_text(f"{requirement}\n")
    (tmp_path / "r.yaml").write_text("".join(f"x{at}: !name:{name}\n" for at, name in enumerate(names)) + "y: 1\n")
    (finding,) = modellint.check([tmp_path], select=["ML402"])
    assert finding.severity.value == severity
    assert any(told in fact for fact in finding.evidence)


def test_a_name_that_moved_says_where_it_went(tmp_path: Path) -> None:
    (tmp_path / "r.yaml").write_text(f"x: !name:{MOVED}\ny: !ref <x>\n")
    (finding,) = modellint.check([tmp_path], select=["ML402"])
    assert finding.help == "it moved to `speechbrain.augment.time_domain.AddNoise`"


@pytest.mark.parametrize(
    ("others", "releases"),
    [((), "speechbrain 1.1.2 and 1.0.3"), ((GONE,), "speechbrain 0.5.4 to 0.5.16"), ((GONE, NEW), "1.1.2 and 1.0.3")],
)
def test_a_recipe_is_judged_by_what_the_releases_take_that_it_is_written_for(
    others: tuple[str, ...], releases: str, tmp_path: Path
) -> None:
    wrong = f"x: !name:{KEPT}\n    widht: 3\ny: !ref <x>\n"
    (tmp_path / "r.yaml").write_text(wrong + "".join(f"z{at}: !name:{name}\n" for at, name in enumerate(others)))
    (finding,) = modellint.check([tmp_path], select=["ML403"])
    assert any(fact.endswith(releases) for fact in finding.evidence)
    guess = "the project asks for no release; going by the names in the recipe, it needs one of these"
    assert (guess in finding.evidence) == (others == (GONE,))


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("torch.nn.Linear", TargetKind.CLASS),
        ("torch.nn.Liner", TargetKind.MISSING),
        ("torch.nn.functional.relu", TargetKind.FUNCTION),
        ("torch.nn.functional.relo", TargetKind.MISSING),
        ("torch.optim.lr_scheduler.StepLR", TargetKind.CLASS),
        ("torch.optim.adam.Adam", TargetKind.CLASS),
        ("torch.hamming_window", TargetKind.UNKNOWN),
        ("torch.utils.data.DataLoader", TargetKind.CLASS),
        ("speechbrain.nnet.losses", TargetKind.MODULE),
        ("speechbrain.nnet.losses.math", TargetKind.UNKNOWN),
        ("speechbrain.nnet.loss.transducer_loss.TransducerLoss", TargetKind.CLASS),
        ("speechbrain.lobes.models.huggingface_transformers.wav2vec2.Wav2Vec2", TargetKind.CLASS),
        ("speechbrain.lobes.models.huggingface_transformers.wav2vec2.Wav2Vec3", TargetKind.MISSING),
        ("speechbrain.inference.ASR.EncoderASR.from_hparams", TargetKind.UNKNOWN),
        ("unheard.of.Thing", TargetKind.UNKNOWN),
    ],
)
def test_names_of_described_packages_are_known_without_them(
    name: str, kind: TargetKind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    (tmp_path / "r.yaml").write_text(f"x: !name:{name}\ny: !ref <x>\n")
    project = Project(ProjectOptions(tmp_path))
    recipe = project.recipe(tmp_path / "r.yaml")
    assert recipe is not None
    assert next(queries.about(recipe, project).tags()).target.kind is kind


def test_parameters_survive_being_written_down() -> None:
    kinds = ("positional", "var-positional", "keyword", "var-keyword")
    text = "a b= *c d: e:= **f"
    parameters = read_parameters(text)
    assert [(p.name, p.kind, p.default is not None) for p in parameters] == [
        ("a", kinds[0], False),
        ("b", kinds[0], True),
        ("c", kinds[1], False),
        ("d", kinds[2], False),
        ("e", kinds[2], True),
        ("f", kinds[3], False),
    ]
    assert write_parameters(parameters) == text
    assert read_parameters(write_parameters((Parameter("x", "keyword", None, None),)))[0].kind == "keyword"
