"""Children of a fork server have torch from the start, and otherwise nothing that is not their own."""

from __future__ import annotations

import os
import signal
import sys
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from attacks import PREAMBLE, processes_with
from effort import PATIENCE
from served import SERVERS, served
from test_child import LAYER, RECIPE, not_moved

from modellint.claims.layers import MadeAnew
from modellint.confirm.child import answer
from modellint.confirm.forkserver import ForkServers
from modellint.confirm.guarded import Guarding, Limits
from modellint.confirm.interpreters import guard_of
from modellint.confirm.plan import Group
from modellint.confirm.setup import Setup
from modellint.finding import Status, Verdict
from modellint.probes import Probe, Target
from modellint.source import Place, Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.skipif(
    guard_of(Guarding()).name != "operating system", reason="the system offers no full guard"
)
PYTHON = Path(sys.executable)
#: Seconds enough to take all that memory on a machine that does much else.
LIMITS = Limits(6, 1 << 30)


def answered(folder: Path, code: str, setup: Setup) -> Verdict:
    """The verdict on a layer of a recipe, which confirms if user code lets it."""
    folder.mkdir(exist_ok=True)
    (folder / "user.py").write_text(code + LAYER)
    (folder / "recipe.yaml").write_text(RECIPE)
    target = Target(folder / "recipe.yaml")
    return answer(Group(target, ((0, Probe(target, not_moved(target, "layer"))),)), setup)[0]


def imported(path: Path, code: str) -> str:
    """What comes of importing a file for a claim that needs no fake tensors."""
    path.write_text(code + LAYER)
    place = Place(path.as_posix(), Span(1, 1, 1, 1))
    target = Target(path, "Layer")
    return answer(Group(target, ((0, Probe(target, MadeAnew(place, place))),)), served())[0].detail or ""


def told(folder: Path, code: str, setup: Setup | None = None) -> str:
    """What a piece of user code says in a child: the text of its exception, between brackets."""
    return between(answered(folder, f"{code}{TELL}", setup or served()).detail or "")


def between(detail: str) -> str:
    assert "[" in detail, detail
    return detail[detail.index("[") + 1 : detail.rindex("]")]


TELL = "\nraise ValueError(f'[{said}]')\n"
PARENT = "import os\nsaid = os.getppid()\n"


def wait_for(condition: Callable[[], object]) -> None:
    """Wait until something is so."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "it never came to that"
        time.sleep(0.01)


def children_of(pid: int) -> str:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text()


@pytest.fixture
def servers() -> Iterator[ForkServers]:
    """Servers of its own, for a test that starts them in its own way or ends them."""
    with ForkServers() as found:
        yield found


def test_children_have_the_same_parent_and_it_is_not_us(tmp_path: Path) -> None:
    first, second = told(tmp_path, PARENT), told(tmp_path, PARENT)
    assert first == second != str(os.getpid())


def test_a_child_has_nothing_open_but_its_own_channel(tmp_path: Path) -> None:
    code = """
import os
said = ''
for name in os.listdir('/proc/self/fd'):
    try:
        said += os.readlink(f'/proc/self/fd/{name}').partition(':')[0] + ' '
    except FileNotFoundError:
        pass
"""
    assert sorted(told(tmp_path, code).split()) == [*["/dev/null"] * 3, "pipe"]


def test_a_child_has_folders_of_its_own(tmp_path: Path) -> None:
    code = "import os, tempfile\nsaid = os.pathsep.join((os.getcwd(), tempfile.gettempdir(), os.environ['HOME']))\n"
    code += "open('mine', 'w').close()\ntempfile.TemporaryFile()\nassert os.listdir() == ['mine']\n"
    first, second = (between(imported(tmp_path / "user.py", code + TELL)).split(os.pathsep) for _ in range(2))
    assert len(set(first)) == len(set(second)) == 1
    assert first != second
    assert not os.path.exists(first[0])


def test_what_one_child_does_to_torch_no_other_sees(tmp_path: Path) -> None:
    spoilt = "import torch, builtins\ntorch.nn.Linear.__init__ = None\nbuiltins.spoilt = True\n"
    assert answered(tmp_path, spoilt, served()).status is Status.UNCONFIRMED
    clean = "import builtins\nassert not hasattr(builtins, 'spoilt')\n"
    assert answered(tmp_path, clean, served()).status is Status.CONFIRMED


def test_torch_computes_with_several_threads_in_a_child(tmp_path: Path) -> None:
    code = """
import torch
threads = torch.get_num_threads()
a = torch.arange(250_000, dtype=torch.float64).reshape(500, 500) / 250_000
one = a @ a, a.exp().sum(), torch.randn(5)
torch.set_num_threads(4)
torch.manual_seed(0)
four = a @ a, a.exp().sum(), torch.randn(5)
lstm = torch.nn.LSTM(8, 8)(torch.zeros(3, 1, 8))[0].shape
said = threads, torch.get_num_threads(), *(torch.allclose(*pair) for pair in zip(one, four)), *lstm
"""
    assert between(imported(tmp_path / "user.py", code + TELL)) == "(1, 4, True, True, True, 3, 1, 8)"


ENDS = {
    "dies": ("import os\nos.abort()\n", "died of SIGABRT"),
    "never ends": ("import time\nwhile True:\n    time.sleep(1)\n", "not finished after 6 s"),
    "takes memory": ("x = []\nwhile True:\n    x.append(b'1' * (8 << 20))\n", "used more than 1 GiB"),
    "asks for too much memory": ("x = bytearray(3 << 30)\n", "used more than 1 GiB"),
    "says too much": (
        "import os\nwhile True:\n    for n in os.listdir('/proc/self/fd'):\n        try:\n"
        "            os.write(int(n), b'x' * (1 << 16))\n        except OSError:\n            pass\n",
        "wrote to the channel of verdicts",
    ),
    "closes everything": ("import os\nos.closerange(0, 4096)\n", "exited with status"),
}


@pytest.mark.dear
def test_siblings_go_on_whatever_one_of_them_does(tmp_path: Path) -> None:
    setup = served(guarding=Guarding(limits=LIMITS))
    parent = told(tmp_path / "before", PARENT, setup)
    folders = [tmp_path / name for name in ENDS]
    with ThreadPoolExecutor(len(ENDS)) as executor:
        ends = executor.map(lambda folder: answered(folder, ENDS[folder.name][0], setup), folders)
        meanwhile = [answered(tmp_path / f"beside {number}", "", setup) for number in range(3)]
        details = {folder.name: verdict.detail or "" for folder, verdict in zip(folders, ends, strict=True)}
    assert {verdict.status for verdict in meanwhile} == {Status.CONFIRMED}
    assert [name for name, (_, reason) in ENDS.items() if reason not in details[name]] == [], details
    assert told(tmp_path / "after", PARENT, setup) == parent


#: Attempts on what runs beside: `said` is what has come of each.
ATTEMPTS = {
    "forks": "said = [libc.fork(), libc.syscall(56, 17, 0, 0, 0, 0), libc.syscall(435, 0, 0), libc.syscall(58)]",
    "kills its parent": "said = [libc.kill(os.getppid(), 9)]",
    "kills its siblings": "said = [libc.kill(pid, 9) for pid in siblings()]",
    "kills its group": "said = [libc.kill(0, 9), libc.killpg(os.getpgrp(), 9)]",
    "queues a signal": "said = [libc.syscall(129, os.getppid(), 9, bytes(128)), libc.syscall(200, os.getppid(), 9)]",
    "traces": "said = [libc.ptrace(0x4206, pid, 0, 0) for pid in (os.getppid(), *siblings())]",
    "takes descriptors": "said = [libc.syscall(434, pid, 0) for pid in (os.getppid(), *siblings())]",
    "survives its parent": "said = [libc.prctl(1, 0, 0, 0, 0)]",
    "leaves the group": "said = [libc.setpgid(0, 0), libc.setsid()]",
}
_SIBLINGS = """
def siblings():
    found = [int(n) for n in os.listdir('/proc') if n.isdigit() and int(n) != os.getpid() and parent(n) == os.getppid()]
    assert found
    return found

def parent(pid):
    try:
        return int(open(f'/proc/{pid}/stat').read().rpartition(')')[2].split()[1])
    except OSError:
        return 0

"""


def test_a_child_reaches_neither_its_parent_nor_its_siblings(tmp_path: Path) -> None:
    setup = served()
    parent = told(tmp_path / "before", PARENT)
    waits = "import os, time\nwhile not os.path.exists({!r}):\n    time.sleep(0.02)\n".format(str(tmp_path / "done"))
    with ThreadPoolExecutor(1) as executor:
        sibling = executor.submit(answered, tmp_path / "sibling", waits, setup)
        try:
            said = {
                name: told(tmp_path / "attempt", f"{PREAMBLE}{_SIBLINGS}{code}\nsaid = {{*said}}\n")
                for name, code in ATTEMPTS.items()
            }
        finally:
            (tmp_path / "done").touch()
        assert sibling.result().status is Status.CONFIRMED
    assert said == dict.fromkeys(ATTEMPTS, "{-1}")
    assert told(tmp_path / "after", PARENT) == parent


@pytest.mark.dear
def test_a_server_that_dies_costs_no_verdict(tmp_path: Path, servers: ForkServers) -> None:
    setup = Setup(PYTHON, (), servers=servers)
    parent = int(told(tmp_path / "before", PARENT, setup))
    waits = f"import os, time\nwhile os.getppid() == {parent}:\n    time.sleep(0.02)\n"
    with ThreadPoolExecutor(1) as executor:
        in_flight = executor.submit(answered, tmp_path / "in flight", waits, setup)
        wait_for(lambda: children_of(parent))
        os.kill(parent, signal.SIGKILL)
        assert in_flight.result().status is Status.CONFIRMED
    assert told(tmp_path / "after", PARENT, setup) == str(os.getpid())


@pytest.mark.dear
def test_a_server_ends_with_its_children_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mark = uuid.uuid4().hex
    monkeypatch.setenv("MODELLINT_HOSTILE", mark)
    scratches = tmp_path / "scratches"
    scratches.mkdir()
    monkeypatch.setattr("tempfile.tempdir", scratches.as_posix())
    guarding = Guarding()
    with ThreadPoolExecutor(1) as executor, ForkServers() as servers:
        waits = "import os, time\nopen(os.environ['TMPDIR'] + '/started', 'w').close()\ntime.sleep(600)\n"
        setup = Setup(PYTHON, (), guarding, servers=servers)
        waiting = executor.submit(answered, tmp_path / "waits", waits, setup)
        wait_for(lambda: [*scratches.rglob("started")])
        assert len(processes_with(mark)) == 2
        guarding.stop.set()
        assert "interrupted" in (waiting.result().detail or "")
    assert processes_with(mark) == []
    assert [*scratches.iterdir()] == []


@pytest.mark.dear
def test_modules_of_a_project_come_before_those_that_are_imported(tmp_path: Path) -> None:
    (tmp_path / "hyperpyyaml.py").write_text("OWN = 'of the project'\n")
    assert between(imported(tmp_path / "user.py", "from hyperpyyaml import OWN as said\n" + TELL)) == "of the project"


@pytest.mark.parametrize(
    "does",
    [
        "import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n",
        "import os, time\nif not os.fork() and not os.fork():\n    time.sleep(60)\n    os._exit(0)\n",
        "import os\nkept = os.open(os.environ['TMPDIR'] + '/kept', os.O_RDWR | os.O_CREAT)\nos.dup2(kept, 50)\n",
    ],
    ids=["a thread", "a process", "a file"],
)
def test_no_server_forks_what_packages_have_started(
    does: str, tmp_path: Path, servers: ForkServers, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sitecustomize.py").write_text(does)
    mark = uuid.uuid4().hex
    monkeypatch.setenv("MODELLINT_HOSTILE", mark)
    monkeypatch.setenv("PYTHONPATH", tmp_path.as_posix())
    assert servers.get(PYTHON, Guarding()) is None
    assert processes_with(mark) == []


@pytest.mark.parametrize("does", ["import os\nos.abort()\n", "raise ImportError('no such luck')\n"])
def test_a_torch_that_cannot_be_imported_is_told_as_ever(
    does: str, tmp_path: Path, servers: ForkServers, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages = tmp_path / "packages"
    packages.mkdir()
    (packages / "torch.py").write_text(does)
    monkeypatch.setenv("PYTHONPATH", packages.as_posix())
    alone, together = (answered(tmp_path / "p", "", Setup(PYTHON, (), servers=found)) for found in (None, servers))
    assert together == alone
    assert (together.detail or "").startswith("importing torch: the process ")


def test_there_is_no_server_where_the_guard_is_off_or_a_gpu_is_used() -> None:
    assert SERVERS.get(PYTHON, Guarding("off")) is None
    assert SERVERS.get(PYTHON, Guarding(device="cuda")) is None
