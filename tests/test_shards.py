"""Shards of a run: how files are shared, and that their reports add up to the report of the run."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
import sarif_pydantic
from notebook.books import notebook

from modellint.confirm.confirmer import Wishes
from modellint.finding import Confidence, Judged, Sandbox, Status, Verdict
from modellint.pipeline.shards import shard_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from conftest import Workspace

    from modellint.finding import Finding

#: Lines of a file, of which a link leads to findings in another file.
LINES = (
    "a = WORD",
    "b = WORD  # LOW",
    "c = WORD  # severity=error",
    "d = WORD  # modellint: ignore[TST101]",
    "e = 1  # modellint: ignore[TST101]",
    "f = WORD  # modellint: ignore",
    "# link: {other}",
)
#: Whole files of other kinds.
ODD = ("g = WORD\nCRASH\n", "print 'h'\n", "i = (\n", f"j = '{'x' * 400}'\n")
FOLDERS = ("", "a/", "a/b/", "c/", "c/d/")
FORMATS = ("json", "sarif")
#: The part of a report that is about the machine, and not kept.
KNOWN = "; built-in facts about torch 2.13.0 and speechbrain 1.1.2"


def random_tree(random: Random) -> dict[str, str]:
    names = [f"{random.choice(FOLDERS)}{letter}.{random.choice(('py', 'yaml'))}" for letter in "klmnopqrst"]
    files = {}
    for name in names:
        up = "../" * name.count("/")
        lines = [random.choice(LINES).format(other=up + random.choice(names)) for _ in range(random.randrange(4))]
        files[name] = "".join(f"{line if name.endswith('.py') else line.replace(' = ', ': ')}\n" for line in lines)
    files["a/odd.py"] = random.choice(ODD)
    files["c/book.ipynb"] = notebook("n = WORD\n", "o = WORD  # modellint: ignore[TST101]\n")
    return files


def write_reports(workspace: Workspace, count: int, *arguments: str) -> dict[str, list[str]]:
    """Write the reports of all shards, and give their names by format."""
    for number in range(1, count + 1):
        formats = [f"--output-format={kind}={number}.{kind}" for kind in FORMATS]
        workspace.run("check", f"--shard={number}/{count}", *formats, "--no-cache", *arguments)
    return {kind: [f"{number}.{kind}" for number in range(1, count + 1)] for kind in FORMATS}


def without_duration(document: Any) -> Any:
    return {key: value for key, value in document.items() if key != "duration_s"}


def assert_adds_up(workspace: Workspace, count: int, *arguments: str) -> Any:
    """Assert that shards make the report of the run, and give that in JSON."""
    expected = {
        kind: workspace.run("check", "--output-format", kind, "--no-cache", *arguments)
        for kind in (*FORMATS, "concise")
    }
    names = write_reports(workspace, count, *arguments)
    for reports in (names["json"], names["sarif"][::-1], [*names["sarif"][:1], *names["json"][1:]]):
        for kind, whole in expected.items():
            merged = workspace.run("merge", *reports, "--output-format", kind)
            assert merged.code == whole.code
            if kind == "concise":
                assert merged.out == whole.out.replace(KNOWN, "")
            else:
                assert without_duration(merged.json) == without_duration(whole.json)
    return expected["json"].json


@pytest.mark.parametrize("seed", range(8))
def test_reports_of_shards_add_up_to_the_report_of_the_run(words: Workspace, seed: int) -> None:
    random = Random(seed)
    words.write(random_tree(random))
    settings = (
        (),
        ("--min-confidence", "low"),
        ("--show-ignored",),
        ("--per-file-ignores", "c/*:TST101"),
        ("--max-file-size", "300"),
        ("--exclude", "a"),
        ("--config", 'severity = {TST = "info"}'),
    )
    assert_adds_up(words, random.choice((1, 2, 3, 7)), *settings[seed % len(settings)])


def test_a_comment_that_another_shard_needs_is_used(words: Workspace) -> None:
    """Neither the finding nor a finding about its comment is reported, though the one shard sees half of it."""
    words.write({"a.yaml": "k: WORD  # modellint: ignore[TST101]\n", "b/b.py": "# link: ../a.yaml\n"})
    assert "ML002" in words.check("a.yaml").out
    assert assert_adds_up(words, 2)["findings"] == []


def test_a_comment_in_a_file_that_no_shard_checks_counts(words: Workspace) -> None:
    words.write({"a/a.py": "# link: ../shared.yaml\n", "shared.yaml": "k: WORD  # modellint: ignore[TST101]\n"})
    assert assert_adds_up(words, 2, "a")["findings"] == []
    (words.root / "shared.yaml").unlink()
    assert words.run("merge", "1.json", "2.json", "--output-format", "json").json["findings"] == []


def test_a_comment_in_an_unreadable_file_is_not_judged(words: Workspace) -> None:
    words.write({"a.py": "x = 1  # modellint: ignore[TST101]\ny = (\n"})
    assert [finding["code"] for finding in assert_adds_up(words, 2)["findings"]] == ["ML001"]


def test_a_finding_of_two_shards_has_the_reasons_of_both(words: Workspace) -> None:
    words.write({f"{name}/{name}.py": "# link: ../shared.yaml\n" for name in "ab"})
    words.write({"shared.yaml": "k: WORD\n", "modellint.toml": 'rule-paths = ["rules"]\nexclude = ["rules"]\n'})
    (finding,) = assert_adds_up(words, 3)["findings"]
    assert [related["path"] for related in finding["related"]] == ["a/a.py", "b/b.py"]


CALLED = "def scale(x, *, by):\n    return x * by\n"
CALLS = """\
from torch import nn
from lib import scale


class Model(nn.Module):
    def forward(self, x):
        return scale(x, 3)
"""


def test_findings_of_one_cause_are_one(workspace: Workspace) -> None:
    workspace.write({"lib.py": CALLED, **{f"{name}/{name}.py": CALLS for name in "abcd"}, "modellint.toml": ""})
    (finding,) = assert_adds_up(workspace, 4)["findings"]
    assert "here and in 3 other places" in finding["message"]


def test_the_folders_of_the_machines_may_differ(workspace: Workspace) -> None:
    files = {"lib.py": CALLED, "a/a.py": CALLS, "b/b.py": CALLS, "modellint.toml": ""}
    workspace.write({f"{machine}/{name}": text for machine in ("one", "two") for name, text in files.items()})
    for k, machine in enumerate(("one", "two"), 1):
        with workspace.inside(machine):
            workspace.run("check", f"--shard={k}/2", "--no-cache", "--output-format", f"json=../{k}.json")
    with workspace.inside("two"):
        whole = workspace.run("check", "--output-format", "json").json
        merged = workspace.run("merge", "../1.json", "../2.json", "--output-format", "json").json
    assert without_duration(merged) == without_duration(whole)
    assert "here and in one other place" in merged["findings"][0]["message"]


def test_a_baseline_of_shards_is_that_of_the_run(words: Workspace) -> None:
    words.write(random_tree(Random(3)))
    for written in ("none", "some"):
        if written == "some":
            words.write({"a/new.py": "new = WORD\nnew = WORD\n", "a/odd.py": "g = 1\n"})
        words.run("check", "--baseline", "whole.known", "--write-baseline")
        names = write_reports(words, 3)
        result = words.run("merge", *names["json"], "--baseline", "merged.known", "--write-baseline")
        assert result.err.startswith("merged.known: ")
        assert (words.root / "merged.known").read_text() == (words.root / "whole.known").read_text()
    words.write({"c/other.py": "other = WORD\n", "a/new.py": "new = WORD\n"})
    found = assert_adds_up(words, 3, "--baseline", "whole.known")["findings"]
    assert [finding["path"] for finding in found] == ["c/other.py"]
    merged = words.run("merge", "1.json", "2.json", "3.json")
    assert merged.err.startswith("baseline: no longer found: a/new.py: TST101 new\n")
    assert "no longer found" not in words.run("check", "--shard", "1/3", "--baseline", "whole.known").err


def test_a_baseline_is_written_of_all_shards_only(words: Workspace) -> None:
    words.write({"a.py": "a = WORD\n"})
    result = words.check("--shard=1/2", "--baseline=known.json", "--write-baseline")
    assert (result.code, (words.root / "known.json").exists()) == (2, False)
    assert "expected `modellint merge --write-baseline` of all parts" in result.err
    words.run("check", "--output-format", "json=whole.json")
    for arguments in (("--baseline", "known.json"), ("--baseline", "known.json", "--write-baseline")):
        said = words.run("merge", "whole.json", *arguments)
        assert said.code == 2
        assert "whole.json is no part of a run" in said.err
    names = write_reports(words, 2)["json"]
    assert "no file to write to; expected `--baseline FILE`" in words.run("merge", *names, "--write-baseline").err


def test_the_settings_may_name_a_baseline_that_the_merge_writes(words: Workspace) -> None:
    words.write({"a.py": "a = WORD\n", "b.py": "b = WORD\n"})
    settings = words.root / "modellint.toml"
    settings.write_text('baseline = "known.json"\n' + settings.read_text())
    names = write_reports(words, 2)["json"]
    missing = words.run("merge", *names)
    assert (missing.code, "known.json: No such file" in missing.err) == (2, True)
    assert words.run("merge", *names, "--write-baseline").err == "known.json: 2 findings, 0 before\n"
    assert words.run("merge", *names).code == 0
    assert words.check().code == 0


class _Confirmer:
    """Confirms findings about `c…`, refutes those about `r…`, and has no verdict on others."""

    def __init__(self, wishes: Wishes) -> None:
        self._wishes = wishes
        self.on_progress: object = None

    def __call__(self, findings: Sequence[Finding]) -> Judged:
        status = {"c": Status.CONFIRMED, "r": Status.REFUTED}
        judged = []
        for finding in findings:
            verdict = Verdict(status.get(finding.symbol[0], Status.UNCONFIRMED), "cpu", "as it says")
            is_sure = verdict.status is Status.CONFIRMED
            judged.append(
                replace(finding, verdict=verdict, confidence=Confidence.HIGH if is_sure else finding.confidence)
            )
        shown, refuted = self._wishes.divided(judged)
        return Judged(tuple(shown), tuple(refuted), Sandbox("off"))


@pytest.mark.parametrize("option", [(), ("--show-refuted",), ("--confirmed-only",)], ids=" ".join)
def test_verdicts_of_shards_are_those_of_the_run(
    words: Workspace, option: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    def confirmer(settings: object, rules: object, flags: dict[str, bool]) -> _Confirmer:
        return _Confirmer(Wishes(show_refuted=flags["show_refuted"], confirmed_only=flags["confirmed_only"]))

    monkeypatch.setattr("modellint.commands.checking._confirmer", confirmer)
    words.write({f"{name}/{name}.py": "c = WORD  # LOW\nr = WORD\nx = WORD\nr = WORD\n" for name in "abc"})
    report = assert_adds_up(words, 3, "--confirm", *option)
    assert (len(report["findings"]), report["refuted"]) == {
        (): (6, 6),
        ("--show-refuted",): (12, 0),
        ("--confirmed-only",): (3, 6),
    }[option]


@pytest.mark.parametrize("fixing", ["--fix", "--diff"])
def test_fixes_of_shards_are_those_of_the_run(workspace: Workspace, fixing: str) -> None:
    model = "from torch import nn\n\n\nclass A(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    model += "        self.layers = [nn.Linear(1, 1) for _ in range(2)]\n"
    model += "\n    def forward(self, x):\n        return self.layers[0](self.layers[1](x))\n"
    files = {f"{name}/{name}.py": model for name in "abc"}
    workspace.write(files)
    whole = workspace.run("check", fixing)
    fixed = {name: (workspace.root / name).read_text() for name in files}
    workspace.write(files)
    shards = [workspace.run("check", fixing, f"--shard={k}/3").out for k in (1, 2, 3)]
    assert {name: (workspace.root / name).read_text() for name in files} == fixed
    assert (fixed == files) is (fixing == "--diff")
    assert fixing == "--fix" or "".join(shards) == whole.out


def commit(words: Workspace) -> None:
    for command in ("init -q", "add -A", "-c user.name=n -c user.email=e@example.org commit -qm first"):
        subprocess.run(["git", *command.split()], cwd=words.root, check=True)


def test_changed_files_of_shards_are_those_of_the_run(words: Workspace) -> None:
    words.write({f"{name}/{name}.py": "w = WORD\n" for name in "abcd"})
    commit(words)
    words.write({"b/b.py": "\nw = WORD\n", "d/d.py": "\nw = WORD\n"})
    report = assert_adds_up(words, 3, "--changed-since", "HEAD")
    assert ([finding["path"] for finding in report["findings"]], report["files_checked"]) == (["b/b.py", "d/d.py"], 2)


def tree(words: Workspace) -> dict[str, str]:
    files = {f"part{number}/model.py": f"m{number} = WORD\n" for number in range(12)}
    for number in range(6):
        files[f"recipes/r{number}/train.py"] = "# link: hparams/deep/train.yaml\n"
        files[f"recipes/r{number}/hparams/deep/train.yaml"] = "k: WORD\n"
    words.write(files)
    return files


def test_shards_share_a_tree_and_keep_linked_files_together(words: Workspace) -> None:
    files = tree(words)
    shards = [words.run("check", "--shard", f"{k}/3", "--show-files").lines for k in (1, 2, 3)]
    assert sorted(name for shard in shards for name in shard) == sorted(files)
    assert all(shards)
    for shard in shards:
        for name in shard:
            if name.endswith("train.py"):
                assert name.replace("train.py", "hparams/deep/train.yaml") in shard
    assert shards[0] == words.run("check", "--shard", "1/3", "--show-files").lines
    with words.inside("recipes"):
        assert words.run("check", "..", "--shard", "1/3", "--show-files").lines == [f"../{name}" for name in shards[0]]


def test_shards_of_one_large_folder_are_about_equal(tmp_path: Path) -> None:
    random = Random(0)
    files = [tmp_path / f"{folder}/{number}.py" for folder in ("a", "large", "z") for number in range(40)]
    for file in files:
        file.parent.mkdir(exist_ok=True)
        file.write_text("#" * random.randrange(20_000 if file.parent.name == "large" else 500))
    shards = [shard_of(files, f"{k}/5", tmp_path, 10**6) for k in range(1, 6)]
    assert sorted(file for shard in shards for file in shard) == sorted(files)
    weights = [sum(file.stat().st_size + 1000 for file in shard) for shard in shards]
    assert max(weights) < 1.2 * min(weights)


def test_the_order_of_files_does_not_matter(tmp_path: Path) -> None:
    files = [tmp_path / f"{letter}{number}.py" for letter in "abc" for number in range(9)]
    for file in files:
        file.write_text("#" * 100)
    expected = set(shard_of(files, "2/4", tmp_path, 10**6))
    assert 5 <= len(expected) <= 8
    assert set(shard_of(files[::-1], "2/4", tmp_path, 10**6)) == expected


def test_a_shard_without_files_is_no_mistake(words: Workspace) -> None:
    words.write({"a.py": "a = WORD\n"})
    results = [words.check(f"--shard={k}/3") for k in (1, 2, 3)]
    assert sorted(result.code for result in results) == [0, 0, 1]
    assert [result.err for result in results] == ["", "", ""]
    assert len(assert_adds_up(words, 3)["findings"]) == 1


def test_a_shard_reports_into_excluded_files_that_the_command_line_names(words: Workspace) -> None:
    words.write({f"{name}/{name}.py": "# link: ../x/x.yaml\n" for name in "ab"})
    words.write({"x/x.yaml": "k: !new:WORD\n", "c/c.py": "w = WORD\n"})
    found = assert_adds_up(words, 3, "a", "b", "c", "x/x.yaml", "--exclude", "x")["findings"]
    assert [finding["path"] for finding in found] == ["c/c.py", "x/x.yaml"]
    assert "x/x.yaml" in words.check("a", "b", "c", "x/x.yaml", "--exclude=x", "--shard=1/3").out


@pytest.mark.parametrize("shard", ["0/2", "3/2", "1", "a/b", "1/0", "-1/2"])
def test_a_shard_that_is_none_is_refused(words: Workspace, shard: str) -> None:
    words.write({"a.py": "a = 1\n"})
    result = words.check(f"--shard={shard}")
    assert result.code == 2
    assert f"`{shard}` is no shard; expected a number and how many there are, such as `2/8`" in result.err


def test_a_report_knows_its_shard(words: Workspace) -> None:
    words.write({"a.py": "a = WORD\n"})
    write_reports(words, 2)
    assert json.loads((words.root / "2.json").read_text())["shard"] == "2/2"
    text = (words.root / "2.sarif").read_text()
    assert json.loads(text)["runs"][0]["properties"]["shard"] == "2/2"
    sarif_pydantic.Sarif.model_validate_json(text)
    assert not {"shard", "shard_data"} & set(words.run("merge", "1.json", "2.json", "--output-format", "json").json)


@pytest.fixture
def reports(words: Workspace) -> Workspace:
    """A project with reports of two shards, of three others, and of whole runs."""
    words.write({"a.py": "a = WORD\n", "b.py": "b = WORD\n"})
    commit(words)
    write_reports(words, 2)
    words.run("check", "--shard=1/3", "--output-format", "json=third.json")
    words.run("check", "--output-format", "json=whole.json", "--output-format", "sarif=whole.sarif")
    words.run("check", "--output-format", "gitlab=gitlab.json", "--output-format", "json-lines=lines.json")
    words.run("check", "--baseline", "known.json", "--write-baseline")
    words.run("check", "--shard=2/2", "--min-confidence=low", "--output-format", "json=settings.json")
    words.run("check", "--shard=2/2", "--ignore=ML2", "--output-format", "json=rules.json")
    words.run("check", "--shard=2/2", "--changed-since=HEAD", "--output-format", "json=options.json")
    words.run("check", "a.py", "--shard=2/2", "--output-format", "json=files.json")
    words.write({"cut.json": (words.root / "2.json").read_text()[:500]})
    for name, changes in {
        "release.json": {"shard_data": {"version": "0.0.1"}},
        "number.json": {"shard": "two"},
        "nothing.json": {"shard_data": None},
        "results.json": {"shard_data": {"results": [{"path": 1}]}},
        "errors.json": {"shard_data": {"errors": None}},
    }.items():
        data = json.loads((words.root / "2.json").read_text())
        for key, value in changes.items():
            data[key] = {**data[key], **value} if isinstance(value, dict) else value
        words.write({name: json.dumps(data)})
    return words


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("1.json", "the report of part 2/2 is missing; expected each part once"),
        ("third.json", "the report of part 2/3, 3/3 is missing"),
        ("1.json 2.json 1.json", "1.json: given twice; expected each part once"),
        ("1.json 2.json 2.sarif", "2.sarif: part 2/2, which 2.json is, too; expected each part once"),
        ("2.json third.json", "third.json: part 1/3, where 2.json is part 2/2; expected parts of one run"),
        ("1.json whole.json", "whole.json: the report of a whole run, where 1.json is part 1/2; expected parts only"),
        ("1.json settings.json", "settings.json: part 2/2 of a run with other settings than 1.json; expected parts of"),
        ("1.json rules.json", "rules.json: part 2/2 of a run with other rules than 1.json"),
        ("1.json options.json", "options.json: part 2/2 of a run with other options than 1.json"),
        ("1.json files.json", "files.json: part 2/2 of a run with other files than 1.json"),
        ("1.json cut.json", ": not valid JSON: "),
        ("1.json release.json", "release.json: part 2/2 of a run of modellint 0.0.1; expected one of "),
        ("1.json number.json", "number.json: `shard` is `two`; expected what `--shard` writes"),
        ("1.json nothing.json", "nothing.json: `shard` is '2/2', and its data is missing; expected what"),
        ("1.json results.json", "results.json: `shard_data` is malformed (TypeError: "),
        ("1.json errors.json", "errors.json: `shard_data` is malformed (TypeError: "),
        ("whole.json whole.sarif", "whole.sarif: SARIF, where whole.json is JSON; expected one of the two formats"),
        ("whole.sarif", "`full` cannot be made of SARIF reports of whole runs; expected `sarif`, or reports in JSON"),
        ("gitlab.json", "gitlab.json: no list `findings`; expected what `--output-format json` writes"),
        ("lines.json", "lines.json:2:1: not valid JSON: Extra data; expected what"),
        ("known.json", "known.json: a baseline; expected what `--output-format json` writes"),
    ],
)
def test_reports_that_are_not_of_one_run_are_refused(reports: Workspace, names: str, expected: str) -> None:
    result = reports.run("merge", *names.split())
    assert (result.code, result.out) == (2, "")
    assert expected in result.err


def test_a_part_of_unknown_rules_is_refused(words: Workspace) -> None:
    words.write({"a.py": "a = WORD\n"})
    names = write_reports(words, 2)
    (words.root / "modellint.toml").rename(words.root / "other.toml")
    result = words.run("merge", *names["json"])
    assert result.code == 2
    assert "1.json: no rule has the code TST101 here; expected the settings that the parts had" in result.err
    assert words.run("merge", *names["json"], "--config", "other.toml").code == 1


def test_sarif_of_whole_runs_becomes_one_run(words: Workspace) -> None:
    words.write({"a/x.py": "a = WORD\n", "b/x.py": "b = WORD  # severity=error\n", "b/y.py": "CRASH\n"})
    for name in "ab":
        words.run("check", name, "--output-format", f"sarif={name}.sarif")
    whole = words.run("check", "a", "b", "--output-format", "sarif")
    merged = words.run("merge", "a.sarif", "b.sarif", "a.sarif", "--output-format", "sarif")
    assert merged.json == whole.json
    assert merged.code == whole.code == 2
    assert words.run("merge", "a.sarif", "--output-format", "sarif").code == 1
    assert words.run("merge", "a.sarif", "--output-format", "sarif", "--fail-on", "error").code == 0


def test_sarif_keeps_what_others_added(words: Workspace) -> None:
    words.write({"x.py": "a = WORD\n"})
    document = words.run("check", "--output-format", "sarif").json
    result = document["runs"][0]["results"][0]
    result["suppressions"] = [{"kind": "external", "justification": "accepted"}]
    words.write({"x.sarif": json.dumps(document)})
    (merged,) = words.run("merge", "x.sarif", "--output-format", "sarif").json["runs"]
    assert merged["results"] == [result]
    assert merged["results"][0]["partialFingerprints"]


def test_sarif_of_several_folders_is_relative_to_this_one(words: Workspace) -> None:
    words.write({"a/x.py": "a = WORD\n", "b/y.py": "b = WORD\n"})
    for name in "ab":
        with words.inside(name):
            words.run("check", "--output-format", f"sarif=../{name}.sarif")
    (run,) = words.run("merge", "a.sarif", "b.sarif", "--output-format", "sarif").json["runs"]
    assert run["originalUriBaseIds"]["%SRCROOT%"]["uri"] == f"{words.root.as_uri()}/"
    assert len(run["results"]) == 2


def test_merged_sarif_stays_within_what_code_scanning_accepts(
    words: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    words.write({"a.py": "a = WORD\nb = WORD\n", "b.py": "c = WORD  # severity=error\n"})
    for name in "ab":
        words.run("check", f"{name}.py", "--output-format", f"sarif={name}.sarif")
    monkeypatch.setattr("modellint.reporters.sarif.MAX_RESULTS", 2)
    (run,) = words.run("merge", "a.sarif", "b.sarif", "--output-format", "sarif").json["runs"]
    assert [result["level"] for result in run["results"]] == ["error", "warning"]
    assert run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"].startswith("1 more findings are")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"version": "2.0.0", "runs": []}, "r.sarif: SARIF of version '2.0.0'; expected 2.1.0"),
        ({"runs": []}, "r.sarif: 0 runs; expected one, as `--output-format sarif` writes"),
        ({"runs": [{"tool": {"driver": {"name": "ruff"}}}]}, "r.sarif: the report of ruff; expected one of modellint"),
        ({"runs": [{}]}, "r.sarif: the report of no tool; expected one of modellint"),
        ({"runs": [{"tool": {"driver": {"name": "modellint", "rules": []}}}]}, "r.sarif: its run is malformed (KeyErr"),
    ],
)
def test_sarif_that_modellint_did_not_write_is_refused(
    workspace: Workspace, changes: dict[str, Any], expected: str
) -> None:
    workspace.write({"r.sarif": json.dumps({"version": "2.1.0", **changes})})
    result = workspace.run("merge", "r.sarif", "--output-format", "sarif")
    assert result.code == 2
    assert expected in result.err
