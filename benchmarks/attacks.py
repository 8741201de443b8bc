"""What hostile code tries while it is being confirmed: pieces of Python, by name, and where in a model they stand.

Each is run with the names `PROJECT`, a folder as `victim` makes it, and `OUTSIDE`, a folder beside it; `os`, `ctypes`
and `libc` are there. What raises nothing has either not been stopped or has not been told: the caller compares what
`state` says before and after. None of them does harm to more than those folders, should it succeed.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

#: Where code can stand, in the order of a model's life.
IMPORT, CONSTRUCTOR, FORWARD, THREAD, ATEXIT, SIGNAL = "import", "constructor", "forward", "thread", "atexit", "signal"
PREAMBLE = "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\n"


@dataclass(frozen=True)
class Attack:
    """One thing that is tried. `is_quiet` if nobody tells the code that it did not work, so that the verdict is honest.

    `needs` names a package without which it cannot be tried. `is_seen` if audit hooks alone can stop it.
    """

    name: str
    code: str
    where: str = CONSTRUCTOR
    is_quiet: bool = False
    needs: str = ""
    is_seen: bool = True
    #: Whether the system lets it seem to succeed, and do nothing.
    is_void: bool = False


_FD = "folder = os.open(PROJECT, os.O_RDONLY)\n"
_REACHES = """
def reaches(how, whom):
    try:
        return how(whom)
    except OSError:
        return False
"""
#: Who started the process, who started that one, and what else they have started.
_RELATIONS = (
    _REACHES
    + """
def parent(pid):
    return reaches(lambda pid: int(open(f'/proc/{pid}/stat').read().rpartition(')')[2].split()[1]), pid)


above = [os.getppid(), parent(os.getppid())]
others = [int(name) for name in os.listdir('/proc') if name.isdigit() and parent(name) in above]
relations = {pid for pid in (*above, *others) if pid > 1} - {os.getpid()}
"""
)
#: The scratch folders beside our own, that of who forked us, and what the linter has written for us.
_FOLDERS = (
    _REACHES + "import glob\nfound = ['..', '../..', *glob.glob('../../*/scratch')]\n"
    "folders = {*map(os.path.realpath, found)} - {os.getcwd()}\n"
)
#: What changes files.
FILES = (
    Attack("opens for writing", "open(PROJECT + '/keep.txt', 'w')"),
    Attack("opens for appending", "open(PROJECT + '/keep.txt', 'a').write('x')", FORWARD),
    Attack("opens through a descriptor", _FD + "os.open('keep.txt', os.O_WRONLY | os.O_TRUNC, dir_fd=folder)"),
    Attack("creates through a descriptor", _FD + "os.open('new', os.O_WRONLY | os.O_CREAT, dir_fd=folder)", IMPORT),
    Attack("removes through a descriptor", _FD + "os.unlink('keep.txt', dir_fd=folder)"),
    Attack("makes a folder through a descriptor", _FD + "os.mkdir('new', dir_fd=folder)"),
    Attack(
        "renames through descriptors",
        _FD + "os.rename('keep.txt', 'gone.txt', src_dir_fd=folder, dst_dir_fd=folder)",
        IMPORT,
    ),
    Attack("removes a folder through a descriptor", _FD + "os.rmdir('empty', dir_fd=folder)"),
    Attack("removes the tree", "import shutil\nshutil.rmtree(PROJECT + '/runs')"),
    Attack("removes the tree in forward", "import shutil\nshutil.rmtree(PROJECT + '/runs')", FORWARD),
    Attack("removes the tree and goes on", "import shutil\nshutil.rmtree(PROJECT, ignore_errors=True)", is_quiet=True),
    Attack("moves the project away", "os.rename(PROJECT, PROJECT + '2')"),
    Attack("moves a file into scratch", "os.rename(PROJECT + '/keep.txt', 'mine.txt')"),
    Attack("puts a file in the place of another", "open('new', 'w').close()\nos.replace('new', PROJECT + '/keep.txt')"),
    Attack("links a file into scratch", "os.link(PROJECT + '/keep.txt', 'mine.txt')\nopen('mine.txt', 'w').write('x')"),
    Attack("writes through a link", "os.symlink(PROJECT + '/keep.txt', 'l')\nopen('l', 'w').write('x')"),
    Attack("makes a link in the project", "os.symlink('/etc/passwd', PROJECT + '/link')"),
    Attack(
        "opens what is open again",
        "fd = os.open(PROJECT + '/keep.txt', os.O_RDONLY)\nopen(f'/proc/self/fd/{fd}', 'w').write('x')",
    ),
    Attack("truncates", "os.truncate(PROJECT + '/keep.txt', 0)"),
    Attack("empties without writing", "os.open(PROJECT + '/keep.txt', os.O_RDONLY | os.O_TRUNC)"),
    Attack("makes a fifo", "os.mkfifo(PROJECT + '/fifo')"),
    Attack("makes a fifo through a descriptor", _FD + "os.mkfifo('fifo', dir_fd=folder)"),
    Attack("makes a node", "os.mknod(PROJECT + '/node')"),
    Attack("makes a temporary file elsewhere", "import tempfile\ntempfile.mkstemp(dir=OUTSIDE)"),
    Attack(
        "opens a database", "import sqlite3\nsqlite3.connect(PROJECT + '/data.sqlite').execute('create table t (a)')"
    ),
    Attack(
        "saves by torch", "import torch\ntorch.save(torch.ones(3), PROJECT + '/x.pt')", needs="torch", is_seen=False
    ),
    Attack(
        "saves a script",
        "import torch\ntorch.jit.save(torch.jit.script(torch.nn.ReLU()), PROJECT + '/x.pt')",
        needs="torch",
        is_seen=False,
    ),
    Attack(
        "writes a profile",
        "import torch\nwith torch.profiler.profile() as p:\n    torch.ones(2).sum()\n"
        "p.export_chrome_trace(PROJECT + '/trace.json')",
        is_quiet=True,
        needs="torch",
        is_seen=False,
    ),
    Attack("writes a history", "import readline\nreadline.write_history_file(PROJECT + '/history')", is_seen=False),
    Attack(
        "shares memory",
        "from multiprocessing.shared_memory import SharedMemory\nSharedMemory('mlhostile', True, 64)",
        is_seen=False,
    ),
    Attack("maps a file", "import mmap\nf = open(PROJECT + '/keep.txt', 'r+b')\nmmap.mmap(f.fileno(), 0)[0] = 1"),
    Attack("maps an array", "import numpy\nnumpy.memmap(PROJECT + '/keep.txt', mode='r+')[0] = 1", needs="numpy"),
    Attack("writes to what the linter holds", "open(f'/proc/{os.getppid()}/fd/1', 'w').write('x')"),
    Attack("writes to the memory of the linter", "open(f'/proc/{os.getppid()}/mem', 'r+b')"),
    Attack("writes to a device", "open('/dev/shm/mlhostile', 'w')"),
    Attack("changes the mode of a file", "os.chmod(PROJECT + '/keep.txt', 0)", is_void=True),
    Attack("changes a mode by descriptor", "os.fchmod(os.open(PROJECT + '/keep.txt', os.O_RDONLY), 0)", is_void=True),
    Attack("changes the times of a file", "os.utime(PROJECT + '/keep.txt', (0, 0))", is_void=True),
    Attack(
        "changes times by descriptor", "os.utime(os.open(PROJECT + '/keep.txt', os.O_RDONLY), (0, 0))", is_void=True
    ),
    Attack("changes the owner by descriptor", "os.fchown(os.open(PROJECT + '/keep.txt', os.O_RDONLY), 1, 1)"),
    Attack("sets an attribute", "os.setxattr(PROJECT + '/keep.txt', 'user.x', b'1')"),
    Attack(
        "makes a file immutable",
        "import fcntl\nfile = open(PROJECT + '/keep.txt')\nfcntl.ioctl(file, 0x40086602, bytes([16] + [0] * 7))",
        is_seen=False,
    ),
    Attack(
        "calls open itself",
        "libc.open((PROJECT + '/new').encode(), os.O_WRONLY | os.O_CREAT, 0o600)",
        is_quiet=True,
        is_seen=False,
    ),
    Attack("calls unlink itself", "libc.unlink((PROJECT + '/keep.txt').encode())", is_quiet=True, is_seen=False),
    Attack("calls rename itself", "libc.rename(PROJECT.encode(), OUTSIDE.encode())", IMPORT, True, is_seen=False),
    Attack("calls truncate itself", "libc.truncate((PROJECT + '/keep.txt').encode(), 0)", is_quiet=True, is_seen=False),
    Attack("calls chmod itself", "libc.chmod((PROJECT + '/keep.txt').encode(), 0)", is_quiet=True, is_seen=False),
    Attack(
        "writes from a thread",
        "open(PROJECT + '/keep.txt', 'w')",
        THREAD,
        is_quiet=True,
    ),
    Attack("writes at exit", "libc.unlink((PROJECT + '/keep.txt').encode())", ATEXIT, is_quiet=True, is_seen=False),
    Attack("writes in a signal handler", "open(PROJECT + '/keep.txt', 'w')", SIGNAL),
    Attack("prepares rings for the kernel", "assert libc.syscall(425, 8, bytes(120)) >= 0, 'refused'", is_seen=False),
    Attack("writes in place of the interpreter", "os.execv('/bin/rm', ['rm', '-rf', PROJECT])"),
    Attack(
        "writes to folders of its relations",
        _FOLDERS + "assert [f for f in folders if reaches(lambda f: open(f + '/mlhostile', 'w'), f)], 'refused'",
        is_seen=False,
    ),
    Attack("changes what was asked", "open('../request.json', 'a').write('x')"),
    Attack(
        "writes to what its relations hold",
        _RELATIONS + "def holds(pid):\n    fd = f'/proc/{pid}/fd/'\n"
        "    return [n for n in os.listdir(fd) if reaches(lambda n: open(fd + n, 'a'), n)]\n"
        "assert [pid for pid in relations if reaches(holds, pid)], 'refused'",
        is_seen=False,
    ),
    Attack("fills the disk", "f = open('big', 'wb')\nwhile True:\n    f.write(bytes(1 << 24))", is_seen=False),
)
#: What starts, signals or outlives processes.
PROCESSES = (
    Attack("forks", "if not os.fork():\n    import time\n    time.sleep(60)"),
    Attack(
        "forks behind our back",
        "if not libc.fork():\n    os.setsid()\n    import time\n    time.sleep(25)\n    os._exit(0)",
        is_quiet=True,
        is_seen=False,
    ),
    Attack(
        "forks and leaves the session at import",
        "if libc.fork() == 0:\n    libc.setsid()\n    libc.sleep(25)\n    os._exit(0)",
        IMPORT,
        True,
        is_seen=False,
    ),
    Attack("clones", "assert libc.syscall(56, 17, 0, 0, 0, 0) > 0, 'refused'", is_seen=False),
    Attack("starts a program", "import subprocess\nsubprocess.Popen(['sleep', '60'])"),
    Attack("starts a shell", "assert os.system('touch ' + PROJECT + '/new') == 0, 'refused'"),
    Attack("spawns", "os.posix_spawn('/bin/sleep', ['sleep', '60'], {})"),
    Attack("starts a pool", "import multiprocessing as m\nm.get_context('fork').Pool(2)"),
    Attack(
        "starts loaders",
        "import torch\nlist(torch.utils.data.DataLoader([1, 2], num_workers=2))",
        FORWARD,
        needs="torch",
    ),
    Attack("signals the linter", "os.kill(os.getppid(), 0)"),
    Attack("signals everybody", "os.kill(-1, 0)", FORWARD),
    Attack("signals through libc", "assert libc.kill(os.getppid(), 0) == 0, 'refused'", is_seen=False),
    Attack("signals by a descriptor", "assert libc.syscall(434, os.getppid(), 0) >= 0, 'refused'", is_seen=False),
    Attack("traces the linter", "assert libc.ptrace(0x4206, os.getppid(), 0, 0) == 0, 'refused'", is_seen=False),
    Attack(
        "lowers the linter's limits",
        "import resource\nresource.prlimit(os.getppid(), resource.RLIMIT_CORE, (0, 0))",
        is_seen=False,
    ),
    Attack("slows the linter down", "os.setpriority(os.PRIO_PROCESS, os.getppid(), 0)", is_seen=False),
    Attack(
        "signals its relations",
        _RELATIONS + "assert [p for p in relations if reaches(lambda pid: os.kill(pid, 0) is None, p)], 'refused'",
        is_seen=False,
    ),
    Attack(
        "signals its relations through libc",
        _RELATIONS + "assert [pid for pid in relations if libc.kill(pid, 0) == 0], 'refused'",
        FORWARD,
        is_seen=False,
    ),
    Attack(
        "traces its relations",
        _RELATIONS + "assert [pid for pid in relations if libc.ptrace(0x4206, pid, 0, 0) == 0], 'refused'",
        is_seen=False,
    ),
    Attack(
        "reads the memory of its relations",
        _RELATIONS
        + "assert [pid for pid in relations if reaches(lambda p: open(f'/proc/{p}/mem', 'rb'), pid)], 'refused'",
        is_seen=False,
    ),
    Attack("wants to outlive the linter", "assert libc.prctl(1, 0, 0, 0, 0) == 0, 'refused'", is_seen=False),
    Attack("leaves the session", "os.setsid()", is_seen=False),
    Attack("leaves the namespace", "assert libc.unshare(0x10000000) == 0, 'refused'", is_seen=False),
    Attack(
        "starts threads without end",
        "import threading, time\nwhile True:\n    threading.Thread(target=time.sleep, args=(99,), daemon=True).start()",
        is_seen=False,
    ),
)
#: What speaks to others.
NETWORK = (
    Attack("connects", "import socket\nsocket.create_connection(('127.0.0.1', 9))"),
    Attack("listens", "import socket\nsocket.socket().bind(('127.0.0.1', 0))"),
    Attack("sends a datagram", "import socket\nsocket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 9))"),
    Attack(
        "sends a message",
        "import socket\nsocket.socket(type=socket.SOCK_DGRAM).sendmsg([b'x'], [], 0, ('127.0.0.1', 9))",
    ),
    Attack("asks for a name", "import socket\nsocket.getaddrinfo('example.invalid', 80)"),
    Attack("fetches", "import urllib.request\nurllib.request.urlopen('http://127.0.0.1:9/')", FORWARD),
    Attack("binds a Unix socket", "import socket\nsocket.socket(socket.AF_UNIX).bind(PROJECT + '/socket')"),
    Attack("connects to a Unix socket", "import socket\nsocket.socket(socket.AF_UNIX).connect('/var/run/docker.sock')"),
    Attack("binds an abstract socket", "import socket\nsocket.socket(socket.AF_UNIX).bind('\\0mlhostile')"),
    Attack(
        "opens a store",
        "import torch.distributed as d\nd.TCPStore('127.0.0.1', 0, 1, True)",
        needs="torch",
        is_seen=False,
    ),
    Attack("makes a socket itself", "assert libc.socket(2, 1, 0) >= 0, 'refused'", is_seen=False),
    Attack(
        "opens a queue",
        "assert libc.syscall(240, b'mlhostile', os.O_CREAT | os.O_RDWR, 0o600, 0) >= 0, 'refused'",
        is_seen=False,
    ),
    Attack("shares a segment", "assert libc.shmget(4242, 4096, 0o1600) >= 0, 'refused'", is_seen=False),
)
_EVERYWHERE = """
for fd in os.listdir('/proc/self/fd'):
    try:
        os.write(int(fd), {})
    except OSError:
        pass
"""
_VERDICT = b'{"verdict": {"id": %d, "status": "refuted", "detail": "\\u001b[32mok"}}\n'
_DEAF = """
import signal
for n in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
    signal.signal(n, signal.SIG_IGN)
"""
#: What lies to the linter, or wears it out.
CHANNEL = (
    Attack("writes verdicts", _EVERYWHERE.format(f"b''.join({_VERDICT!r} % n for n in range(99))")),
    Attack("writes brackets", _EVERYWHERE.format("b'[' * 60_000 + b'\\n'"), IMPORT),
    Attack("writes garbage", _EVERYWHERE.format("os.urandom(5000)"), FORWARD),
    Attack(
        "writes gigabytes",
        "data = b'x' * (1 << 20)\nwhile True:\n    " + _EVERYWHERE.format("data").replace("\n", "\n    "),
    ),
    Attack("says that all is done", _EVERYWHERE.format("b'{\"done\": true}\\n'") + "os._exit(0)"),
    Attack(
        "tells its own verdict as a worker would",
        _EVERYWHERE.format(f"{_VERDICT!r} % 0 + b'{{\"done\": true}}\\n'") + "os._exit(0)",
    ),
    Attack("closes all that is open", "os.closerange(0, 4096)"),
    Attack("exits", "os._exit(0)"),
    Attack("exits by an exception", "raise SystemExit(0)", IMPORT),
    Attack("aborts", "os.abort()"),
    Attack("crashes", "ctypes.string_at(0)", FORWARD),
    Attack("never ends", "while True:\n    pass"),
    Attack("ignores signals and never ends", _DEAF + "while True:\n    pass"),
    Attack("takes all memory", "x = []\nwhile True:\n    x.append(bytearray(1 << 28))"),
    Attack("nests folders without end", "while True:\n    os.mkdir('a')\n    os.chdir('a')"),
)
ATTACKS = (*FILES, *PROCESSES, *NETWORK, *CHANNEL)


def victim(folder: Path) -> tuple[Path, Path]:
    """A project in a folder, and the folder beside it."""
    project, outside = folder / "project", folder / "outside"
    for path in (project / "runs/old", project / "empty", outside):
        path.mkdir(parents=True)
    for path in (project / "keep.txt", project / "runs/old/best.ckpt", project / "data.sqlite", outside / "keep.txt"):
        path.write_bytes(b"SQLite format 3\0" if path.suffix == ".sqlite" else b"precious\n" * 99)
    return project, outside


def state(*folders: Path) -> dict[str, tuple[object, ...]]:
    """Everything below some folders: kind and mode, owner, times, and content of each file; and all shared memory."""
    found: dict[str, tuple[object, ...]] = {}
    for folder in folders:
        for path in sorted((folder, *folder.rglob("*"))):
            status = path.lstat()
            content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None
            facts = (status.st_mode, status.st_uid, status.st_gid, status.st_mtime_ns, status.st_nlink, content)
            found[path.as_posix()] = facts
    if os.path.isdir("/dev/shm"):
        found["/dev/shm"] = tuple(name for name in sorted(os.listdir("/dev/shm")) if "mlhostile" in name)
    return found


def processes_with(mark: str) -> list[int]:
    """The processes in whose environment a mark stands."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            try:
                with open(f"/proc/{name}/environ", "rb") as stream:
                    if mark.encode() in stream.read():
                        found.append(int(name))
            except OSError:
                continue
    return found


_MODEL = """\
{preamble}{names}
def attack():
{attack}


{on_import}import torch
from torch import nn


class Gate(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.linear = nn.Linear(width, width)
        self.mask = torch.ones(width)
        {on_construction}

    def forward(self, x):
        \"\"\"Args: x: (batch, width)\"\"\"
        {on_call}
        return self.linear(x) * self.mask
"""
_STARTS = {
    THREAD: "import threading; thread = threading.Thread(target=attack); thread.start(); thread.join()",
    ATEXIT: "import atexit; atexit.register(attack)",
    SIGNAL: "import signal, time; signal.signal(signal.SIGALRM, lambda *_: attack()); "
    "signal.setitimer(signal.ITIMER_REAL, 0.01); time.sleep(1)",
}


def model(attack: Attack, project: Path, outside: Path) -> str:
    """The source of a model with a mistake (ML205, confirmed by running `forward`) that attacks where it is to."""
    return _MODEL.format(
        preamble=PREAMBLE,
        names=f"PROJECT, OUTSIDE = {project.as_posix()!r}, {outside.as_posix()!r}\n\n",
        attack="".join(f"    {line}\n" for line in attack.code.splitlines()).rstrip(),
        on_import="attack()\n" if attack.where == IMPORT else "",
        on_construction=_STARTS.get(attack.where, "attack()" if attack.where == CONSTRUCTOR else "pass"),
        on_call="attack()" if attack.where == FORWARD else "pass",
    )
