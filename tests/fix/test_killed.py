"""Runs that a signal ends while fixes are made: each file is old or new, and the next run puts everything right.

MODELLINT_KILLS=200 ends two hundred runs over 300 files with each signal; by default it is one over fewer files,
of SIGKILL only unless MODELLINT_EXAMPLES is `all`.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from effort import IS_WHOLE, PATIENCE

from modellint.packs import load_rules

if TYPE_CHECKING:
    from pathlib import Path

KILLS = int(os.environ.get("MODELLINT_KILLS", "1"))
#: Each signal, and the exit codes of a run that it ends, in the midst of its work or before it took over the signals.
SIGNALS = {signal.SIGKILL: {-9}, signal.SIGTERM: {143, -15}, signal.SIGINT: {2, -2}}
TRIED = [*SIGNALS] if IS_WHOLE else [signal.SIGKILL]
#: What Python says if it is interrupted while it starts.
STARTING = "init_import_site"
FILES = 300 if "MODELLINT_KILLS" in os.environ else 60
COMMAND = (
    sys.executable,
    "-m",
    "modellint",
    "check",
    "--isolated",
    "--select",
    "ML201,ML204",
    "--output-format",
    "json",
)


def contents() -> dict[str, tuple[bytes, bytes]]:
    """Each file, with what it holds before and after fixing."""
    rules = load_rules()
    layers, recipes = rules["ML204"].bad[0], rules["ML201"].bad[2]
    files = {}
    for number in range(FILES):
        example = recipes if number % 3 == 0 else layers
        assert example.fixed is not None
        (name,) = example.files
        comment = f"# {number}\n"
        before, after = comment + example.files[name], comment + example.fixed[name]
        files[f"part{number % 7}/{number}/{name}"] = before.encode(), after.encode()
    return files


def lay_out(folder: Path, files: dict[str, tuple[bytes, bytes]]) -> None:
    for name, (before, _) in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(before)


def state(folder: Path, files: dict[str, tuple[bytes, bytes]]) -> list[int]:
    """For each file 0 if it is old, 1 if it is new. Anything else fails."""
    return [pair.index((folder / name).read_bytes()) for name, pair in files.items()]


def run(folder: Path, *arguments: str) -> tuple[int, str]:
    done = subprocess.run([*COMMAND, *arguments], cwd=folder, capture_output=True, text=True, timeout=PATIENCE)
    return done.returncode, done.stdout


@pytest.mark.dear
@pytest.mark.skipif(sys.platform == "win32", reason="no signals")
@pytest.mark.timeout(900 + 60 * KILLS)
@pytest.mark.parametrize("ending", TRIED, ids=lambda number: number.name)
def test_a_run_that_is_ended_leaves_each_file_old_or_new_and_the_cache_works(
    tmp_path: Path, ending: signal.Signals
) -> None:
    files = contents()
    generator = random.Random(os.environ.get("MODELLINT_SEED", "0"))
    lay_out(tmp_path, files)
    started = time.monotonic()
    assert run(tmp_path, "--fix")[0] == 0
    duration = time.monotonic() - started
    assert state(tmp_path, files) == [1] * FILES
    seen = set()
    for number in range(KILLS + 20):
        # A machine that is busy elsewhere may let a run end before its time has come: then there are more.
        if number >= KILLS and seen - {0, FILES}:
            break
        lay_out(tmp_path, files)
        first = tmp_path / next(iter(files))
        process = subprocess.Popen(
            [*COMMAND, "--fix"], cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        if number % 2:  # anywhere in the run
            time.sleep(generator.uniform(0, duration))
        else:  # while files are being written
            before = files[next(iter(files))][0]
            while process.poll() is None and first.read_bytes() == before:
                time.sleep(0.001)
            time.sleep(generator.uniform(0, duration / 10))
        process.send_signal(ending)
        _, said = process.communicate()
        if STARTING not in said:
            assert process.returncode in {0, *SIGNALS[ending]}
            assert said in ("", "Interrupted\n")
        found = state(tmp_path, files)
        seen.add(sum(found))
        if number % 10 == 0:
            for _ in range(2):  # the second time from the cache
                code, output = run(tmp_path)
                assert code == (0 if all(found) else 1)
                assert output.count('"fingerprint"') == FILES - sum(found)
            assert run(tmp_path, "--fix")[0] == 0
            assert state(tmp_path, files) == [1] * FILES
            assert [path for path in tmp_path.rglob("*") if path.name.endswith(".modellint-tmp")] == []
    assert seen - {0, FILES}, "no run was ended while it wrote"
