"""Nodes of a ConfigStore are composed as Hydra composes them: the same keys and values, and the same refusals."""

from __future__ import annotations

import copy
import runpy
import warnings
from typing import TYPE_CHECKING, Any

import pytest

from modellint.dialects.apps import apps
from modellint.dialects.placing import composition
from modellint.graph.recipe import NodeKind
from modellint.link.project import Project, ProjectOptions
from modellint.reading.files import Files

hydra = pytest.importorskip("hydra")
from hydra.core.config_store import ConfigStore  # noqa: E402
from hydra.core.plugins import Plugins  # noqa: E402
from hydra.errors import HydraException  # noqa: E402
from omegaconf import OmegaConf  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from modellint.dialects.spots import Spot

HEAD = """\
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional

from hydra.core.config_store import ConfigStore
from omegaconf import MISSING

LAYERS = [64, 32]


@dataclass
class Optimizer:
    lr: float = 0.1
    name: str = MISSING


@dataclass
class Sgd(Optimizer):
    name: str = "sgd"
    momentum: Optional[float] = None


@dataclass
class Train:
    steps: int = 10
    sizes: List[int] = field(default_factory=lambda: LAYERS)
    flags: Dict[str, bool] = field(default_factory=dict)


@dataclass
class Config:
    optim: Optimizer = MISSING
    train: Train = field(default_factory=Train)
    debug: bool = False
    note: Any = None
    last: Optional[Train] = None


store = ConfigStore.instance()
"""
PROGRAM = """
import hydra


@hydra.main(version_base=None, config_path="conf", config_name="config")
def main(cfg):
    pass
"""
STORED = 'store.store(name="base", node=Config)\nstore.store(group="optim", name="base_sgd", node=Sgd)\n'
FILES = {"optim/sgd.yaml": "defaults:\n  - base_sgd\n  - _self_\nlr: 0.5\n"}
CHOSEN = "defaults:\n  - base\n  - optim: sgd\n  - _self_\n"

#: What is stored, and the files: those that are there in each case come first.
CASES: dict[str, tuple[str, dict[str, str]]] = {
    "a class": (STORED, {"config.yaml": CHOSEN}),
    "a stored name": (STORED, {"config.yaml": "defaults:\n  - base\n  - optim: base_sgd\n"}),
    "nothing chosen": (STORED, {"config.yaml": "defaults:\n  - base\n"}),
    "values": (
        STORED,
        {"config.yaml": f"{CHOSEN}debug: true\ntrain:\n  steps: 3\n  sizes: [1]\n  flags: {{a: true}}\n"},
    ),
    "an unknown key": (STORED, {"config.yaml": f"{CHOSEN}debugg: true\n"}),
    "an unknown key inside": (STORED, {"config.yaml": f"{CHOSEN}train:\n  step: 3\n"}),
    "an unknown key of what is missing": (STORED, {"config.yaml": "defaults:\n  - base\n  - _self_\noptim: {l: 1}\n"}),
    "a key of what is missing": (STORED, {"config.yaml": "defaults:\n  - base\n  - _self_\noptim: {lr: 1}\n"}),
    "a key of a subclass": (STORED, {"config.yaml": f"{CHOSEN}optim: {{momentum: 0.9}}\n"}),
    "an unknown key of a subclass": (STORED, {"config.yaml": f"{CHOSEN}optim: {{momentun: 0.9}}\n"}),
    "own content first": (STORED, {"config.yaml": "defaults:\n  - _self_\n  - base\nmore: 1\n"}),
    "any key of a dictionary": (STORED, {"config.yaml": f"{CHOSEN}train: {{flags: {{b: false}}}}\n"}),
    "anything": (STORED, {"config.yaml": f"{CHOSEN}note: {{a: [1]}}\n"}),
    "text for an int": (STORED, {"config.yaml": f"{CHOSEN}train: {{steps: many}}\n"}),
    "a number as text for an int": (STORED, {"config.yaml": f"{CHOSEN}train: {{steps: '12'}}\n"}),
    "a float for an int": (STORED, {"config.yaml": f"{CHOSEN}train: {{steps: 1.5}}\n"}),
    "text for a float": (STORED, {"config.yaml": f"{CHOSEN}optim: {{lr: fast}}\n"}),
    "an int for a float": (STORED, {"config.yaml": f"{CHOSEN}optim: {{lr: 1}}\n"}),
    "a small number": (STORED, {"config.yaml": f"{CHOSEN}optim: {{lr: 1e-3}}\n"}),
    "text for a bool": (STORED, {"config.yaml": f"{CHOSEN}debug: maybe\n"}),
    "a word for a bool": (STORED, {"config.yaml": f"{CHOSEN}debug: 'on'\n"}),
    "a list for a bool": (STORED, {"config.yaml": f"{CHOSEN}debug: [1]\n"}),
    "a mapping for an int": (STORED, {"config.yaml": f"{CHOSEN}train: {{steps: {{a: 1}}}}\n"}),
    "nothing for an int": (STORED, {"config.yaml": f"{CHOSEN}train: {{steps: null}}\n"}),
    "nothing for an optional": (STORED, {"config.yaml": f"{CHOSEN}optim: {{momentum: null}}\n"}),
    "a reference": (STORED, {"config.yaml": f"{CHOSEN}train: {{steps: '${{note}}'}}\n"}),
    "a number for text": (STORED, {"config.yaml": f"{CHOSEN}optim: {{name: 3}}\n"}),
    "a group of the store": (
        'store.store(group="optim", name="one", node=Sgd)\n',
        {"config.yaml": "defaults:\n  - optim: one\n  - _self_\noptim: {lr: 2}\n"},
    ),
    "an unknown key of a group": (
        'store.store(group="optim", name="one", node=Sgd)\n',
        {"config.yaml": "defaults:\n  - optim: one\n  - _self_\noptim: {lrr: 2}\n"},
    ),
    "keys beside a group": (
        'store.store(group="optim", name="one", node=Sgd)\n',
        {"config.yaml": "defaults:\n  - optim: one\n  - _self_\nmore: {lrr: 2}\n"},
    ),
    "a package": (
        'store.store(group="optim", name="one", node=Sgd, package="a.b")\n',
        {"config.yaml": "defaults:\n  - optim: one\n  - _self_\na: {b: {lr: 3}}\n"},
    ),
    "an unknown key in a package": (
        'store.store(group="optim", name="one", node=Sgd, package="a.b")\n',
        {"config.yaml": "defaults:\n  - optim: one\n  - _self_\na: {b: {rate: 3}}\n"},
    ),
    "the top as a package": (
        'store.store(group="optim", name="one", node=Sgd, package="_global_")\n',
        {"config.yaml": "defaults:\n  - optim: one\n  - _self_\nlr: 3\n"},
    ),
    "an object": (
        'store.store(group="optim", name="one", node=Sgd(0.3, momentum=0.5))\n',
        {"config.yaml": "defaults:\n  - optim: one\n"},
    ),
    "a dictionary": (
        'store.store(group="optim", name="one", node={"lr": 1, "more": {"a": [1, "b"]}})\n',
        {"config.yaml": "defaults:\n  - optim: one\n  - _self_\noptim: {any: 1}\n"},
    ),
    "the name of a file": (
        'store.store(group="optim", name="sgd", node=Sgd)\n',
        {"config.yaml": "defaults:\n  - optim: sgd\n", "optim/sgd.yaml": "lr: 3\n"},
    ),
    "an unknown key under the name of a file": (
        'store.store(group="optim", name="sgd", node=Sgd)\n',
        {"config.yaml": "defaults:\n  - optim: sgd\n", "optim/sgd.yaml": "lrr: 3\n"},
    ),
    "a defaults list in a class": (
        '@dataclass\nclass Whole(Config):\n    defaults: List[Any] = field(default_factory=lambda: ["_self_", '
        '{"optim": "base_sgd"}])\n\n\nstore.store(name="base", node=Whole)\n'
        'store.store(group="optim", name="base_sgd", node=Sgd)\n',
        {"config.yaml": "defaults:\n  - base\n  - _self_\ndebug: true\n"},
    ),
    "a missing choice in a class": (
        '@dataclass\nclass Whole(Config):\n    defaults: List[Any] = field(default_factory=lambda: [{"optim": "adam"}, '
        '"_self_"])\n\n\nstore.store(name="base", node=Whole)\n',
        {"config.yaml": "defaults:\n  - base\n"},
    ),
    "a missing name": (STORED, {"config.yaml": "defaults:\n  - bass\n  - optim: sgd\n"}),
    "a key of Hydra": (STORED, {"config.yaml": f"{CHOSEN}hydra:\n  job:\n    name: x\n"}),
}


@pytest.fixture(autouse=True)
def own_store() -> Iterator[None]:
    """A store without the nodes of other tests."""
    Plugins.instance()  # which store nodes themselves
    kept = copy.deepcopy(ConfigStore.instance().repo)
    yield
    ConfigStore.instance().repo = kept


def value(spot: Spot) -> Any:
    """The content of a place; a mapping that no file has content for is missing."""
    if spot.kind is NodeKind.MAPPING:
        schema = spot.layers[0].schema if len(spot.layers) == 1 else None
        if schema is not None and schema.is_missing:
            return "???"
        return {key: value(child) for key, child in spot.children.items()}
    if spot.kind is NodeKind.SEQUENCE:
        return [value(child) for child in spot.children.values()]
    return spot.node.scalar


def loose(content: Any) -> Any:
    """The content with numbers and words as text, as dataclasses convert them."""
    if isinstance(content, dict):
        return {key: loose(one) for key, one in content.items()}
    if isinstance(content, list):
        return [loose(one) for one in content]
    if isinstance(content, str) and content in ("on", "12"):
        return {"on": "1.0", "12": "12.0"}[content]
    return str(float(content)) if isinstance(content, (int, float)) else content


@pytest.mark.parametrize("name", CASES)
def test_the_same_is_composed_and_refused(tmp_path: Path, name: str) -> None:
    stored, files = CASES[name]
    (tmp_path / "program.py").write_text(HEAD + stored + PROGRAM, encoding="utf-8")
    for file, text in {**FILES, **files}.items():
        path = tmp_path / "conf" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    runpy.run_path(str(tmp_path / "program.py"))
    expected: Any = None
    refused = ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with hydra.initialize_config_dir(str(tmp_path / "conf"), version_base="1.3"):
                expected = OmegaConf.to_container(hydra.compose("config"), resolve=False)
    except (HydraException, ValueError) as error:
        refused = str(error)
    project = Project(ProjectOptions(tmp_path), Files())
    found = composition(apps(project)[0], project)
    assert found is not None
    if expected is None:
        assert found.refusals, refused
    else:
        assert found.refusals == ()
        ours = {key: one for key, one in value(found.root).items() if key not in ("hydra", "defaults")}
        texts = {key: loose(one) for key, one in ours.items()}
        assert texts == {key: loose(one) for key, one in expected.items()} or name == "a number for text"


@pytest.mark.parametrize(
    "line", ["import app.schema", "from app import schema", "import app.schema as s", "import app.run"]
)
def test_what_a_program_imports_is_stored(tmp_path: Path, line: str) -> None:
    files = {"config.yaml": f"{CHOSEN}debugg: true\n", **FILES}
    for name, text in files.items():
        (tmp_path / "conf" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "conf" / name).write_text(text, encoding="utf-8")
    (tmp_path / "app").mkdir()
    (tmp_path / "app/__init__.py").touch()
    (tmp_path / "app/run.py").write_text("from .schema import store\n", encoding="utf-8")
    (tmp_path / "app/schema.py").write_text(HEAD + STORED, encoding="utf-8")
    (tmp_path / "main.py").write_text(f"{line}\n{PROGRAM}", encoding="utf-8")
    project = Project(ProjectOptions(root=tmp_path))
    found = composition(apps(project)[0], project)
    assert found is not None
    assert [one.text for one in found.refusals] == ["debugg"]
