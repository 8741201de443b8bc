"""What code tries while it is confirmed changes nothing, reaches nobody, outlives nothing, and decides its own verdict.

Each attack of `benchmarks/attacks.py` is made by a bare interpreter under the guard, which is quick; with
MODELLINT_HOSTILE=all each also stands in a model that `modellint check --confirm` runs, as CI does.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
import uuid
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import hostile
import pytest
from attacks import (
    ATTACKS,
    CHANNEL,
    CONSTRUCTOR,
    FILES,
    IMPORT,
    NETWORK,
    PREAMBLE,
    PROCESSES,
    Attack,
    model,
    processes_with,
    state,
    victim,
)
from effort import PATIENCE, has_its_turn

from modellint.confirm import guarded, scratch
from modellint.confirm.environment import environment
from modellint.confirm.guarded import CHANNEL as CHANNEL_NUMBER
from modellint.confirm.guarded import Guarded, Guarding, Limits
from modellint.confirm.interpreters import guard_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Workspace

EVERY = os.environ.get("MODELLINT_HOSTILE") == "all"
needs_system = pytest.mark.skipif(
    guard_of(Guarding()).name != "operating system", reason="the system offers no full guard"
)
_AUDITED = """\
import sys
sys.path.insert(0, {worker!r})
from worker.audit import Audit
Audit({scratch!r}, is_alone=True).install()
"""


def attempt(attack: Attack, folder: Path, *, audited: bool = False, seconds: float = 3) -> tuple[Guarded, list[str]]:
    """Make an attack by a bare interpreter that gets so many seconds: how that ended, and what was changed or left."""
    project, outside = victim(folder)
    before = state(project, outside)
    mark = f"MODELLINT_HOSTILE={uuid.uuid4().hex}"
    guarding = Guarding("off" if audited else "required", Limits(60 if attack.needs else seconds, 1 << 30))
    with scratch.scratch() as place:
        child = Guarded(place.folder, guarding)
        worker = Path(scratch.__file__).parent.as_posix()
        start = _AUDITED.format(worker=worker, scratch=place.folder) if audited else ""
        names = f"PROJECT, OUTSIDE = {project.as_posix()!r}, {outside.as_posix()!r}\n"
        command = [sys.executable, "-c", start + PREAMBLE + names + attack.code, CHANNEL_NUMBER]
        child.run(command, lambda line: None, {**environment(place.folder, "auto"), **dict([mark.split("=")])})
    left = hostile.differences(before, state(project, outside))
    return child, [*left, *(f"process {pid}" for pid in processes_with(mark)), *filter(os.path.exists, [place.folder])]


def named(attacks: tuple[Attack, ...]) -> list[object]:
    """Those that can be tried here; by default without those that import torch first."""
    is_tried = hostile.can_be_tried if EVERY else lambda attack: not attack.needs
    return [pytest.param(attack, id=attack.name) for attack in attacks if is_tried(attack)]


def is_tried_by_hooks(attack: Attack) -> bool:
    """Whether audit hooks see an attack, and it has its turn."""
    return attack.is_seen and (EVERY or has_its_turn(attack.name, 3))


@pytest.mark.dear
@needs_system
@pytest.mark.parametrize("attack", named((*FILES, *PROCESSES, *NETWORK)))
def test_the_operating_system_stops_an_attack(attack: Attack, tmp_path: Path) -> None:
    child, left = attempt(attack, tmp_path)
    assert left == []
    assert child.code != 0 or attack.is_quiet or attack.is_void, "the attack seems to have worked"


@pytest.mark.parametrize("attack", named(tuple(filter(is_tried_by_hooks, (*FILES, *PROCESSES, *NETWORK)))))
def test_audit_hooks_stop_it_where_the_system_cannot(attack: Attack, tmp_path: Path) -> None:
    child, left = attempt(attack, tmp_path, audited=True)
    assert left == []
    assert attack.is_quiet or "modellint does not let code" in child.complaint, child.complaint


@pytest.mark.dear
@needs_system
@pytest.mark.parametrize("attack", named(CHANNEL))
def test_what_is_said_on_the_channel_grows_nothing_and_delays_nothing(attack: Attack, tmp_path: Path) -> None:
    child, left = attempt(attack, tmp_path, seconds=1)
    assert left == []
    assert child.ended


def test_a_grandchild_that_keeps_the_pipes_is_not_waited_for(tmp_path: Path) -> None:
    done = tmp_path / "done"
    waits = f"    while not os.path.exists({str(done)!r}):\n        time.sleep(0.02)\n"
    code = f"import os, time\nif not os.fork():\n    os.setsid()\n{waits}    os._exit(0)\n"
    with scratch.scratch() as place:
        child = Guarded(place.folder, Guarding("off", Limits(5)))
        child.run([sys.executable, "-c", code], lambda line: None, os.environ)
    assert child.code == 0
    done.touch()


@pytest.mark.parametrize(("waited", "ended"), [(0.0, "not finished after 0.3 s"), (100.0, "")])
def test_the_time_in_which_others_had_the_processors_does_not_count(
    waited: float, ended: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guarded, "_waiting_time", lambda _: waited)
    child = Guarded(str(tmp_path), Guarding("off", Limits(0.3)))
    child.run([sys.executable, "-c", "import time; time.sleep(1)"], lambda _: None, dict(os.environ))
    assert child.ended.startswith(ended or "the process exited with status 0")


class _ToldLate:
    """A process that has ended, which is told only after `looks` looks at it."""

    def __init__(self, process: subprocess.Popen[bytes], looks: int) -> None:
        self.pid = process.pid
        self._process = process
        self._looks = looks

    def is_gone(self) -> bool:
        self._looks -= 1
        return self._looks < 0

    def end(self) -> int:
        return self._process.wait()


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="the system does not say what has ended")
@pytest.mark.parametrize("is_reaped", [True, False])
def test_a_process_that_has_ended_is_not_called_unfinished(is_reaped: bool, tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", "raise SystemExit(3)"])
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    if is_reaped:
        process.wait()
    child = Guarded(str(tmp_path), Guarding("off", Limits(0.01)))
    child.attend(lambda channel, complaints: _ToldLate(process, 5), lambda _: None)
    assert child.ended == "the process exited with status 3"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a process ends otherwise")
@pytest.mark.parametrize("mode", ["off", "auto"])
def test_a_process_whose_first_thread_leaves_has_not_ended(mode: str, tmp_path: Path) -> None:
    code = "import ctypes, threading, time\nthreading.Thread(target=time.sleep, args=(600,)).start()\n"
    with scratch.scratch() as place:
        child = Guarded(place.folder, Guarding(mode, Limits(2)))
        leave = "ctypes.CDLL(None).pthread_exit(None)\n"
        child.run([sys.executable, "-c", code + leave], lambda _: None, environment(place.folder, "auto"))
    assert child.ended == "not finished after 2 s"


@pytest.mark.skipif(not os.path.exists("/proc/self/schedstat"), reason="the system does not say who waits")
def test_the_time_that_a_process_waits_for_a_processor_is_read() -> None:
    assert guarded._waiting_time(os.getpid()) > 0
    assert guarded._waiting_time(2**30) == 0


@needs_system
def test_code_in_the_environment_is_guarded_before_anything_is_imported(tmp_path: Path) -> None:
    project, outside = victim(tmp_path)
    before = state(project, outside)
    packages = tmp_path / "packages"
    packages.mkdir()
    (packages / "sitecustomize.py").write_text(f"import shutil\nshutil.rmtree({project.as_posix()!r})\n")
    with scratch.scratch() as place:
        child = Guarded(place.folder, Guarding("required"))
        child.run([sys.executable, "-c", ""], lambda line: None, {**os.environ, "PYTHONPATH": packages.as_posix()})
    assert state(project, outside) == before
    assert "Permission" in child.complaint or "permitted" in child.complaint


@needs_system
def test_honest_code_works_under_the_guard(tmp_path: Path) -> None:
    code = """
import asyncio, concurrent.futures, shutil, sqlite3, tempfile, os
open('a.txt', 'w').write('x')
shutil.copy2('a.txt', 'b.txt')
os.replace('b.txt', 'c.txt')
os.link('a.txt', 'd.txt')
os.symlink('a.txt', 'e.txt')
os.makedirs('f/g')
os.rename('c.txt', 'f/g/c.txt')
shutil.rmtree('f')
with tempfile.TemporaryDirectory() as folder:
    sqlite3.connect(folder + '/x.sqlite').execute('create table t (a)')
asyncio.run(asyncio.sleep(0))
with concurrent.futures.ThreadPoolExecutor(4) as pool:
    assert sum(pool.map(abs, range(100))) == 4950
open(os.devnull, 'w').write('x')
os.kill(os.getpid(), 0)
print(open('/etc/hosts').read())
"""
    with scratch.scratch() as place:
        child = Guarded(place.folder, Guarding("required"))
        child.run([sys.executable, "-c", code], lambda line: None, environment(place.folder, "auto"))
    assert child.code == 0, child.complaint


def test_a_guard_that_is_required_and_not_there_runs_nothing(tmp_path: Path) -> None:
    from modellint.confirm.guard import launch

    script = (
        "import sys; sys.path.insert(0, sys.argv[1]); from guard import launch, landlock; "
        "landlock.version = lambda: 0; launch.launch(sys.argv[2], sys.argv[3:])"
    )
    how = launch.Launch(tmp_path.as_posix(), os.getpid(), 1, "required", 1 << 30, 0, 10)
    settings = json.dumps({**how.__dict__, "devices": []})
    marker = tmp_path / "marker"
    command = [sys.executable, "-I", "-c", script, str(Path(launch.__file__).parent.parent), settings]
    done = subprocess.run(
        [*command, sys.executable, "-c", f"open({marker.as_posix()!r}, 'w')"], capture_output=True, check=False
    )
    assert done.returncode == launch.REFUSED, done.stderr
    assert not launch.is_full(json.loads(done.stdout)["guard"])
    assert not marker.exists()


@pytest.mark.dear
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.skipif(sys.platform != "linux", reason="the death signal is that of Linux")
def test_nobody_survives_the_end_of_modellint(how: signal.Signals, tmp_path: Path) -> None:
    project, outside = victim(tmp_path)
    (project / "model.py").write_text(
        model(Attack("waits", "import time\nopen('started', 'w').close()\ntime.sleep(600)"), project, outside)
    )
    scratches = tmp_path / "tmp"
    scratches.mkdir()
    mark = uuid.uuid4().hex
    settings = {**os.environ, "TMPDIR": scratches.as_posix(), "MODELLINT_HOSTILE": mark}
    process = subprocess.Popen(
        [*hostile.COMMAND, "model.py"], cwd=project, env=settings, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    # Unlike `rglob`, it goes on where a folder is gone by the time that it is looked into.
    wait_for(lambda: any("started" in names for *_, names in os.walk(scratches)))
    process.send_signal(how)
    output = process.communicate(timeout=PATIENCE)[0].decode()
    assert "Traceback" not in output
    wait_for(lambda: not processes_with(mark))
    scratch_left = [*scratches.iterdir()]
    assert not scratch_left or how != signal.SIGINT
    if scratch_left:
        again = [*hostile.COMMAND, "--timeout", "1", "model.py"]
        done = subprocess.run(again, cwd=project, env=settings, capture_output=True, check=False)
        assert done.returncode == 1
        assert [*scratches.iterdir()] == []


def wait_for(condition: Callable[[], object]) -> float:
    """Wait until something is so; the seconds that it took."""
    started = time.monotonic()
    while not condition():
        assert time.monotonic() < started + PATIENCE, "it never came to that"
        time.sleep(0.02)
    return time.monotonic() - started


def _is_over(process: subprocess.Popen[bytes], mark: str) -> bool:
    return process.poll() is not None and not processes_with(mark)


@pytest.mark.skipif("MODELLINT_KILLS" not in os.environ, reason="MODELLINT_KILLS=200 ends two hundred runs")
@pytest.mark.timeout(3600)
def test_runs_that_are_ended_at_any_moment_leave_nobody(tmp_path: Path) -> None:
    project, outside = victim(tmp_path)
    for number in range(4):
        quiet = replace(ATTACKS[0], code=f"NUMBER = {number}")
        (project / f"model{number}.py").write_text(model(quiet, project, outside))
    before = state(project, outside)
    scratches = tmp_path / "tmp"
    scratches.mkdir()
    mark = uuid.uuid4().hex
    settings = {**os.environ, "TMPDIR": scratches.as_posix(), "MODELLINT_HOSTILE": mark}
    generator = random.Random(os.environ.get("MODELLINT_SEED", "0"))
    started = time.monotonic()
    subprocess.run([*hostile.COMMAND, "."], cwd=project, env=settings, capture_output=True, check=False)
    duration = time.monotonic() - started
    slowest = 0.0
    for number in range(int(os.environ["MODELLINT_KILLS"])):
        how = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)[number % 3]
        process = subprocess.Popen(
            [*hostile.COMMAND, "."], cwd=project, env=settings, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        time.sleep(generator.uniform(0, duration))
        process.send_signal(how)
        slowest = max(slowest, wait_for(partial(_is_over, process, mark)))
        output = process.communicate()[0].decode()
        assert "Traceback" not in output, (number, how, output)
        assert state(project, outside) == before
    done = subprocess.run([*hostile.COMMAND, "."], cwd=project, env=settings, capture_output=True, check=False)
    assert done.returncode == 1
    assert [*scratches.iterdir()] == []
    print(f"the slowest end took {slowest:.2f} s")


def test_folders_of_runs_that_go_on_are_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", tmp_path.as_posix())
    (tmp_path / "modellint-notes").mkdir()
    dead = tmp_path / "modellint-run-dead"
    (dead / "scratch/a").mkdir(parents=True)
    (dead / "lock").touch()
    with scratch.scratch() as place:
        scratch.sweep()
        assert os.path.isdir(place.folder)
        assert not dead.exists()
    assert [path.name for path in tmp_path.iterdir()] == ["modellint-notes"]


@pytest.mark.parametrize("moment", ["before it is locked", "while it is locked"])
def test_a_sweep_while_a_folder_is_made_takes_no_run_its_scratch(
    moment: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", tmp_path.as_posix())
    take = scratch._take
    swept = []

    def taken_after_a_sweep(lock: int) -> bool:
        if not swept:
            swept.append(moment)
            if moment == "before it is locked":
                scratch.sweep()
                return take(lock)
            took = take(lock)
            scratch.sweep()
            return took
        return take(lock)

    monkeypatch.setattr(scratch, "_take", taken_after_a_sweep)
    with scratch.scratch() as place:
        scratch.sweep()
        assert os.path.isdir(place.folder)
        assert swept
    assert [*tmp_path.iterdir()] == []


def test_verdicts_of_others_survive_a_constructor_that_lies_or_dies(workspace: Workspace) -> None:
    good = "class Good(nn.Module):\n" + _BODY.format("pass")
    liar = hostile_body("writes verdicts")
    dier = "import os; os.abort()"
    workspace.write(
        {
            "model.py": "import os\nimport torch\nfrom torch import nn\n\n\n"
            f"{good}\n\nclass Liar(nn.Module):\n{_BODY.format(liar)}\n\nclass Dier(nn.Module):\n{_BODY.format(dier)}"
        }
    )
    result = workspace.run(
        "check", "--confirm", "--select", "ML205", "--isolated", "--show-refuted", "--output-format", "json", "model.py"
    )
    verdicts = {one["symbol"]: one["verdict"] for one in result.json["findings"]}
    assert verdicts["Good.mask"]["status"] == "confirmed"
    assert verdicts["Liar.mask"]["status"] == "unconfirmed"
    assert "wrote to the channel of verdicts" in verdicts["Liar.mask"]["detail"]
    assert "died of SIGABRT" in verdicts["Dier.mask"]["detail"]
    assert result.json["guard"]["parts"][-1] == "audit hooks"


_BODY = '''\
    def __init__(self, width=8):
        super().__init__()
        self.mask = torch.ones(width)
        {}

    def forward(self, x):
        """Args: x: (batch, width)"""
        return x * self.mask

'''


def hostile_body(name: str) -> str:
    """The code of an attack as one statement."""
    attack = next(attack for attack in ATTACKS if attack.name == name)
    return f"exec({attack.code!r})"


#: How many hostile models are confirmed in one run: one import of torch for all of them.
TOGETHER = 12
#: It speaks of the first finding of a run, which is its own if it is alone.
LIAR = next(attack for attack in ATTACKS if attack.name == "tells its own verdict as a worker would")
BATCHES = hostile.batches([attack for attack in ATTACKS if attack != LIAR and hostile.can_be_tried(attack)], TOGETHER)


@pytest.mark.skipif(not EVERY, reason="MODELLINT_HOSTILE=all runs all of them")
@needs_system
@pytest.mark.parametrize("attacks", BATCHES, ids=lambda attacks: f"{attacks[0].name} and on")
def test_hostile_models_leave_nothing_and_are_told(attacks: tuple[Attack, ...]) -> None:
    outcomes = hostile.run(attacks)
    assert [outcome.attack for outcome in outcomes] == [*attacks]
    assert [(outcome.attack.name, outcome.left) for outcome in outcomes if outcome.left] == []
    for outcome in outcomes:
        assert outcome.guard["name"] == "operating system"
        assert outcome.status == "unconfirmed" or outcome.attack.is_quiet, outcome


@pytest.mark.skipif(not EVERY, reason="MODELLINT_HOSTILE=all runs all of them")
@needs_system
def test_a_hostile_model_decides_its_own_verdict_and_no_other() -> None:
    quiet = next(attack for attack in ATTACKS if attack.is_quiet and attack.where == CONSTRUCTOR)
    (own,) = hostile.run([LIAR])
    other, beside = hostile.run([quiet, LIAR])
    assert (*own.left, *other.left, *beside.left) == ()
    assert own.status == "refuted"  # nothing can prevent that
    assert (other.status, beside.status) == ("confirmed", "unconfirmed")


def test_the_numbers_of_system_calls_are_those_of_the_headers() -> None:
    from modellint.confirm.guard.syscalls import CALLS

    header = Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h")
    if not header.is_file():
        pytest.skip("no headers of the kernel here")
    known = dict(line.split()[1:3] for line in header.read_text().splitlines() if line.startswith("#define __NR_"))
    numbers = {name: int(known[f"__NR_{name}"]) for name in CALLS if f"__NR_{name}" in known}
    assert numbers == {name: CALLS[name][0] for name in numbers}
    assert len(numbers) > 100


def test_import_attacks_stand_in_the_module() -> None:
    attack = next(attack for attack in ATTACKS if attack.where == IMPORT)
    source = model(replace(attack, code="PLACE"), Path("p"), Path("o"))
    assert "\nattack()\n" in source
