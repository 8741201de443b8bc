"""The action and the snippets for CI servers are what those servers accept, by the schemas that they publish."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from modellint.home import REPOSITORY
from modellint.version import __version__

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


@pytest.mark.parametrize("workflow", ["release.yml", "site.yml"])
def test_workflows_are_valid(workflow: str) -> None:
    validate("github-workflows", ROOT / ".github" / "workflows" / workflow)


def test_a_release_is_tried_on_each_supported_python() -> None:
    jobs = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text("utf-8"))["jobs"]
    named = re.findall(r'"Programming Language :: Python :: (3\.\d+)"', (ROOT / "pyproject.toml").read_text("utf-8"))
    assert jobs["try"]["strategy"]["matrix"]["python"] == named
    assert (jobs["try"]["needs"], jobs["publish"]["needs"]) == ("build", "try")
    assert jobs["publish"]["permissions"]["id-token"] == "write"


def test_ci_does_what_a_stranger_does() -> None:
    assert "\n.ci/two-minutes >" in (ROOT / ".ci/run").read_text("utf-8")


def notes(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([folder / ".ci/release-notes", *arguments], capture_output=True, text=True, check=False)


def test_release_notes_are_what_the_changelog_says(tmp_path: Path) -> None:
    for name in (".ci/release-notes", "modellint/version.py", "modellint/home.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    changelog = tmp_path / "CHANGELOG.md"
    changelog.write_text(
        f"## [Unreleased]\n\n- new\n\n## [{__version__}] - 2026-01-01\n\n- a\n- b\n\n## [0.0.1]\n\n- old\n"
    )
    assert notes(tmp_path, __version__, REPOSITORY).stdout.split() == ["-", "a", "-", "b"]
    for arguments, says in (
        (("9.9.9",), f"the version is {__version__}, as modellint/version.py says, and not 9.9.9"),
        (
            (__version__, "https://example.org/a/b"),
            f"the project lives in {REPOSITORY}, as modellint/home.py says, ",
        ),
    ):
        refused = notes(tmp_path, *arguments)
        assert (refused.returncode, refused.stdout) == (1, "")
        assert refused.stderr.startswith(says)
    changelog.write_text("## [Unreleased]\n\n- new\n")
    refused = notes(tmp_path, __version__)
    assert refused.stderr == f"CHANGELOG.md has no section `## [{__version__}]`, or nothing in it\n"


def cut(folder: Path, version: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], "PYTHON": sys.executable, "PYTHONPATH": str(folder)}
    command = [folder / ".ci/cut-release", version]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def recipe_for(folder: Path, sdist: Path) -> subprocess.CompletedProcess[str]:
    command = [folder / ".ci/conda-recipe", sdist]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_release_has_the_recipe_of_its_source_distribution() -> None:
    jobs = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text("utf-8"))["jobs"]
    build, publish = (str([step.get("run") for step in jobs[job]["steps"]]) for job in ("build", "publish"))
    assert ".ci/conda-recipe dist/*.tar.gz > recipe.yaml" in build
    assert "built/recipe.yaml" in publish


@pytest.mark.dear
def test_what_is_unreleased_becomes_a_release_with_its_notes(tmp_path: Path) -> None:
    """The first one, too, whose version the tree has already."""
    names = ["README.md", "CHANGELOG.md", ".ci", "docs", "modellint", "rules", "examples", "packaging", "editors"]
    for name in names:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, tmp_path / name)
    changelog = tmp_path / "CHANGELOG.md"
    changelog.write_text("# Changelog\n\n## [Unreleased]\n\nThe first release.\n\n### Output\n\n- a\n")
    assert cut(tmp_path, __version__).returncode == 0
    assert list(tmp_path.rglob("*.pyc")) == [], "byte code of a version cut within the same second would still count"
    assert notes(tmp_path, __version__, REPOSITORY).stdout == "\nThe first release.\n\n### Output\n\n- a\n"
    assert re.search(r"^## \[Unreleased\]\n\n## \[[\d.]+\] - \d{4}-\d\d-\d\d\n", changelog.read_text(), re.MULTILINE)
    before = changelog.read_text()
    for version, says in (
        (__version__, f"CHANGELOG.md has a section of {__version__} already\n"),
        ("7.0.0", "CHANGELOG.md has nothing under [Unreleased]\n"),
        ("7.0", "7.0 is no version; expected one such as 0.1.0\n"),
    ):
        refused = cut(tmp_path, version)
        assert (refused.returncode, refused.stderr, changelog.read_text()) == (1, says, before)
    changelog.write_text(before.replace("## [Unreleased]\n", "## [Unreleased]\n\n- b\n"))
    assert cut(tmp_path, "7.0.0").returncode == 0
    assert notes(tmp_path, "7.0.0", REPOSITORY).stdout.split() == ["-", "b"]
    assert "rev: v7.0.0" in (tmp_path / "README.md").read_text()
    mirror = tmp_path / "packaging/pre-commit-mirror"
    assert 'dependencies = ["modellint==7.0.0"]' in (mirror / "pyproject.toml").read_text()
    assert "rev: v7.0.0" in (mirror / "README.md").read_text()
    sdist = tmp_path / "modellint-7.0.0.tar.gz"
    sdist.write_bytes(b"the sources")
    recipe = yaml.safe_load(recipe_for(tmp_path, sdist).stdout)
    assert recipe["context"]["version"] == "7.0.0"
    assert recipe["source"]["sha256"] == hashlib.sha256(b"the sources").hexdigest()
    other = sdist.rename(tmp_path / f"modellint-{__version__}.tar.gz")
    refused = recipe_for(tmp_path, other)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr.startswith(f"{other} is not of 7.0.0, as packaging/conda/recipe.yaml says")


def test_the_action_runs_a_check(tmp_path: Path) -> None:
    """Its last line, with a folder that holds a broken example, as a runner's shell would run it after a push."""
    step = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))["runs"]["steps"][-1]
    command = step["run"].strip().splitlines()[-1].replace("$RUNNER_TEMP/modellint/bin", "$PROGRAMS")
    environment = {
        "PATH": "/usr/bin:/bin",
        "GITHUB_ACTION_PATH": str(ROOT),
        "PROGRAMS": str(Path(sys.executable).parent),
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
