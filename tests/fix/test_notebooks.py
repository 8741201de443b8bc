"""`--fix` in notebooks: the same promises, kept in the strings of a JSON file."""

from __future__ import annotations

import json
import os
import stat
from typing import TYPE_CHECKING

import pytest
from books import notebook, sources_of

if TYPE_CHECKING:
    from conftest import Workspace

BAD = "x = BAD  # fix: good"
GOOD = "x = good  # fix: good"


def cells(project: Workspace, name: str = "a.ipynb") -> list[str]:
    return sources_of((project.root / name).read_bytes())


def test_safe_fixes_are_made_and_counted(project: Workspace) -> None:
    project.write({"a.ipynb": notebook("#md BAD", f"!ls\n{BAD}", "y = BAD2  # fix: good unsafe")})
    done = project.check("--fix")
    assert cells(project)[1:] == [f"!ls\n{GOOD}", "y = BAD2  # fix: good unsafe"]
    assert done.lines == [
        "a.ipynb:cell 3:1:5: TST201[error] Found a bad name",
        "Found 2 findings (1 fixed, 1 remaining)",
        "1 fixable with `--fix --unsafe-fixes`",
    ]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("x = BAD  # fix: (", "the result is no Python"),
        ("x = BAD  # fix: '", "it would change `# fix: '`, which it does not speak of"),
        ("x = BAD  # fix: [BAD]", "it does not settle the finding"),
        ("x = BAD1  # worse", "it would bring up TST201 at line 1 of cell 2 of a.ipynb"),
    ],
)
def test_a_fix_that_does_harm_is_left_out_and_the_others_are_made(project: Workspace, line: str, reason: str) -> None:
    project.write({"a.ipynb": notebook(BAD, line, BAD.replace("BAD", "BAD_TOO"))})
    done = project.check("--fix")
    assert cells(project) == [GOOD, line, GOOD]
    column = line.index("BAD") + 1
    assert f"a.ipynb:cell 2:1:{column}: the fix for TST201 was left out: {reason}" in done.err


def test_fixes_go_on_until_nothing_is_left(project: Workspace) -> None:
    project.write({"a.ipynb": notebook("x = f(BAD1, BAD2, BAD3)  # fix: NAME append: .a", "y = BAD5  # chain")})
    assert project.check("--fix").code == 0
    assert cells(project) == ["x = f(GOOD1, GOOD2, GOOD3).a.a.a  # fix: NAME append: .a", "y = GOOD  # chain"]


def test_a_fix_of_code_and_of_what_a_cell_writes_is_made_in_both(project: Workspace) -> None:
    recipe = "%%writefile sub/b.yaml\ngood: 1\nx: !ref <BAD>"
    project.write({"a.ipynb": notebook("%%writefile c.py\nx = BAD  # fix: good also: sub/b.yaml", recipe)})
    assert project.check("--fix").code == 0
    assert cells(project) == ["%%writefile c.py\nx = good  # fix: good also: sub/b.yaml", recipe.replace("BAD", "good")]


def test_a_fix_of_a_cell_and_of_a_file_is_made_in_both_or_in_none(project: Workspace) -> None:
    project.write({"a.ipynb": notebook("x = BAD  # fix: good also: b.yaml"), "b.yaml": "good: 1\nx: !ref <BAD>\n"})
    os.chmod(project.root / "b.yaml", 0o444)
    assert project.check("--fix").code == 2
    assert "BAD" in cells(project)[0]
    os.chmod(project.root / "b.yaml", 0o644)
    assert project.check("--fix").code == 0
    assert cells(project) == ["x = good  # fix: good also: b.yaml"]
    assert (project.root / "b.yaml").read_text() == "good: 1\nx: !ref <good>\n"


def test_a_difference_shows_the_code_of_each_cell(project: Workspace) -> None:
    text = notebook("#md x", "y = 1", f"{BAD}\n%cd x\nä = 1\n", BAD)
    project.write({"a.ipynb": text})
    change = "-x = BAD  # fix: good\n+x = good  # fix: good\n"
    assert project.check("--diff").out == (
        f"--- a.ipynb:cell 3\n+++ a.ipynb:cell 3\n@@ -1,3 +1,3 @@\n{change} %cd x\n ä = 1\n"
        f"--- a.ipynb:cell 4\n+++ a.ipynb:cell 4\n@@ -1 +1 @@\n{change}"
    )
    assert (project.root / "a.ipynb").read_text() == text


@pytest.mark.parametrize("indent", [None, 1, 4])
@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_every_other_byte_and_the_mode_stay(project: Workspace, indent: int | None, end: str) -> None:
    document = json.loads(notebook("#md ü BAD", f"é = 'é'\n{BAD}\n%cd", as_text=indent is None))
    text = json.dumps(document, indent=indent, ensure_ascii=indent == 4, sort_keys=True) + end
    path = project.root / "a.ipynb"
    project.write({"a.ipynb": text})
    path.chmod(0o640)
    project.check("--fix")
    assert path.read_bytes().decode() == text.replace("x = BAD", "x = good")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
