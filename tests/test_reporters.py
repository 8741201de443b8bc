"""Output formats."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

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
    assert document.keys() == {"version", "findings", "errors", "skipped", "files_checked", "duration_s"}
    assert document["files_checked"] == 1
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
    assert counted[:2] == [
        "1  ML101  error    embedding-sized-by-features",
        "1  ML204  error    layers-in-plain-container  (1 fixable)",
    ]
    assert counted[-1] == "1 fixable with `--fix` (1 more with `--unsafe-fixes`)"
