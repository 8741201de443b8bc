"""The exit code is 1 for findings and nothing else; what keeps modellint from its work is 2, and one line says what."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from conftest import Outcome
from effort import PATIENCE

from modellint.commands import checking
from modellint.config.errors import UsageError
from modellint.reading.sealed import documents_in, sealed
from modellint.results.outputs import deliver

if TYPE_CHECKING:
    from conftest import Workspace

posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX shells")
full = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
MODELLINT = f"{shlex.quote(sys.executable)} -m modellint"
NESTED = "[" * 100_000
COMMANDS = [
    "check clean.py",
    "check a.py",
    "check a.py --output-format json",
    "check a.py --show-files",
    "rules",
    "explain TST101",
    "map model.py::A",
    "merge report.json",
    "--help",
]
MODEL = "from torch import nn\n\n\nclass A(nn.Module):\n    def __init__(self):\n        self.a = nn.Linear(2, 2)\n"


@pytest.fixture
def project(words: Workspace) -> Workspace:
    """A project with and without findings."""
    words.write({"a.py": "a = WORD\n", "clean.py": "", "model.py": MODEL})
    words.run("check", "a.py", "--output-format", "json=report.json")
    return words


def shell(workspace: Workspace, command: str, **options: Any) -> Outcome:
    """What becomes of `modellint …` in a shell."""
    done = subprocess.run(
        ["sh", "-c", f"{MODELLINT} {command}"],
        cwd=workspace.root,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        **options,
    )
    return Outcome(done.returncode, done.stdout, done.stderr)


def without_rights() -> None:
    """Give up what lets root read everything, for this process and those that it becomes."""
    import ctypes

    if os.getuid() == 0:
        for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
            ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP


@pytest.mark.dear
@posix
@full
@pytest.mark.parametrize("command", COMMANDS)
def test_a_full_disk_is_2(project: Workspace, command: str) -> None:
    done = shell(project, f"{command} > /dev/full")
    assert (done.code, done.err) == (2, "Error: stdout cannot be written: No space left on device\n")


@pytest.mark.dear
@posix
@pytest.mark.parametrize("command", COMMANDS)
def test_a_stdout_that_is_closed_is_2(project: Workspace, command: str) -> None:
    done = shell(project, f"{command} >&-")
    assert (done.code, done.err) == (2, "Error: stdout cannot be written: Bad file descriptor\n")


@pytest.mark.dear
@posix
@pytest.mark.parametrize(("file", "code"), [("clean.py", 0), ("a.py", 1), ("nowhere.py", 2)])
def test_what_cannot_be_told_changes_no_exit_code(project: Workspace, file: str, code: int) -> None:
    for closed in ("2>&-", "2>/dev/full", "2>&- <&-"):
        done = shell(project, f"check {file} -v {closed}")
        assert (done.code, done.err) == (code, "")
    assert shell(project, f"check {file} >&- 2>&- <&-").code == 2


@posix
def test_a_report_in_a_file_needs_no_stdout(project: Workspace) -> None:
    assert shell(project, "check a.py --output-file found.txt >&- 2>&-").code == 1
    assert (project.root / "found.txt").read_text("utf-8").startswith("a.py:1:5: TST101")
    assert (project.root / "a.py").read_text() == "a = WORD\n"


@posix
def test_a_stdin_that_is_closed_is_2(project: Workspace) -> None:
    done = shell(project, "check - --stdin-filename a.py <&-")
    assert (done.code, done.out, done.err) == (2, "", "Error: stdin cannot be read: Bad file descriptor\n")


@pytest.mark.dear
@posix
@pytest.mark.parametrize(("command", "code"), [("check clean.py", 0), ("check a.py", 1), ("rules", 0), ("--help", 0)])
def test_a_reader_that_leaves_early_changes_no_exit_code(project: Workspace, command: str, code: int) -> None:
    """`| head -1`: a pipe that nobody reads, to which it writes more than fits into it."""
    project.write({"a.py": "a = WORD\n" * 3_000})
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "modellint", *command.split()],
        cwd=project.root,
        stdout=writer,
        stderr=subprocess.PIPE,
        timeout=PATIENCE,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (code, b"")


@pytest.mark.parametrize("file", ["clean.py", "a.py"])
@pytest.mark.parametrize("option", ["--output-file={}", "--output-format=sarif={}"])
@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("folder", "folder: Is a directory"),
        ("nowhere/report", "nowhere/report: No such file or directory"),
        ("a.py/report", "a.py/report: Not a directory"),
        pytest.param("full", "full: No space left on device", marks=full),
    ],
)
def test_a_report_that_cannot_be_written_is_2(
    project: Workspace, file: str, option: str, target: str, says: str
) -> None:
    (project.root / "folder").mkdir()
    (project.root / "full").symlink_to("/dev/full")
    result = project.run("check", file, option.format(target))
    name = option.partition("=")[0]
    assert (result.code, result.out, result.err) == (2, "", f"Error: {name}: {says}\n")
    assert sorted(path.name for path in (project.root / "folder").iterdir()) == []


@posix
def test_a_pipe_stays_one(project: Workspace) -> None:
    os.mkfifo(project.root / "pipe")
    done = shell(project, "check a.py --output-file pipe & cat pipe; wait $!")
    assert (done.code, done.out.splitlines()[0]) == (1, "a.py:1:5: TST101[warning] Found the word")
    assert (project.root / "pipe").is_fifo()
    assert shell(project, "check a.py --output-file /dev/fd/1 > found.txt").code == 1
    assert (project.root / "found.txt").read_text("utf-8").startswith("a.py:1:5: TST101")


@posix
def test_a_report_goes_where_a_link_leads(project: Workspace) -> None:
    (project.root / "link.txt").symlink_to("real.txt")
    assert project.run("check", "a.py", "--output-file", "link.txt").code == 1
    assert (project.root / "link.txt").is_symlink()
    assert (project.root / "real.txt").read_text().startswith("a.py:1:5: TST101")


def test_a_name_that_no_file_can_have_is_told() -> None:
    with pytest.raises(UsageError, match="embedded null byte"):
        deliver("text", Path("a\0b"))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["check", "--baseline", "deep.json"], "--baseline: deep.json: not valid JSON: nested too deeply; expected"),
        (["merge", "deep.json"], "deep.json: not valid JSON: nested too deeply; expected"),
        (["check", "--config", "deep.toml"], "deep.toml: not valid TOML: nested too deeply"),
        (["merge", "infinite.json"], "infinite.json: `files_checked` is not a number; expected"),
    ],
)
def test_documents_that_are_nested_deeply(project: Workspace, arguments: list[str], says: str) -> None:
    project.write(
        {
            "deep.json": NESTED,
            "deep.toml": f"select = {NESTED}",
            "infinite.json": '{"findings": [], "files_checked": 1e999, "duration_s": 0}',
        }
    )
    result = project.run(*arguments)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"Error: {says}")
    assert result.err.count("\n") == 1


def test_a_cache_and_a_model_folder_that_are_nested_deeply(project: Workspace) -> None:
    project.write({"config.json": NESTED, "hyperparams.yaml": "a: !new:torch.nn.ReLU\nmodules:\n  a: !ref <a>\n"})
    project.run("check", ".")
    (cache,) = (project.root / ".modellint_cache").glob("*.results")
    cache.write_bytes(sealed(NESTED.encode()))
    result = project.check(".")
    assert (result.code, result.lines[0]) == (1, "a.py:1:5: TST101[warning] Found the word")
    assert all(map(json.loads, documents_in(cache.read_bytes())))


@pytest.mark.parametrize("key", ["cache-dir", "baseline", "python", "rule-paths"])
@pytest.mark.parametrize("value", [r"a\u0000b", ""])
def test_settings_that_are_no_paths(project: Workspace, key: str, value: str) -> None:
    text = f'["{value}"]' if key == "rule-paths" else f'"{value}"'
    project.write({"modellint.toml": f"jobs = 1\n{key} = {text}\n"})
    result = project.run("check", "a.py")
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"Error: modellint.toml:2: `{key}` must be a path, not the string '")


def test_a_folder_for_the_cache_that_is_a_file(project: Workspace) -> None:
    project.write({"modellint.toml": 'jobs = 1\ncache-dir = "a.py"\n'})
    result = project.run("check", "a.py")
    assert (result.code, result.out) == (2, "")
    assert result.err == "Error: modellint.toml:2: `cache-dir` must be a folder, but `a.py` is a file\n"


@pytest.mark.parametrize("value", ["", "a\0b"])
@pytest.mark.parametrize(
    "option",
    ["", "--config", "--cache-dir", "--baseline", "--output-file", "--python", "--stdin-filename"],
    ids=lambda option: option or "PATHS",
)
def test_arguments_that_are_no_paths(project: Workspace, option: str, value: str) -> None:
    result = project.run("check", *filter(None, [option]), value)
    assert (result.code, result.out) == (2, "")
    assert f"{value!r} is not a path; expected that of a file or folder" in result.err


@pytest.mark.parametrize("value", ["", ",", " , "])
@pytest.mark.parametrize("option", ["--select", "--extend-select", "--ignore"])
def test_no_code_where_codes_are_expected(project: Workspace, option: str, value: str) -> None:
    result = project.run("check", "a.py", option, "TST1", option, value)
    assert (result.code, result.out) == (2, "")
    assert "no code is given; expected codes such as ML201" in result.err
    assert project.run("check", "clean.py", option, "TST101,").code == 0


@pytest.mark.parametrize("value", ["nan", "inf", "0", "-1", "1e7"])
def test_a_time_that_is_none(project: Workspace, value: str) -> None:
    for command in (["check", "--confirm", "a.py"], ["probe", "model.py::A"]):
        result = project.run(*command, "--timeout", value)
        assert (result.code, result.out) == (2, "")
        assert "Invalid value for '--timeout'" in result.err


@pytest.mark.parametrize("value", ["", "/"])
def test_a_pattern_for_nothing(project: Workspace, value: str) -> None:
    result = project.run("check", "a.py", "--exclude", value)
    assert (result.code, result.out) == (2, "")
    assert "the pattern is empty; expected one of names or paths" in result.err


@pytest.mark.parametrize("fix", ["--fix", "--fix-only", "--diff"])
@pytest.mark.parametrize("keep", ["--add-ignore=later", "--write-baseline"])
def test_findings_are_fixed_or_kept(project: Workspace, fix: str, keep: str) -> None:
    result = project.run("check", "a.py", "--baseline", "known.json", keep, fix)
    says = f"{fix} and {keep.partition('=')[0]} deal with the same findings; expected one of the two"
    assert (result.code, result.out, result.err) == (2, "", f"Error: {says}\n")
    assert not (project.root / "known.json").exists()
    assert (project.root / "a.py").read_text() == "a = WORD\n"


def test_findings_are_known_or_ignored(project: Workspace) -> None:
    result = project.run("check", "a.py", "--baseline", "known.json", "--write-baseline", "--add-ignore")
    assert result.code == 2
    assert "--write-baseline and --add-ignore deal with the same findings" in result.err


@pytest.mark.dear
@posix
@pytest.mark.parametrize("command", ["check", "check a.py", "map a.py::A", "explain TST101", "check ../a.py"])
def test_a_working_directory_that_is_gone(project: Workspace, command: str) -> None:
    done = shell(project, f"--version && mkdir gone && cd gone && rmdir ../gone && {MODELLINT} {command}")
    assert done.code == 2
    assert done.out.startswith("modellint ")
    says = "the working directory is gone: No such file or directory; expected to be started in a folder that exists"
    assert done.err.splitlines()[-1] == f"Error: {says}"
    assert "Traceback" not in done.err


def test_an_error_of_our_own_is_2_and_told_in_one_line(project: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RecursionError("too\ndeep")

    monkeypatch.setattr(checking, "_discover", fail)
    result = project.run("check", "a.py")
    assert (result.code, result.out, result.err) == (2, "", "Error: internal error: RecursionError: too deep\n")
    told = project.run("check", "a.py", "--verbose").err
    assert told.startswith("Error: internal error: RecursionError: too deep\nTraceback ")
    assert "in fail" in told


@pytest.mark.dear
@pytest.mark.skipif(sys.platform != "linux", reason="root may read everything")
@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("check locked/a.py", "locked/a.py: cannot be read: Permission denied"),
        ("check secret.py", "secret.py: cannot be read: Permission denied"),
        ("check locked", "locked: the folder cannot be listed: Permission denied"),
        ("check .", "locked: the folder cannot be listed: Permission denied"),
        ("check clean.py --baseline locked/known.json", "--baseline: locked/known.json: Permission denied"),
        ("check clean.py --config locked/modellint.toml", "locked/modellint.toml: no such configuration file"),
        ("map locked/a.py::A", "locked/a.py: no such file or folder"),
        ("check clean.py --output-file locked/report", "--output-file: locked/report: Permission denied"),
    ],
)
def test_a_folder_that_cannot_be_read(project: Workspace, command: str, says: str) -> None:
    project.write({"locked/a.py": "", "clean.py": "", "modellint.toml": "", "a.py": "", "secret.py": ""})
    (project.root / "locked").chmod(0)
    (project.root / "secret.py").chmod(0)
    done = shell(project, command, preexec_fn=without_rights)
    assert done.code == (1 if command == "check ." else 2)
    told = "Warning" if command == "check ." else "Error"
    assert done.err.splitlines() == [f"{told}: {says}"]
