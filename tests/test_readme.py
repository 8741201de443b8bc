"""What README and the pages say exists, and what they show is what comes out."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import work_tree
from effort import PATIENCE

from modellint import home
from modellint.config import settings_for
from modellint.config.confirming import KEYS
from modellint.packs import load_rules

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")
DOCS = ROOT / "docs"
#: README and the pages that tell how modellint is used.
PAGES = {"README.md": README, **{page.name: page.read_text("utf-8") for page in sorted(DOCS.glob("*.md"))}}


def loaded(path: Path) -> ModuleType:
    """A program of the repository as a module."""
    spec = spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


refresh = loaded(DOCS / "refresh.py")


def modellint(*arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "modellint", *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, encoding="utf-8", timeout=PATIENCE)


def section(page: str, title: str) -> str:
    """The text under a heading of a page, up to the next one of the same rank or above."""
    text = PAGES[page]
    match = re.search(rf"^(#+) {re.escape(title)}$", text, re.MULTILINE)
    assert match, f"{page} has no section {title!r}"
    end = re.search(rf"^#{{1,{len(match[1])}}} ", text[match.end() :], re.MULTILINE)
    return text[match.end() :][: end.start() if end else None]


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def rows(text: str) -> list[list[str]]:
    """The body of the first Markdown table, cell by cell."""
    lines = re.search(r"(?:^\|.*\n)+", text, re.MULTILINE)
    assert lines
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[0].splitlines()[2:]]


def rules() -> list[dict[str, str]]:
    result = modellint("rules", "--output-format", "json")
    assert result.returncode == 0, result.stderr
    listed: list[dict[str, str]] = json.loads(result.stdout)
    return listed


def test_the_first_block_is_the_two_commands() -> None:
    first = re.search(r"^```\w*\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    assert first
    assert first[1].splitlines() == [
        "python3 -m venv .venv && .venv/bin/pip install -q . && .venv/bin/modellint check examples",
        "python3 -m venv .venv && .venv/bin/pip install -q -c constraints.txt -e '.[dev]' && .venv/bin/pytest",
    ]


def on_a_terminal(*arguments: str) -> str:
    """The output of a command on a terminal of 100 columns, without its colours and links."""
    environment = {**os.environ, "COLUMNS": "100", "FORCE_HYPERLINK": "0"}
    command = [sys.executable, "-m", "modellint", *arguments, "--color", "always"]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", env=environment, timeout=PATIENCE
    )
    return re.sub(r"\x1b\[[\d;]*m", "", done.stdout)


@pytest.mark.dear
def test_the_shown_output_is_what_comes_out() -> None:
    shown = blocks(section("README.md", "Two more catches"), "text") + blocks(section("terminal.md", "Output"), "text")
    outputs = [
        modellint("check", "examples", "--no-cache", "--color", "never", "--output-format", style).stdout
        for style in ("concise", "full")
    ]
    assert len(shown) == 3
    for block in shown:
        assert any(block.strip("\n") in output for output in outputs)


@pytest.mark.dear
def test_the_first_catch_is_what_a_terminal_shows() -> None:
    """It stands in an indented block, so that the two commands stay the first fenced one."""
    before = README.partition("```sh\n")[0]
    command, _, shown = "".join(re.findall(r"^    (.*\n)", before, re.MULTILINE)).partition("\n")
    assert command == "$ modellint check examples/mini-omni"
    assert shown.count("\n") >= 2
    assert shown in on_a_terminal("check", "examples/mini-omni", "--no-cache")


def test_readme_is_short() -> None:
    assert len(README.encode()) <= 9216


def test_the_rules_are_listed_by_family() -> None:
    """`python docs/refresh.py` writes the list."""
    listed = dict(re.findall(r"^- (ML\d{3}) (.+)$", section("README.md", "Rules"), re.MULTILINE))
    assert listed == {rule["code"]: rule["summary"] for rule in rules()}
    assert refresh.with_rules(README, load_rules()) == README


def test_the_rooms_are_described_as_they_describe_themselves() -> None:
    """`python docs/refresh.py` writes the table."""
    page = PAGES["design.md"]
    assert refresh.with_rooms(page) == page
    assert page.count("\n| `modellint/") >= 20


def test_links_and_pictures_hold_on_the_package_index() -> None:
    """They are absolute, and lead to pages that there are."""
    made = {"changelog", "contributing", "benchmarks", "rules/index"}
    for target in re.findall(r"\]\(([^)]+)\)", README):
        if target.startswith(f"{home.SITE}/"):
            page = target.removeprefix(f"{home.SITE}/")
            name = page.removesuffix(".html")
            assert (DOCS / page).is_file() or (DOCS / f"{name}.md").is_file() or name in made, target
        else:
            assert target.startswith(f"{home.REPOSITORY}/blob/main/"), target
            assert (ROOT / target.removeprefix(f"{home.REPOSITORY}/blob/main/")).is_file(), target


def test_every_code_exists() -> None:
    codes = {rule["code"] for rule in rules()}
    own_examples = {"ML999"}
    for page, text in PAGES.items():
        assert set(re.findall(r"\bML\d{3}\b", text)) <= codes | own_examples, page


def test_every_option_exists() -> None:
    commands = (
        "check",
        "config",
        "clean",
        "doctor",
        "explain",
        "index",
        "map",
        "merge",
        "probe",
        "reveal",
        "rules",
        "shapes",
    )
    known = set(re.findall(r"--[a-z][a-z-]+", "".join(modellint(command, "--help").stdout for command in commands)))
    for page in (
        "README.md",
        "terminal.md",
        "fixes.md",
        "map.md",
        "confirming.md",
        "pre-commit.md",
        "adopting.md",
        "ci.md",
        "many-machines.md",
    ):
        text = PAGES[page] if page != "README.md" else README.partition("```sh\n")[2].partition("```\n")[2]
        text = re.sub(r"--(?:from|spec) git\+\S+|--action_env", "", text)  # options of uvx, pipx and Bazel
        assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text)) <= known, page


def test_the_configuration_is_accepted(tmp_path: Path) -> None:
    example = blocks(PAGES["configuration.md"], "toml")[0]
    (tmp_path / "pyproject.toml").write_text(example, "utf-8")
    settings = settings_for([tmp_path])
    assert settings.ignore == ("ML302",)
    assert settings.per_file_ignores == (("tests/*", ("ML1",)),)
    assert settings.recipes == (("recipes/*/hparams/*.yaml", "train.py"),)


def test_the_settings_of_confirming_are_accepted(tmp_path: Path) -> None:
    (example,) = blocks(section("confirming.md", "Settings"), "toml")
    (tmp_path / "pyproject.toml").write_text(example, "utf-8")
    confirm = settings_for([tmp_path]).confirm
    assert confirm is not None
    assert [target for target, _ in confirm.targets] == ["my_package.model:Decoder"]
    assert sorted(cells[0].strip("`") for cells in rows(section("confirming.md", "Settings"))) == sorted(KEYS)


def test_the_rule_finds_what_it_says(tmp_path: Path) -> None:
    (rule,) = blocks(PAGES["your-first-rule.md"], "python")
    (tmp_path / "house_rules").mkdir()
    (tmp_path / "house_rules" / "own001_full_dropout.py").write_text(rule, "utf-8")
    (tmp_path / "modellint.toml").write_text('rule-paths = ["house_rules"]\nselect = ["OWN001"]\n', "utf-8")
    (tmp_path / "model.py").write_text(
        "import torch.nn as nn\n\n\ndef build(p):\n    return nn.Dropout(p), nn.Dropout(0.1), nn.Dropout(1.0)\n",
        "utf-8",
    )
    result = modellint("check", "model.py", "--no-cache", "--output-format", "json", cwd=tmp_path)
    assert result.returncode == 1, result.stderr
    found = json.loads(result.stdout)["findings"]
    assert [(finding["code"], finding["line"], finding["column"]) for finding in found] == [("OWN001", 5, 44)]


@pytest.mark.dear
def test_the_python_example_runs() -> None:
    (example,) = blocks(section("terminal.md", "Python API"), "python")
    result = subprocess.run([sys.executable, "-c", example], cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE)
    assert result.returncode == 0, result.stderr
    assert "ML103" in result.stdout


def test_the_project_moves_by_one_command() -> None:
    """`python docs/refresh.py REPOSITORY SITE`: no file keeps the old address, and nothing else says one."""
    repository, site = "https://git.example.org/lab/lint", "https://lint.example.org"
    files = refresh.files_with_addresses()
    assert sum(home.SITE in file.read_text("utf-8") for file in files) >= 4
    for file in files:
        text = refresh.moved(file.read_text("utf-8"), repository, site)
        assert "modellint/modellint" not in text, file
        assert "github.io" not in text, file
    page = refresh.moved(PAGES["ci.md"], repository, site)
    assert re.search(r"- uses: lab/lint@(?:v|main\b)", page)
    elsewhere = {ROOT / name for name in work_tree.names()} - {*files, ROOT / "tests/test_readme.py"}
    addresses = (home.REPOSITORY.encode(), home.SITE.encode())
    assert {path for path in elsewhere if any(address in path.read_bytes() for address in addresses)} == set()


def test_the_pages_name_this_version() -> None:
    """Before the first release there is no tag, so they name the branch."""
    named = r"(?:rev: |modellint@)(?:v\d+\.\d+\.\d+|main)\b"
    assert sum(re.search(named, text) is not None for text in PAGES.values()) >= 3
    assert {
        page
        for page, text in PAGES.items()
        if refresh.with_release(refresh.with_version(text, refresh.revision())) != text
    } == set()


def test_no_page_installs_from_an_index_that_lacks_modellint() -> None:
    if refresh.is_released():
        pytest.skip("modellint is on the index")
    installs = (
        r"pip install (?:-\S+ )*'?modellint(?!\[\w+\] @ git\+)|uvx modellint|pipx run modellint|rev: v\d|modellint@v\d"
    )
    assert {page: found for page, text in PAGES.items() if (found := re.findall(installs, text))} == {}
    assert "modellint is not on PyPI yet" in README


def test_a_release_installs_from_the_index(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refresh, "is_released", lambda: True)
    for text in PAGES.values():
        released = refresh.with_release(refresh.with_version(text, refresh.revision()))
        assert "git+" not in released
        assert "not on PyPI yet" not in released
        assert "<!-- until" not in released
    readme = refresh.with_release(README)
    for command in ("$ pip install modellint", "$ uvx modellint check", "$ pipx run modellint check"):
        assert f"{command}\n" in readme
    assert "$ pip install 'modellint[lsp]'\n" in refresh.with_release(PAGES["editors.md"])


def test_no_address_waits_to_be_filled_in() -> None:
    texts = [*PAGES.values(), (ROOT / "action.yml").read_text("utf-8"), (ROOT / "pyproject.toml").read_text("utf-8")]
    assert not any(re.search(r"\bOWNER\b", text) for text in texts)
