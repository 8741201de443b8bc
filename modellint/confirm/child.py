"""A child process that answers a group of probes, and whatever can go wrong with it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modellint.confirm.plan import Group
from modellint.finding import Status, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

_HERE = Path(__file__).parent
#: Starts the worker without its folder on the search path of user code.
_START = "import sys; sys.path.insert(0, sys.argv[1]); from worker.main import main; sys.path.pop(0); main(sys.argv[2])"
#: Address space that a worker may ask for, in bytes: far above what it may use, and below what takes a machine down.
_ADDRESS_SPACE = 48 << 30
_POLL = 0.05


@dataclass(frozen=True)
class Limits:
    """What one group may take: `seconds` of wall time, and `memory` in bytes that are really in use."""

    seconds: float = 60.0
    memory: int = 4 << 30


@dataclass(frozen=True)
class Setup:
    """Under which interpreter and with which settings probes run."""

    python: Path
    roots: tuple[str, ...]
    device: str = "auto"
    limits: Limits = Limits()
    overrides: tuple[tuple[str, Any], ...] = ()
    stand_ins: tuple[str, ...] = ()
    #: What to pass to classes and functions, by target (`pkg.module:Class`, `file.py::Class`).
    targets: tuple[tuple[str, Any], ...] = ()


def answer(group: Group, setup: Setup) -> dict[int, Verdict]:
    """A verdict for each probe of a group. Nothing that user code does makes this raise."""
    return _run(group, setup).verdicts()


def answer_apart(group: Group, setup: Setup) -> dict[int, Verdict]:
    """The same with the limits for each probe: a process that ends too early takes no probe but one with it."""
    run = _run(group, setup)
    known = run.given
    left = tuple(pair for pair in group.probes if pair[0] not in known)
    if not known and left:
        if run.is_importing:
            return run.verdicts()
        known, left = {left[0][0]: run.verdicts()[left[0][0]]}, left[1:]
    return {**known, **answer_apart(Group(group.target, left), setup)} if left else known


def _run(group: Group, setup: Setup) -> Run:
    scratch = tempfile.mkdtemp(prefix="modellint-")
    try:
        if any(probe.files for _, probe in group.probes):
            return _laid_out(group, setup, scratch)
        run = Run(group, setup, scratch)
        run.start()
        return run
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _laid_out(group: Group, setup: Setup, scratch: str) -> Run:
    """A run of what a notebook holds."""
    from modellint.confirm.notebooks import Layout

    layout = Layout(group, scratch)
    run = Run(layout.group(), layout.setup(setup), scratch, layout.told)
    try:
        layout.write()
    except OSError as error:
        run.fail(f"the notebook's files cannot be laid out: {error.strerror}")
    else:
        run.start()
    return run


class Run:
    """One child process, from its request to its end: `start`, then `verdicts`, which `told` puts into words."""

    def __init__(
        self, group: Group, setup: Setup, scratch: str, told: Callable[[Verdict], Verdict] = lambda verdict: verdict
    ) -> None:
        self._group = group
        self._told = told
        self._setup = setup
        self._scratch = scratch
        self._verdicts: dict[int, Verdict] = {}
        self._stage = "starting"
        self._done = False
        self._ended = ""

    def start(self) -> None:
        """Run the child to its end, or to one of its limits."""
        command = [str(self._setup.python), "-s", "-c", _START, str(_HERE), self.written()]
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=self.environment(),
                start_new_session=True,
            )
        except OSError as error:
            self.fail(f"{self._setup.python} cannot be run: {error.strerror}")
            return
        watch = threading.Thread(target=self._watch, args=(process,), daemon=True)
        watch.start()
        assert process.stdout is not None
        assert process.stderr is not None
        for line in process.stdout:
            self.take(line)
        complaint = process.stderr.read().decode("utf-8", "replace")
        code = process.wait()
        watch.join()
        if not self._done and not self._ended:
            self._ended = _ending(code, complaint)

    def fail(self, reason: str) -> None:
        """Note why there are no more answers."""
        self._ended = reason

    def written(self) -> str:
        """The path of the request, which is in the scratch folder."""
        path = os.path.join(self._scratch, "request.json")
        with open(path, "w", encoding="utf-8") as stream:
            json.dump(self._request(), stream)
        return path

    def verdicts(self) -> dict[int, Verdict]:
        """The verdict of each probe; those without an answer say how the process ended."""
        reason = f"{self._stage}: {self._ended}" if self._ended else f"{self._stage}: the process gave no answer"
        return {
            number: self._verdicts.get(number, self._told(Verdict(Status.UNCONFIRMED, None, reason)))
            for number, _ in self._group.probes
        }

    @property
    def given(self) -> dict[int, Verdict]:
        """The answers that came, by probe."""
        return dict(self._verdicts)

    @property
    def is_importing(self) -> bool:
        """Whether it got no further than imports, which are the same for all probes."""
        return self._stage.startswith(("starting", "importing"))

    def _request(self) -> dict[str, Any]:
        target, setup = self._group.target, self._setup
        near = [str(_import_root(path)) for path in (target.script, target.path) if path is not None]
        return {
            "scratch": self._scratch,
            "roots": [*dict.fromkeys([*near, *setup.roots])],
            "device": setup.device,
            "memory": _ADDRESS_SPACE,
            "overrides": dict(setup.overrides),
            "stand_ins": list(setup.stand_ins),
            "targets": dict(setup.targets),
            "target": {"path": str(target.path), "name": target.name},
            "probes": [{"id": number, "kind": probe.kind, **probe.data} for number, probe in self._group.probes],
        }

    def environment(self) -> Mapping[str, str]:
        """The environment of the child: no GPU unless asked for, and caches of libraries in the scratch folder."""
        places = (
            "HOME",
            "TMPDIR",
            "TEMP",
            "TMP",
            "XDG_CACHE_HOME",
            "XDG_CONFIG_HOME",
            "XDG_DATA_HOME",
            "TORCH_HOME",
            "TORCHINDUCTOR_CACHE_DIR",
        )
        changes = dict.fromkeys(places, self._scratch)
        changes |= {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0", "CUDA_LAUNCH_BLOCKING": "1"}
        changes |= {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
        if self._setup.device != "cuda":
            changes["CUDA_VISIBLE_DEVICES"] = ""
        return {**os.environ, **changes}

    def take(self, line: bytes) -> None:
        """Take what the child says."""
        try:
            message = json.loads(line)
            if "stage" in message:
                self._stage = str(message["stage"])
            elif "verdict" in message:
                self._record(message["verdict"])
            elif "done" in message:
                self._done = True
        except (ValueError, KeyError, TypeError):
            return  # user code found the pipe; what it says is no answer

    def _record(self, answer: Mapping[str, Any]) -> None:
        assumed = "; ".join(answer.get("assumed", ()))
        detail = str(answer["detail"]) + (f" ({assumed})" if assumed else "")
        verdict = Verdict(Status(answer["status"]), answer.get("device"), detail)
        self._verdicts[int(answer["id"])] = self._told(verdict)

    def _watch(self, process: subprocess.Popen[bytes]) -> None:
        """Kill the child, with all that it started, once it has taken too much."""
        limits = self._setup.limits
        end = time.monotonic() + limits.seconds
        while process.poll() is None:
            if time.monotonic() > end:
                self._ended = f"not finished after {limits.seconds:g} s"
            elif _resident(process.pid) > limits.memory:
                self._ended = f"used more than {limits.memory / 2**30:g} GiB of memory"
            if self._ended:
                _kill(process)
                return
            time.sleep(_POLL)


def _import_root(path: Path) -> Path:
    """The folder from which a file is imported: the one around the packages that it lies in."""
    folder = path.parent
    while (folder / "__init__.py").is_file():
        folder = folder.parent
    return folder


def _kill(process: subprocess.Popen[bytes]) -> None:
    if hasattr(os, "killpg"):
        try:
            os.killpg(process.pid, signal.SIGKILL)
            return
        except ProcessLookupError:
            return
    process.kill()


def _resident(pid: int) -> int:
    """The memory in use by a process, in bytes; 0 where the system does not say."""
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as stream:
            return int(stream.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def _ending(code: int, complaint: str) -> str:
    """How a process ended that gave no answer."""
    last = complaint.strip().splitlines()[-1:] or [""]
    if "No module named 'torch'" in complaint:
        return "the interpreter has no torch"
    if code < 0:
        try:
            return f"the process died of {signal.Signals(-code).name}"
        except ValueError:
            return f"the process died of signal {-code}"
    return f"the process exited with status {code}" + (f": {last[0][:200]}" if last[0] else "")


def interpreters(python: Path | None, root: Path) -> Iterator[Path]:
    """Where to look for the project's interpreter: as configured, the active environment, `.venv`, our own."""
    folder, name = ("Scripts", "python.exe") if sys.platform == "win32" else ("bin", "python")
    if python is not None:
        yield python if python.is_file() else python / folder / name
        return
    if active := os.environ.get("VIRTUAL_ENV"):
        yield Path(active, folder, name)
    yield root / ".venv" / folder / name
    yield Path(sys.executable)


def has_torch(python: Path) -> bool:
    """Whether an interpreter can find torch, without importing it."""
    code = "import importlib.util, sys; sys.exit(importlib.util.find_spec('torch') is None)"
    try:
        return subprocess.run([str(python), "-c", code], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def has_gpu(python: Path) -> bool:
    """Whether the torch of an interpreter can use a GPU."""
    code = "import sys, torch; sys.exit(not torch.cuda.is_available())"
    try:
        return subprocess.run([str(python), "-c", code], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def chosen(candidates: Sequence[Path]) -> Path | None:
    """The first interpreter that has torch."""
    return next((python for python in candidates if python.exists() and has_torch(python)), None)
