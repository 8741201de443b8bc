"""`check --confirm` on the command line: what is shown of each verdict, and what the flags do. Nothing is run here."""

from __future__ import annotations

import os
import select
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from conftest import WORD_RULE
from effort import PATIENCE

from modellint.confirm import confirmer
from modellint.confirm.guarded import Limits
from modellint.finding import Sandbox, Status, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Workspace

    from modellint.confirm.plan import Group
    from modellint.confirm.setup import Setup

PROBE = """
    def probe(self, claim, project):
        from pathlib import Path

        from modellint.probes import Probe, Target

        if claim.says == "run":
            return None
        return Probe(Target(Path(claim.place.path), str(claim.place.span.line)), claim)
"""
CODE = """\
a = WORD  # confirmed
b = WORD  # refuted
c = WORD  # unconfirmed
d = WORD  # LOW confirmed
e = WORD  # LOW refuted
f = WORD  # LOW unconfirmed
g = WORD  # nothing to run
"""
GUARD = Sandbox("in part", ("limits", "audit hooks"))
STATUSES = {status.value: status for status in (Status.UNCONFIRMED, Status.REFUTED, Status.CONFIRMED)}


def answered(group: Group, setup: Setup) -> dict[int, Verdict]:
    """The verdict that the line of a finding asks for."""
    found = {}
    for number, probe in group.probes:
        word = probe.claim.says  # type: ignore[attr-defined]
        found[number] = Verdict(STATUSES[word], "cpu", f"it was {word} by running it")
    return found


@pytest.fixture
def confirming(words: Workspace, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """A project with lines that are confirmed or refuted as they say."""
    words.write({"rules/word.py": WORD_RULE + PROBE, "a.py": CODE})
    monkeypatch.setattr(confirmer, "first_with_torch", lambda candidates, guarding: Path(sys.executable))
    monkeypatch.setattr(confirmer, "answer", answered)
    monkeypatch.setattr(confirmer, "guard_of", lambda guarding: GUARD)
    return words


def shown(result: Any) -> list[tuple[int, str, str]]:
    """Line, confidence and verdict of each finding."""
    found = result.json["findings"]
    return [(one["line"], one["confidence"], one["verdict"]["status"]) for one in found]


def test_refuted_findings_are_hidden_and_confirmed_ones_are_lifted(confirming: Workspace) -> None:
    result = confirming.run("check", "--confirm", "--output-format", "json", "a.py")
    assert result.code == 1
    assert shown(result) == [
        (1, "high", "confirmed"),
        (3, "high", "unconfirmed"),
        (4, "high", "confirmed"),
        (7, "high", "unconfirmed"),
    ]


def test_what_is_remembered_can_be_confirmed(confirming: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    confirming.run("check", "a.py")
    monkeypatch.setattr(
        "modellint.pipeline.analyser.Analyser.analyse", lambda *_: pytest.fail("the cache was not used")
    )
    result = confirming.run("check", "--confirm", "--confirmed-only", "--output-format", "json", "a.py")
    assert shown(result) == [(1, "high", "confirmed"), (4, "high", "confirmed")]


def test_what_other_processes_find_can_be_confirmed(confirming: Workspace) -> None:
    confirming.write({f"m{number}.py": "a = WORD  # confirmed\n" for number in range(8)})
    result = confirming.run("check", "--confirm", "--jobs", "2", "--no-cache", "--output-format", "json", "a.py", ".")
    assert [status for _, _, status in shown(result)].count("confirmed") == 10


def test_refuted_findings_are_counted_and_the_guard_is_named(confirming: Workspace) -> None:
    result = confirming.run("check", "--confirm", "a.py")
    assert result.lines[-1] == "1 finding refuted by running the code, shown with `--show-refuted`"
    assert result.err.count("guard: in part (limits, audit hooks)") == 1
    document = confirming.run("check", "--confirm", "--output-format", "json", "a.py").json
    assert (document["refuted"], document["guard"]) == (1, {"name": "in part", "parts": ["limits", "audit hooks"]})
    shown_all = confirming.run("check", "--confirm", "--show-refuted", "--output-format", "json", "a.py").json
    assert shown_all["refuted"] == 0
    assert "guard" not in confirming.run("check", "--output-format", "json", "a.py").json


def test_a_required_guard_that_cannot_be_had_runs_nothing(confirming: Workspace) -> None:
    settings = (confirming.root / "modellint.toml").read_text() + '[confirm]\nguard = "required"\n'
    confirming.write({"modellint.toml": settings})
    result = confirming.run("check", "--confirm", "a.py")
    assert (result.code, result.out) == (2, "")
    assert (
        '--confirm: `guard` is "required", but here code can be guarded in part only (limits, audit hooks)'
        in result.err
    )


def test_a_low_finding_is_shown_only_once_it_is_confirmed(confirming: Workspace) -> None:
    lines = [line for line, _, _ in shown(confirming.run("check", "--output-format", "json", "a.py"))]
    assert lines == [1, 2, 3, 7]
    result = confirming.run("check", "--confirm", "--min-confidence", "low", "--output-format", "json", "a.py")
    assert [(line, status) for line, confidence, status in shown(result) if confidence == "low"] == [(6, "unconfirmed")]


def test_refuted_findings_are_shown_on_demand(confirming: Workspace) -> None:
    result = confirming.run("check", "--confirm", "--show-refuted", "--output-format", "json", "a.py")
    assert [line for line, _, status in shown(result) if status == "refuted"] == [2]


def test_a_strict_gate_sees_confirmed_findings_only(confirming: Workspace) -> None:
    result = confirming.run("check", "--confirm", "--confirmed-only", "--output-format", "json", "a.py")
    assert shown(result) == [(1, "high", "confirmed"), (4, "high", "confirmed")]
    confirming.write({"a.py": "c = WORD  # unconfirmed\n"})
    assert confirming.run("check", "--confirm", "--confirmed-only", "a.py").code == 0


def test_verdicts_stand_in_the_text(confirming: Workspace) -> None:
    out = confirming.run("check", "--confirm", "a.py").out
    assert "confirmed" in out
    assert "it was confirmed by running it" in out
    assert "nothing that can be run was found for it" in out
    assert "it was refuted" not in out


@pytest.mark.parametrize("flag", ["--show-refuted", "--confirmed-only", "--timeout=3"])
def test_flags_about_confirming_need_it(confirming: Workspace, flag: str) -> None:
    result = confirming.run("check", flag, "a.py")
    assert result.code == 2
    assert "is about --confirm; expected both or none" in result.err


@pytest.mark.parametrize("command", [("check", "--confirm", "a.py"), ("probe", "a.py::Model")])
def test_without_torch_it_says_what_to_install(
    words: Workspace, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    words.write({"a.py": "a = WORD\n"})
    monkeypatch.setattr(confirmer, "first_with_torch", lambda candidates, guarding: None)
    result = words.run(*command)
    assert (result.code, result.out) == (2, "")
    assert "needs torch: `pip install 'modellint[confirm]'`" in result.err
    assert "--python" in result.err
    assert words.run("check", "a.py").code == 1


@pytest.mark.parametrize("command", [("check", "--confirm", "a.py"), ("probe", "a.py::Model")])
def test_a_gpu_that_is_asked_for_and_not_there(
    confirming: Workspace, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    monkeypatch.setattr(confirmer, "has_gpu", lambda python, guarding: False)
    result = confirming.run(*command, "--device", "cuda")
    assert (result.code, result.out) == (2, "")
    assert "--device cuda: " in result.err
    assert "finds no GPU that torch can use; expected one, or --device auto" in result.err


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('timeout = "long"', "`timeout` must be a number above 0, up to 1000000, not 'long'"),
        ("timeout = nan", "`timeout` must be a number above 0, up to 1000000, not nan"),
        ("memory = inf", "`memory` must be a number above 0, up to 1000000, not inf"),
        ("timeout = 0", "`timeout` must be a number above 0, up to 1000000, not 0"),
        ("memory = true", "`memory` must be a number above 0, up to 1000000, not True"),
        ('roots = "src"', "`roots` must be a list of strings, not 'src'"),
        ("mock-imports = [1]", "`mock-imports` must be a list of strings, not [1]"),
        ("overrides = 3", "`overrides` must be a table, not 3"),
        ("targets = []", "`targets` must be a table, not []"),
        ("targets = { Model = {} }", "target `Model`: expected `package.module:Class` or `folder/file.py::Class`"),
        ("python = 3", "`python` must be a path, not 3"),
        (r'python = "a\u0000"', "`python` must be a path, not 'a\\x00'"),
        (r'roots = ["a\u0000"]', "`roots` must be a list of paths, not ['a\\x00']"),
        ('guard = "on"', "`guard` must be one of 'auto', 'required', 'off', not 'on'"),
        ("guard = []", "`guard` must be one of 'auto', 'required', 'off', not []"),
        ("tagrets = {}", "unknown key `tagrets`; did you mean `targets`?"),
        ("colour = 3", "unknown key `colour`; expected one of `guard`, `memory`, `mock-imports`, `overrides`"),
    ],
)
@pytest.mark.parametrize(
    "command",
    [("check", "--confirm", "a.py"), ("check", "a.py"), ("probe", "a.py::Model"), ("map", "a.py::Model")],
    ids=["confirm", "check", "probe", "map"],
)
def test_settings_that_are_not_understood(
    confirming: Workspace, command: tuple[str, ...], line: str, says: str
) -> None:
    confirming.write({"modellint.toml": f"[confirm]\n{line}\n"})
    result = confirming.run(*command)
    assert (result.code, result.out) == (2, "")
    assert says in result.err
    assert "modellint.toml:1: `confirm`" in result.err


def test_the_interpreter_has_to_be_there_only_where_models_are_run(confirming: Workspace) -> None:
    confirming.write({"modellint.toml": '[confirm.targets]\n[confirm]\npython = "nowhere/python"\n', "a.py": ""})
    assert confirming.run("check", "a.py").code == 0
    for command in (("check", "--confirm", "a.py"), ("probe", "a.py::Model")):
        result = confirming.run(*command)
        assert (result.code, result.out) == (2, "")
        assert "modellint.toml:1: `confirm`: `python`: " in result.err
        assert "nowhere/python: no such file or folder" in result.err


def test_settings_reach_the_process(confirming: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    setups: list[Setup] = []

    def answer(group: Group, setup: Setup) -> dict[int, Verdict]:
        setups.append(setup)
        return answered(group, setup)

    asked: list[list[Path]] = []
    monkeypatch.setattr(
        confirmer, "first_with_torch", lambda candidates, guarding: asked.append([*candidates]) or Path(sys.executable)
    )
    monkeypatch.setattr(confirmer, "answer", answer)
    settings = 'rule-paths = ["rules"]\nexclude = ["rules"]\n[confirm]\nroots = ["lib"]\npython = "env"\n'
    settings += 'timeout = 7\nmemory = 0.5\nmock-imports = ["flash_attn"]\noverrides = { data = "x" }\n'
    confirming.write({"modellint.toml": settings, "env/bin/python": "", "a.py": "a = WORD  # confirmed\n"})
    confirming.run("check", "--confirm", "--device", "cpu", "a.py")
    confirming.run("check", "--confirm", "--timeout", "3", "--python", "env/bin/python", "a.py")
    first, second = setups
    root = confirming.root.resolve()
    assert [Path(folder).resolve() for folder in first.roots] == [root, root / "src", root / "lib"]
    assert (first.guarding.device, first.guarding.limits) == ("cpu", Limits(7, 1 << 29))
    assert (first.stand_ins, first.overrides) == (("flash_attn",), (("data", "x"),))
    assert second.guarding.limits.seconds == 3
    assert [candidates[0].resolve() for candidates in asked] == [root / "env/bin/python"] * 2


def together(number: int, wait: float) -> Callable[[Group, Setup], dict[int, Verdict]]:
    """Answers once as many groups are being answered at the same time; raises if that does not come about."""
    barrier = threading.Barrier(number, timeout=wait)

    def answer(group: Group, setup: Setup) -> dict[int, Verdict]:
        barrier.wait()
        return answered(group, setup)

    return answer


def test_groups_are_run_side_by_side(confirming: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    confirming.write({"a.py": "a = WORD  # confirmed\nb = WORD  # confirmed\nc = WORD  # confirmed\n"})
    monkeypatch.setattr(confirmer, "answer", together(3, PATIENCE))
    result = confirming.run("check", "--confirm", "--jobs", "3", "--no-cache", "--output-format", "json", "a.py")
    assert [line for line, _, _ in shown(result)] == [1, 2, 3]


def test_one_job_runs_one_group_at_a_time(confirming: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    running: list[int] = []
    most: list[int] = []

    def answer(group: Group, setup: Setup) -> dict[int, Verdict]:
        running.append(1)
        most.append(len(running))
        time.sleep(0.02)
        running.pop()
        return answered(group, setup)

    monkeypatch.setattr(confirmer, "answer", answer)
    confirming.run("check", "--confirm", "--jobs", "1", "a.py")
    assert max(most) == 1
    assert len(most) == 6


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="there are no pseudo-terminals here")
def test_a_terminal_shows_how_far_it_is(confirming: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    from modellint.commands.progress import Progress

    ours, theirs = os.openpty()
    monkeypatch.setattr(Progress, "_DELAY", 0.0)
    monkeypatch.setattr(Progress, "_INTERVAL", 0.0)
    with os.fdopen(theirs, "w") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        confirming.run("check", "--confirm", "--jobs", "1", "a.py")
        terminal.flush()
        written = ""
        while select.select([ours], [], [], 1)[0]:
            written += os.read(ours, 4096).decode()
    os.close(ours)
    assert "] 1/1 files\x1b[K" in written
    assert "] 3/6 models\x1b[K" in written
    assert written.replace("\r\n", "\n").endswith(f"\r\x1b[Kguard: {GUARD}\n")
