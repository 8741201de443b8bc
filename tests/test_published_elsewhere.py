"""The recipe for conda-forge and the mirror for pre-commit say what `pyproject.toml` and the hook say."""

from __future__ import annotations

import importlib.util
import io
import json
import os
import re
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest
import work_tree
import yaml
from effort import in_full
from packaging.requirements import Requirement
from test_pre_commit import BROKEN, git

from modellint import home
from modellint.version import __version__

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).parent.parent
MIRROR = ROOT / "packaging" / "pre-commit-mirror"


def toml(path: Path) -> dict[str, Any]:
    parser = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    document: dict[str, Any] = parser.loads(path.read_text("utf-8"))
    return document


PROJECT = toml(ROOT / "pyproject.toml")["project"]
FLOOR = PROJECT["requires-python"].removeprefix(">=")


@pytest.fixture(scope="module")
def recipe() -> dict[str, Any]:
    """The recipe, with the names that it defines filled in."""
    text = (ROOT / "packaging/conda/recipe.yaml").read_text("utf-8")
    for name, value in yaml.safe_load(text)["context"].items():
        text = text.replace(f"${{{{ {name} }}}}", value).replace(f"${{{{ {name}[0] }}}}", value[0])
    document: dict[str, Any] = yaml.safe_load(text)
    return document


def test_the_recipe_is_of_this_version(recipe: dict[str, Any]) -> None:
    assert recipe["schema_version"] == 1
    assert recipe["package"] == {"name": PROJECT["name"], "version": __version__}
    file = f"{PROJECT['name']}-{__version__}.tar.gz"
    assert recipe["source"]["url"] == f"https://pypi.org/packages/source/m/{PROJECT['name']}/{file}"
    assert re.fullmatch("0{64}", recipe["source"]["sha256"]), "filled in at a release, by .ci/conda-recipe"


def test_the_recipe_needs_what_the_package_needs(recipe: dict[str, Any]) -> None:
    """Under the same names. A package for all Pythons cannot leave one out for some of them."""
    wanted = [Requirement(line) for line in PROJECT["dependencies"]]
    assert all(not one.extras for one in wanted)
    run = recipe["requirements"]["run"]
    assert run == [f"python >={FLOOR}", *(f"{one.name} {one.specifier}" for one in wanted)]
    build = [Requirement(line) for line in toml(ROOT / "pyproject.toml")["build-system"]["requires"]]
    host = [f"python {FLOOR}.*", "pip", *(f"{one.name} {one.specifier}" for one in build)]
    assert recipe["requirements"]["host"] == host


def test_the_recipe_builds_and_tries_the_command_on_the_oldest_python(recipe: dict[str, Any]) -> None:
    assert recipe["build"]["noarch"] == "python"
    scripts = [f"{name} = {target}" for name, target in PROJECT["scripts"].items()]
    assert recipe["build"]["python"]["entry_points"] == scripts
    imported, command = recipe["tests"]
    assert imported["python"]["imports"] == ["modellint", "modellint_rules"]
    assert imported["python"]["python_version"] == [f"{FLOOR}.*", "*"]
    assert command["requirements"]["run"] == [f"python {FLOOR}.*"]
    for line in command["script"]:
        program, *arguments = line.split()
        said = subprocess.run([sys.executable, "-m", program, *arguments], capture_output=True, check=False)
        assert said.returncode == 0, line


def test_the_recipe_says_what_the_package_says_of_itself(recipe: dict[str, Any]) -> None:
    about = recipe["about"]
    assert (about["license"], [about["license_file"]]) == (PROJECT["license"], PROJECT["license-files"])
    assert (about["repository"], about["documentation"]) == (home.REPOSITORY, home.SITE)
    assert "FILL" not in json.dumps(recipe)


def test_the_mirror_has_the_hooks_and_needs_this_version() -> None:
    assert (MIRROR / ".pre-commit-hooks.yaml").read_bytes() == (ROOT / ".pre-commit-hooks.yaml").read_bytes()
    project = toml(MIRROR / "pyproject.toml")["project"]
    assert project["dependencies"] == [f"modellint=={__version__}"]
    assert (project["requires-python"], project["license"]) == (PROJECT["requires-python"], PROJECT["license"])
    readme = (MIRROR / "README.md").read_text("utf-8")
    (shown,) = (yaml.safe_load(block) for block in re.findall(r"^```yaml\n(.*?)^```$", readme, re.M | re.S))
    hooks = {hook["id"] for hook in yaml.safe_load((MIRROR / ".pre-commit-hooks.yaml").read_text("utf-8"))}
    (entry,) = shown["repos"]
    assert (entry["repo"], entry["rev"]) == (f"{home.REPOSITORY}-pre-commit", f"v{__version__}")
    assert {hook["id"] for hook in entry["hooks"]} <= hooks


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with the files of the mirror."""
    for name in ("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"):
        monkeypatch.setenv(name, "test@example.com")
    folder = tmp_path / "mirror"
    shutil.copytree(MIRROR, folder, ignore=shutil.ignore_patterns("__pycache__"))
    git(folder, "init", "-q")
    git(folder, "add", "--all")
    git(folder, "commit", "-q", "-m", "The files")
    return folder


def mirrored(folder: Path, *versions: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "mirror.py", *versions]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_a_release_becomes_a_commit_with_its_tag(mirror: Path) -> None:
    made = mirrored(mirror, "0.2.0", "0.10.0")
    assert (made.returncode, made.stdout) == (0, "v0.2.0\nv0.10.0\n"), made.stderr
    assert git(mirror, "log", "--format=%s").splitlines() == ["modellint 0.10.0", "modellint 0.2.0", "The files"]
    for version in ("0.2.0", "0.10.0"):
        assert f'["modellint=={version}"]' in git(mirror, "show", f"v{version}:pyproject.toml")
        assert f"rev: v{version}\n" in git(mirror, "show", f"v{version}:README.md")
    assert git(mirror, "status", "--short") == ""
    assert mirrored(mirror, "0.2.0").stdout == "v0.2.0 is there already\n"
    refused = mirrored(mirror, "next")
    assert (refused.returncode, refused.stderr) == (1, "next is no version; expected one such as 0.1.0\n")
    (mirror / "README.md").write_text("Nothing.\n")
    refused = mirrored(mirror, "0.11.0")
    assert refused.stderr == "README.md: the version stands there 0 times; expected once\n"
    assert git(mirror, "tag").split() == ["v0.10.0", "v0.2.0"]


def test_the_index_is_asked_for_the_releases_that_count() -> None:
    """Neither pre-releases nor withdrawn ones, in the order of their numbers."""
    spec = importlib.util.spec_from_file_location("mirror", MIRROR / "mirror.py")
    assert spec is not None
    assert spec.loader is not None
    program: ModuleType = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    file, withdrawn = {"yanked": False}, {"yanked": True}
    releases = {"0.10.0": [file], "0.9.0": [withdrawn, file], "0.8.0": [withdrawn], "0.7.0": [], "1.0.0rc1": [file]}
    answer = io.BytesIO(json.dumps({"releases": releases}).encode())
    with mock.patch.object(program.urllib.request, "urlopen", return_value=answer) as asked:
        assert program.released() == ["0.9.0", "0.10.0"]
    assert asked.call_args.args == (f"https://pypi.org/pypi/{PROJECT['name']}/json",)


@in_full
def test_pre_commit_installs_the_hook_of_the_mirror_from_a_wheel(mirror: Path, tmp_path: Path) -> None:
    """From one that is built here, of a version that no index has."""
    version, tree, wheels = "99.0.0", tmp_path / "tree", tmp_path / "wheels"
    work_tree.copy(tree)
    (tree / "modellint/version.py").write_text(f'"""The version of modellint."""\n\n__version__ = "{version}"\n')
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(wheels), str(tree)]
    built = subprocess.run(build, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    assert mirrored(mirror, version).returncode == 0

    project = tmp_path / "project"
    project.mkdir()
    hook = f"- repo: {mirror}\n  rev: v{version}\n  hooks:\n  - id: modellint\n"
    (project / ".pre-commit-config.yaml").write_text(f"repos:\n{hook}")
    (project / "good.py").write_text("from torch import nn\n\nlayer = nn.Linear(4, 5)\n")
    (project / "bad.py").write_text(BROKEN)
    git(project, "init", "-q")
    git(project, "add", "--all")
    environment = {**os.environ, "PRE_COMMIT_HOME": str(tmp_path / "home"), "PIP_NO_COMPILE": "1"}
    links = " ".join(filter(None, (os.environ.get("PIP_FIND_LINKS"), wheels.as_posix())))
    for file, code, says in (("bad.py", 1, "bad.py:3:18: ML001[error]"), ("good.py", 0, "All checks passed!")):
        command = [sys.executable, "-m", "pre_commit", "run", "modellint", "--verbose", "--files", file]
        ran = subprocess.run(
            command,
            cwd=project,
            env={**environment, "PIP_FIND_LINKS": links},
            capture_output=True,
            text=True,
            check=False,
            timeout=500,
        )
        assert ran.returncode == code, ran.stdout + ran.stderr
        assert says in ran.stdout
