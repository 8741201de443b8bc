"""What README says exists, and what it shows is what comes out."""

from __future__ import annotations

import dataclasses
import json
import re
import subprocess
import sys
from pathlib import Path

from modellint.config import Settings, settings_for
from modellint.config.confirming import KEYS

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")
#: What README says of the future need not exist.
PRESENT = README.partition("\n## Planned\n")[0]


def modellint(*arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "modellint", *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, encoding="utf-8", timeout=120)


def section(title: str) -> str:
    """The text under a heading, up to the next one of the same rank or above."""
    match = re.search(rf"^(#+) {re.escape(title)}$", README, re.MULTILINE)
    assert match, f"README has no section {title!r}"
    end = re.search(rf"^#{{1,{len(match[1])}}} ", README[match.end() :], re.MULTILINE)
    return README[match.end() :][: end.start() if end else None]


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


def test_the_shown_output_is_what_comes_out() -> None:
    shown = blocks(section("What it finds"), "text")
    outputs = [
        modellint("check", "examples", "--no-cache", "--color", "never", "--output-format", style).stdout
        for style in ("concise", "full")
    ]
    assert shown, "README shows no output"
    for block in shown:
        assert any(block.strip("\n") in output for output in outputs)


def test_the_rule_table_lists_every_rule() -> None:
    table = []
    for link, name, severity, summary in rows(section("Rules")):
        code, file = link.strip("[)").split("](")
        assert (ROOT / file / "__init__.py").is_file()
        table.append((code, name.strip("`"), severity, summary))
    assert table == [(rule["code"], rule["name"], rule["severity"], rule["summary"]) for rule in rules()]


def test_every_code_exists() -> None:
    codes = {rule["code"] for rule in rules()}
    own_examples = {"ML999"}
    assert set(re.findall(r"\bML\d{3}\b", PRESENT)) <= codes | own_examples


def test_every_option_exists() -> None:
    helps = "".join(modellint(command, "--help").stdout for command in ("check", "explain", "rules"))
    known = set(re.findall(r"--[a-z][a-z-]+", helps))
    lines = [line for line in PRESENT.splitlines() if "planned" not in line]
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", "\n".join(lines))) <= known


def test_every_setting_is_described() -> None:
    described = [cells[0].strip("`") for cells in rows(section("Configuration"))]
    names = {field.name.replace("_", "-") for field in dataclasses.fields(Settings)} - {"root", "source", "origins"}
    assert sorted(described) == sorted(names)


def test_the_configuration_is_accepted(tmp_path: Path) -> None:
    (example,) = blocks(section("Configuration"), "toml")
    (tmp_path / "pyproject.toml").write_text(example, "utf-8")
    settings = settings_for([tmp_path])
    assert settings.ignore == ("ML302",)
    assert settings.per_file_ignores == (("tests/*", ("ML1",)),)
    assert settings.recipes == (("recipes/*/hparams/*.yaml", "train.py"),)


def test_the_settings_of_confirming_are_accepted(tmp_path: Path) -> None:
    (example,) = blocks(section("Confirming findings"), "toml")
    (tmp_path / "pyproject.toml").write_text(example, "utf-8")
    confirm = settings_for([tmp_path]).confirm
    assert confirm is not None
    assert [target for target, _ in confirm.targets] == ["my_package.model:Decoder"]
    assert sorted(cells[0].strip("`") for cells in rows(section("Confirming findings"))) == sorted(KEYS)


def test_the_rule_finds_what_it_says(tmp_path: Path) -> None:
    (rule,) = blocks(section("Writing a rule"), "python")
    (tmp_path / "house_rules").mkdir()
    (tmp_path / "house_rules" / "ml999_dropout_of_everything.py").write_text(rule, "utf-8")
    (tmp_path / "modellint.toml").write_text('rule-paths = ["house_rules"]\nselect = ["ML999"]\n', "utf-8")
    (tmp_path / "model.py").write_text(
        "import torch.nn as nn\n\n\ndef build(p):\n    return nn.Dropout(p), nn.Dropout(0.1), nn.Dropout(1.0)\n",
        "utf-8",
    )
    result = modellint("check", "model.py", "--no-cache", "--output-format", "json", cwd=tmp_path)
    assert result.returncode == 1, result.stderr
    found = json.loads(result.stdout)["findings"]
    assert [(finding["code"], finding["line"], finding["column"]) for finding in found] == [("ML999", 5, 44)]


def test_the_python_example_runs() -> None:
    (example,) = blocks(section("From Python"), "python")
    result = subprocess.run([sys.executable, "-c", example], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    assert "ML103" in result.stdout
