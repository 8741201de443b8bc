"""What `--fix` and its kin do, and what they leave alone."""

from __future__ import annotations

import io
import os
import stat
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from modellint.config import settings_for
from modellint.finding import Confidence, Finding, Judged, Status, Verdict
from modellint.fix import writing
from modellint.fix.fixer import Fixer
from modellint.linter import run
from modellint.packs import select_rules
from modellint.pipeline.cache import Cache

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from conftest import Workspace

BAD = "x = BAD  # fix: good\n"
GOOD = "x = good  # fix: good\n"


def test_safe_fixes_are_made_and_counted(project: Workspace) -> None:
    project.write({"a.py": BAD + "y = BAD2  # fix: good unsafe\n", "b.yaml": "# BAD\nx: !ref <BAD>  # fix: y\ny: 1\n"})
    done = project.check("--fix")
    assert (project.root / "a.py").read_text() == GOOD + "y = BAD2  # fix: good unsafe\n"
    assert (project.root / "b.yaml").read_text() == "# BAD\nx: !ref <y>  # fix: y\ny: 1\n"
    assert done.lines == [
        "a.py:2:5: TST201[error] Found a bad name",
        "Found 3 findings (2 fixed, 1 remaining)",
        "1 fixable with `--fix --unsafe-fixes`",
    ]
    assert done.code == 1


def test_unsafe_fixes_are_made_when_asked_for(project: Workspace) -> None:
    project.write({"a.py": BAD + "y = BAD2  # fix: good unsafe\n"})
    done = project.check("--fix", "--unsafe-fixes")
    assert (project.root / "a.py").read_text() == GOOD + "y = good  # fix: good unsafe\n"
    assert (done.code, done.lines[-1]) == (0, "Found 2 findings (2 fixed, 0 remaining)")
    assert project.check("--fix", "--unsafe-fixes").lines[-1] == "All checks passed!"


def test_a_fix_of_python_is_left_out_where_libcst_is_not_installed(
    project: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the warning says what to install; recipes are fixed without it."""
    monkeypatch.setitem(sys.modules, "libcst", None)
    project.write({"a.py": BAD, "b.yaml": "# BAD\nx: !ref <BAD>  # fix: y\ny: 1\n"})
    done = project.check("--fix")
    assert (project.root / "a.py").read_text() == BAD
    assert "<y>" in (project.root / "b.yaml").read_text()
    assert "a.py:1:5: the fix for TST201 was left out: libcst cannot be imported (" in done.err
    assert "expected `pip install libcst`" in done.err
    assert done.code == 1


def test_without_fix_nothing_is_written_and_the_summary_says_what_could_be(project: Workspace) -> None:
    project.write({"a.py": BAD + "y = BAD2  # fix: good unsafe\nz = BAD3\n"})
    done = project.check()
    assert (project.root / "a.py").read_text() == BAD + "y = BAD2  # fix: good unsafe\nz = BAD3\n"
    assert done.lines[-2:] == ["Found 3 findings (3 errors)", "1 fixable with `--fix` (1 more with `--unsafe-fixes`)"]


def test_a_diff_shows_what_would_change_and_changes_nothing(project: Workspace) -> None:
    text = "# é\r\n\r\n\r\n\r\nx = BAD  # fix: good\r\nlast = 1"
    project.write({"sub/a.py": text, "b.py": "y = 1\n"})
    done = project.check("--diff")
    assert (project.root / "sub/a.py").read_bytes() == text.encode()
    assert (done.code, done.err) == (1, "Would fix 1 finding\n")
    assert done.out.splitlines()[:2] == ["--- sub/a.py", "+++ sub/a.py"]
    patched = subprocess.run(["git", "apply", "-p0", "-"], input=done.out.encode(), cwd=project.root, check=False)
    assert patched.returncode == 0
    assert (project.root / "sub/a.py").read_bytes() == text.replace("BAD", "good").encode()
    again = project.check("--diff")
    assert (again.code, again.out, again.err) == (0, "", "No fixes to make\n")


def test_a_diff_tells_of_a_last_line_without_end(project: Workspace) -> None:
    project.write({"a.py": "x = BAD  # fix: good"})
    assert project.check("--diff").out.count("\\ No newline at end of file\n") == 2


def test_fix_only_is_silent_about_what_remains(project: Workspace) -> None:
    project.write({"a.py": BAD + "y = BAD2\n"})
    done = project.check("--fix-only")
    assert (done.code, done.out, done.err) == (0, "", "Fixed 1 finding\n")
    assert (project.root / "a.py").read_text() == GOOD + "y = BAD2\n"


def test_suppressed_hidden_and_deselected_findings_are_not_fixed(project: Workspace) -> None:
    text = "x = BAD  # fix: good  # modellint: ignore[TST201]\ny = BAD2  # LOW fix: good\n"
    project.write({"a.py": text, "b.py": BAD, "c.py": BAD})
    project.check("--fix", "--exclude", "b.py")
    assert (project.root / "a.py").read_text() == text
    assert (project.root / "b.py").read_text() == BAD
    assert (project.root / "c.py").read_text() == GOOD
    project.check("--fix", "--select", "ML001")
    assert (project.root / "b.py").read_text() == BAD


def test_fixes_that_meet_are_made_one_after_the_other(project: Workspace) -> None:
    project.write({"a.py": "x = f(BAD1, BAD2, BAD3)  # fix: NAME append: .a\n"})
    done = project.check("--fix")
    assert (project.root / "a.py").read_text() == "x = f(GOOD1, GOOD2, GOOD3).a.a.a  # fix: NAME append: .a\n"
    assert done.code == 0


def test_a_fix_may_need_further_fixes_of_what_it_makes(project: Workspace) -> None:
    project.write({"a.py": "x = BAD5  # chain\n"})
    assert project.check("--fix").code == 0
    assert (project.root / "a.py").read_text() == "x = GOOD  # chain\n"


def test_fixing_ends_after_ten_passes_and_says_so(project: Workspace) -> None:
    project.write({"a.py": f"x = f({', '.join(f'BAD{n}0' for n in range(1, 13))})  # fix: NAME append: .a\n"})
    done = project.check("--fix")
    assert "there is more to fix after 10 passes" in done.err
    assert done.out.splitlines()[-2].endswith("(10 fixed, 2 remaining)")
    assert project.check("--fix").code == 0


def test_what_ten_passes_have_made_is_kept_if_the_rest_can_still_be_fixed(project: Workspace) -> None:
    project.write({"a.py": "x = BAD13  # chain\n"})
    assert "there is more to fix after 10 passes" in project.check("--fix").err
    assert (project.root / "a.py").read_text() == "x = BAD3  # chain\n"
    assert project.check("--fix").code == 0
    assert (project.root / "a.py").read_text() == "x = GOOD  # chain\n"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("x = BAD  # fix: (", "the result is no Python"),
        ("x = BAD  # fix: def", "the result is no Python"),
        ("x = BAD  # fix: '", "it would change `# fix: '`, which it does not speak of"),
        ("x = [BAD, 1]  # fix: 1]#", "it would change `,`, which it does not speak of"),
        ("x = BAD  # fix: [BAD]", "it does not settle the finding"),
        ("x = BAD1  # worse", "it would bring up TST201 at line 2 of a.py"),
        ("x = BAD1  # broken chain", "it would bring up TST201 at line 2 of a.py"),
    ],
)
def test_a_fix_that_does_harm_is_left_out_and_the_others_are_made(project: Workspace, line: str, reason: str) -> None:
    project.write({"a.py": f"{BAD}{line}\n{BAD.replace('BAD', 'BAD_TOO')}"})
    done = project.check("--fix")
    assert (project.root / "a.py").read_text() == f"{GOOD}{line}\n{GOOD}"
    column = line.index("BAD") + 1
    assert f"Warning: a.py:2:{column}: the fix for TST201 was left out: {reason}" in done.err


def test_a_fix_of_two_files_is_made_in_both_or_in_none(project: Workspace) -> None:
    project.write({"a.py": "x = BAD  # fix: good also: b.yaml\n", "b.yaml": "good: 1\nx: !ref <BAD>\n"})
    os.chmod(project.root / "b.yaml", 0o444)
    done = project.check("--fix")
    assert done.code == 2
    assert "b.yaml: the file is read-only" in done.err
    assert "BAD" in (project.root / "a.py").read_text()
    os.chmod(project.root / "b.yaml", 0o644)
    assert project.check("--fix").code == 0
    assert (project.root / "a.py").read_text() == "x = good  # fix: good also: b.yaml\n"
    assert (project.root / "b.yaml").read_text() == "good: 1\nx: !ref <good>\n"


def test_files_beyond_the_project_are_never_changed(project: Workspace) -> None:
    outside = project.root.parent / "outside.yaml"
    outside.write_text("good: 1\nx: !ref <BAD>\n")
    project.write({"a.py": "x = BAD  # fix: good also: ../outside.yaml\n"})
    assert project.check("--fix").code == 1
    assert outside.read_text() == "good: 1\nx: !ref <BAD>\n"
    assert "BAD" in (project.root / "a.py").read_text()


def test_the_cache_knows_files_that_were_fixed_and_those_that_were_not(project: Workspace) -> None:
    project.write({"a.py": BAD, "b.py": "y = BAD2\n"})
    assert project.check().code == 1
    done = project.check("--fix")
    assert done.lines[:2] == ["b.py:1:5: TST201[error] Found a bad name", "Found 2 findings (1 fixed, 1 remaining)"]
    for _ in range(2):
        assert project.places() == [("b.py", 1, "TST201")]


def test_results_from_the_cache_are_checked_again_when_they_rest_on_a_fixed_file(project: Workspace) -> None:
    project.write({"a.py": BAD, "b.py": "y = 1\n"})
    project.check()
    read = []
    original = Cache.get
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Cache, "get", lambda self, path: read.append(path.name) or original(self, path))
        assert project.check("--fix").code == 0
    assert sorted(read) == ["a.py", "b.py"]
    assert (project.root / "a.py").read_text() == GOOD


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755])
def test_the_mode_of_a_file_is_kept(project: Workspace, mode: int) -> None:
    project.write({"a.py": BAD})
    os.chmod(project.root / "a.py", mode)
    assert project.check("--fix").code == 0
    assert stat.S_IMODE((project.root / "a.py").stat().st_mode) == mode


def test_the_target_of_a_link_is_edited_and_the_link_kept(project: Workspace) -> None:
    project.write({"real/code.py": BAD, "links/keep.txt": ""})
    link = project.root / "links/a.py"
    link.symlink_to("../real/code.py")
    assert project.check("--fix", "links", "real").code == 0
    assert link.is_symlink()
    assert (project.root / "real/code.py").read_text() == GOOD
    (project.root / "real/code.py").write_text(BAD)
    assert project.check("--fix", "links/a.py", "real/code.py").code == 0
    assert os.readlink(link) == "../real/code.py"
    assert (project.root / "real/code.py").read_text() == GOOD


def test_a_file_with_hard_links_is_left_as_it_is(project: Workspace) -> None:
    """To replace it would end the link; to write into it could leave it half-written."""
    project.write({"a.py": BAD, "b.py": BAD})
    os.link(project.root / "a.py", project.root.parent / "linked.py")
    done = project.check("--fix")
    assert done.code == 2
    says = "a.py: the file has 2 hard links, of which only one would change; expected a file of its own"
    assert says in done.err
    assert (project.root / "a.py").read_text() == (project.root.parent / "linked.py").read_text() == BAD
    assert (project.root / "a.py").stat().st_nlink == 2
    assert (project.root / "b.py").read_text() == GOOD


def test_a_read_only_file_is_named(project: Workspace) -> None:
    project.write({"a.py": BAD, "b.py": BAD})
    os.chmod(project.root / "a.py", 0o444)
    done = project.check("--fix")
    assert done.code == 2
    assert "a.py: the file is read-only; expected one that can be written" in done.err
    assert done.lines[0] == "a.py:1:5: TST201[error] Found a bad name"
    assert (project.root / "b.py").read_text() == GOOD


def test_what_others_wrote_in_the_meantime_is_kept(project: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write({"a.py": BAD})
    original = writing.write_together

    def late(rewrites: list[writing.Rewrite]) -> None:
        (project.root / "a.py").write_text("# another\n" + BAD)
        original(rewrites)

    monkeypatch.setattr("modellint.fix.fixer.write_together", late)
    done = project.check("--fix")
    assert done.code == 2
    assert "something else has changed the file in the meantime" in done.err
    assert (project.root / "a.py").read_text() == "# another\n" + BAD


def test_when_one_of_two_files_cannot_be_replaced_the_other_gets_its_content_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rewrites = []
    for name in "ab":
        (tmp_path / name).write_text("old")
        rewrites.append(writing.Rewrite(tmp_path / name, b"old", b"new"))
    original = os.replace

    def replace(source: Path, target: Path) -> None:
        if target.name == "b":
            raise PermissionError(13, "Permission denied")
        original(source, target)

    monkeypatch.setattr(os, "replace", replace)
    with pytest.raises(writing.WriteError, match="b: Permission denied"):
        writing.write_together(rewrites)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a": "old", "b": "old"}


def test_what_a_killed_run_left_beside_a_file_is_removed(project: Workspace) -> None:
    project.write({"a.py": BAD, ".a.py.999999999.modellint-tmp": "half"})
    assert project.check("--fix").code == 0
    assert sorted(path.name for path in project.root.glob(".a*")) == []


def fed(project: Workspace, monkeypatch: pytest.MonkeyPatch, source: bytes, *arguments: str) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(source)))
    done = project.check("-", "--stdin-filename", "models/x.py", *arguments)
    return done.code, done.out, done.err


def test_stdin_is_fixed_to_stdout(project: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    code, out, err = fed(project, monkeypatch, BAD.encode() + b"y = BAD2\r\n", "--fix")
    assert (code, out) == (1, GOOD + "y = BAD2\r\n")
    assert err.splitlines() == [
        "models/x.py:2:5: TST201[error] Found a bad name",
        "Found 2 findings (1 fixed, 1 remaining)",
    ]
    assert not (project.root / "models").exists()


def test_stdin_that_cannot_be_fixed_comes_out_as_it_was(project: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    assert fed(project, monkeypatch, b"x = (\n", "--fix")[:2] == (1, "x = (\n")
    assert fed(project, monkeypatch, b"x = 1\n", "--fix")[:2] == (0, "x = 1\n")
    project.write({"models/b.yaml": "good: 1\nx: !ref <BAD>\n"})
    both = "x = BAD  # fix: good also: b.yaml\n"
    assert fed(project, monkeypatch, both.encode(), "--fix")[:2] == (1, both)
    assert (project.root / "models/b.yaml").read_text() == "good: 1\nx: !ref <BAD>\n"


def test_the_diff_of_stdin_goes_to_stdout(project: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    code, out, err = fed(project, monkeypatch, BAD.encode(), "--diff")
    assert (code, err) == (1, "Would fix 1 finding\n")
    assert out == f"--- models/x.py\n+++ models/x.py\n@@ -1 +1 @@\n-{BAD}+{GOOD}"


def test_fixing_and_keeping_findings_do_not_go_together(project: Workspace) -> None:
    done = project.check("--fix", "--write-baseline", "--baseline", "known.json")
    assert done.code == 2
    assert "expected one of the two" in done.err


def test_unsafe_fixes_alone_are_no_wish(project: Workspace) -> None:
    done = project.check("--unsafe-fixes")
    assert done.code == 2
    assert "expected --fix or --diff" in done.err


def test_what_a_baseline_holds_is_not_fixed(project: Workspace) -> None:
    project.write({"a.py": BAD})
    assert project.check("--write-baseline", "--baseline", "known.json").code == 0
    project.write({"a.py": BAD + "y = BAD2  # fix: good\n"})
    assert project.check("--fix", "--baseline", "known.json").code == 0
    assert (project.root / "a.py").read_text() == BAD + "y = good  # fix: good\n"


def test_what_running_the_code_refutes_is_not_fixed_and_what_it_confirms_is(project: Workspace) -> None:
    """Confirming lifts what was hidden, and hides what was shown, before fixes are made."""
    project.write({"a.py": "x = BAD1  # fix: good\ny = BAD2  # LOW fix: good\nz = BAD3  # LOW fix: good\n"})
    settings = settings_for([project.root])
    rules = select_rules(settings)

    def confirm(findings: Sequence[Finding]) -> Judged:
        confirmed = Verdict(Status.CONFIRMED, "cpu", "seen")
        left = (
            replace(finding, verdict=confirmed, confidence=Confidence.HIGH) if finding.symbol == "BAD2" else finding
            for finding in findings
            if finding.symbol != "BAD1"
        )
        return Judged(tuple(left), tuple(finding for finding in findings if finding.symbol == "BAD1"))

    report = run([project.root / "a.py"], settings, rules, confirm=confirm, fix=Fixer(settings, rules))
    assert [finding.symbol for finding in report.fixed] == ["BAD2"]
    assert (report.findings, report.refuted) == ((), 1)
    assert (project.root / "a.py").read_text().count("good\n") == 3
    assert "y = good" in (project.root / "a.py").read_text()
    assert "x = BAD1" in (project.root / "a.py").read_text()
