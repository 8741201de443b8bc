"""The commit hook, run by pre-commit itself on a project of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import work_tree
from effort import in_full

if TYPE_CHECKING:
    from pathlib import Path

BROKEN = "from torch import nn\n\nlayer = nn.Linear(\n"
UNREGISTERED = """\
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(4, 4)]

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
"""
#: As the README shows it, with a repository of this machine.
CONFIGURATION = """\
repos:
  - repo: {}
    rev: {}
    hooks:
      - id: modellint
        exclude: ^vendored/
      - id: modellint-fix
        files: ^src/
"""
NOTEBOOK = {
    "nbformat": 4,
    "nbformat_minor": 5,
    "metadata": {},
    "cells": [
        {"cell_type": "code", "id": "a", "metadata": {}, "outputs": [], "execution_count": None, "source": UNREGISTERED}
    ],
}


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=Test", "-c", "user.email=test@example.com"]
    done = subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def repository_of_the_hook(folder: Path) -> str:
    """This tree as it is, committed to a repository that pre-commit can clone; the commit."""
    work_tree.copy(folder)
    git(folder, "init", "-q")
    git(folder, "add", "--all")
    git(folder, "commit", "-q", "-m", "The hook")
    return git(folder, "rev-parse", "HEAD")


@in_full
def test_the_hook_checks_what_is_committed(tmp_path: Path) -> None:
    hook, project = tmp_path / "hook", tmp_path / "project"
    hook.mkdir()
    revision = repository_of_the_hook(hook)
    project.mkdir()
    (project / ".pre-commit-config.yaml").write_text(CONFIGURATION.format(hook, revision))
    (project / "good.py").write_text("from torch import nn\n\nlayer = nn.Linear(4, 5)\n")
    (project / "bad.py").write_text(BROKEN)
    (project / "notes.txt").write_text(BROKEN)
    (project / "hparams.yaml").write_text("layer: !new:torch.nn.Linear\n    args: [1, 2}\n")
    git(project, "init", "-q")
    git(project, "add", "--all")

    def hook_on(*files: str, name: str = "modellint") -> subprocess.CompletedProcess[str]:
        """What a hook says of files; the first one that is run installs the environment of all."""
        environment = {**os.environ, "PRE_COMMIT_HOME": str(tmp_path / "home"), "PIP_NO_COMPILE": "1"}
        command = [sys.executable, "-m", "pre_commit", "run", name, "--verbose", "--files", *files]
        return subprocess.run(
            command, cwd=project, env=environment, capture_output=True, text=True, check=False, timeout=500
        )

    failed = hook_on("good.py", "bad.py", "notes.txt", "hparams.yaml")
    assert failed.returncode == 1, failed.stdout + failed.stderr
    assert "bad.py:3:18: ML001[error]" in failed.stdout
    assert "hparams.yaml:2:" in failed.stdout
    assert "notes.txt" not in failed.stdout
    passed = hook_on("good.py", "notes.txt")
    assert passed.returncode == 0, passed.stdout + passed.stderr
    assert "All checks passed!" in passed.stdout

    # Excluded by pre-commit, which does not pass it, and by the settings, which hold although it is passed.
    for folder in ("vendored", "generated", "src"):
        (project / folder).mkdir()
    (project / "pyproject.toml").write_text('[tool.modellint]\nextend-exclude = ["generated"]\n')
    (project / "vendored" / "a.py").write_text(BROKEN)
    (project / "generated" / "b.py").write_text(BROKEN)
    (project / "notebook.ipynb").write_text(json.dumps(NOTEBOOK))
    git(project, "add", "--all")
    excluded = hook_on("vendored/a.py", "generated/b.py", "good.py")
    assert excluded.returncode == 0, excluded.stdout + excluded.stderr
    assert "All checks passed!" in excluded.stdout
    book = hook_on("notebook.ipynb")
    assert book.returncode == 1, book.stdout + book.stderr
    assert "notebook.ipynb:cell 1:" in book.stdout

    (project / "layers.py").write_text(UNREGISTERED)
    (project / "src" / "layers.py").write_text(UNREGISTERED)
    git(project, "add", "--all")
    fixed = hook_on("layers.py", "src/layers.py", name="modellint-fix")
    assert "files were modified by this hook" in fixed.stdout, fixed.stdout + fixed.stderr
    assert "Found 1 finding (1 fixed, 0 remaining)" in fixed.stdout
    assert "nn.ModuleList([nn.Linear(4, 4)])" in (project / "src" / "layers.py").read_text()
    assert (project / "layers.py").read_text() == UNREGISTERED
