"""Code that is there already: baselines, what changed since a revision, and reports that are joined."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from conftest import Workspace

BASELINE = ("--baseline", "known.json")


def write_baseline(words: Workspace, *arguments: str) -> str:
    result = words.run("check", *BASELINE, "--write-baseline", *arguments)
    assert (result.code, result.out) == (0, "")
    return result.err


def git(words: Workspace, *arguments: str) -> str:
    identity = ["-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *identity, *arguments], cwd=words.root, capture_output=True, text=True, check=True)
    return done.stdout


def codes_and_lines(words: Workspace, *arguments: str) -> list[tuple[str, int]]:
    return [(path, line) for path, line, _ in words.places(*arguments)]


def test_a_baseline_hides_what_it_holds_and_nothing_else(words: Workspace) -> None:
    words.write({"a.py": "a = WORD\n", "sub/b.py": "b = WORD\nb = WORD\n"})
    assert write_baseline(words) == "known.json: 3 findings, 0 before\n"
    assert words.check(*BASELINE).lines[-2:] == ["All checks passed!", "3 findings hidden by the baseline"]
    words.write({"a.py": "x = 1\n\n\na = WORD\n", "sub/b.py": "b = WORD\nb = WORD\nb = WORD\nc = WORD\n"})
    assert codes_and_lines(words, *BASELINE) == [("sub/b.py", 3), ("sub/b.py", 4)]


def test_a_baseline_is_stable_text(words: Workspace) -> None:
    words.write({"b.py": "b = WORD\n", "a.py": "a = WORD\n"})
    write_baseline(words)
    first = (words.root / "known.json").read_text()
    write_baseline(words)
    assert (words.root / "known.json").read_text() == first
    document = json.loads(first)
    assert document["version"] == 1
    assert [entry["path"] for entry in document["findings"]] == ["a.py", "b.py"]
    assert document["findings"][0].keys() == {"fingerprint", "code", "path", "symbol", "message"}


def test_repaired_findings_are_stale(words: Workspace) -> None:
    words.write({"a.py": "a = WORD\n", "b.py": "b = WORD\n"})
    write_baseline(words)
    words.write({"a.py": "a = 1\n"})
    result = words.check(*BASELINE)
    assert result.code == 0
    assert "baseline: no longer found: a.py: TST101 a\n" in result.err
    assert "`--write-baseline` brings it up to date" in result.err
    assert words.check(*BASELINE, "--quiet").err == ""
    assert write_baseline(words) == "known.json: 1 findings, 2 before\n"


def test_what_was_not_looked_for_is_not_stale(words: Workspace) -> None:
    words.write({"a.py": "a = WORD\n", "b.py": "b = WORD\n"})
    write_baseline(words)
    assert words.check(*BASELINE, "a.py").err == ""
    assert words.check(*BASELINE, "--select", "ML").err == ""
    assert write_baseline(words, "a.py") == "known.json: 2 findings, 2 before\n"


def test_a_finding_in_another_file_is_written_once(words: Workspace) -> None:
    words.write({"links.py": "# link: linked.yaml\n", "linked.yaml": "k: WORD\n"})
    assert write_baseline(words, "links.py") == "known.json: 1 findings, 0 before\n"
    assert write_baseline(words, "links.py") == "known.json: 1 findings, 1 before\n"


def test_a_renamed_file_keeps_its_findings(words: Workspace) -> None:
    words.write({"old.py": "a = WORD\nb = WORD\n"})
    write_baseline(words)
    (words.root / "old.py").rename(words.root / "new.py")
    words.write({"new.py": "a = WORD\nb = WORD\nc = WORD\n"})
    assert codes_and_lines(words, *BASELINE) == [("new.py", 3)]
    assert words.check(*BASELINE).err.startswith("baseline: new.py is taken for old.py, which is gone\n")


def test_a_copy_is_no_rename(words: Workspace) -> None:
    words.write({"old.py": "a = WORD\n"})
    write_baseline(words)
    words.write({"new.py": "a = WORD\n"})
    assert codes_and_lines(words, *BASELINE) == [("new.py", 1)]


def test_the_baseline_may_stand_in_the_settings(words: Workspace) -> None:
    words.write({"sub/a.py": "a = WORD\n"})
    settings = words.root / "modellint.toml"
    settings.write_text('baseline = "known.json"\n' + settings.read_text())
    assert words.run("check", "--write-baseline").code == 0
    with words.inside("sub"):
        assert words.check().code == 0


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (None, " No such file or directory; `--write-baseline` makes one"),
        ("{", "1:2: not valid JSON: Expecting property name"),
        ("[]", " expected an object with a list `findings`"),
        ('{"version": 7, "findings": []}', " version 7; expected 1"),
        ('{"version": 1, "findings": [{"code": "TST101"}]}', " finding 1: expected an object with the strings"),
    ],
)
def test_a_baseline_that_is_none_is_refused(words: Workspace, content: str | None, expected: str) -> None:
    words.write({"a.py": "a = WORD\n"})
    if content is not None:
        words.write({"known.json": content})
    result = words.check(*BASELINE)
    assert result.code == 2
    assert f"known.json:{expected}" in result.err
    assert words.run("check", "--write-baseline").code == 2


@pytest.fixture
def repository(words: Workspace) -> Workspace:
    """A repository with three files that hold the word, one of which is linked from a fourth."""
    words.write(
        {
            "a.py": "a = WORD\n",
            "b.py": "b = WORD\n",
            "linked.yaml": "k: WORD\n",
            "links.py": "# link: linked.yaml\n",
            ".gitignore": ".modellint_cache\n",
        }
    )
    git(words, "init", "-q")
    git(words, "add", "-A")
    git(words, "commit", "-qm", "first")
    return words


@pytest.mark.parametrize("cache", [(), ("--no-cache",)], ids=["cache", "no cache"])
def test_changed_since_shows_changed_files_and_what_rests_on_them(
    repository: Workspace, cache: tuple[str, ...]
) -> None:
    since = ("--changed-since", "HEAD", *cache)
    assert repository.places(*since) == []
    repository.write({"a.py": "\na = WORD\n", "sub/new.py": "n = WORD\n"})
    assert codes_and_lines(repository, *since) == [("a.py", 2), ("sub/new.py", 1)]
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "second")
    assert repository.places(*since) == []
    assert len(repository.places("--changed-since", "HEAD~1", *cache)) == 2
    repository.write({"linked.yaml": "x: 1\nk: WORD\n"})
    assert codes_and_lines(repository, *since) == [("linked.yaml", 2)]


@pytest.mark.parametrize("output_format", ["full", "json"])
def test_changed_since_says_that_nothing_has_changed(repository: Workspace, output_format: str) -> None:
    def said(*arguments: str) -> tuple[int, str, str]:
        result = repository.run("check", "--changed-since", "HEAD", "--output-format", output_format, *arguments)
        return result.code, result.out, result.err

    code, out, err = said()
    assert (code, err) == (
        0,
        "nothing has changed since `HEAD` in these files or in what they rest on: none was checked\n",
    )
    assert "in another folder" not in out
    assert said("--quiet")[2] == ""
    repository.write({"a.py": "\na = WORD\n"})
    assert said("b.py")[2] == err
    assert said("a.py")[::2] == (1, "")


def test_changed_since_sees_a_file_that_is_gone(repository: Workspace) -> None:
    repository.write({"links.py": "# link: linked.yaml\nw = WORD\n"})
    git(repository, "commit", "-qam", "second")
    (repository.root / "linked.yaml").unlink()
    assert codes_and_lines(repository, "--changed-since", "HEAD") == [("links.py", 2)]


def test_changed_since_counts_from_where_the_branches_parted(repository: Workspace) -> None:
    git(repository, "branch", "-q", "-M", "main")
    git(repository, "checkout", "-qb", "topic")
    repository.write({"a.py": "\na = WORD\n"})
    git(repository, "commit", "-qam", "on the branch")
    git(repository, "checkout", "-q", "main")
    repository.write({"b.py": "\nb = WORD\n"})
    git(repository, "commit", "-qam", "on main")
    git(repository, "checkout", "-q", "topic")
    assert codes_and_lines(repository, "--changed-since", "main") == [("a.py", 2)]


@pytest.mark.parametrize("revision", ["nowhere", "-x", ""])
def test_an_unknown_revision_is_refused(repository: Workspace, revision: str) -> None:
    result = repository.check("--changed-since", revision)
    assert result.code == 2
    assert result.err.splitlines()[-1].startswith("Error: --changed-since: ")


def test_changed_since_needs_a_repository(words: Workspace) -> None:
    words.write({"a.py": "a = WORD\n"})
    result = words.check("--changed-since", "HEAD")
    assert result.code == 2
    assert "not a git repository" in result.err


def document(words: Workspace, *arguments: str) -> Any:
    return words.run(*arguments, "--output-format", "json").json


def test_reports_of_runs_join_to_one(words: Workspace) -> None:
    words.write({"a/x.py": "a = WORD\n", "b/x.py": "b = WORD\n"})
    for name in "ab":
        words.run("check", name, "--output-format", f"json={name}.json")
    whole, joined = document(words, "check"), document(words, "merge", "a.json", "b.json")
    assert joined["findings"] == whole["findings"]
    result = words.run("merge", "a.json", "b.json", "--output-format", "sarif=all.sarif", "--output-format", "full")
    assert result.code == 1
    assert result.lines[-1] == "Found 2 findings (2 warnings)"
    (run,) = json.loads((words.root / "all.sarif").read_text())["runs"]
    assert run["tool"]["driver"]["rules"][0]["shortDescription"]["text"] == "Flags a word."
    assert words.run("merge", "a.json", "--fail-on", "error").code == 0


def test_fixes_survive_a_merge(workspace: Workspace) -> None:
    workspace.write(
        {
            "model.py": "from torch import nn\n\n\nclass Text(nn.Module):\n"
            "    def __init__(self, vocab_size, width):\n        super().__init__()\n"
            "        self.table = nn.Embedding(width, vocab_size)\n        self.norm = nn.LayerNorm(width)\n\n"
            "    def forward(self, ids):\n        return self.norm(self.table(ids))\n"
        }
    )
    workspace.run("check", "--output-format", "json=one.json")
    whole = document(workspace, "check")["findings"]
    assert whole[0]["fix"]["edits"]
    assert document(workspace, "merge", "one.json")["findings"] == whole


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (None, " No such file or directory"),
        ("[", "1:2: not valid JSON: Expecting value; expected what"),
        ('{"version": "0"}', " no list `findings`; expected what `--output-format json` writes"),
        ('{"findings": []}', " `files_checked` is not a number"),
        ('{"findings": [{"code": 1}], "files_checked": 1, "duration_s": 1}', " finding 1 is not as"),
    ],
)
def test_a_report_that_is_none_is_refused(workspace: Workspace, content: str | None, expected: str) -> None:
    if content is not None:
        workspace.write({"r.json": content})
    result = workspace.run("merge", "r.json")
    assert result.code == 2
    assert f"r.json:{expected}" in result.err
