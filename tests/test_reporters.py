"""Output formats."""

from __future__ import annotations

import io
import json
import re
from typing import TYPE_CHECKING

import pytest

from modellint.home import SITE
from modellint.results.outputs import wants_links

if TYPE_CHECKING:
    from conftest import Workspace


def test_full_shows_source_related_places_evidence_and_help(words: Workspace) -> None:
    words.write({"a.py": "# link: b.yaml\n", "b.yaml": "one: 1\ntwo: 2\n\tkey: WORD\nfour: 4\nfive: 5\nsix: 6\n"})
    result = words.run("check", "a.py")
    assert result.out == (
        "b.yaml:3:7: TST101[warning] Found the word\n"
        "  |\n"
        "1 | one: 1\n"
        "2 | two: 2\n"
        "3 |     key: WORD\n"
        "  |          ^^^^\n"
        "4 | four: 4\n"
        "5 | five: 5\n"
        "  |\n"
        " :: a.py:1:1 seen from here\n"
        "  |\n"
        "1 | # link: b.yaml\n"
        "  | ^\n"
        "  |\n"
        "  = it is written there\n"
        "  = help: Use another word\n"
        "\n"
        "1 file checked: no layer class, no recipe and no configuration; "
        "built-in facts about torch 2.13.0 and speechbrain 1.1.2\n"
        "Found 1 finding (1 warning)\n"
    )


def test_full_puts_carets_under_wide_and_combining_characters(words: Workspace) -> None:
    words.write({"a.py": 's = "日本e\u0301", WORD\n'})
    lines = words.run("check", "a.py").lines
    source = next(line for line in lines if "WORD" in line)
    carets = next(line for line in lines if "^" in line)
    assert source == '1 | s = "日本e\u0301", WORD'
    assert carets.index("^") - len("1 | ") == len('s = "') + 4 + 1 + len('", ')
    assert carets.count("^") == 4


def test_full_cuts_long_lines_round_the_place(words: Workspace) -> None:
    words.write({"a.py": "x = [" + "1, " * 5000 + "WORD" + ", 2" * 5000 + "]\n"})
    lines = words.run("check", "a.py").lines
    assert max(map(len, lines)) < 200
    source, carets = lines[2:4]
    assert source[carets.index("^") :].startswith("WORD")


def test_full_cannot_be_steered_by_what_it_shows(words: Workspace) -> None:
    words.write({"a.py": "a = '\x1b[31m' + '\x07' + WORD\n"})
    out = words.run("check", "a.py").out
    assert "\x1b" not in out
    assert "\x07" not in out
    assert "a = '\N{REPLACEMENT CHARACTER}[31m'" in out


def test_full_shows_the_first_of_several_lines(words: Workspace) -> None:
    words.write({"a.py": "a = WORD(\n    1,\n)\n"})
    lines = words.run("check", "a.py").lines
    assert lines[2:4] == ["1 | a = WORD(", "  |     ^^^^^"]


def test_full_does_without_a_source_that_cannot_be_read(words: Workspace) -> None:
    words.write({"a.py": b"\xff\xfe binary \x00"})
    result = words.run("check", "a.py")
    assert result.code == 1
    assert result.out.startswith("a.py:1:1: ML001[error] cannot read this file: byte 0xff is not valid utf-8")


def test_the_summary_counts_by_severity(words: Workspace) -> None:
    words.write({"a.py": "a = WORD  # severity=error\n" * 2 + "b = WORD\nc = WORD  # severity=info\n"})
    assert words.check("a.py").lines[-1] == "Found 4 findings (2 errors, 1 warning, 1 info)"


def test_json_is_as_the_contract_says(words: Workspace) -> None:
    words.write({"sub/a.py": "ä = WORD\n"})
    document = words.run("check", "--output-format", "json").json
    assert document.keys() == {"version", "findings", "errors", "skipped", "files_checked", "duration_s", "inventory"}
    assert document["files_checked"] == 1
    assert document["inventory"] == {"layers": 0, "recipes": 0, "configurations": 0, "models": 0}
    (finding,) = document["findings"]
    fingerprint = finding.pop("fingerprint")
    assert len(fingerprint) == 32
    assert finding == {
        "code": "TST101",
        "name": "word",
        "message": "Found the word",
        "severity": "warning",
        "confidence": "high",
        "path": "sub/a.py",
        "cell": None,
        "line": 1,
        "column": 5,
        "end_line": 1,
        "end_column": 9,
        "symbol": "ä",
        "evidence": ["it is written there"],
        "related": [
            {
                "path": "sub/a.py",
                "cell": None,
                "line": 1,
                "column": 1,
                "end_line": 1,
                "end_column": 2,
                "message": "seen from here",
            }
        ],
        "help": "Use another word",
        "fix": None,
        "verdict": {"status": "not-run", "device": None, "detail": None},
        "url": None,
    }


def test_fingerprints_survive_moves_and_tell_repetitions_apart(words: Workspace) -> None:
    def fingerprints() -> dict[tuple[str, int], str]:
        findings = words.run("check", "--output-format", "json").json["findings"]
        return {(finding["path"], finding["line"]): finding["fingerprint"] for finding in findings}

    words.write({"a.py": "a = WORD\na = WORD\n", "b.py": "a = WORD\n"})
    before = fingerprints()
    assert len(set(before.values())) == 3
    words.write({"a.py": "\n\na = WORD\n\na = WORD\n"})
    after = fingerprints()
    assert [after["a.py", 3], after["a.py", 5], after["b.py", 1]] == list(before.values())


def test_json_lines_hold_one_finding_each(words: Workspace) -> None:
    words.write({"a.py": "a = WORD\nb = WORD\n"})
    lines = words.run("check", "--output-format", "json-lines").lines
    assert [json.loads(line)["symbol"] for line in lines] == ["a", "b"]


def test_paths_are_relative_to_the_working_directory(words: Workspace) -> None:
    words.write({"a.py": "a = WORD\n", "sub/b.py": "b = WORD\n"})
    with words.inside("sub"):
        assert words.places("..") == [("../a.py", 1, "TST101"), ("b.py", 1, "TST101")]


def test_github_annotations_are_escaped(words: Workspace) -> None:
    words.write({"a,b:c%.py": "a = WORD  # severity=error\n", "d.py": "b = WORD(\n1)\n", "e.py": "(\n"})
    assert words.run("check", "--output-format", "github", "--ignore", "ML001").lines == [
        "::error title=modellint (TST101),file=a%2Cb%3Ac%25.py,line=1,endLine=1,col=5,endColumn=9"
        "::a,b:c%25.py:1:5: TST101 Found the word%0AUse another word",
        "::warning title=modellint (TST101),file=d.py,line=1,endLine=2"
        "::d.py:1:5: TST101 Found the word%0AUse another word",
    ]


def test_that_nothing_was_looked_at_is_said_where_nothing_is_found(words: Workspace) -> None:
    words.write({"a.py": "x = 1\n", "b.py": "b = WORD\n"})
    for arguments in (("concise",), ("full",), ("concise", "--statistics")):
        said = words.run("check", "a.py", "--output-format", *arguments).lines
        assert said[0].startswith("1 file checked: no layer class, no recipe and no configuration (is your model ")
        assert said[1:] == ["All checks passed!"]
    assert words.run("check", "a.py", "--output-format", "concise", "--quiet").out == ""
    assert [line.split(":")[0] for line in words.check().lines] == ["b.py", "Found 1 finding (1 warning)"]


def test_issues_of_azure_are_escaped(words: Workspace) -> None:
    words.write({"a;b]%.py": "a = WORD  # severity=info\n", "d.py": "b = WORD(\n1)\n"})
    assert words.run("check", "--output-format", "azure").lines == [
        "##vso[task.logissue type=warning;sourcepath=a%3Bb%5D%AZP25.py;linenumber=1;columnnumber=5;code=TST101;]"
        "a%3Bb%5D%AZP25.py:1:5: TST101 Found the word%0AUse another word",
        "##vso[task.logissue type=warning;sourcepath=d.py;linenumber=1;columnnumber=5;code=TST101;]"
        "d.py:1:5: TST101 Found the word%0AUse another word",
    ]


def test_full_output_says_what_a_fix_does(workspace: Workspace) -> None:
    layers = "self.layers = [nn.Linear(w, w) for _ in range(2)]\n        self.table = nn.Embedding(w, vocab_size)\n"
    uses = "ids = self.table(ids)\n        return self.norm(self.layers[1](self.layers[0](ids)))\n"
    workspace.write(
        {
            "model.py": "from torch import nn\n\n\nclass Text(nn.Module):\n    def __init__(self, w, vocab_size):\n"
            f"        super().__init__()\n        {layers}        self.norm = nn.LayerNorm(w)\n\n"
            f"    def forward(self, ids):\n        {uses}"
        }
    )
    result = workspace.run("check")
    assert "= help: use `nn.ModuleList` (`--fix` does it)" in result.out
    assert "the width second (`--fix --unsafe-fixes` does it)" in result.out
    counted = workspace.run("check", "--statistics").lines
    assert counted[:3] == [
        "count  code   name                         severity  fixable",
        "    1  ML101  embedding-sized-by-features  error",
        "    1  ML204  layers-in-plain-container    error           1",
    ]
    assert counted[-1] == "1 fixable with `--fix` (1 more with `--unsafe-fixes`)"


LAYER = """\
from torch import nn


class {name}(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(4, 4)]

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
"""


def test_full_says_what_was_looked_at(workspace: Workspace) -> None:
    workspace.write(
        {
            "model.py": "from base import Base\n\nclass A(Base):\n    pass\n\nclass B:\n    pass\n",
            "base.py": "from torch import nn\n\nclass Base(nn.Module):\n    pass\n",
            "hparams.yaml": "a: !new:torch.nn.Linear [1, 2]\n",
            "conf.yaml": "a:\n  _target_: torch.nn.Linear\n  in_features: 1\n  out_features: 2\n",
            "notes.yaml": "a: 1\n",
        }
    )
    told = "5 files checked: 2 layer classes, 1 recipe, 1 configuration; "
    for _ in range(2):  # the second time the cache tells
        first, last = workspace.run("check").lines
        assert first.startswith(told)
        assert last == "All checks passed!"
    assert workspace.run("check", "-q").out == ""
    inventory = workspace.run("check", "--output-format", "json").json["inventory"]
    assert inventory == {"layers": 2, "recipes": 1, "configurations": 1, "models": 0}


def test_a_project_without_a_model_is_told_so(workspace: Workspace) -> None:
    workspace.write({"tool.py": "class Tool:\n    pass\n"})
    says = "1 file checked: no layer class, no recipe and no configuration (is your model in another folder?)"
    assert workspace.run("check").lines[0].startswith(says)


def test_packages_of_the_project_are_named(workspace: Workspace) -> None:
    packages = "env/lib/python3.11/site-packages"
    workspace.write(
        {
            "env/bin/python": "",
            f"{packages}/speechbrain/__init__.py": "",
            f"{packages}/speechbrain-1.0.2.dist-info/METADATA": "",
            "a.py": "",
        }
    )
    result = workspace.run("check", "a.py", "--python", "env/bin/python")
    assert "speechbrain 1.0.2 (installed)" in result.lines[0]
    assert re.search(r"torch [\d.]+ \(built-in facts\)", result.lines[0])


def test_full_groups_copies(workspace: Workspace) -> None:
    workspace.write({f"{name}/model.py": LAYER.format(name="Model") for name in "abc"})
    workspace.write({"d/model.py": LAYER.format(name="Other")})
    result = workspace.run("check")
    assert result.out.count("ML204[error]") == 2
    assert "= the same at b/model.py:7:9 and c/model.py:7:9" in result.out
    assert "Found 4 findings (4 errors)" in result.lines
    assert len(workspace.places()) == 4


def test_only_some_of_many_copies_are_named(workspace: Workspace) -> None:
    workspace.write({f"{name}/model.py": LAYER.format(name="Model") for name in "abcdefghijkl"})
    (line,) = [line for line in workspace.run("check").lines if "the same at" in line]
    assert line.endswith("i/model.py:7:9 and 3 other places (`--output-format concise` lists them)")


def test_full_is_wrapped_to_the_terminal(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace.write({"model.py": LAYER.format(name="Model"), "a/long/way/down/in/folders/of/the/project/m.py": LAYER})
    whole = workspace.run("check", "model.py", "--color", "never").lines
    assert max(map(len, whole)) > 60
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("FORCE_COLOR", "1")
    shown = [re.sub(r"\x1b\[[\d;]*m", "", line) for line in workspace.run("check", "model.py").lines]
    assert max(map(len, shown)) <= 60
    assert " ".join(" ".join(shown).split()) == " ".join(" ".join(whole).split())
    crowded = [re.sub(r"\x1b\[[\d;]*m", "", line) for line in workspace.run("check", "a", "--select", "ML001").lines]
    assert crowded[0] == "a/long/way/down/in/folders/of/the/project/m.py:4:7: ML001[error]"
    assert crowded[1].startswith("    ")
    assert workspace.run("check", "model.py", "--color", "never").lines == whole


def test_codes_are_links_where_a_terminal_follows_them(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace.write({"model.py": LAYER.format(name="Model")})
    page = f"{SITE}/rules/ml204.html"
    assert "\x1b]8" not in workspace.run("check").out
    monkeypatch.setenv("FORCE_HYPERLINK", "1")
    for output_format in ("full", "concise"):
        assert (
            f"\x1b]8;;{page}\x1b\\ML204\x1b]8;;\x1b\\[error]"
            in workspace.run("check", "--output-format", output_format).out
        )
    workspace.run("check", "--output-format", "full=found.txt")
    assert "\x1b" not in (workspace.root / "found.txt").read_text("utf-8")


@pytest.mark.parametrize(
    ("variables", "links"),
    [
        ({}, False),
        ({"VTE_VERSION": "7200"}, True),
        ({"VTE_VERSION": "4800"}, False),
        ({"TERM_PROGRAM": "vscode"}, True),
        ({"TERM_PROGRAM": "Apple_Terminal"}, False),
        ({"WT_SESSION": "0a1b"}, True),
        ({"WT_SESSION": "0a1b", "NO_COLOR": "1"}, False),
        ({"WT_SESSION": "0a1b", "TERM": "dumb"}, False),
        ({"WT_SESSION": "0a1b", "FORCE_HYPERLINK": "0"}, False),
    ],
)
def test_terminals_that_follow_links_are_known(
    variables: dict[str, str], links: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM", "TERM_PROGRAM", "VTE_VERSION", "WT_SESSION", "KONSOLE_VERSION"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.stdout", io.StringIO())
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert wants_links("auto") == links


def test_rules_of_the_site_are_linked_by_programs(words: Workspace) -> None:
    words.write({"a.py": "a = WORD\n", "model.py": LAYER.format(name="Model")})
    page = f"{SITE}/rules/ml204.html"
    (run,) = words.run("check", "--output-format", "sarif").json["runs"]
    assert {rule["id"]: rule.get("helpUri") for rule in run["tool"]["driver"]["rules"]} == {
        "ML204": page,
        "TST101": None,
    }
    assert run["tool"]["driver"]["informationUri"] == SITE
    shown = words.run("check", "--output-format", "rdjson").json["diagnostics"]
    assert {item["code"]["value"]: item["code"].get("url") for item in shown} == {"ML204": page, "TST101": None}
    assert {item["code"]: item["url"] for item in words.run("check", "--output-format", "json").json["findings"]} == {
        "ML204": page,
        "TST101": None,
    }
    assert page in words.run("explain", "ML204").lines
