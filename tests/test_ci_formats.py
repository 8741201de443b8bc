"""Formats that other programs read: SARIF, GitLab, JUnit, reviewdog, pylint; and several of them in one run."""

from __future__ import annotations

import json
import re
import subprocess
from os import environ
from typing import TYPE_CHECKING, Any

import junitparser
import pytest
import sarif_pydantic

from modellint.config import OUTPUT_FORMATS
from modellint.home import SITE

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Workspace

SWAPPED = """\
from torch import nn


class Text(nn.Module):
    def __init__(self, vocab_size, width):
        super().__init__()
        self.é, self.table = None, nn.Embedding(width, vocab_size)
        self.norm = nn.LayerNorm(width)

    def forward(self, ids):
        return self.norm(self.table(ids))
"""


def sarif(workspace: Workspace, *arguments: str) -> Any:
    """The SARIF document of a run, which a reader of its own has understood."""
    document = workspace.run("check", "--output-format", "sarif", *arguments).json
    sarif_pydantic.Sarif.model_validate(document)
    return document


def test_sarif_holds_rules_places_reasons_and_fingerprints(words: Workspace) -> None:
    words.write({"a b.py": "ä = WORD\n", "c.py": "x = WORD  # severity=error\n"})
    (run,) = sarif(words)["runs"]
    driver = run["tool"]["driver"]
    assert [rule["id"] for rule in driver["rules"]] == ["TST101"]
    assert driver["rules"][0]["shortDescription"]["text"] == "Flags a word."
    assert run["columnKind"] == "unicodeCodePoints"
    first, second = run["results"]
    assert first["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "a%20b.py", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 1, "startColumn": 5, "endLine": 1, "endColumn": 9},
    }
    assert [first["level"], second["level"]] == ["warning", "error"]
    assert first["message"]["text"] == "Found the word\n- it is written there\nhelp: Use another word"
    assert first["relatedLocations"][0]["message"]["text"] == "seen from here"
    assert len({result["partialFingerprints"]["modellint/v1"] for result in run["results"]}) == 2
    root = run["originalUriBaseIds"]["%SRCROOT%"]["uri"]
    assert root == words.root.as_uri() + "/"


def test_sarif_holds_fixes(workspace: Workspace) -> None:
    workspace.write({"model.py": SWAPPED})
    (result,) = sarif(workspace)["runs"][0]["results"]
    (fix,) = result["fixes"]
    (change,) = fix["artifactChanges"]
    assert change["artifactLocation"]["uri"] == "model.py"
    lines = SWAPPED.splitlines()
    for replacement in sorted(change["replacements"], key=lambda r: -r["deletedRegion"]["startColumn"]):
        region = replacement["deletedRegion"]
        line = lines[region["startLine"] - 1]
        text = replacement["insertedContent"]["text"]
        lines[region["startLine"] - 1] = line[: region["startColumn"] - 1] + text + line[region["endColumn"] - 1 :]
    assert lines[6].endswith("nn.Embedding(vocab_size, width)")


def test_sarif_stays_within_what_code_scanning_accepts(words: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("modellint.reporters.sarif.MAX_RESULTS", 2)
    words.write({"a.py": "a = WORD\nb = WORD  # severity=error\nc = WORD\n"})
    (run,) = sarif(words)["runs"]
    assert [result["properties"]["symbol"] for result in run["results"]] == ["b", "a"]
    (note,) = run["invocations"][0]["toolExecutionNotifications"]
    assert note["message"]["text"] == "1 more findings are left out of this file"


def test_sarif_tells_of_internal_errors(words: Workspace) -> None:
    words.write({"a.py": "CRASH = WORD\n"})
    (run,) = sarif(words)["runs"]
    assert run["invocations"][0]["executionSuccessful"] is False
    assert "TST101" in run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"]


def test_sarif_names_files_elsewhere_by_their_whole_name(words: Workspace) -> None:
    words.write({"a.py": "a = WORD\n", "sub/b.py": "b = 1\n"})
    with words.inside("sub"):
        (result,) = sarif(words, "..")["runs"][0]["results"]
    artifact = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert artifact == {"uri": (words.root / "a.py").as_uri()}


@pytest.mark.skipif(
    "MODELLINT_SARIF_MULTITOOL" not in environ,
    reason="set MODELLINT_SARIF_MULTITOOL to the program of the npm package @microsoft/sarif-multitool-linux",
)
def test_sarif_passes_the_validator(workspace: Workspace) -> None:
    workspace.write({"model.py": SWAPPED})
    workspace.run("check", "--output-format", "sarif=report.sarif")
    command = [environ["MODELLINT_SARIF_MULTITOOL"], "validate", "report.sarif", "--rule-kind", "Sarif;Ghas"]
    settings = {**environ, "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT": "1"}
    said = subprocess.run(command, capture_output=True, text=True, env=settings, cwd=workspace.root, check=False).stdout
    assert "Analysis completed successfully" in said
    assert ": error " not in said


def test_gitlab_issues_are_as_code_quality_reads_them(words: Workspace) -> None:
    words.write({"sub/a.py": "ä = WORD\nb = WORD\n"})
    first, second = words.run("check", "--output-format", "gitlab").json
    assert first.pop("fingerprint") != second.pop("fingerprint")
    assert first == {
        "type": "issue",
        "check_name": "TST101",
        "description": "TST101: Found the word",
        "content": {"body": "Found the word\n- it is written there\nhelp: Use another word"},
        "categories": ["Bug Risk"],
        "severity": "major",
        "location": {
            "path": "sub/a.py",
            "positions": {"begin": {"line": 1, "column": 5}, "end": {"line": 1, "column": 9}},
        },
    }


def test_junit_has_a_failed_case_for_each_finding(words: Workspace) -> None:
    words.write({"a.py": "a = WORD\nb = WORD\n", "b<&>.py": "c = WORD  # \x0c\n", "c.py": "x = 1\n"})
    report = words.run("check", "--output-format", "junit")
    suites = junitparser.JUnitXml.fromstring(report.out.encode())
    assert [(suite.name, suite.tests, suite.failures) for suite in suites] == [("a.py", 2, 2), ("b<&>.py", 1, 1)]
    (case,) = list(suites)[1]
    assert case.name == "TST101 c (1:5)"
    assert case.result[0].message == "Found the word"
    assert case.result[0].text.startswith("b<&>.py:1:5: TST101 Found the word\n- it is written there")


def test_junit_has_a_passed_case_where_nothing_is_found(words: Workspace) -> None:
    words.write({"a.py": "x = 1\n"})
    suites = junitparser.JUnitXml.fromstring(words.run("check", "--output-format", "junit").out.encode())
    assert [(case.name, case.result) for suite in suites for case in suite] == [("No findings", [])]


def test_rdjson_counts_bytes_and_suggests_fixes(workspace: Workspace) -> None:
    workspace.write({"model.py": SWAPPED})
    document = workspace.run("check", "--output-format", "rdjson").json
    (diagnostic,) = document["diagnostics"]
    assert document["source"] == {"name": "modellint"}
    code = {"value": "ML101", "url": f"{SITE}/rules/ml101.html"}
    assert (diagnostic["code"], diagnostic["severity"]) == (code, "ERROR")
    start = diagnostic["location"]["range"]["start"]
    line = SWAPPED.splitlines()[start["line"] - 1].encode()
    assert line[start["column"] - 1 :].startswith(b"nn.Embedding(")
    replaced = [
        line[suggestion["range"]["start"]["column"] - 1 : suggestion["range"]["end"]["column"] - 1].decode()
        for suggestion in diagnostic["suggestions"]
    ]
    assert sorted(replaced) == ["vocab_size", "width"]


def test_pylint_lines_can_be_parsed(words: Workspace) -> None:
    words.write({"a.py": "a = WORD\n"})
    assert words.run("check", "--output-format", "pylint").lines == ["a.py:1: [TST101(word), a] Found the word"]


def test_markdown_escapes_markup_and_links_to_pages(workspace: Workspace) -> None:
    workspace.write({"a.py": "import torch\n\n\ndef f(x):\n    return torch.softmax(torch.zeros(2, 3, 4))\n"})
    workspace.write({"a|b.py": SWAPPED})
    lines = workspace.run("check", "--output-format", "markdown").lines
    assert lines[0] == "### modellint"
    rows = [line for line in lines if line.startswith("| :")]
    assert len(rows) == int(lines[2].partition(" ")[0])
    assert any("`a\\|b.py:" in row for row in rows)
    assert all(re.match(r"\| :\w+: \| \[ML\d+\]\(https://", row) for row in rows)


def test_several_formats_in_one_run(words: Workspace) -> None:
    words.write({"a.py": "a = WORD\n"})
    result = words.run("check", "--output-format", "sarif=report.sarif", "--output-format", "concise", "a.py")
    assert result.lines == ["a.py:1:5: TST101[warning] Found the word", "Found 1 finding (1 warning)"]
    assert json.loads((words.root / "report.sarif").read_text())["version"] == "2.1.0"
    result = words.run("check", "--output-format", "json=r.json", "--output-format", "junit", "--output-file", "r.xml")
    assert (result.code, result.out) == (1, "")
    assert {path.name for path in words.root.glob("r.*")} == {"r.json", "r.xml"}
    result = words.run("check", "--output-format", "pylint", "--output-format", "pylint", "a.py")
    assert result.lines == ["a.py:1: [TST101(word), a] Found the word"]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--output-format", "sarfi"], "no format is called `sarfi`; did you mean `sarif`?"),
        (["--output-format", "sarif="], "`sarif=` names no file; expected `sarif=FILE`"),
        (["--output-format", "json=x", "--output-format", "sarif=./x"], "two formats would be written to"),
        (
            ["--output-format", "json", "--output-format", "sarif=x", "--output-format", "full"],
            "--output-format: `json` and `full` would both be written to stdout; expected one of them, or a file",
        ),
        (
            ["--output-format", "json", "--output-format", "full", "--output-file", "y"],
            "--output-format: `json` and `full` would both be written to y; expected",
        ),
        (["--output-format", "json=x", "--output-file", "y"], "--output-file: every format has a file of its own"),
        (["--output-format", "json=no/such/folder/x"], "no/such/folder/x: No such file or directory"),
    ],
)
def test_wrong_outputs_are_refused(words: Workspace, arguments: list[str], expected: str) -> None:
    words.write({"a.py": "a = WORD\n"})
    result = words.run("check", *arguments)
    assert (result.code, result.out) == (2, "")
    assert expected in result.err
    assert not (words.root / "x").exists()


@pytest.mark.parametrize("output_format", OUTPUT_FORMATS)
def test_every_format_can_say_that_there_is_nothing(words: Workspace, output_format: str) -> None:
    words.write({"a.py": "x = 1\n"})
    result = words.run("check", "--output-format", output_format)
    assert (result.code, result.err) == (0, "")


def test_a_report_is_written_whole_or_not_at_all(words: Workspace, tmp_path: Path) -> None:
    words.write({"a.py": "a = WORD\n", "report.sarif": "the one before"})
    (words.root / "blocked").mkdir()
    result = words.run("check", "--output-format", "sarif=blocked")
    assert result.code == 2
    assert (words.root / "report.sarif").read_text() == "the one before"
