"""What holds the project together outside of its code."""

from __future__ import annotations

import re
import sys
from glob import glob
from importlib import import_module
from pathlib import Path
from typing import Any

import modellint

ROOT = Path(__file__).parent.parent


def toml(name: str) -> dict[str, Any]:
    parser = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    document: dict[str, Any] = parser.loads((ROOT / name).read_text("utf-8"))
    return document


def test_every_package_is_shipped() -> None:
    shipped = set(toml("pyproject.toml")["tool"]["setuptools"]["packages"])
    folders = {path.parent.relative_to(ROOT).as_posix() for path in (ROOT / "modellint").rglob("__init__.py")}
    assert shipped == {folder.replace("/", ".") for folder in folders} | {"modellint_rules"}


def test_every_file_of_the_rules_is_shipped() -> None:
    """With their examples, which `explain` shows."""
    rules = ROOT / "rules"
    patterns = toml("pyproject.toml")["tool"]["setuptools"]["package-data"]["modellint_rules"]
    shipped = {rules / name for pattern in patterns for name in glob(pattern, root_dir=rules, recursive=True)}
    files = {path for path in rules.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    assert files - shipped == {rules / "__init__.py"}


def test_every_dependency_is_pinned() -> None:
    project = toml("pyproject.toml")["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    pinned = {line.partition("==")[0] for line in (ROOT / "constraints.txt").read_text().splitlines()}
    names = {re.split(r"[^\w.-]", requirement)[0] for requirement in wanted}
    assert {name.lower().replace("_", "-") for name in names} <= {name.lower().replace("_", "-") for name in pinned}


def test_the_version_is_stated_once() -> None:
    assert "version" in toml("pyproject.toml")["project"]["dynamic"]
    assert re.fullmatch(r"\d+\.\d+\.\d+", modellint.__version__)


def test_ci_runs_what_readme_says() -> None:
    """`.ci/run` takes the line that ends in `pytest` from README's first block."""
    script = (ROOT / ".ci/run").read_text()
    pattern = re.search(r"grep -m1 '(.+?)'", script)
    assert pattern
    block = re.search(r"^```sh\n(.*?)^```$", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    assert block
    matching = [line for line in block[1].splitlines() if re.search(pattern[1], line)]
    assert len(matching) == 1
    assert matching[0].startswith("python3 -m venv .venv && ")
    assert "constraints.txt" in matching[0]
