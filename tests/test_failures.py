"""Rules that fail: what they failed on is told, all else is found, and the exit code is 2."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import junitparser
import pytest
import sarif_pydantic
from test_published_formats import GITLAB, RDJSON, read_command

import modellint
from modellint.commands import watch
from modellint.confirm import confirmer
from modellint.confirm.guarded import Guarding, Limits
from modellint.confirm.setup import Setup
from modellint.finding import Sandbox
from modellint.linter import InternalError
from modellint.reading.sealed import documents_in

if TYPE_CHECKING:
    from conftest import Workspace

#: A rule that does in each file what its first line says, after it has found the line that says FIRST.
RULE = '''
"""A pack of rules that fail."""

import os
import sys
from dataclasses import dataclass

from modellint.claims import Claim
from modellint.finding import Applicability, Confidence, Edit, Finding, Fix, Severity
from modellint.rule import Rule
from modellint.source import Place, Span


class Unsaid(Exception):
    def __str__(self):
        raise RuntimeError("no words")


@dataclass(frozen=True, slots=True)
class Told(Claim):
    pass


def forever(n):
    return forever(n + 1)


class Failing(Rule):
    """Fails."""

    code = "BAD101"
    name = "failing"
    severity = Severity.WARNING

    def check_python(self, module, project):
        yield from self.run(module.source)

    def check_recipe(self, recipe, project):
        yield from self.run(recipe.source)

    def at(self, source, line, **rest):
        place = Place(source.path.as_posix(), Span(line, 1, line, 2))
        return self.finding(place, "found", symbol=f"s{line}", confidence=Confidence.HIGH, **rest)

    def run(self, source):
        lines = source.text.splitlines()
        act = next((line.partition("DO ")[2] for line in lines if "DO " in line), "")
        for number, line in enumerate(lines, 1):
            if "FIRST" in line:
                yield self.at(source, number)
        if lines[-1] == "RAISE":
            raise ValueError("as the last line says")
        if act == "raise":
            raise ValueError("of two\\nlines \\x1b[31m")
        elif act == "exit":
            sys.exit(0)
        elif act == "die":
            os._exit(3)
        elif act == "kill":
            os.kill(os.getpid(), 9)
        elif act == "kill once":
            if not os.path.exists("killed"):
                open("killed", "w").close()
                os.kill(os.getpid(), 9)
        elif act == "recurse":
            forever(0)
        elif act == "memory":
            raise MemoryError
        elif act == "unsaid":
            raise Unsaid
        elif act == "odd":
            yield "a finding"
        elif act == "typed":
            yield self.at(source, "1")
        elif act == "symbol":
            yield self.finding(Place("x", Span(1, 1, 1, 1)), 5, symbol=None, confidence=Confidence.HIGH)
        elif act == "unpicklable":
            yield self.at(source, 1, claim=local()(Place(source.path.as_posix(), Span(1, 1, 1, 2))))
        elif act.startswith("fix"):
            text = {"fix": "y", "fix crash": "RAISE", "fix break": "("}[act]
            edit = Edit(Place(source.path.as_posix(), Span(2, 1, 2, 2)), text)
            if lines[1] == "x":
                yield self.at(source, 2, fix=Fix("do it", Applicability.SAFE, (edit,)))
        elif act == "claim":
            yield self.at(source, 1, claim=Told(Place(source.path.as_posix(), Span(1, 1, 1, 2))))

    def check_unreadable(self, path, error):
        if "unreadable" in path:
            raise LookupError("unreadable")
        return ()

    def check_suppressions(self, path, stale):
        if "stale" in path:
            raise LookupError("stale")
        return ()

    def probe(self, claim, project):
        raise OverflowError("cannot probe")


def local():
    @dataclass(frozen=True, slots=True)
    class Local(Claim):
        pass

    return Local


class None_(Rule):
    """Gives nothing where findings are expected."""

    code = "BAD102"
    name = "nothing"
    severity = Severity.WARNING

    def check_python(self, module, project):
        return None if "NOTHING" in module.source.text else ()
'''
OTHER = "w = WORD  # not of the rule that fails\n"


@pytest.fixture
def failing(words: Workspace) -> Workspace:
    """A project with a rule that fails where it is told to, and one that finds the word WORD."""
    words.write({"rules/failing.py": RULE})
    return words


def told(workspace: Workspace, *arguments: str) -> tuple[list[tuple[str, int, str]], list[tuple[str, str, str]]]:
    """The findings and the errors of a run that failed, which stderr tells, too."""
    result = workspace.run("check", "--no-cache", "--output-format", "json", *arguments)
    assert result.code == 2
    errors = [(error["path"], error["part"], error["error"]) for error in result.json["errors"]]
    assert result.err.splitlines()[-len(errors) :] == [
        f"internal error in {part} on {path}: {error}".replace("\x1b", "\ufffd") for path, part, error in errors
    ]
    return [(found["path"], found["line"], found["code"]) for found in result.json["findings"]], errors


@pytest.mark.parametrize(
    ("name", "act", "error"),
    [
        ("b.yaml", "raise", "ValueError: of two lines \x1b[31m"),
        ("b.ipynb", "raise", "ValueError: of two lines \x1b[31m"),
        ("b.py", "raise", "ValueError: of two lines \x1b[31m"),
        ("b.py", "exit", "SystemExit: 0"),
        ("b.py", "recurse", "RecursionError: maximum recursion depth exceeded"),
        ("b.py", "memory", "MemoryError"),
        ("b.py", "unsaid", "Unsaid: it cannot say why"),
        ("b.py", "odd", "TypeError: expected Finding, not 'a finding'"),
        ("b.py", "typed", "TypeError: expected int, not '1'"),
        ("b.py", "symbol", "TypeError: expected str, not 5"),
    ],
)
def test_what_a_rule_fails_on_is_told(failing: Workspace, name: str, act: str, error: str) -> None:
    text = f"# DO {act}\n{OTHER}f = 1  # FIRST\n"
    content = {"b.py": text, "b.yaml": f"# DO {act}\nw: !new:torch.nn.ReLU  # WORD\nf: 1  # FIRST\n"}.get(name)
    if content is None:
        cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": text}
        content = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    failing.write({"a.py": OTHER, name: content, "c.py": OTHER})
    findings, errors = told(failing, ".")
    assert errors == [(name, "BAD101", error)]
    assert findings == [("a.py", 1, "TST101"), (name, 2, "TST101"), (name, 3, "BAD101"), ("c.py", 1, "TST101")]


def test_a_rule_that_gives_nothing_fails(failing: Workspace) -> None:
    failing.write({"a.py": f"NOTHING = 1\n{OTHER}"})
    assert told(failing, ".") == (
        [("a.py", 2, "TST101")],
        [("a.py", "BAD102", "TypeError: 'NoneType' object is not iterable")],
    )


def test_what_fails_is_remembered_as_nothing(failing: Workspace) -> None:
    failing.write({"a.py": "# DO raise\nf = 1  # FIRST\n", "b.py": OTHER})
    first = failing.check(".")
    assert first.code == 2
    assert failing.check(".") == first
    (cache,) = (failing.root / ".modellint_cache").glob("*.results")
    results = json.loads(next(documents_in(cache.read_bytes())))
    remembered = {Path(name).name for name in results["entries"]}
    assert remembered & {"a.py", "b.py"} == {"b.py"}


def test_an_unreadable_file_and_a_stale_comment_fail_for_one_rule_only(failing: Workspace) -> None:
    failing.write({"unreadable.py": "(\n", "stale.py": "x = 1  # modellint: ignore[TST101]\n"})
    findings, errors = told(failing, ".")
    assert findings == [("stale.py", 1, "ML002"), ("unreadable.py", 1, "ML001")]
    assert errors == [
        ("stale.py", "BAD101", "LookupError: stale"),
        ("unreadable.py", "BAD101", "LookupError: unreadable"),
    ]


def test_a_traceback_is_shown_when_asked_for(failing: Workspace) -> None:
    failing.write({"a.py": "# DO raise\n"})
    assert "Traceback" not in failing.check(".").err
    said = failing.check(".", "--verbose").err
    assert "Traceback (most recent call last)" in said
    assert 'raise ValueError("of two' in said
    assert "\x1b" not in said


# -- formats -----------------------------------------------------------------------------------------------------------


def test_every_format_that_programs_read_tells_of_it(failing: Workspace) -> None:
    failing.write({"a,b.py": "# DO raise\n", "c.py": OTHER})
    names = ("sarif", "gitlab", "junit", "rdjson", "github", "azure", "json-lines", "pylint", "markdown")
    assert failing.run("check", "--no-cache", *(f"--output-format={name}={name}.out" for name in names)).code == 2
    text = {name: (failing.root / f"{name}.out").read_text() for name in names}
    message = "internal error in BAD101: ValueError: of two lines \x1b[31m"

    sarif = sarif_pydantic.Sarif.model_validate_json(text["sarif"]).model_dump(mode="json", by_alias=True)
    (invocation,) = sarif["runs"][0]["invocations"]
    assert invocation["executionSuccessful"] is False
    (note,) = invocation["toolExecutionNotifications"]
    assert (note["level"], note["message"]["text"]) == ("error", f"a,b.py: {message}")
    assert note["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "a%2Cb.py"

    issues = json.loads(text["gitlab"])
    jsonschema.Draft202012Validator(GITLAB).validate(issues)
    assert [(issue["location"]["path"], issue["check_name"]) for issue in issues] == [
        ("c.py", "TST101"),
        ("a,b.py", "internal-error"),
    ]

    suites = junitparser.JUnitXml.fromstring(text["junit"].encode())
    assert (suites.tests, suites.failures, suites.errors) == (2, 1, 1)
    (case,) = next(iter(suites))
    assert isinstance(case.result[0], junitparser.Error)
    assert "Traceback" in case.result[0].text

    document = json.loads(text["rdjson"])
    jsonschema.Draft202012Validator(RDJSON).validate(document)
    assert document["diagnostics"][1]["message"] == message

    kind, properties, said = read_command(text["github"].splitlines()[1])
    assert (kind, properties["file"], said) == ("error", "a,b.py", f"a,b.py: {message}")

    assert text["azure"].splitlines()[1] == f"##vso[task.logissue type=error;sourcepath=a,b.py;]a,b.py: {message}"

    assert [next(iter(json.loads(line))) for line in text["json-lines"].splitlines()] == ["code", "error"]
    assert text["pylint"].splitlines()[1].startswith("a,b.py:1: [internal-error(internal-error), BAD101] ValueError")
    assert ":x: `a,b.py`: internal error in BAD101: ValueError" in text["markdown"]


def test_reports_that_are_joined_tell_of_it(failing: Workspace) -> None:
    failing.write({"a.py": "# DO raise\n", "c.py": OTHER})
    for name in ("a", "c"):
        failing.run("check", f"{name}.py", "--output-format", f"json={name}.json")
    result = failing.run("merge", "a.json", "c.json", "--output-format", "json")
    assert (result.code, len(result.json["findings"]), len(result.json["errors"])) == (2, 1, 1)
    assert result.err.startswith("internal error in BAD101 on a.py: ValueError")
    failing.write({"a.json": json.dumps({**json.loads((failing.root / "a.json").read_text()), "errors": [{}]})})
    assert "a.json: error 1 is not as `--output-format json` has it" in failing.run("merge", "a.json").err


# -- processes ---------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_process_that_dies_costs_one_file(failing: Workspace) -> None:
    failing.write({f"{name}.py": OTHER for name in "abcdefgh"})
    failing.write({"k.py": "# DO kill\n" + OTHER, "m.py": "# DO die\n", "o.py": "# DO kill once\n" + OTHER})
    findings, errors = told(failing, ".", "--jobs", "2")
    assert [path for path, _, _ in findings] == [*(f"{name}.py" for name in "abcdefgh"), "o.py"]
    assert errors == [
        ("k.py", "a worker process", "it was ended by SIGKILL, perhaps for lack of memory"),
        ("m.py", "a worker process", "it ended with exit code 3"),
    ]


def test_what_cannot_be_passed_on_costs_one_file(failing: Workspace) -> None:
    failing.write({"a.py": OTHER, "b.py": "# DO unpicklable\n", "c.py": OTHER})
    findings, errors = told(failing, ".", "--jobs", "2")
    assert [path for path, _, _ in findings] == ["a.py", "c.py"]
    assert [(path, part) for path, part, _ in errors] == [("b.py", "a worker process")]


def test_processes_that_cannot_start_are_told_once(failing: Workspace) -> None:
    failing.write({"a.py": OTHER, "b.py": OTHER, "rules/other.py": "import multiprocessing\n"})
    rule = (failing.root / "rules/other.py").read_text()
    rule += "import os\nif multiprocessing.parent_process():\n    os._exit(9)\n"
    failing.write({"rules/other.py": rule})
    result = failing.check(".", "--jobs", "2", "--no-cache")
    assert (result.code, result.out) == (2, "")
    assert result.err == "Error: internal error: a worker process died before it checked a file\n"


# -- fixes, probes, and who else asks ----------------------------------------------------------------------------------


def test_fixes_are_made_whole_or_not_at_all(failing: Workspace) -> None:
    acts = ("fix", "fix crash", "fix break", "raise")
    before = {f"{name}.py": f"# DO {act}\nx\n" for name, act in zip("abcd", acts, strict=True)}
    failing.write(before)
    result = failing.check(".", "--fix", "--no-cache")
    assert result.code == 2
    after = {name: (failing.root / name).read_text() for name in before}
    assert after == {**before, "a.py": "# DO fix\ny\n"}
    left_out = "the fix for BAD101 was left out"
    assert f"b.py:2:1: {left_out}: modellint fails on the result: ValueError: as the last line says" in result.err
    assert f"c.py:2:1: {left_out}: the result is no Python" in result.err
    assert result.err.splitlines()[-1] == "internal error in BAD101 on d.py: ValueError: of two lines \ufffd[31m"


def test_a_fix_that_fails_when_it_is_made_is_left_out(failing: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    from modellint.fix import fixer

    def fail(path: Path, *_: Any) -> bytes:
        raise AssertionError(path.name)

    monkeypatch.setattr(fixer, "edited", fail)
    failing.write({"a.py": "# DO fix\nx\n", "b.py": "# DO fix\nx\n"})
    result = failing.check(".", "--fix", "--no-cache")
    assert result.code == 2
    assert "internal error in BAD101 on b.py: AssertionError: b.py" in result.err
    assert (failing.root / "a.py").read_text() == "# DO fix\nx\n"


def test_a_rule_that_fails_to_probe_leaves_its_finding_unconfirmed(
    failing: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def setup(*_: Any) -> Setup:
        return Setup(failing.root, (), Guarding("auto", Limits(1.0, 1), "cpu"), (), (), {}, Sandbox("off"))

    monkeypatch.setattr(confirmer, "setup_for", setup)
    failing.write({"a.py": f"# DO claim\n{OTHER}"})
    result = failing.run("check", "--confirm", "--no-cache", "--output-format", "json")
    assert result.code == 2
    assert [error["error"] for error in result.json["errors"]] == ["OverflowError: cannot probe"]
    verdict = result.json["findings"][0]["verdict"]
    assert (verdict["status"], verdict["detail"]) == (
        "unconfirmed",
        "internal error in BAD101: OverflowError: cannot probe",
    )
    assert len(result.json["findings"]) == 2


def test_a_baseline_keeps_what_could_not_be_looked_for(failing: Workspace) -> None:
    failing.write({"a.py": f"# DO nothing\n{OTHER}"})
    failing.check("--baseline", "known.json", "--write-baseline")
    before = (failing.root / "known.json").read_text()
    failing.write({"a.py": "# DO raise\n"})
    result = failing.check("--baseline", "known.json")
    assert (result.code, "no longer found" in result.err) == (2, False)
    assert failing.check("--baseline", "known.json", "--write-baseline").code == 2
    assert (failing.root / "known.json").read_text() == before


def test_the_api_raises(failing: Workspace) -> None:
    failing.write({"a.py": "# DO raise\n"})
    with pytest.raises(InternalError, match=r"internal error in BAD101 on a\.py: ValueError: of two lines"):
        modellint.check(["a.py"])


def test_a_watch_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    def fail() -> int:
        raise LookupError("no such\nthing")

    assert watch._once(fail) == 2
    assert "Error: internal error: LookupError: no such thing\n" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("import sys\nsys.exit(0)\n", "cannot be loaded: SystemExit: 0"),
        (RULE.replace("Severity.WARNING", '"warning"'), "`severity` of the rule `Failing` is no Severity"),
        (RULE + "    def __init__(self):\n        raise OSError('no')\n", "BAD102 cannot be made: OSError: no"),
        (
            RULE.replace('    name = "failing"', "    name = 'failing'\n    bad = ('a',)"),
            "`bad` of the rule `Failing` is no tuple",
        ),
    ],
)
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_pack_that_cannot_be_loaded_is_told(failing: Workspace, rule: str, expected: str, jobs: str) -> None:
    failing.write({"rules/failing.py": rule, "a.py": OTHER, "b.py": OTHER})
    result = failing.check(".", "--no-cache", "--jobs", jobs)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("Error: ")
    assert expected in result.err
    assert "internal error" not in result.err


def test_sigterm_is_no_failure_of_a_rule(failing: Workspace) -> None:
    import subprocess

    rule = RULE.replace("os._exit(3)", f"os.kill(os.getpid(), {int(signal.SIGTERM)})")
    failing.write({"rules/failing.py": rule, "a.py": "# DO die\n"})
    command = [sys.executable, "-m", "modellint", "check", "a.py", "--no-cache", "--jobs", "1"]
    done = subprocess.run(command, cwd=failing.root, env=os.environ, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (143, "", "")
