"""How runs end: by a signal at any moment, with their workers, and without a word too many."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest
from effort import PATIENCE

from modellint.config import settings_for
from modellint.linter import run
from modellint.packs import select_rules

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Workspace

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no signals")

#: A rule that notes which process runs it, and then takes longer than any test.
SLOW_RULE = '''
"""A pack of rules for tests."""

import os
import re
import time
from pathlib import Path

from modellint.finding import Severity
from modellint.rule import Example, Rule


class SlowRule(Rule):
    """Takes its time."""

    code = "TST102"
    name = "slow"
    severity = Severity.WARNING

    def check_python(self, module, project):
        if "SLEEPS" not in module.source.text and "SEARCHES" not in module.source.text:
            return ()
        Path(os.environ["NOTES"], str(os.getpid())).touch()
        if "SEARCHES" in module.source.text:
            re.match("(a+)+$", "a" * 64 + "b")  # never lets go of the interpreter
        time.sleep(600)
        return ()
'''
#: Without the death signal of Linux, as on other systems.
ELSEWHERE = (
    "from modellint.pipeline import workers; workers._PR_SET_PDEATHSIG = 9999\n"
    "from modellint.__main__ import main; main()"
)
MODULE = ("-m", "modellint")


def is_running(process: int) -> bool:
    """Whether a process is there, and no zombie that nobody has asked about yet."""
    done = subprocess.run(["ps", "-o", "stat=", "-p", str(process)], capture_output=True, text=True, check=False)
    return bool(done.stdout.strip()) and not done.stdout.startswith("Z")


def eventually(holds: Callable[[], bool]) -> bool:
    """Whether something comes about, late only if the machine is very busy."""
    end = time.monotonic() + PATIENCE
    while not holds() and time.monotonic() < end:
        time.sleep(0.02)
    return holds()


@pytest.mark.dear
@pytest.mark.parametrize(
    ("program", "does"),
    [(MODULE, "SLEEPS"), (MODULE, "SEARCHES"), (("-c", ELSEWHERE), "SLEEPS")],
    ids=["sleeping", "busy", "elsewhere"],
)
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT], ids=lambda number: number.name)
def test_workers_end_with_their_parent(
    workspace: Workspace, program: tuple[str, ...], does: str, number: signal.Signals
) -> None:
    workspace.write({f"m{i}.py": f"{does} = 1\n" for i in range(8)})
    workspace.write({"rules/slow.py": SLOW_RULE, "modellint.toml": 'rule-paths = ["rules"]\nexclude = ["rules"]\n'})
    notes = workspace.root / "notes"
    notes.mkdir()
    command = [sys.executable, *program, "check", "--jobs", "2", "--select", "TST102"]
    with subprocess.Popen(
        command, cwd=workspace.root, env={**os.environ, "NOTES": str(notes)}, stderr=subprocess.PIPE, text=True
    ) as process:
        assert eventually(lambda: len(list(notes.iterdir())) == 2)
        process.send_signal(number)
        _, said = process.communicate(timeout=PATIENCE)
    workers = [int(path.name) for path in notes.iterdir()]
    assert len(workers) == 2
    assert process.pid not in workers
    assert eventually(lambda: not any(map(is_running, workers)))
    codes = {signal.SIGKILL: -9, signal.SIGTERM: 143, signal.SIGINT: 2}
    assert (process.returncode, said) == (codes[number], "Interrupted\n" if number == signal.SIGINT else "")


def test_nothing_of_the_workers_is_left_when_a_run_has_ended(words: Workspace) -> None:
    """Else a thread may use pipes that are closed by then: `Exception ignored in threading … Bad file descriptor`."""
    words.write({f"m{i}.py": "a = WORD\n" for i in range(20)})
    settings = settings_for([words.root]).with_options(jobs=2)
    report = run(sorted(words.root.glob("m*.py")), settings, select_rules(settings), use_cache=False)
    assert len(report.findings) == 20
    assert multiprocessing.active_children() == []
    assert not any("ExecutorManager" in type(thread).__name__ for thread in threading.enumerate())


def interrupted_at(folder: Path, module: str, number: signal.Signals, *arguments: str) -> tuple[int, str, str]:
    """What a run comes to that gets a signal while it imports `module`."""
    code = f"import os, time\nos.kill(os.getpid(), {int(number)})\ntime.sleep(600)\n"
    (folder / "early").mkdir(exist_ok=True)
    (folder / "early" / f"{module}.py").write_text(code)
    command = [sys.executable, "-m", "modellint", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(folder / "early")}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("module", "arguments"),
    [
        ("click", ["--version"]),
        ("difflib", ["chek"]),
        ("yaml", ["check", "a.yaml", "--no-cache"]),
        ("pathspec", ["check", "."]),
        ("csv", ["check", "--output-format", "json"]),
    ],
)
def test_an_interrupt_while_modules_are_imported(words: Workspace, module: str, arguments: list[str]) -> None:
    words.write({"a.yaml": "a: !new:torch.nn.ReLU # WORD\n", ".gitignore": "b.py\n"})
    assert interrupted_at(words.root, module, signal.SIGINT, *arguments) == (2, "", "Interrupted\n")
    assert interrupted_at(words.root, module, signal.SIGTERM, *arguments) == (143, "", "")


@pytest.mark.parametrize(
    ("place", "code"),
    [
        ("class A:\n    def __del__(self):\n        os.kill(os.getpid(), 2)\nA()", 2),
        ("import atexit\natexit.register(os.kill, os.getpid(), 2)", 2),
        ("import atexit\natexit.register(os.kill, os.getpid(), 15)", 143),
        ("import atexit\natexit.register(lambda: os.write(1, b'done'))", 1),
    ],
    ids=["where no exception gets out", "at exit", "SIGTERM at exit", "never"],
)
def test_an_interrupt_where_python_would_print_a_traceback(words: Workspace, place: str, code: int) -> None:
    words.write({"a.py": "a = WORD\n"})
    program = "import os\nfrom modellint import process\nbegin = process.begin\ndef begun():\n    begin()\n"
    program += "".join(f"    {line}\n" for line in place.splitlines())
    program += "process.begin = begun\nfrom modellint.__main__ import main\nmain()\n"
    done = subprocess.run(
        [sys.executable, "-c", program, "check", "a.py"],
        cwd=words.root,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert done.returncode == code
    assert done.stderr in ("", "Interrupted\n")
    assert "done" in done.stdout or code != 1


def test_a_second_interrupt_ends_at_once(workspace: Workspace) -> None:
    program = (
        "import os, time\nfrom modellint.commands import help\nfrom modellint.__main__ import main\n\n\n"
        "def invoke(self, ctx):\n    try:\n        os.kill(os.getpid(), 2)\n        time.sleep(600)\n"
        "    finally:\n        os.kill(os.getpid(), 2)\n        time.sleep(600)\n\n\n"
        "help.Group.invoke = invoke\nmain()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "rules"],
        cwd=workspace.root,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "")
