"""Comments that silence findings, and those that silence nothing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from modellint.results.suppressions import has_marker, in_python, in_yaml
from modellint.source import SourceFile

if TYPE_CHECKING:
    from conftest import Workspace


def python(text: str) -> list[tuple[int, tuple[str, ...], bool, bool]]:
    found = in_python(SourceFile(Path("a.py"), text))
    return [(s.span.line, s.codes, s.whole_file, s.misplaced) for s in found]


def yaml(text: str) -> list[tuple[int, tuple[str, ...], bool, bool]]:
    found = in_yaml(SourceFile(Path("a.yaml"), text))
    return [(s.span.line, s.codes, s.whole_file, s.misplaced) for s in found]


@pytest.mark.parametrize(
    ("comment", "codes"),
    [
        ("# modellint: ignore[ML201]", ("ML201",)),
        ("#modellint:ignore[ML201]", ("ML201",)),
        ("# modellint: ignore[ML201, ML101] because it is so", ("ML201", "ML101")),
        ("# modellint: ignore [ML201]", ("ML201",)),
        ("# modellint: ignore", ()),
        ("# modellint: ignore, see the notes", ()),
        ("# type: ignore  # modellint: ignore[ML201]", ("ML201",)),
        ("# noqa: ML201", ("ML201",)),
        ("# NOQA: e501, ml201", ("E501", "ML201")),
        ("# noqa:E501 ML201 reason", ("E501", "ML201")),
    ],
)
def test_spellings_of_a_comment(comment: str, codes: tuple[str, ...]) -> None:
    assert python(f"x = 1  {comment}\n") == [(1, codes, False, False)]
    assert yaml(f"x: 1  {comment}\n") == [(1, codes, False, False)]
    assert has_marker(f"x = 1  {comment}\n".encode(), frozenset(("ML201",)))


@pytest.mark.parametrize("comment", ["# noqa", "# modellint: ignored", "# modellint is good", "# ignore[ML201]"])
def test_other_comments_are_nothing_to_us(comment: str) -> None:
    assert python(f"x = 1  {comment}\n") == yaml(f"x: 1  {comment}\n") == []
    assert not has_marker(f"x = 1  {comment}\n".encode(), frozenset(("ML201",))) or "ignored" in comment


def test_only_real_comments_count_in_python() -> None:
    text = (
        '"""# modellint: ignore"""\n'
        'a = "# modellint: ignore"\n'
        "b = '''\n# modellint: ignore\n'''\n"
        'c = f"{a}  # modellint: ignore"\n'
        "d = 1  # modellint: ignore\n"
    )
    assert python(text) == [(7, (), False, False)]


def test_only_real_comments_count_in_yaml() -> None:
    text = (
        'a: "x # modellint: ignore"\n'
        "b: 'x\n  # modellint: ignore'\n"
        "c: x#modellint:ignore\n"
        "d: |  # modellint: ignore[ML1]\n  text\n  # modellint: ignore\n"
        "e: >-\n  # modellint: ignore\n\n  folded\n"
        "f: [1,  # modellint: ignore[ML2]\n  2]\n"
        "g: plain  # modellint: ignore[ML3]\n"
    )
    assert [codes for _, codes, _, _ in yaml(text)] == [("ML1",), ("ML2",), ("ML3",)]
    assert [line for line, *_ in yaml(text)] == [5, 12, 14]


@pytest.mark.parametrize(
    ("text", "misplaced"),
    [
        ("# modellint: ignore-file[ML1]\nimport a\n", False),
        ("#!/usr/bin/env python\n# -*- coding: utf-8 -*-\n\n# modellint: ignore-file[ML1]\n", False),
        ('"""Doc."""\n\n# modellint: ignore-file[ML1]\nimport a\n', False),
        ("import a\n# modellint: ignore-file[ML1]\n", True),
        ("import a  # modellint: ignore-file[ML1]\n", True),
        ('"""Doc."""\n"another"\n# modellint: ignore-file[ML1]\n', True),
    ],
)
def test_a_comment_for_the_file_stands_in_its_head(text: str, misplaced: bool) -> None:
    assert [(whole, wrong) for _, _, whole, wrong in python(text)] == [(True, misplaced)]


@pytest.mark.parametrize("separator", ["\x85", "\u2028", "\u2029"])
def test_what_ends_a_line_for_yaml_alone_moves_no_comment(separator: str) -> None:
    text = f'a: 1  #{separator}#{separator}\nb: "x # modellint: ignore[ML1]"\nc: 1  # modellint: ignore[ML2]\n'
    assert yaml(text) == [(3, ("ML2",), False, False)]


def test_the_head_of_yaml_ends_with_its_first_key() -> None:
    text = "# modellint: ignore-file[ML1]\n---\n# modellint: ignore-file[ML2]\na: 1\n# modellint: ignore-file[ML3]\n"
    assert [(codes[0], wrong) for _, codes, _, wrong in yaml(text)] == [
        ("ML1", False),
        ("ML2", False),
        ("ML3", True),
    ]


def test_columns_count_characters() -> None:
    (found,) = in_python(SourceFile(Path("a.py"), 'ä = "ö"  # é # modellint: ignore\n'))
    assert (found.span.column, found.span.end_column) == (14, 33)


@pytest.mark.parametrize("text", ["x = (  # modellint: ignore\n", "\tx = 1\n  y = 2  # modellint: ignore\n", "'"])
def test_broken_files_are_read_as_far_as_they_go(text: str) -> None:
    assert len(python(text)) <= 1
    assert yaml("a: [1  # modellint: ignore\nb: }\n")[0][0] == 1


def test_a_comment_silences_its_line(words: Workspace) -> None:
    words.write(
        {
            "a.py": "a = WORD  # modellint: ignore[TST101] on purpose\nb = WORD\nc = WORD  # modellint: ignore\n"
            "d = WORD  # noqa: TST101\ne = WORD  # noqa\n",
            "b.yaml": "a: !new:b.C\nb: WORD  # modellint: ignore[TST101]\nc: WORD\n",
        }
    )
    assert words.places(".") == [("a.py", 2, "TST101"), ("a.py", 5, "TST101"), ("b.yaml", 3, "TST101")]


def test_a_comment_silences_a_finding_over_several_lines_from_any_of_them(words: Workspace) -> None:
    words.write({"a.py": "a = WORD(\n    1,  # modellint: ignore[TST101]\n)\n"})
    assert words.check("a.py").code == 0


def test_a_comment_silences_the_whole_file(words: Workspace) -> None:
    words.write({"a.py": "# modellint: ignore-file[TST101]\na = WORD\n\nb = WORD\n"})
    assert words.check("a.py").code == 0


def test_comments_count_in_linked_files_too(words: Workspace) -> None:
    words.write({"a.py": "# link: b.yaml\n", "b.yaml": "a: WORD\nb: WORD  # modellint: ignore[TST101]\n"})
    assert words.places("a.py") == [("b.yaml", 1, "TST101")]


def test_findings_in_linked_files_follow_the_settings_of_those_files(words: Workspace) -> None:
    words.write(
        {
            "a.py": "# link: b.yaml\n# link: gen/c.yaml\n# link: d.yaml\n# link: ../outside.yaml\n",
            "b.yaml": "a: WORD\n",
            "gen/c.yaml": "a: WORD\n",
            "d.yaml": "a: WORD\n",
            "../outside.yaml": "a: WORD\n",
            "modellint.toml": 'rule-paths = ["rules"]\nextend-exclude = ["gen"]\n'
            '[per-file-ignores]\n"d.yaml" = ["TST101"]\n',
        }
    )
    assert words.places("a.py") == [("b.yaml", 1, "TST101")]


def test_what_two_files_report_about_one_place_is_one_finding(words: Workspace) -> None:
    words.write({"a.py": "# link: c.yaml\n", "b.py": "# link: c.yaml\n", "c.yaml": "x: !new:y.Z\na: WORD\n"})
    (finding,) = words.run("check", "--output-format", "json").json["findings"]
    assert (finding["path"], finding["line"]) == ("c.yaml", 2)
    assert [related["path"] for related in finding["related"]] == ["a.py", "b.py", "c.yaml"]
    assert finding["evidence"] == ["it is written there"]


def test_unused_comments_are_reported(words: Workspace) -> None:
    words.write(
        {
            "a.py": "a = 1  # modellint: ignore[TST101]\nb = 1  # modellint: ignore\n"
            "c = WORD  # modellint: ignore[TST101, ML001]\nd = 1  # noqa: TST101\n"
            "e = 1  # modellint: ignore[TST102]\n# modellint: ignore-file[TST101]\n"
        }
    )
    result = words.run("check", "a.py", "--output-format", "json")
    found = [(f["line"], f["column"], f["message"], f["help"]) for f in result.json["findings"]]
    assert found == [
        (1, 8, "`modellint: ignore` silences no `TST101`", "remove the comment"),
        (2, 8, "`modellint: ignore` silences nothing", "remove the comment"),
        (3, 11, "`modellint: ignore` silences no `ML001`", "remove `ML001` from the comment"),
        (5, 8, "`modellint: ignore` names `TST102`, which no rule has", "did you mean `TST101`?"),
        (
            6,
            1,
            "`modellint: ignore-file` silences nothing: it stands below the first statement",
            "move the comment above the first statement",
        ),
    ]


def test_comments_for_rules_that_did_not_run_are_not_judged(words: Workspace) -> None:
    words.write({"a.py": "a = 1  # modellint: ignore[TST101]\n", "t/b.py": "a = 1  # modellint: ignore[TST101]\n"})
    assert words.places("--select", "ML") == []
    words.write({"modellint.toml": 'rule-paths = ["rules"]\nexclude=["rules"]\nper-file-ignores = {"t/*" = ["TST"]}\n'})
    assert words.places() == [("a.py", 1, "ML002")]


def test_a_comment_that_silences_what_would_be_hidden_is_used(words: Workspace) -> None:
    words.write({"a.py": "a = WORD  # LOW  # modellint: ignore[TST101]\n"})
    assert words.check("a.py").code == 0


def test_comments_in_a_file_that_was_not_understood_are_not_judged(words: Workspace) -> None:
    words.write({"a.py": "a = 1  # modellint: ignore[TST101]\nb = (\n"})
    assert words.places("a.py") == [("a.py", 2, "ML001")]
