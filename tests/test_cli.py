"""The command line: flags, exit codes and what is printed where."""

from __future__ import annotations

import io
import json
import multiprocessing
import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import modellint
from modellint.config.errors import UsageError
from modellint.linter import InternalError

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Workspace


def test_nothing_found_is_0(words: Workspace) -> None:
    words.write({"a.py": "x = 1\n"})
    result = words.check(".")
    assert (result.code, result.lines[-1], result.err) == (0, "All checks passed!", "")


def test_findings_are_1_and_sorted_by_place(words: Workspace) -> None:
    words.write({"b.py": "b = WORD\n", "a.py": "\na1 = WORD\n" + "\n" * 8 + "a2 = WORD\n"})
    result = words.check(".")
    assert result.code == 1
    assert result.lines == [
        "a.py:2:6: TST101[warning] Found the word",
        "a.py:11:6: TST101[warning] Found the word",
        "b.py:1:5: TST101[warning] Found the word",
        "Found 3 findings (3 warnings)",
    ]


def test_without_paths_the_working_directory_is_checked(words: Workspace) -> None:
    words.write({"deep/er/a.py": "a = WORD\n"})
    assert words.places() == [("deep/er/a.py", 1, "TST101")]


def test_a_path_that_does_not_exist_is_wrong_usage(words: Workspace) -> None:
    result = words.check("nowhere")
    assert result.code == 2
    assert "nowhere: no such file or folder" in result.err
    assert result.out == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ["check", "--no-such-flag"],
        ["check", "--output-format", "xml"],
        ["check", "--jobs", "0"],
        ["check", "--stdin-filename", "a.py"],
        ["check", "-"],
        ["check", "--python", "nowhere/python"],
        ["check", "--config", "nowhere.toml"],
        ["explain"],
        ["nothing"],
    ],
)
def test_wrong_usage_is_2(words: Workspace, arguments: list[str]) -> None:
    result = words.run(*arguments)
    assert result.code == 2
    assert result.out == ""
    assert "Error: " in result.err


@pytest.mark.parametrize(
    ("fail_on", "severity", "code"),
    [
        ("error", "error", 1),
        ("error", "warning", 0),
        ("warning", "warning", 1),
        ("warning", "info", 0),
        ("info", "info", 1),
    ],
)
def test_fail_on_decides_which_severity_fails(words: Workspace, fail_on: str, severity: str, code: int) -> None:
    words.write({"a.py": f"a = WORD  # severity={severity}\n"})
    result = words.check("a.py", "--fail-on", fail_on)
    assert result.code == code
    assert f"TST101[{severity}]" in result.out


def test_exit_zero_hides_findings_from_the_exit_code_only(words: Workspace) -> None:
    words.write({"a.py": "a = WORD\n"})
    result = words.check("a.py", "--exit-zero")
    assert result.code == 0
    assert "TST101" in result.out


def test_low_confidence_is_shown_on_request(words: Workspace) -> None:
    words.write({"a.py": "a = WORD  # LOW\n"})
    assert words.places("a.py") == []
    assert words.places("a.py", "--min-confidence", "low") == [("a.py", 1, "TST101")]


def test_select_ignore_and_extend_select(words: Workspace) -> None:
    words.write({"a.py": "a = WORD\nb = 1  # modellint: ignore[TST101]\n"})
    found = [("a.py", 1, "TST101"), ("a.py", 2, "ML002")]
    assert words.places("a.py") == found
    assert words.places("a.py", "--select", "TST") == found[:1]
    assert words.places("a.py", "--select", "ML001") == []
    assert words.places("a.py", "--select", "ML001", "--extend-select", "TST101") == found[:1]
    assert words.places("a.py", "--ignore", "TST,ML002") == []
    assert words.places("a.py", "--select", "ALL", "--ignore", "ML0") == found[:1]
    assert words.places("a.py", "--select", "ML001", "--select", "TST101") == found[:1]
    assert words.places("a.py", "--ignore", "TST101", "--ignore", "ML0") == []


def test_an_unknown_code_is_refused_with_the_nearest(words: Workspace) -> None:
    result = words.check("--select", "TST102")
    assert result.code == 2
    assert "--select: no rule has the code `TST102`; did you mean `TST101`?" in result.err


def test_a_broken_rule_does_not_stop_the_others(words: Workspace) -> None:
    words.write({"a.py": "a = WORD\n", "b.py": "b = WORD  # CRASH\n", "c.py": "c = WORD\n"})
    result = words.check(".")
    assert result.code == 2
    assert [line.partition(":")[0] for line in result.lines[:2]] == ["a.py", "c.py"]
    assert result.err == "internal error in TST101 on b.py: RuntimeError: the rule is broken\n"
    assert "Traceback" in words.check(".", "--verbose").err


BUSY_RULE = """
from time import process_time

from modellint.finding import Severity
from modellint.rule import Rule


class Busy(Rule):
    code = "TST102"
    name = "busy"
    severity = Severity.INFO

    def check_python(self, module, project):
        end = process_time() + 0.05
        while process_time() < end:
            pass
        return iter(())
"""


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_verbose_tells_which_rule_took_how_long(words: Workspace, jobs: str) -> None:
    words.write({"rules/busy.py": BUSY_RULE, "a.py": "WORD = 1\n", "b.py": "WORD = 2\n", "c.py": "x = 1\n"})
    told = words.check("--verbose", "--jobs", jobs).err.splitlines()
    assert told[1] == "processor seconds (what several rules ask is paid by the first that asks):"
    times = {part.strip(): float(seconds) for seconds, part in (line.strip().split(" ", 1) for line in told[2:])}
    assert next(iter(times)) == "TST102"  # the dearest first
    assert times["TST102"] >= 0.1  # of two files, each of which takes 0.05
    assert words.check("--verbose").err.count("\n") == 1, "all of them are in the cache"


def test_a_broken_rule_has_its_time_told(words: Workspace) -> None:
    words.write({"rules/busy.py": BUSY_RULE.replace("return iter(())", "raise RuntimeError"), "a.py": "WORD = 1\n"})
    assert re.search(r"^ +0\.\d\d  TST102$", words.check("--verbose", "--no-cache").err, re.MULTILINE)


def test_a_broken_rule_is_not_remembered_as_silence(words: Workspace) -> None:
    words.write({"b.py": "b = WORD  # CRASH\n"})
    assert [words.check(".").code for _ in range(2)] == [2, 2]


def test_quiet_prints_findings_only(words: Workspace) -> None:
    words.write({"a.py": "a = WORD\n", "b.py": "x = 1\n"})
    assert words.check("a.py", "--quiet").lines == ["a.py:1:5: TST101[warning] Found the word"]
    assert words.check("b.py", "--quiet").out == ""


def test_statistics_count_by_rule(words: Workspace) -> None:
    words.write({"a.py": "a = WORD\nb = WORD\nc = 1  # modellint: ignore\n"})
    result = words.check("a.py", "--statistics")
    assert result.code == 1
    assert result.lines[:3] == [
        "count  code    name                severity  fixable",
        "    2  TST101  word                warning",
        "    1  ML002   unused-suppression  warning",
    ]
    assert result.lines[3].startswith("1 file checked: no layer class, no recipe and no configuration; built-in")
    assert result.lines[4:] == ["Found 3 findings (3 warnings)"]
    as_json = words.run("check", "a.py", "--statistics", "--output-format", "json").json
    assert [(row["code"], row["count"], row["fixable"]) for row in as_json] == [("TST101", 2, 0), ("ML002", 1, 0)]


def test_output_file_receives_the_findings(words: Workspace) -> None:
    words.write({"a.py": "a = WORD\n"})
    result = words.run("check", "a.py", "--output-format", "json", "--output-file", "report.json")
    assert (result.code, result.out) == (1, "")
    assert len(json.loads((words.root / "report.json").read_text())["findings"]) == 1
    assert words.run("check", "a.py", "--output-file", "no/such/folder/x").code == 2


def test_stdin_is_checked_under_the_name_it_is_given(words: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    words.write({"a.py": "x = 1\n"})
    stdin = io.TextIOWrapper(io.BytesIO(b"# link: b.yaml\na = WORD\n"))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert words.places("-", "--stdin-filename", "a.py") == [("a.py", 2, "TST101")]
    assert words.places("a.py") == []


def test_show_files_lists_what_would_be_checked(words: Workspace) -> None:
    words.write({"a.py": "", "sub/b.yaml": "", "c.txt": "", "rules/d.py": ""})
    assert words.run("check", "--show-files").lines == ["a.py", "sub/b.yaml"]


def test_show_settings_names_the_configuration_in_use(words: Workspace) -> None:
    result = words.run("check", "--show-settings", "--min-confidence", "high", "--ignore", "ML")
    assert result.code == 0
    assert f"configuration = {(words.root / 'modellint.toml').as_posix()}" in result.lines
    assert "min-confidence = high" in result.lines
    assert "rules = [TST101]" in result.lines


def test_other_named_files_are_left_out_with_a_word(words: Workspace) -> None:
    words.write({"notes.txt": "WORD"})
    result = words.check("notes.txt")
    assert result.code == 0
    assert "notes.txt is neither Python, YAML nor a notebook: skipped" in result.err


def test_colours_follow_the_flag_and_the_environment(words: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    words.write({"a.py": "a = WORD\n"})
    escape = "\x1b["
    assert escape not in words.check("a.py").out
    assert escape in words.check("a.py", "--color", "always").out
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert escape in words.check("a.py").out
    assert escape not in words.check("a.py", "--color", "never").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert escape not in words.check("a.py").out


def test_output_is_the_same_whatever_the_number_of_jobs(words: Workspace) -> None:
    names = [f"pkg{i % 7}/m{i}.py" for i in range(60)]
    words.write({name: f"# link: m{i}.yaml\nx{i} = WORD\n" for i, name in enumerate(names)})
    words.write({"pkg1/m1.yaml": "a: WORD\n", "pkg1/m8.yaml": "a: !new:b.C  # WORD\n"})
    outputs = {words.check(".", "--no-cache", "--jobs", str(jobs)).out for jobs in (1, 2, 5)}
    assert len(outputs) == 1
    assert outputs.pop().endswith("Found 62 findings (62 warnings)\n")


def test_workers_that_are_spawned_find_the_same(words: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on macOS and Windows; elsewhere they are forked."""
    names = [f"m{number}.py" for number in range(60)]
    words.write({name: f"# link: m{number}.yaml\nx = WORD\n" for number, name in enumerate(names)})
    forked = words.check(".", "--no-cache", "--jobs", "2").out
    get_context, methods = multiprocessing.get_context, []

    def spawning(method: str) -> multiprocessing.context.BaseContext:
        methods.append(method)
        return get_context("spawn")

    monkeypatch.setattr(multiprocessing, "get_context", spawning)
    assert words.check(".", "--no-cache", "--jobs", "2").out == forked
    assert methods
    assert forked.endswith("Found 60 findings (60 warnings)\n")


def test_explain_shows_the_page_of_a_rule(workspace: Workspace) -> None:
    text = workspace.run("explain", "ML001").out
    assert text.startswith("# ML001 unreadable-file\n")
    assert "## Why is this bad" in text
    assert "An unclosed parenthesis" in text
    assert workspace.run("explain", "ml001").out == workspace.run("explain", "unreadable-file").out == text
    assert "```python\n" in workspace.run("explain", "ML001", "--output-format", "markdown").out
    page = workspace.run("explain", "ML001", "--output-format", "json").json
    assert (page["code"], page["severity"]) == ("ML001", "error")
    assert page["bad"][0]["files"].keys() == {"model.py"}


def test_explain_shows_a_bad_and_a_good_example_and_how_to_see_the_others(workspace: Workspace) -> None:
    text = workspace.run("explain", "ML001").out
    page = workspace.run("explain", "ML001", "--output-format", "json").json
    bad, good = ([example["title"] for example in page[kind]] for kind in ("bad", "good"))
    number = len(bad) + len(good) - 2
    assert text.endswith(f"\n{number} more examples: `modellint explain ML001 --all-examples`\n")
    assert [title for title in (*bad, *good) if f"\n{title}:\n" in text] == [bad[0], good[0]]
    whole = workspace.run("explain", "ML001", "--all-examples").out
    markdown = workspace.run("explain", "ML001", "--output-format", "markdown").out
    for page in (whole, markdown):
        assert all(f"\n{title}:\n" in page for title in (*bad, *good))
        assert "--all-examples" not in page


def test_explain_knows_the_rules_of_the_project(words: Workspace) -> None:
    assert "Flags a word." in words.run("explain", "TST101").out


def test_explain_names_the_nearest_code(workspace: Workspace) -> None:
    result = workspace.run("explain", "ML0001")
    assert result.code == 2
    assert "no rule has the code `ML0001`; did you mean `ML001`?" in result.err


def test_rules_lists_every_rule(words: Workspace) -> None:
    lines = words.run("rules").lines
    assert lines[0].split() == ["ML001", "unreadable-file", "error"]
    assert lines[-1].split() == ["TST101", "word", "warning"]
    listed = words.run("rules", "--output-format", "json").json
    assert [rule["code"] for rule in listed] == sorted(line.split()[0] for line in lines)


def test_help_tells_exit_codes_and_shell_completion(workspace: Workspace) -> None:
    assert "Exit codes" in workspace.run("check", "--help").out
    assert "_MODELLINT_COMPLETE=zsh_source" in workspace.run("--help").out
    assert workspace.run("--version").out == f"modellint {modellint.__version__}\n"


def test_rule_codes_complete_in_the_shell(tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "_MODELLINT_COMPLETE": "bash_complete",
        "COMP_WORDS": "modellint explain ML00",
        "COMP_CWORD": "2",
    }
    command = [sys.executable, "-c", "from modellint.__main__ import main; main()"]
    result = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.stdout.split() == ["plain,ML001", "plain,ML002"]


def test_a_reader_that_has_seen_enough_is_no_error(words: Workspace) -> None:
    words.write({"a.py": "a = WORD\n" * 3_000})
    command = f"{sys.executable} -m modellint check a.py | head -n 1"
    result = subprocess.run(command, shell=True, cwd=words.root, capture_output=True, text=True, check=False)
    assert result.stdout.startswith("a.py:1:5: TST101")
    assert result.stderr == ""


def test_the_api_returns_findings(words: Workspace) -> None:
    words.write({"a.py": "a = WORD\n"})
    (finding,) = modellint.check(["a.py"])
    assert (finding.code, finding.span.line, finding.symbol) == ("TST101", 1, "a")
    assert finding.path == (words.root / "a.py").as_posix()
    assert modellint.check(["a.py"], ignore=["TST101"]) == []
    assert modellint.check([words.root / "a.py"], isolated=True, min_confidence="low") == []


def test_the_api_raises_what_the_command_line_reports(words: Workspace) -> None:
    words.write({"b.py": "b = WORD  # CRASH\n"})
    with pytest.raises(InternalError, match="internal error in TST101"):
        modellint.check(["b.py"])
    with pytest.raises(UsageError, match="no such file"):
        modellint.check(["nowhere.py"])
    with pytest.raises(UsageError, match="no setting is called `selct`; did you mean `select`"):
        modellint.check(["b.py"], selct=["ML001"])
