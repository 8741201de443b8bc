"""Asks the real LightningCLI, in a process that imports the project and parses one configuration after the other."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

from dialects.cli.project import FILES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_CHILD = """\
import contextlib, importlib, io, json, logging, os, sys, warnings

warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)
root, names = sys.argv[1], json.loads(sys.stdin.read())
sys.path.insert(0, root)
os.chdir(root)
sys.argv = ["program"]
from lightning.pytorch.cli import LightningCLI



def instantiate(self):
    made = self.parser.instantiate_classes(self.config)
    return {**made.get("trainer", {})}  # as LightningCLI passes them to the trainer


LightningCLI.instantiate_classes = instantiate
answers = []
for program, config in names:
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
            importlib.import_module(program).main(run=False, args=["--config", config])
        answers.append("")
    except SystemExit:
        answers.append(said.getvalue().strip().splitlines()[-1] if said.getvalue().strip() else "exit")
    except Exception as error:
        answers.append(f"{type(error).__name__}: {error}".splitlines()[0])
print(json.dumps(answers))
"""


def write_project(root: Path) -> None:
    """Write the project's Python files into a folder."""
    for name, text in FILES.items():
        (root / name).write_text(text, encoding="utf-8")


def refusals(root: Path, configs: Sequence[tuple[str, str]]) -> list[str]:
    """The errors of LightningCLI for configurations, each with its program; empty for one that it takes."""
    asked = []
    for number, (program, text) in enumerate(configs):
        path = root / f"asked_{number}.yaml"
        path.write_text(text, encoding="utf-8")
        asked.append((program, path.as_posix()))
    command, names = [sys.executable, "-c", _CHILD, str(root)], json.dumps(asked)
    run = subprocess.run(command, input=names, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-2000:]
    answers: list[str] = json.loads(run.stdout.splitlines()[-1])
    for _, path in asked:
        (root / path).unlink()
    return answers
