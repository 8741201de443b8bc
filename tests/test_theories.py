"""Theories that rule packs bring: rules know what they say; one that fails is told by its pack, and harms nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from threading import Event
from typing import TYPE_CHECKING

import pytest
from effort import calls_of

from modellint.config import settings_for
from modellint.flow import pack_theories
from modellint.flow.lookups import Lookups
from modellint.flow.pack_theories import HOOKS, EndlessError, TheoryError, reason_against
from modellint.flow.queries import flow
from modellint.flow.theory import Theory
from modellint.packs import select_rules
from modellint.pipeline import endless
from modellint.pipeline.analyser import Analyser

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Workspace

    from modellint.link.project import Project

#: A pack that knows what the numbers of its house are, and a rule of its own; `ACT` stands where it may do harm.
PACK = '''
from modellint.finding import Confidence, Severity
from modellint.flow.domain import Constant, Number, text
from modellint.flow.queries import flow
from modellint.flow.theory import Foreign, Theory
from modellint.graph.value import EventKind, Op, Value
from modellint.rule import Rule

NUMBERS = {"dropout": 1, "legacy": False}


class Odd(Foreign):
    def __hash__(self):
        raise ValueError("no hash")


class Settings(Theory):
    """What `lab.setting("…")` gives."""

    def __init__(self, run):
        self.run = run
        self.asked = []

    def function(self, name, arguments, frame, value):
        if name != "lab.setting":
            return None
        ACT
        key = text(arguments.argument(0, "key"))
        self.asked.append(key)
        return (Constant(NUMBERS[key]),)


class FullDropout(Rule):
    """A dropout drops everything"""

    code = "LAB101"
    name = "full-dropout"
    severity = Severity.ERROR
    theories = (Settings,)

    def check_python(self, module, project):
        for made in flow(module, project).constructed("torch.nn.Dropout"):
            if made.argument(0, "p").is_(1):
                yield self.finding(made.place, "all is dropped", symbol="p", confidence=Confidence.HIGH)


class Asked(Rule):
    """A setting is asked for that there is"""

    code = "LAB102"
    name = "asked"
    severity = Severity.INFO
    theories = (Settings,)

    def check_python(self, module, project):
        asked = flow(module, project).theory(Settings).asked
        assert asked is flow(module, project).theory(Settings).asked  # the file is run once
        if asked:
            place = module.place(next(iter(module.body.flow.of(EventKind.CALL))).value)
            yield self.finding(place, ", ".join(sorted(set(asked))), symbol="s", confidence=Confidence.HIGH)


RULES = [FullDropout, Asked]
'''
#: What the pack knows of, and mistakes that have nothing to do with it.
MODEL = """\
import lab
from torch import nn

RATE = lab.setting("dropout")


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(RATE)
        if lab.setting("legacy"):
            self.layers = [nn.Linear(8, 8)]

    def forward(self, x):
        return self.drop(x)
"""
OTHER = """\
from torch import nn


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = [nn.Linear(8, 8)]
        self.drop = nn.Dropout(1)
"""
SETTINGS = 'rule-paths = ["pack.py"]\nexclude = ["pack.py"]\nmin-confidence = "low"\n'


def write(workspace: Workspace, act: str = "pass", pack: str = PACK) -> None:
    text = pack.replace("ACT", act.replace("\n", "\n        "))
    workspace.write({"pack.py": text, "modellint.toml": SETTINGS, "model.py": MODEL, "other.py": OTHER})


def checked(workspace: Workspace, *arguments: str) -> tuple[int, list[tuple[str, int, str]], list[tuple[str, ...]]]:
    """The exit code, the findings, and the errors, which stderr tells, too."""
    result = workspace.run("check", "--no-cache", "--output-format", "json", *arguments)
    errors = [(error["path"], error["part"], error["error"]) for error in result.json["errors"]]
    told = [f"internal error in {part} on {path}: {error}" for path, part, error in errors]
    assert result.err.splitlines()[-len(errors) :] == told if errors else "internal error" not in result.err
    found = [(one["path"], one["line"], one["code"]) for one in result.json["findings"]]
    return result.code, sorted(found), errors


#: What is found with the theory and without it, and what goes wrong where it fails.
KNOWN = [
    ("model.py", 4, "LAB102"),
    ("model.py", 10, "LAB101"),
    *(OTHERS := [("other.py", 7, "ML204"), ("other.py", 8, "LAB101")]),
]
UNKNOWN = [("model.py", 12, "ML204"), *OTHERS]


def test_rules_find_what_a_theory_knows(workspace: Workspace) -> None:
    write(workspace)
    assert checked(workspace) == (1, KNOWN, [])
    assert checked(workspace, "--jobs", "2") == (1, KNOWN, [])
    assert checked(workspace, "--ignore", "LAB") == (1, [one for one in UNKNOWN if one[2] == "ML204"], [])


PART = "theory `Settings` of pack.py"


@pytest.mark.parametrize(
    ("act", "error"),
    [
        ('raise ValueError("no\\nsetting")', "ValueError: no setting"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("return 5", "TypeError: `function` gives 5; expected a tuple of values"),
        ("return (5,)", "TypeError: `function` gives 5; expected values of `modellint.flow.domain`"),
        ("return (Constant([]),)", "TypeError: unhashable type: 'list'"),
        ("return (Odd(),)", "ValueError: no hash"),
        ("return (Number('x'),)", "AttributeError: 'str' object has no attribute 'number' (in LAB101)"),
        ("return tuple(map(Constant, range(65)))", "ValueError: `function` gives 65 values; expected 64 at most"),
        (
            "return self.function(name, arguments, frame, value)",
            "RecursionError: maximum recursion depth exceeded",
        ),
        (
            "while True:\n    self.asked.append(Value(Op.CONST, (), 1, None))\n"
            "    self.run.evaluate(self.asked[-1], frame)",
            "RuntimeError: `function` looks at too many values",
        ),
    ],
)
def test_a_theory_that_fails_is_told_and_harms_nothing(workspace: Workspace, act: str, error: str) -> None:
    write(workspace, act)
    code, found, errors = checked(workspace)
    assert (code, found, [told[:2] for told in errors]) == (2, UNKNOWN, [("model.py", PART)])
    assert errors[0][2].startswith(error)


@pytest.mark.dear
@pytest.mark.parametrize(
    "act",
    [
        "while True:\n    pass",
        "while True:\n    self.run.evaluate(value, frame)",
        "while True:\n    try:\n        len(self.asked)\n    except Exception:\n        pass",
        "while True:\n    sum(range(10**6))",
    ],
)
def test_a_theory_that_never_ends_is_ended(workspace: Workspace, act: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pack_theories, "SECONDS", 0.3)
    write(workspace, act)
    code, found, errors = checked(workspace)
    assert (code, found) == (2, UNKNOWN)
    assert errors == [
        ("model.py", PART, "TimeoutError: it takes more than 0.3 s of processor time"),
        ("other.py", PART, "left out, as it did not come to an end on model.py"),
    ]
    assert calls_of(lambda: workspace.root.as_posix()) > 1, (
        "nothing that is thrown is left for a profiler to stumble on"
    )


OBSERVING = """
    observes = (Made, Entered)

    def observe(self, occurrence):
        ACT
        self.asked.append(type(occurrence).__name__)

    def function(self, name"""


def test_a_theory_is_told_of_what_it_observes_and_named_where_that_fails(workspace: Workspace) -> None:
    pack = PACK.replace("\n    def function(self, name", OBSERVING).replace(
        "Foreign, Theory", "Entered, Foreign, Made, Theory"
    )
    head, _, rest = pack.rpartition("        ACT\n")
    write(workspace, pack=head + rest)
    result = workspace.run("check", "--no-cache", "--output-format", "json", "--select", "LAB102")
    told = [one["message"] for one in result.json["findings"] if one["path"] == "model.py"]
    assert told == ["Entered, Made, dropout, legacy"]
    write(workspace, "raise ValueError(occurrence)", pack=head + rest)
    code, found, errors = checked(workspace)
    assert (code, found, {error[:2] for error in errors}) == (2, UNKNOWN, {("model.py", PART), ("other.py", PART)})


def test_one_that_is_told_when_it_has_ended_after_all_is_named(workspace: Workspace) -> None:
    write(workspace)
    (theory,) = select_rules(settings_for([workspace.root])).theories

    has_looked = Event()

    def watch(thread: int, done: Event, late: list[pack_theories.PackTheory]) -> None:
        late.append(theory)
        has_looked.set()

    def check() -> None:
        with endless.ended_in_time():
            has_looked.wait()
            raise EndlessError

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(endless, "_watch", watch)
        with pytest.raises(TheoryError) as raised:
            check()
    assert (raised.value.theory, type(raised.value.error)) == (theory, TimeoutError)


def test_one_that_cannot_be_made_fails_in_each_run(workspace: Workspace) -> None:
    write(workspace, pack=PACK.replace("self.asked = []", "self.asked = run.nothing"))
    error = "AttributeError: 'Interpreter' object has no attribute 'nothing'"
    assert checked(workspace) == (2, UNKNOWN, [("model.py", PART, error), ("other.py", PART, error)])


def test_a_rule_that_fails_by_itself_is_told_as_before(workspace: Workspace) -> None:
    write(workspace, pack=PACK.replace("if asked:", "if asked[5]:"))
    code, found, errors = checked(workspace)
    assert (code, found) == (2, [one for one in KNOWN if one[2] != "LAB102"])
    assert [told[:2] for told in errors] == [("model.py", "LAB102"), ("other.py", "LAB102")]


def test_a_theory_that_no_rule_declares_is_told(workspace: Workspace) -> None:
    write(workspace, pack=PACK.replace("theories = (Settings,)", "").replace("NUMBERS = ", "NUMBERS: dict = "))
    code, found, errors = checked(workspace)
    assert (code, found) == (2, UNKNOWN)
    assert {(part, error) for _, part, error in errors} == {
        ("LAB102", "LeftOutError: `Settings` is in the `theories` of no rule that is selected")
    }


def test_nothing_is_remembered_of_a_file_on_which_a_theory_failed(workspace: Workspace) -> None:
    write(workspace, "raise ValueError")
    assert [workspace.run("check").code for _ in range(2)] == [2, 2]
    write(workspace)
    assert workspace.places() == KNOWN


def test_a_notebook_is_checked_without_it(workspace: Workspace) -> None:
    write(workspace, "raise ValueError")
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": MODEL}
    book = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    workspace.write({"book.ipynb": json.dumps(book)})
    code, found, errors = checked(workspace, "book.ipynb")
    assert (code, found, errors) == (2, [("book.ipynb", 12, "ML204")], [("book.ipynb", PART, "ValueError")])


def test_a_question_is_answered_without_it(workspace: Workspace) -> None:
    write(workspace, "raise ValueError")
    settings = settings_for([workspace.root])
    analyser = Analyser(select_rules(settings), settings, record=True)

    def shares(project: Project) -> list[float | None]:
        module = project.python(workspace.root / "model.py")
        assert module is not None
        return [made.argument(0, "p").number for made in flow(module, project).constructed("torch.nn.Dropout")]

    assert analyser.ask(shares) == [None]
    write(workspace)
    analyser = Analyser(select_rules(settings), settings, record=True)
    assert analyser.ask(shares) == [1]


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("theories = (Settings,)", "theories = Settings", "is no tuple of theories"),
        ("theories = (Settings,)", "theories = (Odd,)", "<class 'pack.Odd'> is no theory"),
        ("def function(", "mode = None\n\n    def function(", "`Settings` has a `mode` of its own"),
        ("def function(", "def matters(", "`Settings` has a `matters` of its own"),
        ("def function(", "observes = (Foreign,)\n\n    def function(", "`Settings` observes (<class "),
        ("def function(", "observes = Foreign\n\n    def function(", "`Settings` observes <class "),
    ],
)
def test_what_cannot_be_a_theory_is_refused(workspace: Workspace, old: str, new: str, error: str) -> None:
    write(workspace, pack=PACK.replace(old, new))
    result = workspace.run("check")
    assert result.code == 2
    assert error.partition("'")[0] in result.err
    assert "pack.py: `theories` of" in result.err


def test_each_hook_is_one_of_the_protocol() -> None:
    assert {name for name in HOOKS if callable(getattr(Theory, name))} == HOOKS
    assert "`rests_on` of its own" in reason_against(Lookups)


@pytest.mark.skipif(sys.platform == "win32", reason="a path of POSIX")
def test_an_installed_pack_is_named(tmp_path: Path) -> None:
    site, project = tmp_path / "site", tmp_path / "project"
    files = {
        site / "lab_pack.py": PACK.replace("ACT", "raise ValueError(name)"),
        site / "lab_pack-1.0.dist-info" / "entry_points.txt": "[modellint.rules]\nlab = lab_pack\n",
        project / "model.py": MODEL,
        project / "other.py": OTHER,
    }
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    command = [sys.executable, "-m", "modellint", "check", "--no-cache", "--output-format", "sarif=log.sarif"]
    command += ["--min-confidence", "low"]
    environment = {**os.environ, "PYTHONPATH": str(site)}
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)
    said = "internal error in theory `Settings` of rule pack `lab` (lab_pack)"
    error = "ValueError: lab.setting"
    assert (done.returncode, done.stderr) == (2, f"{said} on model.py: {error}\n")
    (run,) = json.loads((project / "log.sarif").read_text("utf-8"))["runs"]
    (note,) = run["invocations"][0]["toolExecutionNotifications"]
    assert (note["level"], note["message"]["text"]) == ("error", f"model.py: {said}: {error}")
    assert {result["ruleId"] for result in run["results"]} == {"ML204", "LAB101"}
