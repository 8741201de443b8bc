"""What `modellint check` costs, next to the floor (`ast.parse` of the same files) and to its neighbours.

    python benchmarks/run.py --peers PATH/TO/PEERS/bin/python

Every command runs as a process of its own, once unmeasured so that files and byte code are in the file system's
cache, then `--repetitions` times, all commands in turn, so that a busy moment of the machine hits them alike. Wall
time includes the start of the interpreter; output goes to the null device. Nothing is asserted: the tables are for
reading.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

PACKAGE = "transformers"
VERSION = "4.45.2"
PEER_FILES = 60
SINGLE_FILE = "models/llama/modeling_llama.py"
GENERATED = "automatically generated from"
MEBIBYTE = 1024 * 1024


@dataclass
class Measurement:
    """A command and what its runs took: wall time and processor time, its children's with it."""

    name: str
    command: list[str]
    prepare: Callable[[], None] | None = None
    environment: dict[str, str] | None = None
    #: Where it runs; Python imports what lies there first.
    folder: Path | None = None
    seconds: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)
    peak_bytes: int = 0

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def least(self) -> float:
        return min(self.seconds)

    def run(self, *, record: bool) -> None:
        """Run the command once; exit codes 0 and 1 are both answers of a linter."""
        if self.prepare is not None:
            self.prepare()
        start = time.perf_counter()
        status, peak, processor = _run(self.command, self.environment or dict(os.environ), self.folder)
        seconds = time.perf_counter() - start
        if status not in (0, 1):
            raise SystemExit(f"{self.name} exited with {status}: {' '.join(self.command[:6])} …")
        if record:
            self.seconds.append(seconds)
            self.processor.append(processor)
            self.peak_bytes = max(self.peak_bytes, peak)


#: Runs a command and prints its exit status, peak memory and processor time. A process inherits the peak of the one
#: that starts it, so a small one does.
_MEASURING = """
import os, resource, subprocess, sys
status = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(status, usage.ru_maxrss, usage.ru_utime + usage.ru_stime)
"""


def _run(command: list[str], variables: dict[str, str], folder: Path | None) -> tuple[int, int, float]:
    """Exit status, peak memory in bytes of the process or any of its children, and seconds of processor time of all.

    The last two are 0 where the system can't say.
    """
    # An installed package has its byte code; an environment that forbids writing it would measure compilation.
    environment = {name: value for name, value in variables.items() if name != "PYTHONDONTWRITEBYTECODE"}
    if not hasattr(os, "wait4"):
        done = subprocess.run(
            command, env=environment, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False
        )
        return done.returncode, 0, 0.0
    measuring = [sys.executable, "-I", "-S", "-c", _MEASURING, *command]
    said = subprocess.run(measuring, env=environment, cwd=folder, stdout=subprocess.PIPE, text=True, check=True).stdout
    status, peak, processor = said.split()
    unit = 1 if sys.platform == "darwin" else 1024
    return int(status), int(peak) * unit, float(processor)


def measure(measurements: list[Measurement], repetitions: int) -> None:
    """Run all measurements in turn, after one unmeasured round."""
    for repetition in range(repetitions + 1):
        for measurement in measurements:
            measurement.run(record=repetition > 0)


def download(cache: Path, package: str = PACKAGE, version: str = VERSION) -> Path:
    """The unpacked wheel of a pinned release; what lies in `cache` is not fetched again."""
    tree = cache / f"{package}-{version}"
    if not tree.is_dir():
        cache.mkdir(parents=True, exist_ok=True)
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
        subprocess.run([*pip, "--dest", str(cache), f"{package}=={version}"], check=True)
        wheel = next(cache.glob(f"{package}-{version}-*.whl"))
        partial = cache / "partial"
        shutil.rmtree(partial, ignore_errors=True)
        zipfile.ZipFile(wheel).extractall(partial)
        partial.rename(tree)
    return tree


def modeling_files(tree: Path, count: int) -> list[str]:
    """`count` PyTorch modeling files, spread evenly over the alphabet.

    Files that a generator wrote are left out, since transformers-mlinter skips them.
    """
    found = [
        path
        for path in sorted(tree.rglob("modeling_*.py"))
        if not path.name.startswith(("modeling_tf_", "modeling_flax_")) and path.parent.parent.name == "models"
    ]
    found = [path for path in found if GENERATED not in path.read_text(encoding="utf-8")[:1024]]
    step = max(1, len(found) // count)
    return [str(path) for path in found[::step][:count]]


def modellint(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "modellint", "check", "--isolated", "--output-format", "concise", *arguments]


def floor(*paths: str) -> list[str]:
    return [sys.executable, str(Path(__file__).with_name("floor.py")), *paths]


def table(title: str, rows: list[Measurement], base: Measurement, unit: str) -> None:
    """Print a Markdown table with ratios to `base`."""
    print(f"\n### {title}\n")
    print(f"| command | min s | median s | per {unit} | peak MiB |")
    print("|---|---:|---:|---:|---:|")
    for row in rows:
        peak = f"{row.peak_bytes / MEBIBYTE:.0f}" if row.peak_bytes else "?"
        print(f"| {row.name} | {row.least:.3f} | {row.median:.3f} | {row.median / base.median:.3f} | {peak} |")


def benchmark_tree(tree: Path, repetitions: int, scratch: Path) -> None:
    cache = scratch / "cache"
    path = str(tree)
    base = Measurement("floor: `ast.parse`, one process", floor(path))
    rows = [
        base,
        Measurement("modellint, cold, 1 job", modellint("--no-cache", "--jobs", "1", path)),
        Measurement("modellint, cold, 2 jobs", modellint("--no-cache", "--jobs", "2", path)),
        Measurement(
            "modellint, cold, 2 jobs, writing the cache",
            modellint("--cache-dir", str(scratch / "written"), "--jobs", "2", path),
            prepare=lambda: shutil.rmtree(scratch / "written", ignore_errors=True),
        ),
        Measurement("modellint, warm, 1 job", modellint("--cache-dir", str(cache), "--jobs", "1", path)),
    ]
    measure(rows, repetitions)
    table(f"The whole tree ({tree.name})", rows, base, "floor")


def benchmark_single_file(file: Path, repetitions: int) -> None:
    base = Measurement("empty: `python -c pass`", [sys.executable, "-c", "pass"])
    rows = [
        base,
        Measurement("floor: `ast.parse`", floor(str(file))),
        Measurement("modellint, no cache", modellint("--no-cache", str(file))),
    ]
    measure(rows, max(repetitions, 9))
    table(f"One file ({file.name})", rows, base, "empty")


def benchmark_peers(files: list[str], python: str, repetitions: int, scratch: Path) -> None:
    torchfix = [python, "-m", "torchfix", "--select=ALL"]
    base = Measurement("modellint, cold, 1 job", modellint("--no-cache", "--jobs", "1", *files))
    rows = [
        Measurement("floor: `ast.parse`, one process", floor(*files)),
        base,
        Measurement("modellint, cold, 2 jobs", modellint("--no-cache", "--jobs", "2", *files)),
        Measurement("transformers-mlinter, no cache", [python, "-m", "mlinter", "--no-cache", "--no-progress", *files]),
        Measurement("TorchFix, 1 job", [*torchfix, "--jobs", "1", *files]),
        Measurement("TorchFix, 2 jobs", [*torchfix, "--jobs", "2", *files]),
    ]
    measure(rows, repetitions)
    table(f"{len(files)} modeling files", rows, base, "1 job of modellint")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--tree", type=Path, help=f"folder to lint instead of {PACKAGE} {VERSION}")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "modellint-benchmarks")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--peers", help="Python interpreter that has transformers-mlinter and TorchFix")
    parser.add_argument("--peer-repetitions", type=int, default=3)
    options = parser.parse_args()

    tree = (options.tree or download(options.cache)).resolve()
    count = len(list(tree.rglob("*.py")))
    size = sum(path.stat().st_size for path in tree.rglob("*.py"))
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}")
    print(f"{tree.name}: {count} Python files, {size / 1e6:.1f} MB; {options.repetitions} repetitions")
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        benchmark_tree(tree, options.repetitions, scratch)
        for file in sorted(tree.rglob(SINGLE_FILE))[:1]:
            benchmark_single_file(file, options.repetitions)
        if options.peers:
            files = modeling_files(tree, PEER_FILES)
            benchmark_peers(files, options.peers, options.peer_repetitions, scratch)


if __name__ == "__main__":
    main()
