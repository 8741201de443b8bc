"""The page about several machines: its workflows are valid, and all that it shows is run on a small project."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from test_ci_files import SCHEMAS, validate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conftest import Workspace

PAGE = (Path(__file__).parent.parent / "docs" / "many-machines.md").read_text("utf-8")
SECTIONS = dict(re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S))
PLAIN_LIST = """\
from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(8, 8) for _ in range(2)]

    def forward(self, x):
        return self.layers[0](self.layers[1](x).relu())
"""


def block(section: str, language: str) -> str:
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", SECTIONS[section], re.MULTILINE | re.DOTALL)
    return str(found)


@pytest.fixture
def project(workspace: Workspace) -> Workspace:
    """A project with a finding in each of two folders, and `modellint` on the path."""
    files = {f"src/{name}/model.py": PLAIN_LIST for name in "ab"}
    program = f'#!/bin/sh\nexec {sys.executable} -m modellint "$@"\n'
    workspace.write({**files, "recipes/train.yaml": "a: 1\n", "modellint.toml": "", "bin/modellint": program})
    (workspace.root / "bin/modellint").chmod(0o755)
    return workspace


def run(command: str, project: Workspace, **variables: str) -> int:
    """The exit code of a shell command in the project."""
    environment = {**os.environ, "PATH": f"{project.root / 'bin'}{os.pathsep}{os.environ['PATH']}", **variables}
    return subprocess.run(["bash", "-ec", command], cwd=project.root, env=environment, check=False).returncode


def own_steps(steps: list[str]) -> Iterator[str]:
    """The steps that neither install a package nor make a folder that another part has made."""
    yield from (step.replace("mkdir reports", "mkdir -p reports") for step in steps if not step.startswith("pip "))


@pytest.mark.parametrize("server", ["GitHub Actions", "GitLab"])
def test_the_workflows_are_valid(server: str, tmp_path: Path) -> None:
    (tmp_path / "ci.yml").write_text(block(server, "yaml"), "utf-8")
    validate(SCHEMAS[server], tmp_path / "ci.yml")


def test_the_matrix_of_github_makes_one_report(project: Workspace) -> None:
    jobs = yaml.safe_load(block("GitHub Actions", "yaml"))["jobs"]
    check, merge = ([step["run"] for step in jobs[name]["steps"] if "run" in step] for name in ("check", "merge"))
    parts = jobs["check"]["strategy"]["matrix"]["part"]
    for part in parts:
        for step in own_steps(check):
            assert run(step.replace("${{ matrix.part }}", str(part)), project) == 0
    assert len(list((project.root / "reports").iterdir())) == len(parts)
    assert [run(step, project) for step in own_steps(merge)] == [1]
    (made,) = json.loads((project.root / "modellint.sarif").read_text())["runs"]
    assert len(made["results"]) == 2


def test_the_parallel_jobs_of_gitlab_make_one_report(project: Workspace) -> None:
    jobs = yaml.safe_load(block("GitLab", "yaml"))
    count = jobs["check"]["parallel"]
    for part in range(1, count + 1):
        for step in own_steps(jobs["check"]["script"]):
            assert run(step, project, CI_NODE_INDEX=str(part), CI_NODE_TOTAL=str(count)) == 0
    assert [run(step, project) for step in own_steps(jobs["merge"]["script"])] == [1]
    assert len(json.loads((project.root / "modellint.json").read_text())) == 2


def test_the_targets_of_bazel_make_one_report(project: Workspace) -> None:
    """Starlark is Python here: what the rules run is run without Bazel."""
    rules: dict[str, dict[str, Any]] = {}
    scope = {
        "glob": lambda patterns: [
            path.relative_to(project.root).as_posix() for one in patterns for path in project.root.glob(f"{one}/*")
        ],
        "genrule": lambda name, **others: rules.update({name: others}),
    }
    exec(block("Bazel", "starlark"), scope)
    (project.root / "modellint").mkdir()
    made = set()
    for name, rule in rules.items():
        (out,) = rule["outs"]
        reports = {source for source in rule["srcs"] if source.startswith("modellint/")}
        assert reports <= made
        made.add(out)
        command = rule["cmd"].replace("$@", out).replace("$(RULEDIR)", ".")
        assert run(command, project) == int(name == "modellint")
    assert len(rules["modellint"]["srcs"]) > len(rules) - 1
    assert len(json.loads((project.root / "modellint.sarif").read_text())["runs"][0]["results"]) == 2


def test_the_target_of_pants_fails(project: Workspace) -> None:
    targets: dict[str, Any] = {}
    names = ("files", "experimental_test_shell_command")
    exec(block("Pants", "python"), {kind: lambda name, **rest: targets.update({name: rest}) for kind in names})
    assert targets["modellint"]["tools"] == ["modellint"]
    assert targets["modellint"]["execution_dependencies"] == [":models"]
    assert run(targets["modellint"]["command"], project) == 1


class _Ray(ModuleType):
    """The functions of Ray that the script calls, one task after the other."""

    def init(self) -> None:
        pass

    def remote(self, **options: int) -> Any:
        assert options == {"num_cpus": 1}
        return lambda function: type("Remote", (), {"remote": staticmethod(function)})

    def wait(self, pending: list[Any]) -> tuple[list[Any], list[Any]]:
        return pending[:1], pending[1:]

    def get(self, done: list[Any]) -> list[Any]:
        return done


def test_the_script_checks_each_repository(
    project: Workspace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "ray", _Ray("ray"))
    project.write({"src/c/modellint.toml": "no = settings\n", "src/c/model.py": PLAIN_LIST})
    project.write({"src/b/modellint.toml": "no = settings\n", "src/d/notes.txt": ""})
    scope: dict[str, Any] = {"__name__": "script"}
    exec(block("Many repositories", "python"), scope)
    assert scope["main"]("src", "reports") == 0
    assert capsys.readouterr().out == "4 repositories, 0 without a report\n"
    names = [f"{project.root / 'reports' / name}.json" for name in "abcd"]
    with project.inside("src"):
        report = project.run("merge", *names, "--output-format", "json").json
    assert [finding["path"] for finding in report["findings"]] == [f"{name}/model.py" for name in "abc"]
    program = sys.executable
    monkeypatch.setattr(sys, "executable", "false")
    assert scope["main"]("src", "others") == 1
    assert capsys.readouterr().out == "4 repositories, 4 without a report\n"
    scope["SECONDS"] = 0
    monkeypatch.setattr(sys, "executable", program)
    assert scope["check"].remote(str(project.root / "src"), "a") == ("a", "", "no result after 0 seconds")
