"""Programs with LightningCLI and jsonargparse are found without either library, and the files that they load."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import modellint

if TYPE_CHECKING:
    from pathlib import Path

PARTS = """\
from torch import nn


class Net(nn.Module):
    def __init__(self, width: int, depth: int = 2):
        super().__init__()

    def grow(self, by: int, slowly: bool = False):
        return by


def train(net: Net, epochs: int = 3):
    return net


def test(net: Net, folder: str = "here"):
    return net
"""
NET = "{class_path: parts.Net, init_args: {width: 3}}"
BAD_NET = "{class_path: parts.Net, init_args: {widht: 3}}"
LIGHTNING = """\
from lightning.pytorch import LightningDataModule, LightningModule


class Model(LightningModule):
    def __init__(self, width: int = 3, rate: float = 0.1):
        super().__init__()


class Data(LightningDataModule):
    def __init__(self, batch_size: int = 8):
        super().__init__()
        self.classes = 10
"""
CLI = "from lightning.pytorch.cli import LightningCLI\nfrom models import Data, Model\n\n"


def told(root: Path, files: dict[str, str]) -> list[tuple[str, str, str]]:
    """The findings in a project: file, code and symbol of each."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    found = modellint.check([root], isolated=True, cache=False)
    return [(one.path.removeprefix(f"{root.as_posix()}/"), one.code, one.symbol) for one in found]


@pytest.mark.parametrize(
    ("program", "config", "expected"),
    [
        ("from jsonargparse import CLI\nCLI(parts.train)", f"net: {NET}\nepochs: 4\n", []),
        ("from jsonargparse import CLI\nCLI(parts.train)", f"net: {BAD_NET}\nepochs: 4\n", ["widht"]),
        ("from jsonargparse import CLI\nCLI(parts.train)", f"net: {NET}\nepoch: 4\n", ["epoch"]),
        ("from jsonargparse import auto_cli\nauto_cli(parts.train)", f"net: {NET}\nepochs: four\n", ["four"]),
        (
            "import jsonargparse\njsonargparse.CLI([parts.train, parts.test])",
            f"train:\n  net: {NET}\n  epoch: 1\n",
            ["epoch"],
        ),
        ("import jsonargparse\njsonargparse.CLI([parts.train, parts.test])", f"net: {NET}\nfolder: there\n", []),
        (
            "from jsonargparse import CLI\nCLI({'fit': parts.train, 'try': parts.test})",
            f"fit:\n  net: {NET}\n  folder: 1\n",
            ["folder"],
        ),
        ("from jsonargparse import CLI\nCLI(parts.Net)", "width: 3\ngrow: {by: 3, slow: true}\n", ["slow"]),
    ],
)
def test_components_of_a_cli(tmp_path: Path, program: str, config: str, expected: list[str]) -> None:
    command = "python main.py --config run.yaml\n"
    files = {"parts.py": PARTS, "main.py": f"import parts\n{program}\n", "run.yaml": config, "README.md": command}
    assert [symbol for path, _, symbol in told(tmp_path, files) if path == "run.yaml"] == expected


PARSER = """\
from jsonargparse import ArgumentParser
from parts import Net, train

parser = ArgumentParser(default_config_files=["run.yaml"])
parser.add_argument("--config", action="config")
parser.add_class_arguments(Net, "net")
parser.add_subclass_arguments(Net, "other", required=False)
parser.add_function_arguments(train, "training", skip={"net"})
parser.add_argument("--many", type=int, nargs="+", default=[1])
parser.add_argument("--log.every", type=int, default=3)
group = parser.add_argument_group("more")
group.add_argument("--title", default="run")
parser.link_arguments("net.width", "other.init_args.width")
print(parser.parse_args())
"""


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ("net: {width: 3, depth: 1}\nmany: [1, 2]\nlog: {every: 1}\ntitle: new\ntraining: {epochs: 3}\n", []),
        ("net: {width: 3}\nother: {class_path: parts.Net}\n", []),
        ("net: {width: 3, dept: 1}\n", ["dept"]),
        ("net: {width: 3}\nother: {class_path: parts.Net, init_args: {dept: 1}}\n", ["dept"]),
        ("net: {width: 3}\ntraining: {net: null}\n", ["net"]),
        ("net: {width: 3}\nmany: [one]\n", ["one"]),
        ("net: {width: 3}\nlog: {evry: 1}\n", ["evry"]),
        ("net: {width: 3}\ntitel: new\n", ["titel"]),
    ],
)
def test_arguments_of_a_parser(tmp_path: Path, config: str, expected: list[str]) -> None:
    files = {"parts.py": PARTS, "main.py": PARSER, "run.yaml": config}
    assert [symbol for path, _, symbol in told(tmp_path, files) if path == "run.yaml"] == expected


@pytest.mark.parametrize(
    "program",
    [
        "LightningCLI(Model, Data)",
        "LightningCLI(model_class=Model, datamodule_class=Data, run=False)",
        "def main(args=None):\n    LightningCLI(Model, Data, args=args)",
        "class Own(LightningCLI):\n    pass\n\n\nOwn(Model, Data)",
        "class Own(LightningCLI):\n    def __init__(self, *args, **kwargs):\n"
        "        super().__init__(*args, **kwargs)\n\n\n"
        "Own(Model, Data)",
        "class Own(LightningCLI):\n    def __init__(self, model, **kwargs):\n"
        "        super().__init__(model, Data, **kwargs)\n\n\n"
        "Own(Model, run=False)",
    ],
)
def test_ways_to_run_lightning(tmp_path: Path, program: str) -> None:
    config = "model: {wdith: 3}\ndata: {batch_size: many}\ntrainer: {max_epochs: 1}\n"
    files = {"models.py": LIGHTNING, "train.py": f"{CLI}{program}\n", "conf/run.yaml": config}
    found = told(tmp_path, files)
    assert found == [("conf/run.yaml", "ML403", "wdith"), ("conf/run.yaml", "ML403", "many")]


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("README.md", "```\npython src/train.py fit --config conf/own.yml\n```\n"),
        ("README.md", "Run `python -m src.train fit -c conf/own.yml`.\n"),
        ("Makefile", "train:\n\tpython src/train.py fit \\\n\t  --config=conf/own.yml --trainer.max_epochs 3\n"),
        ("run.sh", "CUDA_VISIBLE_DEVICES=0 python train.py fit -c ../conf/own.yml\n"),
        (
            ".github/workflows/ci.yml",
            "on: push\njobs:\n  a:\n    steps:\n      - run: python src/train.py fit -c conf/own.yml\n",
        ),
        ("jobs/train.slurm", "srun python src/train.py fit --config conf/own.yml\n"),
        ("pyproject.toml", '[project.scripts]\nown-train = "src.train:main"\n# own-train fit -c conf/own.yml\n'),
    ],
)
def test_command_lines_name_a_configuration(tmp_path: Path, name: str, line: str) -> None:
    program = f"{CLI}\n\ndef main():\n    LightningCLI(Model, Data)\n"
    folder = "src/run.sh" if name == "run.sh" else name
    files = {"src/models.py": LIGHTNING, "src/train.py": program, "conf/own.yml": "model: {wdth: 3}\n", folder: line}
    assert told(tmp_path, files) == [("conf/own.yml", "ML403", "wdth")]


def test_the_code_names_a_configuration(tmp_path: Path) -> None:
    program = f'{CLI}\nLightningCLI(Model, Data, args=["fit", "--config", "conf/own.yml"])\n'
    files = {"models.py": LIGHTNING, "train.py": program, "conf/own.yml": "model: {wdth: 3}\n"}
    assert told(tmp_path, files) == [("conf/own.yml", "ML403", "wdth")]


def test_copies_that_runs_keep_are_left_alone(tmp_path: Path) -> None:
    logs, config = "logs/version_0", "model: {wdth: 3}\ndata: {batch_size: 3}\n"
    files = {"models.py": LIGHTNING, "train.py": f"{CLI}LightningCLI(Model, Data)\n", f"{logs}/config.yaml": config}
    assert told(tmp_path, files | {f"{logs}/hparams.yaml": "{}\n"}) == []
    (tmp_path / logs / "hparams.yaml").unlink()
    assert told(tmp_path, files) == [(f"{logs}/config.yaml", "ML403", "wdth")]


def test_a_file_that_one_of_two_programs_takes(tmp_path: Path) -> None:
    config = "model: {class_path: src.models.Model, init_args: {wdth: 3}}\ndata: {class_path: src.models.Data}\n"
    files = {
        "src/models.py": LIGHTNING,
        "src/first.py": f"{CLI}LightningCLI(Model, Data)\n",
        "src/second.py": "from lightning.pytorch.cli import LightningCLI\n\nLightningCLI()\n",
        "conf/right.yaml": config.replace("wdth", "width"),
        "conf/wrong.yaml": config,
    }
    assert told(tmp_path, files) == [("conf/wrong.yaml", "ML403", "wdth")]


def test_other_files_are_left_alone(tmp_path: Path) -> None:
    files = {
        "models.py": LIGHTNING,
        "train.py": f"{CLI}LightningCLI(Model, Data)\n",
        "detector.yaml": "model: {type: Detector, neck: {in_channels: 3}}\n"
        "data: {train: here, workers: 2}\ntrain: {steps: 3}\n",
        "mkdocs.yml": "site_name: here\nnav: [index.md]\n",
        "compose.yaml": "services:\n  model: {image: own}\n  data: {image: other}\n",
        "plugins.yaml": "plugins:\n  - class_path: own.Plugin\n    options: {a: 1}\n",
    }
    assert told(tmp_path, files) == []


def test_a_class_in_another_package_of_the_workspace(tmp_path: Path) -> None:
    files = {
        "packages/a/src/own_parts/__init__.py": PARTS,
        "configs/run.yaml": "net:\n  class_path: own_parts.Net\n  init_args: {widht: 3}\n",
        "configs/gone.yaml": "net:\n  class_path: own_parts.Nett\n  init_args: {width: 3}\n",
    }
    assert told(tmp_path, files) == [
        ("configs/gone.yaml", "ML402", "own_parts.Nett"),
        ("configs/run.yaml", "ML403", "widht"),
    ]


def test_links_of_attributes(tmp_path: Path) -> None:
    program = (
        f"{CLI}\nclass Own(LightningCLI):\n    def add_arguments_to_parser(self, parser):\n"
        '        parser.link_arguments("data.classes", "model.width", apply_on="instantiate")\n'
        '        parser.link_arguments("data.clases", "model.rat", apply_on="instantiate")\n\n\nOwn(Model, Data)\n'
    )
    parts = "class LightningModule: ...\n\n\nclass LightningDataModule: ...\n"
    files = {
        "lightning_parts.py": parts,
        "models.py": LIGHTNING.replace("lightning.pytorch", "lightning_parts"),
        "train.py": program,
    }
    assert told(tmp_path, files) == [("train.py", "ML405", "data.clases"), ("train.py", "ML405", "model.rat")]
