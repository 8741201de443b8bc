"""Every command that README and the documentation show is executed, and what they show for it is what comes out."""

from __future__ import annotations

import json
import math
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest
from effort import IS_WHOLE, in_full
from test_readme import refresh

from modellint.cli import cli
from modellint.examples import materialise
from modellint.home import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
PAGES = {
    path.relative_to(ROOT).as_posix(): path.read_text("utf-8")
    for folder in (".", "docs", "benchmarks", "examples", "examples/*")
    for path in sorted(ROOT.glob(f"{folder}/*.md"))
    if path.name != "CHANGELOG.md"
}
#: Commands that fetch something or set a machine up, and who runs them.
ELSEWHERE = {
    "python3 -m venv .venv && .venv/bin/pip install -q . && .venv/bin/modellint check examples": "a new user",
    "python3 -m venv .venv && .venv/bin/pip install -q -c constraints.txt -e '.[dev]' && .venv/bin/pytest": ".ci/run",
    "python3 -m venv .venv && .venv/bin/pip install -c constraints.txt -e '.[dev]'": ".ci/run",
    ".venv/bin/pytest": ".ci/run",
    ".venv/bin/ruff check && .venv/bin/ruff format --check && .venv/bin/mypy modellint rules": ".ci/run",
    f"pip install git+{REPOSITORY}": "a new user",
    f"uvx --from git+{REPOSITORY} modellint check": "a new user",
    f"pipx run --spec git+{REPOSITORY} modellint check": "a new user",
    f"pip install 'modellint[lsp] @ git+{REPOSITORY}'": "tests/test_server.py needs what that installs",
    f"pip install 'modellint[watch] @ git+{REPOSITORY}'": "a new user",
    f"uvx --python 3.13 --from git+{REPOSITORY} modellint check": "whose Python is too old",
    f"pip install --no-deps git+{REPOSITORY} && pip install click packaging pathspec pyyaml tomli": "no compiler",
    f"pip wheel --wheel-dir wheels git+{REPOSITORY}": "who is without a network",
    "pip install --no-index --find-links wheels modellint": "who is without a network",
    "python -m venv peers && peers/bin/pip install transformers-mlinter==0.1.5 TorchFix==0.7.0": "who measures",
    "pip download --no-deps --dest wheels timm==1.0.31 speechbrain==1.1.2 && for w in wheels/*.whl; do "
    'unzip -q "$w" -d "${w%-py3*}"; done': "who measures",
    "git clone --depth 1 https://github.com/speechbrain/speechbrain": "who measures",
    "git clone https://github.com/speechbrain/speechbrain "
    "&& pip install --no-deps speechbrain==1.1.2 torchaudio": "who measures",
    "python -m venv peers && peers/bin/pip install accelerate==1.15.0 torchtyc==0.5.0": "who measures",
    "python benchmarks/probes_peers.py --packages wheels --peers peers/bin/python": "who measures",
    (
        "python -m venv peers && peers/bin/pip install pyrefly==1.4.0 pyrefly-torch-stubs==1.4.0 torchtyc==0.5.0 torch"
    ): "who measures",
    "python benchmarks/shapes_peers.py --cases pairs --peers peers/bin": "who measures",
}
ELSEWHERE |= {
    "pip wheel --no-deps --wheel-dir dist .": "tests/test_playground.py and tests/test_vscode.py",
    "npm install pyodide": "tests/test_playground.py",
    "python packaging/playground/build.py site/playground --wheel dist/modellint-*.whl "
    "--pyodide node_modules/pyodide": ("tests/test_playground.py"),
    "python -m http.server --directory site": "who looks at it",
    "cd editors/vscode && npm install && python bundle.py ../../dist/modellint-*.whl && npm run package": (
        "tests/test_vscode.py"
    ),
    "code --install-extension modellint.vsix": "tests/test_vscode.py",
}
# Once modellint is on the index, pages install it from there.
ELSEWHERE = {refresh.with_release(command): who for command, who in ELSEWHERE.items()}
#: What makes a benchmark small enough to be run here.
SMALLER = (
    (r"--peers \S+", "--tree wheels --repetitions 1"),
    (r"--mutants \d+", "--mutants 2"),
    (r"--fixes \d+", "--fixes 1"),
    (r"--edits \d+", "--edits 3"),
    (r"(cost\.py) .*", r"\1 house"),
    (r"(unknown\.py) clones/\*", r"\1 ."),
    (r"(power\.py) .*", r"\1 plant mutants.json"),
    (r"(probes\.py .*)", r"\1 --only NobodyUses"),
    (r"(shapes_observed\.py .*)", r"\1 --only Linear"),
    (r"(recipes\.py speechbrain)$", r"\1 --repetitions 1"),
    (r"(verdicts\.py --list).*", r"\1 --only ML404 --jobs 1"),
)
LAYER = """\
from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)

    def forward(self, x):
        return self.layer(x)
"""
PLAIN_LIST = LAYER.replace("layer = nn.Linear(8, 8)", "layers = [nn.Linear(8, 8) for _ in range(2)]").replace(
    "self.layer(x)", "self.layers[0](self.layers[1](x))"
)
RECIPE = """\
layer: !new:torch.nn.Linear [80, 40]
modules:
    layer: !ref <layer>
"""
SCRIPT = """\
import sys
from hyperpyyaml import load_hyperpyyaml
import speechbrain as sb


class Model(sb.Brain):
    def compute_forward(self, batch, stage):
        return self.modules.layer(batch)


hparams = load_hyperpyyaml(open(sys.argv[1]))
Model(hparams["modules"], hparams=hparams)
"""
NOTEBOOK = json.dumps(
    {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {},
        "cells": [
            *({"cell_type": "markdown", "metadata": {}, "source": "# A tutorial"} for _ in range(3)),
            {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": PLAIN_LIST},
        ],
    }
)


def weights(shapes: dict[str, list[int]], room: int = 1024) -> str:
    """A safetensors file of zeros: the bytes of its header, that header, filled up with spaces, and the data."""
    header: dict[str, object] = {}
    end = 0
    for name, shape in shapes.items():
        start, end = end, end + 4 * math.prod(shape)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [start, end]}
    return room.to_bytes(8, "little").decode() + json.dumps(header).ljust(room) + "\0" * end


CONFIG = """\
{
  "model_type": "bert",
  "architectures": ["BertModel"],
  "vocab_size": 6,
  "hidden_size": 8,
  "num_hidden_layers": 0,
  "num_attention_heads": 2,
  "intermediate_size": 16,
  "max_position_embeddings": 32
}
"""
TOKENIZER = {
    "version": "1.0",
    "added_tokens": [
        {
            "id": 6,
            "content": "<speaker>",
            "special": True,
            "single_word": False,
            "lstrip": False,
            "rstrip": False,
            "normalized": False,
        }
    ],
    "model": {
        "type": "WordPiece",
        "unk_token": "[UNK]",
        "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 100,
        "vocab": {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "[MASK]": 4, "hello": 5},
    },
}
WEIGHTS = weights(
    {
        "embeddings.word_embeddings.weight": [6, 8],
        "embeddings.position_embeddings.weight": [32, 8],
        "embeddings.token_type_embeddings.weight": [2, 8],
        "embeddings.LayerNorm.weight": [8],
        "embeddings.LayerNorm.bias": [8],
        "pooler.dense.weight": [8, 8],
        "pooler.dense.bias": [8],
    }
)
FOLDER = {
    "models/my-bert/config.json": CONFIG,
    "models/my-bert/tokenizer.json": json.dumps(TOKENIZER, indent=2),
    "models/my-bert/model.safetensors": WEIGHTS,
}
PROJECT = {
    "model.py": LAYER,
    "src/__init__.py": "",
    "recipes/train.yaml": RECIPE,
    "recipes/train.py": SCRIPT,
    "wheels/timm-1.0.31/model.py": LAYER,
    "wheels/speechbrain-1.1.2/model.py": LAYER,
    "wheels/vit-pytorch-1.26.11/model.py": LAYER,
    "speechbrain/recipes/train.yaml": RECIPE,
    "speechbrain/recipes/train.py": SCRIPT,
    "modeling_llama.py": LAYER,
    "train.yaml": "a: 1\n",
    "train.py": LAYER,
}


@dataclass(frozen=True)
class Shown:
    """A command of a page, and what stands under it: the `whole` output, or lines of it that may end in `…`."""

    page: str
    command: str
    output: str = ""
    whole: bool = False


def shown(page: str) -> Iterator[Shown]:
    """The commands in the blocks of a page: after a prompt, in a shell script, or as the step of a CI server."""
    for language, block in re.findall(r"^```(\w+)\n(.*?)^```$", PAGES[page], re.MULTILINE | re.DOTALL):
        if language == "console":
            for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
                command, _, output = part.partition("\n")
                yield Shown(page, command, output)
        elif language == "text" and block.startswith("$ "):
            command, _, output = block.removeprefix("$ ").partition("\n")
            yield Shown(page, command, output, whole=True)
        elif language == "sh":
            yield from (Shown(page, line) for line in block.splitlines())
        elif language in ("yaml", "groovy"):
            steps = re.findall(r"(?:^ *- (?:run: |script: )?|\bsh ')(modellint [^'\n]+)", block, re.MULTILINE)
            yield from (Shown(page, step) for step in steps)
    yield from (Shown(page, line) for line in re.findall(r"^    (modellint .+)$", PAGES[page], re.MULTILINE))


ALL = {page: tuple(shown(page)) for page in PAGES}
STEPS = {
    page: steps
    for page, listed in ALL.items()
    if (steps := [one for one in listed if not one.whole and one.command not in ELSEWHERE])
}
WITH_OUTPUT = [one for listed in ALL.values() for one in listed if one.whole]


def is_left_out(command: str) -> bool:
    """Whether a command imports torch, which takes seconds; with MODELLINT_EXAMPLES=all only where there is none."""
    is_about_torch = re.search(r" --confirm\b| probe |verdicts\.py", command) is not None
    return is_about_torch and (not IS_WHOLE or find_spec("torch") is None)


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    python = shlex.quote(sys.executable)
    line = re.sub(r"^modellint\b", f"{python} -m modellint", re.sub(r"^python\b", python, command))
    environment = {**os.environ, "COLUMNS": "100"}
    return subprocess.run(
        ["bash", "-c", line], cwd=folder, capture_output=True, text=True, check=False, timeout=300, env=environment
    )


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=Test", "-c", "user.email=test@example.com"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


def test_the_pages_show_commands() -> None:
    assert {"README.md", "CONTRIBUTING.md", "docs/adopting.md", "docs/ci.md", "benchmarks/README.md"} <= ALL.keys()
    assert sum(map(len, ALL.values())) > 40
    assert ELSEWHERE.keys() <= {one.command for listed in ALL.values() for one in listed}


@pytest.mark.dear
@pytest.mark.parametrize("page", STEPS)
def test_the_commands_of_a_page_work_one_after_the_other(page: str, tmp_path: Path) -> None:
    if page.startswith("benchmarks/") and not IS_WHOLE:
        pytest.skip("MODELLINT_EXAMPLES=all runs the benchmarks")
    legacy = {"src/old.py": PLAIN_LIST} if page == "docs/adopting.md" else {}
    notebooks = {"tutorials/encoder.ipynb": NOTEBOOK} if page == "docs/notebooks.md" else {}
    model = re.search(r"^```python\n(.*?)^```$", PAGES[page], re.MULTILINE | re.DOTALL)
    first = {"model.py": model[1]} if page == "docs/getting-started.md" and model else {}
    published = FOLDER if "models/my-bert" in PAGES[page] else {}
    materialise(PROJECT | legacy | notebooks | first | published, tmp_path)
    (tmp_path / "benchmarks").symlink_to(ROOT / "benchmarks")
    (tmp_path / "examples").mkdir()
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "--all")
    git(tmp_path, "commit", "-q", "-m", "As it was")
    git(tmp_path, "update-ref", "refs/remotes/origin/main", "HEAD")
    for step in STEPS[page]:
        command = step.command
        if is_left_out(command):
            continue
        for pattern, smaller in SMALLER:
            command = re.sub(pattern, smaller, command) if command.startswith("python benchmarks/") else command
        done = run(command, tmp_path)
        printed = done.stdout + done.stderr
        is_bad_news = bool(step.output) and not re.match("modellint (map|report) ", command)
        assert done.returncode == int(is_bad_news), (command, printed)
        for line in step.output.splitlines():
            assert re.search(f"^{re.escape(line).replace('…', '.*')}", printed, re.MULTILINE), printed
    assert not legacy or "modellint: ignore[ML204]  accepted" in (tmp_path / "src/old.py").read_text()


@pytest.mark.dear
@pytest.mark.parametrize("example", WITH_OUTPUT, ids=lambda example: example.command)
def test_what_is_shown_is_what_comes_out(example: Shown) -> None:
    """On a terminal of 100 columns."""
    if is_left_out(example.command):
        pytest.skip("MODELLINT_EXAMPLES=all runs it where torch is installed")
    done = run(example.command, ROOT)
    assert done.returncode in (0, 1), done.stderr
    assert without_guard(done.stdout) == without_guard(example.output)


def without_guard(output: str) -> str:
    """An output without what the system makes of the guard."""
    return re.sub(r"^guard: \w+.*$", "guard", output, flags=re.MULTILINE)


@in_full
def test_the_verdict_on_the_page_is_what_comes_out() -> None:
    pytest.importorskip("torch")
    (verdict,) = re.findall(r"^```text\n(confirmed .*?)^```$", PAGES["docs/confirming.md"], re.MULTILINE | re.DOTALL)
    said = " ".join(run("modellint check examples/qwen2-vl --confirm --no-cache", ROOT).stdout.split())
    assert re.search(re.escape(" ".join(verdict.split())).replace("…", ".*"), said), said


def inline() -> set[str]:
    """Commands in the running text, but for those that only name a command or stand for many."""
    found = {command for text in PAGES.values() for command in re.findall(r"`(modellint [^`\n]+)`", text)}
    return {command for command in found if not command.startswith("modellint (") and "[" not in command}


@pytest.mark.parametrize("example", sorted(inline()))
def test_commands_in_the_text_are_understood(example: str) -> None:
    arguments = shlex.split(example)[1:]
    command: click.Command = cli
    while isinstance(command, click.Group) and arguments and arguments[0] in command.commands:
        command = command.commands[arguments.pop(0)]
    missing = [parameter for parameter in command.params if parameter.required]
    if arguments or not missing:
        command.make_context("modellint", arguments, resilient_parsing=not arguments)
