"""A child process under a guard: started, listened to, and ended when it takes too much or has to go.

It is started and waited for in one thread, since the death signal is tied to the thread that starts a process.
"""

from __future__ import annotations

import errno
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from modellint.confirm.guard.launch import NOT_STARTED, REFUSED, Launch, is_full
from modellint.confirm.messages import MAX_LINE, MAX_TOTAL
from modellint.finding import Sandbox

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

_HERE = Path(__file__).parent
#: Starts the launcher with nothing but the standard library.
_LAUNCH = (
    "import sys; sys.path.insert(0, sys.argv[1]); from guard.launch import launch; launch(sys.argv[2], sys.argv[3:])"
)
#: The placeholder in a command for the number of the channel's descriptor.
CHANNEL = "{channel}"
#: Address space beyond the memory limit, in bytes: torch maps its libraries there and never touches most of it.
_MAPPED = 8 << 30
#: Threads, files and bytes in the scratch folder that a process may have.
_THREADS, _FILES, _DISK = 1024, 20_000, 2 << 30
#: Seconds between two looks at a process, and at its scratch folder; and how long output is awaited after its end.
_POLL, _DISK_POLL, _LINGER = 0.02, 1.0, 0.5
#: Characters of its standard error that are kept, and bytes that are read.
_COMPLAINT, _COMPLAINTS = 4096, 1 << 20
_GPU_DEVICES = ("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia-modeset", "/dev/kfd")


@dataclass(frozen=True)
class Limits:
    """The limits of one process: `seconds`, and `memory` in bytes that are really in use.

    The seconds are those of the clock, without those in which it waited for a processor that others used.
    """

    seconds: float = 60.0
    memory: int = 4 << 30


@dataclass(frozen=True)
class Guarding:
    """How child processes are guarded: `mode` is that of the settings, and `stop` ends all of them at once."""

    mode: str = "auto"
    limits: Limits = Limits()
    device: str = "auto"
    stop: threading.Event = field(default_factory=threading.Event, compare=False)

    @property
    def is_on(self) -> bool:
        """True unless the mode is "off": code is kept from more than taking too much."""
        return self.mode != "off"

    def in_force(self, parts: Sequence[str]) -> Sandbox:
        """The guard of a process whose launcher has named `parts` of it."""
        if not self.is_on:
            return Sandbox("off", tuple(parts))
        return Sandbox("operating system" if is_full(parts) else "in part", (*parts, "audit hooks"))

    def launch(self, scratch: str, channel: int, *, is_forking: bool = False) -> Launch:
        """The launcher's settings for a process that writes to `scratch`, and speaks on the descriptor `channel`."""
        on_gpu = self.device == "cuda"
        return Launch(
            scratch,
            os.getpid(),
            channel,
            self.mode,
            self.limits.memory,
            0 if on_gpu else self.limits.memory + _MAPPED,  # CUDA reserves far more than it uses
            0 if is_forking else self.limits.seconds,
            (os.devnull, *(_gpu_devices() if on_gpu else ())),
            is_forking,
        )


class Process(Protocol):
    """A process that has been started."""

    pid: int

    def is_gone(self) -> bool:
        """True if the process has ended."""

    def end(self) -> int:
        """Its exit status, or minus the number of the signal that ended it; it is killed if it is still there."""


class Guarded:
    """One child process: `run` or `attend`, then how it `ended`."""

    def __init__(self, scratch: str, guarding: Guarding) -> None:
        self._scratch = scratch
        self._guarding = guarding
        #: True while its limits hold. A process that no longer runs user code need not keep them.
        self.is_limited = True
        #: The reason why it was ended, or "" if it came to its own end.
        self.ended = ""
        self.code: int | None = None
        #: The last text on its standard error before it redirected that.
        self.complaint = ""
        #: True if it said more than a worker ever says.
        self.was_flooded = False

    def run(
        self,
        command: Sequence[str],
        take: Callable[[bytes], None],
        environment: Mapping[str, str],
        control: int | None = None,
    ) -> None:
        """Run a command to its end or to one of its limits, and give `take` each line that it says.

        CHANNEL in the command becomes the number of the descriptor on which it is to speak. With a descriptor `control`
        it may start other processes, too.
        """

        def start(channel: int, complaints: int) -> Process:
            return _Child(self._start(command, channel, complaints, environment, control))

        try:
            self.attend(start, take)
        except OSError as error:
            self.ended = f"{command[0]} cannot be run: {error.strerror}"

    def attend(self, start: Callable[[int, int], Process], take: Callable[[bytes], None]) -> None:
        """Attend a process to its end or to one of its limits, and give `take` each line that it says.

        `start` gets the descriptors on which it is to speak and to complain. Raises what `start` raises.
        """
        said, complaints = _Listener(MAX_TOTAL), _Listener(_COMPLAINTS)
        try:
            process = start(said.other_end, complaints.other_end)
        finally:
            said.start()
            complaints.start()
        try:
            self._attend(process, said, take)
        finally:
            self.code = process.end()
        self.complaint = b"\n".join(complaints.rest()).decode("utf-8", "replace")[-_COMPLAINT:]
        for line in said.rest():
            take(line)
        self.was_flooded = said.is_flooded
        if not self.ended:
            self.ended = _ending(self.code, self.complaint)

    def _start(
        self,
        command: Sequence[str],
        channel: int,
        complaints: int,
        environment: Mapping[str, str],
        control: int | None,
    ) -> subprocess.Popen[bytes]:
        nothing, folder = subprocess.DEVNULL, self._scratch
        if os.name != "posix":  # no descriptors are handed on but the standard ones
            words = [word.replace(CHANNEL, "1") for word in command]
            return subprocess.Popen(
                words, stdin=nothing, stdout=channel, stderr=complaints, cwd=folder, env=environment
            )
        if not os.access(command[0], os.X_OK):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        settings = json.dumps(asdict(self._guarding.launch(folder, channel, is_forking=control is not None)))
        launcher = [sys.executable, "-I", "-S", "-B", "-c", _LAUNCH, str(_HERE), settings]
        return subprocess.Popen(
            [*launcher, *(word.replace(CHANNEL, str(channel)) for word in command)],
            stdin=nothing,
            stdout=nothing,
            stderr=complaints,
            cwd=folder,
            env=environment,
            pass_fds=(channel,) if control is None else (channel, control),
            start_new_session=True,
        )

    def _attend(self, process: Process, said: _Listener, take: Callable[[bytes], None]) -> None:
        """Listen until the process is gone or one of its limits is passed; the latter is noted."""
        end = time.monotonic() + self._guarding.limits.seconds
        look = time.monotonic() + _DISK_POLL
        while not process.is_gone():
            line = said.next(_POLL)
            if line is not None:
                take(line)
            now = time.monotonic()
            if self._guarding.stop.is_set():
                self.ended = "interrupted"
            elif self.is_limited:
                self.ended = "said too much" if said.is_flooded else self._excess(process.pid, now - end)
                if not self.ended and now > look:
                    self.ended = _excess_on_disk(self._scratch)
                    look = now + _DISK_POLL
            if self.ended:
                return

    def _excess(self, pid: int, beyond: float) -> str:
        """Which limit a process passes that is `beyond` seconds over its time; "" if none."""
        limits = self._guarding.limits
        if beyond > 0 and beyond > _waiting_time(pid) and not _has_ended(pid):
            return f"not finished after {limits.seconds:g} s"
        if _resident(pid) > limits.memory:
            return f"used more than {limits.memory / 2**30:g} GiB of memory"
        if _threads(pid) > _THREADS:
            return f"started more than {_THREADS} threads"
        return ""


class _Child:
    """A process that was started here."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self.pid = process.pid

    def is_gone(self) -> bool:
        """True if the process has ended; it is left a zombie where possible, so that its group can be killed safely."""
        if hasattr(os, "waitid"):
            try:
                return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None
            except ChildProcessError:
                return True
        return self._process.poll() is not None

    def end(self) -> int:
        """Kill it with all that is in its group, also if it has ended itself."""
        if hasattr(os, "killpg") and self._process.returncode is None:
            try:
                os.killpg(self.pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                self._process.kill()
        else:
            self._process.kill()
        return self._process.wait()


class _Listener:
    """Lines that come through a pipe: bounded, and never waited for when its other end is not closed."""

    def __init__(self, total: int) -> None:
        self._descriptor, self.other_end = os.pipe()
        self._left = total
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        #: True if more bytes came than the listener accepts.
        self.is_flooded = False
        self._thread = threading.Thread(target=self._listen, daemon=True)

    def start(self) -> None:
        """Close the other end, which is the child's now, and listen."""
        os.close(self.other_end)
        self._thread.start()

    def next(self, timeout: float) -> bytes | None:
        """The next line, if one comes within `timeout` seconds."""
        try:
            return self._lines.get(timeout=timeout)
        except queue.Empty:
            return None

    def rest(self) -> Iterator[bytes]:
        """The lines that are left after the end of the process, which somebody else may keep from being the last."""
        self._thread.join(_LINGER)
        while not self._lines.empty():
            yield self._lines.get()

    def _listen(self) -> None:
        kept = b""
        try:
            while data := os.read(self._descriptor, 1 << 16):
                self._left -= len(data)
                *lines, kept = (kept + data).split(b"\n")
                if self._left < 0 or len(kept) > MAX_LINE or any(len(line) > MAX_LINE for line in lines):
                    self.is_flooded = True
                    return
                for line in lines:
                    self._lines.put(line)
        except OSError:
            return
        finally:
            if kept:
                self._lines.put(kept)
            os.close(self._descriptor)


def _ending(code: int, complaint: str) -> str:
    """How a process ended by itself."""
    if code in (REFUSED, NOT_STARTED):
        return "the guard that is required cannot be had" if code == REFUSED else "the interpreter cannot be run"
    if "No module named 'torch'" in complaint:
        return "the interpreter has no torch"
    if code < 0:
        name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
        return f"the process died of {name}"
    last = complaint.strip().splitlines()[-1:] or [""]
    return f"the process exited with status {code}" + (f": {last[0][:200]}" if last[0] else "")


def _resident(pid: int) -> int:
    """The memory in use by a process, in bytes; 0 where the system does not say."""
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as stream:
            return int(stream.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def _waiting_time(pid: int) -> float:
    """The seconds for which a process has waited for a processor; 0 where the system does not say."""
    try:
        with open(f"/proc/{pid}/schedstat", encoding="ascii") as stream:
            return int(stream.read().split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0


def _has_ended(pid: int) -> bool:
    """True if a process that is not known to be gone has ended all the same; False where the system does not say.

    Ends are looked for every so often and told by somebody else, and the time for which a process waited goes with it.
    One whose first thread has left goes on as long as it has others.
    """
    if (stat := _stat(pid)) is None:
        return _stat(os.getpid()) is not None
    return stat[0] in ("Z", "X") and _threads(pid) <= 1


def _threads(pid: int) -> int:
    """How many threads a process has; 0 where the system does not say."""
    stat = _stat(pid)
    return int(stat[17]) if stat else 0


def _stat(pid: int) -> list[str] | None:
    """The fields of `/proc/PID/stat` from the state on; None if they cannot be read."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stream:
            return stream.read().rpartition(")")[2].split() or None
    except OSError:
        return None


def _excess_on_disk(folder: str) -> str:
    """Which limit on disk the files below a folder pass, as a text; "" if none."""
    files = size = 0
    pending = [folder]
    while pending:
        for entry in _entries(pending.pop()):
            files += 1
            size += _size(entry)
            if entry.is_dir(follow_symlinks=False):
                pending.append(entry.path)
        if files > _FILES or size > _DISK:
            return f"wrote more than {_DISK >> 30} GiB or {_FILES} files"
    return ""


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:  # gone by now, or nested so deep that its path is too long
        return []


def _size(entry: os.DirEntry[str]) -> int:
    try:
        return entry.stat(follow_symlinks=False).st_size
    except OSError:
        return 0


def _gpu_devices() -> Iterator[str]:
    """The device files through which CUDA and ROCm use a GPU."""
    yield from _GPU_DEVICES
    for folder, prefix in (("/dev", "nvidia"), ("/dev/dri", "render"), ("/dev/nvidia-caps", "nvidia-cap")):
        if os.path.isdir(folder):
            yield from (f"{folder}/{name}" for name in os.listdir(folder) if name.startswith(prefix))
