"""Names of libraries are looked up in the releases that a project asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import modellint
from modellint.knowledge import libraries
from modellint.link import library_names
from modellint.link.project import Project, ProjectOptions

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project without an environment."""
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    return Project(ProjectOptions(tmp_path))


ALL = libraries.library("pytorch-lightning").releases


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        ("requirements.txt", "numpy\n", ALL),
        ("requirements.txt", "pytorch-lightning\n", ALL),
        ("requirements.txt", "pytorch_lightning==1.6.5\n", ("1.6.5",)),
        ("requirements.txt", "PyTorch.Lightning==1.6.4\n", ("1.6.5", "1.5.10")),
        ("requirements.txt", "pytorch-lightning>=2.1,<2.4\n", ("2.3.3", "2.2.5", "2.1.4")),
        ("requirements.txt", "pytorch-lightning>=2.3.4,<2.4  # a patch of 2.3\n", ()),
        ("requirements.txt", "pytorch-lightning==1.2.0\n", ()),
        ("requirements.txt", "pytorch-lightning==9000.1\n", ()),
        ("requirements.txt", "git+https://example.org/pytorch-lightning.git\n", ()),
        ("environment.yml", "dependencies:\n  - pytorch_lightning=1.7.*\n", ("1.7.7",)),
        ("pyproject.toml", '[project]\ndependencies = ["pytorch_lightning~=1.8.0"]\n', ("1.8.6",)),
        ("poetry.lock", '[[package]]\nname = "pytorch-lightning"\nversion = "2.0.5"\n', ("2.0.9.post0", "1.9.5")),
    ],
)
def test_the_releases_that_count(
    file: str, text: str, expected: tuple[str, ...], project: Project, tmp_path: Path
) -> None:
    (tmp_path / file).write_text(text, encoding="utf-8")
    assert library_names.releases("pytorch-lightning", project) == expected


def test_a_class_of_the_project_derives_from_one_of_a_library(project: Project, tmp_path: Path) -> None:
    text = """
import outside
from lightning.pytorch.callbacks import Callback, ModelCheckpoint
from pytorch_lightning import LightningModule

class Saver(ModelCheckpoint): ...
class Mixed(outside.Base, Saver): ...
class Strange(outside.Base): ...
class Plain: ...
class Net(LightningModule): ...
"""
    (tmp_path / "parts.py").write_text(text, encoding="utf-8")
    near = tmp_path / "train.py"

    def derives(name: str, base: str) -> bool | None:
        return library_names.derives(name, base, near, project)

    callback = "lightning.pytorch.callbacks.Callback"
    assert [derives(f"parts.{name}", callback) for name in ("Saver", "Mixed", "Plain", "Net")] == [
        True,
        True,
        False,
        False,
    ]
    assert derives("parts.Strange", callback) is None
    assert derives("parts.Nowhere", callback) is None
    assert derives("pytorch_lightning.callbacks.EarlyStopping", callback) is True
    assert derives("torch.nn.Linear", callback) is False
    assert derives("parts.Net", "torch.nn.Module") is True


PACKAGE = {
    "lib/python3.11/site-packages/torchmetrics/__init__.py": """
import functools

def guarded(function):
    @functools.wraps(function)
    def call(*args, **kwargs):
        return function(*args, **kwargs)
    return call

class MeanMetric:
    @guarded
    def __init__(self, nan_strategy="warn", **kwargs):
        pass

class Own:
    def __init__(self, width):
        pass
""",
}
CONFIG = """
known: {_target_: torchmetrics.MeanMetric, weighted: true}
own: {_target_: torchmetrics.Own, height: 1}
lacking: {_target_: torchmetrics.SumMetric}
"""


@pytest.mark.parametrize(
    ("release", "expected"),
    [
        ("1.5.2", [("ML403", 2), ("ML403", 3), ("ML402", 4)]),  # described: it says what a decorator hides
        ("1.5.1", [("ML403", 3), ("ML402", 4)]),
    ],
)
def test_an_installed_library_is_read_itself(
    release: str, expected: list[tuple[str, int]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = tmp_path / "environment"
    for name, text in PACKAGE.items():
        (environment / name).parent.mkdir(parents=True, exist_ok=True)
        (environment / name).write_text(text, encoding="utf-8")
    (environment / f"lib/python3.11/site-packages/torchmetrics-{release}.dist-info").mkdir()
    monkeypatch.setenv("VIRTUAL_ENV", str(environment))
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "train.yaml").write_text(CONFIG, encoding="utf-8")
    found = modellint.check([folder], isolated=True, min_confidence="low")
    assert sorted((one.place.span.line, one.code) for one in found) == [(line, code) for code, line in expected]
