"""The action and the snippets for CI servers are what those servers accept, by the schemas that they publish."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S))
SCHEMAS = {"GitHub Actions": "github-workflows", "GitLab": "gitlab-ci", "Azure Pipelines": "azure-pipelines"}


def validate(schema: str, file: Path) -> None:
    # The newest release for Python 3.10 takes a pattern of Azure's schema in this mode only.
    mode = ["--regex-variant", "nonunicode"]
    command = [sys.executable, "-m", "check_jsonschema", *mode, "--builtin-schema", f"vendor.{schema}", str(file)]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stdout + said.stderr


def test_the_action_is_one() -> None:
    validate("github-actions", ROOT / "action.yml")


@pytest.mark.parametrize("server", SCHEMAS)
def test_snippets_are_valid(server: str, tmp_path: Path) -> None:
    snippets = re.findall(r"```yaml\n(.*?)```", SECTIONS[server], re.S)
    assert snippets
    for snippet in snippets:
        (tmp_path / "ci.yml").write_text(snippet, encoding="utf-8")
        validate(SCHEMAS[server], tmp_path / "ci.yml")


def test_the_action_runs_a_check(tmp_path: Path) -> None:
    """Its last line, with a folder that holds a broken example, as a runner's shell would run it."""
    step = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))["runs"]["steps"][-1]
    command = step["run"].strip().splitlines()[-1].replace("$RUNNER_TEMP/modellint/bin/modellint", "$MODELLINT")
    environment = {
        "PATH": "/usr/bin:/bin",
        "MODELLINT": str(Path(sys.executable).with_name("modellint")),
        "PATHS": "examples/amphion/broken",
        "ARGS": "--isolated --no-cache",
        "SARIF": str(tmp_path / "report.sarif"),
    }
    said = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert said.returncode == 1, said.stderr
    assert said.stdout.startswith("::error title=modellint (ML101),file=examples/amphion/broken/")
    assert (tmp_path / "report.sarif").is_file()
