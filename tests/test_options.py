"""Options and settings that users of other linters know, and what is said where one is not understood."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Workspace

MODEL = """\
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(4, 4)]
        self.scale = torch.ones(4)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x * self.scale
"""
TRIAL = """\
from modellint.finding import Confidence, Severity
from modellint.rule import Rule
from modellint.source import Place, Span


class Trial(Rule):
    '''Finds each module.'''

    code = "TRY001"
    name = "any-module"
    severity = Severity.WARNING
    preview = True

    def check_python(self, module, project):
        place = Place(module.source.path.as_posix(), Span(1, 1, 1, 2))
        yield self.finding(place, "A module", symbol="x", confidence=Confidence.HIGH)
"""


@pytest.fixture
def model(workspace: Workspace) -> Workspace:
    """A project with a file that has two findings, each with a fix: ML204 a safe one, ML205 too."""
    workspace.write({"model.py": MODEL})
    return workspace


def codes(workspace: Workspace, *arguments: str) -> list[str]:
    return [code for _, _, code in workspace.places(*arguments)]


def test_only_fixable_rules_are_fixed(model: Workspace) -> None:
    assert codes(model) == ["ML204", "ML205"]
    assert codes(model, "--fix", "--fixable", "ML204") == ["ML205"]
    assert "nn.ModuleList" in (model.root / "model.py").read_text()


def test_an_unfixable_rule_is_shown_without_a_fix(model: Workspace) -> None:
    result = model.run("check", "--fix", "--unfixable", "ML20", "--fixable", "ML205", "--output-format", "json").json
    assert [(finding["code"], finding["fix"]) for finding in result["findings"]] == [("ML204", None)]


def test_the_longest_code_decides_what_is_fixable(model: Workspace) -> None:
    model.write({"modellint.toml": 'fixable = ["ML205"]\nunfixable = ["ML"]\nfix = true\n'})
    assert codes(model) == ["ML204"]


def test_options_about_fixes_replace_what_is_set(model: Workspace) -> None:
    model.write({"modellint.toml": 'unfixable = ["ALL"]\n'})
    assert codes(model, "--fix") == ["ML204", "ML205"]
    assert codes(model, "--fix", "--fixable", "ML205") == ["ML204"]


def test_more_can_be_fixable_than_is_set(model: Workspace) -> None:
    model.write({"modellint.toml": 'fixable = ["ML1"]\nextend-fixable = ["ML205"]\n'})
    assert codes(model, "--fix") == ["ML204"]
    assert codes(model, "--fix", "--extend-fixable", "ML204") == []
    model.write({"model.py": MODEL})
    assert codes(model, "--fix", "--fixable", "ML204") == ["ML205"]


def test_a_run_that_fixed_something_can_fail(model: Workspace) -> None:
    assert model.run("check", "--fix", "--exit-non-zero-on-fix").code == 1
    assert model.run("check", "--fix", "--exit-non-zero-on-fix").code == 0
    model.write({"model.py": MODEL})
    assert model.run("check", "--fix-only", "--exit-non-zero-on-fix").code == 1
    model.write({"model.py": MODEL})
    assert model.run("check", "--fix", "--exit-non-zero-on-fix", "--exit-zero").code == 0


@pytest.mark.parametrize("option", ["--show-ignored", "--ignore-noqa"])
def test_what_comments_silence_can_be_shown(option: str, model: Workspace) -> None:
    lines = MODEL.splitlines()
    lines[7] += "  # modellint: ignore[ML204]  known"
    lines[8] += "  # noqa: ML205"
    model.write({"model.py": "\n".join(lines) + "\n", "all.py": f"# modellint: ignore-file\n{MODEL}"})
    assert codes(model) == []
    assert codes(model, option) == ["ML204", "ML205"] * 2
    assert codes(model) == []


def test_no_fix_does_without_what_the_settings_want(model: Workspace) -> None:
    model.write({"modellint.toml": "fix = true\nshow-fixes = true\n"})
    assert codes(model, "--no-fix") == ["ML204", "ML205"]
    assert (model.root / "model.py").read_text() == MODEL
    result = model.check()
    assert result.code == 0
    assert result.err == "- model.py:\n    1 x ML204 (layers-in-plain-container)\n    1 x ML205 (tensor-not-buffer)\n"


def test_fixes_that_are_set_wait_where_findings_are_written_down(model: Workspace) -> None:
    model.write({"modellint.toml": "fix = true\n"})
    assert model.run("check", "--add-ignore", "known").code == 0
    assert "# modellint: ignore[ML204]  known" in (model.root / "model.py").read_text()
    assert "ModuleList" not in (model.root / "model.py").read_text()


def test_what_is_fixed_is_listed_by_file_and_rule(model: Workspace) -> None:
    model.write({"sub/other.py": MODEL})
    listed = "- {}:\n    1 x ML204 (layers-in-plain-container)\n    1 x ML205 (tensor-not-buffer)\n"
    result = model.run("check", "--fix", "--show-fixes")
    assert result.err == listed.format("model.py") + listed.format("sub/other.py")
    assert "show" not in model.run("check", "--fix").err


def test_severities_are_set_by_rule(model: Workspace) -> None:
    model.write({"modellint.toml": '[severity]\nML2 = "info"\nML205 = "error"\n'})
    assert [line.split(" ")[1] for line in model.check().lines[:2]] == ["ML204[info]", "ML205[error]"]
    assert model.check("--ignore", "ML205").code == 0


def test_a_severity_that_is_set_holds_for_what_the_cache_knows(model: Workspace) -> None:
    assert model.check("--ignore", "ML205").code == 1
    model.write({"modellint.toml": '[severity]\nML204 = "info"\n'})
    assert model.check("--ignore", "ML205").code == 0


def test_rules_are_left_out_by_file_on_the_command_line(model: Workspace) -> None:
    model.write({"tests/a.py": MODEL, "modellint.toml": '[per-file-ignores]\n"model.py" = ["ML205"]\n'})
    assert model.places("--extend-per-file-ignores", "tests/*:ML204,ML205") == [("model.py", 8, "ML204")]
    found = model.places("--per-file-ignores", "tests/*:ML2,model.py:ML204")
    assert found == [("model.py", 9, "ML205")]


def test_both_tables_of_files_hold(model: Workspace) -> None:
    tables = '[per-file-ignores]\n"*.py" = ["ML205"]\n[extend-per-file-ignores]\n"model.py" = ["ML204"]\n'
    model.write({"modellint.toml": tables})
    assert codes(model) == []


def test_a_rule_on_trial_runs_with_preview_only(workspace: Workspace) -> None:
    workspace.write({"house/trial.py": TRIAL, "a.py": "x = 1\n"})
    workspace.write({"modellint.toml": 'rule-paths = ["house"]\nexclude = ["house"]\n'})
    assert codes(workspace) == []
    assert codes(workspace, "--select", "TRY") == []
    assert codes(workspace, "--preview") == ["TRY001"]
    result = workspace.run("check", "--select", "TRY001")
    assert (result.code, result.out) == (2, "")
    assert result.err == ("Error: --select: TRY001 is on trial; expected `--preview`, or `preview = true`, with it\n")
    workspace.write({"modellint.toml": 'rule-paths = ["house"]\nexclude = ["house"]\npreview = true\n'})
    assert codes(workspace) == ["TRY001"]
    assert codes(workspace, "--no-preview") == []
    assert "on trial" in workspace.run("explain", "TRY001").out
    assert "on trial" in next(line for line in workspace.run("rules").lines if line.startswith("TRY001"))


def test_a_rule_on_trial_may_have_to_be_named(workspace: Workspace) -> None:
    settings = 'rule-paths = ["house"]\nexclude = ["house"]\npreview = true\nexplicit-preview-rules = true\n'
    workspace.write({"house/trial.py": TRIAL, "a.py": "x = 1\n", "modellint.toml": settings})
    assert codes(workspace) == []
    assert codes(workspace, "--select", "TRY") == []
    assert codes(workspace, "--select", "TRY001") == ["TRY001"]
    assert codes(workspace, "--extend-select", "TRY001") == ["TRY001"]
    assert codes(workspace, "--extend-select", "TRY001", "--ignore", "TRY001") == []


def test_settings_go_on_top_of_those_that_they_extend(model: Workspace) -> None:
    shared = 'select = ["ML204"]\nignore = ["ML1"]\nextend-exclude = ["gen"]\nfail-on = "error"\n'
    model.write({"shared.toml": f'{shared}[severity]\nML204 = "warning"\n', "sub/gen/a.py": MODEL, "sub/a.py": MODEL})
    model.write({"sub/pyproject.toml": '[tool.modellint]\nextend = "../shared.toml"\n'})
    assert model.places("sub") == [("sub/a.py", 8, "ML204")]
    assert model.check("sub").code == 0
    model.write({"sub/modellint.toml": 'extend = "pyproject.toml"\nextend-select = ["ML205"]\nfail-on = "warning"\n'})
    assert [code for _, _, code in model.places("sub")] == ["ML204", "ML205"]
    assert model.check("sub").code == 1
    model.write({"sub/modellint.toml": 'extend = "pyproject.toml"\nselect = ["ML205"]\nexclude = []\n'})
    assert model.places("sub") == [("sub/a.py", 9, "ML205")]


def test_settings_are_given_on_the_command_line(model: Workspace) -> None:
    model.write({"modellint.toml": 'ignore = ["ML205"]\n', "other.toml": 'select = ["ML2"]\n'})
    assert model.check("--config", 'severity = { ML204 = "info" }').code == 0
    assert codes(model, "--config", "other.toml", "--config", 'exclude = ["model.py"]') == []
    assert codes(model, "--config", "other.toml", "--config", 'ignore = ["ML204"]') == ["ML205"]
    assert codes(model, "--isolated", "--config", 'fail-on="error"', "--config", 'ignore=["ML204"]') == ["ML205"]
    assert codes(model, "--config", 'select = ["ML204"]', "--select", "ML205") == ["ML205"]


def test_what_is_wrong_in_settings_that_are_extended_is_said_where_it_is(model: Workspace) -> None:
    model.write({"shared.toml": '# shared\nselect = ["ML9"]\n', "modellint.toml": 'extend = "shared.toml"\n'})
    assert model.check().err.startswith("Error: shared.toml:2: `select`: no rule has the code `ML9`")
    model.write({"shared.toml": 'extend = "modellint.toml"\n'})
    assert model.check().err == "Error: shared.toml:1: `extend`: modellint.toml extends itself\n"


def test_what_is_excluded_is_left_out_by_name_if_that_is_forced(model: Workspace) -> None:
    model.write({"gen/a.py": MODEL, "modellint.toml": 'extend-exclude = ["gen"]\n'})
    assert len(model.places("gen/a.py")) == 2
    assert model.places("--force-exclude", "gen/a.py", "model.py", "--select", "ML204") == [("model.py", 8, "ML204")]
    assert model.places("--force-exclude", "gen") == []
    model.write({"modellint.toml": 'extend-exclude = ["gen"]\nforce-exclude = true\n'})
    assert model.places("gen/a.py") == []
    assert len(model.places("--no-force-exclude", "gen/a.py")) == 2


def test_only_what_is_included_is_looked_at_in_folders(model: Workspace) -> None:
    model.write({"src/a.py": MODEL, "modellint.toml": 'include = ["src/**/*.py"]\nselect = ["ML204"]\n'})
    assert model.places() == [("src/a.py", 8, "ML204")]
    assert model.places("model.py") == [("model.py", 8, "ML204")]
    model.write({"modellint.toml": 'include = ["src/**/*.py"]\nextend-include = ["model.py"]\nselect = ["ML204"]\n'})
    assert model.places() == [("model.py", 8, "ML204"), ("src/a.py", 8, "ML204")]


def test_options_may_stand_in_the_environment(model: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODELLINT_OUTPUT_FORMAT", "json=report.json concise")
    monkeypatch.setenv("MODELLINT_CACHE_DIR", "kept")
    result = model.run("check", "-e")
    assert (result.code, result.lines[0].split(" ")[:2]) == (0, ["model.py:8:9:", "ML204[error]"])
    assert (model.root / "report.json").exists()
    assert (model.root / "kept").is_dir()
    monkeypatch.setenv("MODELLINT_NO_CACHE", "1")
    monkeypatch.setenv("MODELLINT_CACHE_DIR", "none")
    monkeypatch.setenv("MODELLINT_OUTPUT_FILE", "report.txt")
    assert (model.check().out, (model.root / "none").exists()) == ("", False)
    assert "ML204" in (model.root / "report.txt").read_text()


def test_the_caches_are_removed_and_nothing_else(model: Workspace) -> None:
    model.write({"modellint.toml": 'cache-dir = "remembered"\n', ".modellint_cache/mine.txt": "x", "sub/b.py": ""})
    assert model.check().code == 1
    model.write({"sub/modellint.toml": ""})
    assert model.check("sub/b.py").code == 0
    result = model.run("clean")
    assert (result.code, result.lines) == (0, ["removed remembered", "removed sub/.modellint_cache"])
    assert not (model.root / "remembered").exists()
    assert (model.root / ".modellint_cache/mine.txt").exists()
    assert model.run("clean").out == ""


def test_a_cache_with_something_else_in_it_stays_as_a_folder(model: Workspace) -> None:
    model.check()
    model.write({".modellint_cache/mine.txt": "x"})
    assert model.run("clean").code == 0
    assert [file.name for file in (model.root / ".modellint_cache").iterdir()] == ["mine.txt"]


def test_settings_are_described(workspace: Workspace) -> None:
    listed = workspace.run("config").lines
    assert {"select", "force-exclude", "severity"} <= set(listed)
    said = workspace.run("config", "max-file-size").out
    assert "a whole number from 1 up or a string" in said
    assert "Default: 2000000" in said
    assert workspace.run("config", "preview", "--output-format", "json").json["default"] is False
    assert set(workspace.run("config", "--output-format", "json").json) == set(listed)


@pytest.mark.parametrize(
    "key", ["select", "severity", "per-file-ignores", "recipes", "confirm", "include", "extend-fixable"]
)
def test_the_example_of_a_setting_is_accepted(key: str, workspace: Workspace) -> None:
    said = workspace.run("config", key).out
    workspace.write({"pyproject.toml": said[said.index("[tool.modellint]") :], "a.py": ""})
    assert workspace.run("check", "--extend-select", "ML", "--show-settings").code == 0


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("chek",), "no command is called `chek`; did you mean `check`?"),
        (("model.py",), "no command is called `model.py`; did you mean `modellint check model.py`?"),
        (("version",), "no command is called `version`; did you mean `modellint --version`?"),
        (("help", "check"), "no command is called `help`; did you mean `modellint --help`?"),
        (("frobnicate",), "no command is called `frobnicate`; expected one of check, merge,"),
        (("rules", "nwe"), "no command is called `nwe`; did you mean `new`?"),
        (("check", "--slect", "ML2"), "no option is called `--slect`; did you mean `--select`?"),
        (("check", "--nofix"), "no option is called `--nofix`; did you mean `--no-fix`?"),
        (("map", "model.py::Model", "--format", "json"), "no option is called `--format`; did you mean `--output-fo"),
        (("--fix",), "no option is called `--fix`; did you mean `modellint check --fix`?"),
        (("--no-fix", "a.py"), "no option is called `--no-fix`; did you mean `modellint check --no-fix`?"),
        (("-e", "a.py"), "no option is called `-e`; did you mean `modellint check -e`?"),
        (("rules", "--output", "x"), "no option is called `--output`; did you mean `--output-format`?"),
        (("--versoin",), "no option is called `--versoin`; did you mean `--version`?"),
        (("check", "--zzz"), "no option is called `--zzz`; `modellint check --help` lists them"),
        (("explain",), "missing argument 'CODE'; `modellint explain --help` shows what is expected"),
        (("explain", "layer-omited-from-modules"), "no rule has the code `layer-omited-from-modules`; did you mean"),
        (("rule", "ML2O1"), "no rule has the code `ML2O1`; did you mean `ML2"),
        (("check", "--select", "ids-exceed-table"), "--select: no rule has the code `ids-exceed-table`; did you"),
        (("check", "--select", "ml204"), "--select: no rule has the code `ml204`; did you mean `ML204`?"),
        (("check", "--unfixable", "ML999"), "--unfixable: no rule has the code `ML999`; `modellint rules` lists"),
        (("explain", "ML999"), "no rule has the code `ML999`; `modellint rules` lists the codes"),
        (("check", "--ignore", "E501"), "--ignore: no rule has the code `E501`; `modellint rules` lists the codes"),
        (("check", "--select", "ML024"), "--select: no rule has the code `ML024`; did you mean `ML204`?"),
        (("check", "--select", "ML24"), "--select: no rule has the code `ML24`; did you mean `ML2"),
        (("check", "--per-file-ignores", "ML2"), "Invalid value for '--per-file-ignores': 'ML2' names no pattern"),
        (("check", "--per-file-ignores", "a.py:ML9"), "--per-file-ignores: no rule has the code `ML9`"),
        (("check", "--output-format", "jsn"), "--output-format: no format is called `jsn`; did you mean `json`?"),
        (("check", "nowhere"), "nowhere: no such file or folder"),
        (("clean", "nowhere"), "nowhere: no such folder"),
        (("config", "slect"), "no key of the settings is called `slect`; did you mean `select`?"),
        (("check", "--no-fix", "--fix-only"), "--fix-only makes fixes, and --no-fix none; expected one of the two"),
        (("check", "--config", "fail-on=oops"), "--config: 'fail-on=oops' is neither a file nor a setting; expected a"),
        (("check", "--config", "fail-on=3"), "--config: `fail-on` must be one of 'info', 'warning', 'error', not the"),
        (("check", "--config", "fail=3"), "--config: unknown key `fail`; did you mean `fail-on`?"),
        (("check", "--config", 'extend="a"'), "--config: `extend` leads from file to file; expected it in a conf"),
        (("check", "--config", "nowhere.toml"), "nowhere.toml: no such configuration file"),
        (("check", "--config", "a.toml", "--config", "b.toml"), "Invalid value for '--config': a.toml and b.toml are"),
        (("check", "--config", ""), "Invalid value for '--config': '' is not a path; expected that of"),
        (("check", "--cache-dir", "model.py"), "Invalid value for '--cache-dir': Directory 'model.py' is a file"),
        (("check", "--exit-non-zero-on-fix"), "--exit-non-zero-on-fix is about fixes that are made; expected --fix or"),
        (("check", "--add-ignore", "one\ntwo"), "--add-ignore: the reason 'one\\ntwo' does not fit into a comment"),
        (("check", "--add-ignore", "one\rtwo"), "--add-ignore: the reason 'one\\rtwo' does not fit into a comment"),
        (("check", "--jobs", "0"), "Invalid value for '--jobs' / '-j': 0 is not in the range x>=1"),
    ],
)  # fmt: skip
def test_what_is_not_understood_is_said_in_a_line(arguments: tuple[str, ...], error: str, model: Workspace) -> None:
    result = model.run(*arguments)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"Error: {error}")
    assert result.err.count("\n") == 1
    assert (model.root / "model.py").read_text() == MODEL


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ("fix = 1", "modellint.toml:1: `fix` must be true or false, not the number 1"),
        ('preview = "yes"', "modellint.toml:1: `preview` must be true or false, not the string 'yes'"),
        ('[severity]\nML1 = "eror"', "modellint.toml:1: `severity` must be a table from a code to one of 'info',"),
        ('severity = "error"', "modellint.toml:1: `severity` must be a table, not the string 'error'"),
        ('[severity]\nML9 = "error"', "modellint.toml:1: `severity`: no rule has the code `ML9`"),
        ('fixable = ["X"]', "modellint.toml:1: `fixable`: no rule has the code `X`"),
        ('include = "*.py"', "modellint.toml:1: `include` must be a list of strings, not the string '*.py'"),
        ('extend = "nowhere.toml"', "modellint.toml:1: `extend`: nowhere.toml: no such configuration file"),
        ("extend = 3", "modellint.toml:1: `extend` must be a string, not the number 3"),
        ('explicit-preview-rules = "no"', "modellint.toml:1: `explicit-preview-rules` must be true or false, not the"),
        ("select = [3]", "modellint.toml:1: `select` must be a list of strings, not the number 3"),
        ("recipes = { a = 1 }", "modellint.toml:1: `recipes` must be a table from a recipe (or a pattern) to its "
            "script, not the number 1"),
        ("[per-file-ignores]\na = 3", "modellint.toml:1: `per-file-ignores` must be a table from a pattern to a list "
            "of codes, not the number 3"),
        ("[per-file-ignores]\na = [3]", "modellint.toml:1: `per-file-ignores` must be a table from a pattern to a list "
            "of codes, not the number 3"),
        ('baseline = "none.json"', "modellint.toml:1: `baseline`: none.json: No such file or directory; `--write-base"),
        ('force-exclud = true', "modellint.toml:1: unknown key `force-exclud`; did you mean `force-exclude`?"),
        ('[extend-per-file-ignores]\n"a" = "ML1"', "modellint.toml:1: `extend-per-file-ignores` must be a table"),
    ],
)  # fmt: skip
def test_a_setting_of_the_wrong_kind_is_said_in_a_line(settings: str, error: str, model: Workspace) -> None:
    model.write({"modellint.toml": settings})
    result = model.run("check")
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"Error: {error}")
    assert result.err.count("\n") == 1


def test_rule_is_another_name_of_explain(workspace: Workspace) -> None:
    assert workspace.run("rule", "ML201").out == workspace.run("explain", "ML201").out


def test_help_lists_options_by_what_they_are_about(workspace: Workspace) -> None:
    titles = [line for line in workspace.run("check", "--help").lines if line.endswith(":") and line[:1].isupper()]
    assert titles[:5] == ["Rules:", "Files:", "Fixes:", "Output:", "Existing projects:"]
    assert "Inspect models:" in workspace.run("--help").lines


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="there are no pseudo-terminals here")
@pytest.mark.parametrize(("columns", "shown"), [(80, f"[{'#' * 15}{'.' * 15}] 1/2 files"), (20, "[###....] 1/2 files")])
def test_a_bar_fits_into_its_terminal(columns: int, shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import fcntl
    import struct
    import termios

    from modellint.commands.progress import Progress

    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    monkeypatch.setattr(Progress, "_DELAY", 0.0)
    with os.fdopen(theirs, "w") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        Progress().update(1, 2)
        assert os.read(ours, 4096).decode() == f"\r{shown}\x1b[K"
    os.close(ours)
