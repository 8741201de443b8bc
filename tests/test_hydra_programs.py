"""Programs of Hydra are found however they name their configuration, and followed with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import modellint
from modellint.dialects import apps

if TYPE_CHECKING:
    from pathlib import Path

#: Ways to name the folder `conf` beside `src/`, whose `config.yaml` chooses a file that is not there.
PROGRAMS = {
    "constants": '@hydra.main(version_base=None, config_path="../conf", config_name="config")',
    "by position": '@hydra.main("../conf", "config.yaml")',
    "names of constants": "@hydra.main(config_path=FOLDER, config_name=NAME)",
    "a dictionary": "@hydra.main(**OPTIONS)",
    "a path that is computed": '@hydra.main(config_path=str(ROOT / "conf"), config_name="config")',
    "a joined path": '@hydra.main(config_path=os.path.join(ROOT, "conf"), config_name="config")',
    "parts of a path": "@hydra.main(config_path=str(FILE.parent.resolve()), config_name=FILE.stem)",
    "a formatted path": '@hydra.main(config_path=f"{ROOT}/conf", config_name="config")',
}
HEAD = """\
import os
from pathlib import Path

import hydra

ROOT = Path(__file__).parents[1]
FOLDER, NAME = "../conf", "config"
FILE = ROOT.joinpath("conf/config.yaml")
OPTIONS = {"config_path": "../conf", "config_name": "config"}


"""
CONFIG = "defaults:\n  - optim: sgd\n"


def codes(root: Path, files: dict[str, str]) -> list[tuple[str, str]]:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    found = modellint.check([root], isolated=True, cache=False)
    return [(one.path.removeprefix(f"{root.as_posix()}/"), one.code) for one in found]


@pytest.mark.parametrize("way", PROGRAMS)
def test_a_program_is_found_however_it_names_its_folder(tmp_path: Path, way: str) -> None:
    head = HEAD.replace('FOLDER, NAME = "../conf", "config"', 'FOLDER = "../conf"\nNAME = "config"')
    files = {"src/train.py": f"{head}{PROGRAMS[way]}\ndef main(cfg):\n    pass\n", "conf/config.yaml": CONFIG}
    assert codes(tmp_path, files) == [("conf/config.yaml", "ML409")]


@pytest.mark.parametrize(
    "decorator",
    [
        '@hydra.main(config_path=find(), config_name="config")',
        '@hydra.main(config_path="../conf", config_name=name())',
        '@hydra.main(version_base="1.3", config_name="config")',
        '@hydra.main(config_path="pkg://conf", config_name="config")',
        '@other.main(config_path="../conf", config_name="config")',
    ],
)
def test_a_configuration_that_nobody_is_known_to_compose_is_left_alone(tmp_path: Path, decorator: str) -> None:
    text = f"import hydra\nimport other\n\n\n{decorator}\ndef main(cfg):\n    print(cfg.nothing)\n"
    assert codes(tmp_path, {"src/train.py": text, "conf/config.yaml": CONFIG}) == []


def test_a_primary_configuration_that_is_not_there_is_told_at_its_name(tmp_path: Path) -> None:
    text = 'import hydra\n\n\n@hydra.main(config_path="../conf", config_name="confg")\ndef main(cfg):\n    pass\n'
    files = {"src/train.py": text, "conf/config.yaml": "x: 1\n"}
    assert codes(tmp_path, files) == [("src/train.py", "ML409")]
    store = "from hydra.core.config_store import ConfigStore\n\nConfigStore.instance().store('confg', {})\n"
    assert codes(tmp_path, {"src/stored.py": store}) == []


def test_without_a_folder_the_one_of_the_script_counts(tmp_path: Path) -> None:
    text = 'import hydra\n\n\n@hydra.main(config_name="config")\ndef main(cfg):\n    pass\n'
    assert codes(tmp_path, {"src/train.py": text, "src/config.yaml": CONFIG}) == [("src/config.yaml", "ML409")]


@pytest.mark.parametrize(
    ("name", "text", "is_asked"),
    [
        ("compose.yaml", "services:\n  web: {image: x}\n", False),
        ("workflow.yml", "x: ${{ y }}\n", False),
        ("plain/other.yaml", "x: 1\nx: 2\n", False),
        ("conf/optim/adam.yaml", "lr: 1\n", True),
    ],
)
def test_the_project_is_searched_only_for_files_that_may_be_composed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str, is_asked: bool
) -> None:
    asked = []
    programs_of = apps.programs_of
    monkeypatch.setattr(apps, "programs_of", lambda path, project: asked.append(path) or programs_of(path, project))
    for folder in (".git", "conf/optim", "plain"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "conf" / "config.yaml").write_text("defaults:\n  - optim: adam\n", encoding="utf-8")
    (tmp_path / name).write_text(text, encoding="utf-8")
    modellint.check([tmp_path / name], isolated=True, cache=False, config=None)
    assert bool(asked) is is_asked


def test_names_that_are_stored_under_variables_keep_it_silent(tmp_path: Path) -> None:
    text = (
        "import hydra\nfrom hydra.core.config_store import ConfigStore\n\n"
        "store = ConfigStore.instance()\nfor name in names():\n    store.store(group='optim', name=name, node={})\n\n\n"
        '@hydra.main(config_path="../conf", config_name="config")\ndef main(cfg):\n    print(cfg.optim.lr)\n'
    )
    assert codes(tmp_path, {"src/train.py": text, "conf/config.yaml": CONFIG}) == []


def test_a_file_is_judged_with_each_program_and_choice_that_has_it(tmp_path: Path) -> None:
    """An interpolation is a mistake only if no configuration with the file has its target."""
    main = 'import hydra\n\n\n@hydra.main(config_path="conf", config_name="{name}")\ndef main(cfg):\n    pass\n'
    files = {
        "train.py": main.format(name="train"),
        "test.py": main.format(name="test"),
        "conf/train.yaml": "defaults:\n  - data: one\nsize: 3\n",
        "conf/test.yaml": "defaults:\n  - data: one\nbatch: 3\n",
        "conf/data/one.yaml": "width: ${size}\ncount: ${batch}\n",
        "conf/data/two.yaml": "width: ${size}\ncount: ${bach}\n",
    }
    assert codes(tmp_path, files) == [("conf/data/two.yaml", "ML401")]


@pytest.mark.parametrize(
    ("shown", "is_told"), [("+train.steps=3", False), ("+train='{steps: 3}'", False), ("train.steps=3", True)]
)
def test_a_key_that_a_page_adds_on_the_command_line_is_there(tmp_path: Path, shown: str, is_told: bool) -> None:
    main = '@hydra.main(config_path="conf", config_name="config")\ndef main(cfg):\n    print(cfg.train.steps)\n'
    text = f"import hydra\n\n\n{main}"
    files = {"train.py": text, "README.md": f"    python train.py {shown}\n", "conf/config.yaml": "train: {lr: 1}\n"}
    assert codes(tmp_path, files) == [("train.py", "ML405")] * is_told


def test_an_argument_that_the_program_deletes_is_none(tmp_path: Path) -> None:
    text = LOOP.replace("    build(", "    del cfg.parts.first.depth\n    build(")
    parts = "class Part:\n    def __init__(self, size):\n        pass\n"
    config = "parts:\n  first:\n    _target_: parts.Part\n    depth: 2\n"
    assert codes(tmp_path, {"train.py": text, "parts.py": parts, "conf/config.yaml": config}) == []
    assert codes(tmp_path, {"train.py": LOOP}) == [("conf/config.yaml", "ML403")]


LOOP = """\
import hydra
from hydra.utils import instantiate


def build(parts):
    return {name: instantiate(part, size=3) for name, part in parts.items() if "_target_" in part}


@hydra.main(config_path="conf", config_name="config")
def main(cfg):
    build(cfg.get("parts"))
"""


def test_objects_that_a_loop_builds_get_the_arguments_of_its_call(tmp_path: Path) -> None:
    parts = "class Part:\n    def __init__(self, size, depth):\n        pass\n"
    text = "parts:\n  first:\n    _target_: parts.Part\n    depth: 2\n  second:\n    _target_: parts.Part\n"
    files = {"train.py": LOOP, "parts.py": parts, "conf/config.yaml": text}
    assert codes(tmp_path, files) == [("conf/config.yaml", "ML403")]


def test_a_cycle_and_a_megabyte_of_anchors_end(tmp_path: Path) -> None:
    main = 'import hydra\n\n\n@hydra.main(config_path="conf", config_name="config")\ndef main(cfg):\n    pass\n'
    anchors = "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9) if n else 1}]\n" for n in range(40))
    files = {
        "train.py": main,
        "conf/config.yaml": f"defaults:\n  - g: a\n{anchors}x: ${{y}}\ny: ${{x}}\n",
        "conf/g/a.yaml": "defaults:\n  - /g@again: a\n",
    }
    cycle = ("conf/config.yaml", "ML407")
    assert codes(tmp_path, files) == [cycle, cycle, ("conf/g/a.yaml", "ML409")]
