"""Whether `modellint probe` says of public classes what somebody who read them expects, and what that takes.

    python benchmarks/probes.py --packages FOLDER [--only TEXT] [--python PYTHON] [--device DEVICE] [--output FILE]

`probes.toml` has the targets, with the status of each check that was written down before the run. FOLDER has the
packages unpacked, each below its name and version; those that are not there are named and left out. The twins are
beside this file: models of our own with a known mistake, and the same without it. Each target is probed by a command of
its own, whose processor time and largest process are those of the table.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

CHECKS = ("placement", "shapes", "values", "boundaries", "gradients", "modes")
NOT_RUN = "not-run"
WORDS = {"p": "passed", "f": "failed", "i": "in-part", "n": "nothing-to-check", "u": NOT_RUN}
#: What needs no folder of a package, and what stands beside this file.
INSTALLED, HERE = "installed", Path(__file__).parent


@dataclass(frozen=True)
class Probed:
    """A target with the statuses that are expected, and those that were given."""

    package: str
    target: str
    expected: Mapping[str, str]
    given: Mapping[str, str]
    details: Mapping[str, str]
    seconds: float
    megabytes: float

    def number(self, kind: str) -> int:
        """How many of the checks are of a kind of `judged`."""
        return sum(judged(self.expected[name], self.given.get(name, NOT_RUN)) == kind for name in self._due)

    @property
    def _due(self) -> list[str]:
        """The checks that can be run."""
        return [name for name in CHECKS if self.expected[name] != NOT_RUN or self.given.get(name, NOT_RUN) != NOT_RUN]


def judged(expected: str, given: str) -> str:
    """How a status that was given is to the one expected."""
    if expected == given:
        return "right"
    if given == NOT_RUN:
        return "not run"
    if given == "failed":
        return "false failed"
    if expected == "failed":
        return "passed over"
    return "in part" if given == "in-part" else "other"


def targets(only: str = "") -> Iterator[tuple[str, str, Mapping[str, str]]]:
    """Packages, targets in them, and what is expected of each check."""
    with (Path(__file__).with_suffix(".toml")).open("rb") as stream:
        packages = tomllib.load(stream)["packages"]
    for package, known in packages.items():
        for target, letters in known.items():
            if only in f"{package} {target}":
                yield package, target, {name: WORDS[letter] for name, letter in zip(CHECKS, letters, strict=True)}


def folder_of(package: str, packages: Path) -> Path | None:
    """The folder that a target is probed in; None if its package is not there."""
    if package == INSTALLED:
        return packages
    return next((place / package for place in (packages, HERE) if (place / package).is_dir()), None)


def probed(package: str, target: str, expected: Mapping[str, str], folder: Path, options: argparse.Namespace) -> Probed:
    """A target as it is probed by a command of its own."""
    command = [sys.executable, "-m", "modellint", "probe", target, "--isolated", "--output-format", "json"]
    command += ["--python", options.python, "--device", options.device]
    with tempfile.TemporaryFile() as stream:
        process = subprocess.Popen(command, stdout=stream, cwd=folder)
        _, _, usage = os.wait4(process.pid, 0)
        stream.seek(0)
        said = stream.read()
    checks: list[dict[str, Any]] = json.loads(said)["checks"] if said else []
    return Probed(
        package,
        target,
        expected,
        {check["name"]: check["status"] for check in checks},
        {check["name"]: check["detail"] for check in checks},
        usage.ru_utime + usage.ru_stime,
        usage.ru_maxrss / 1024,
    )


def table(found: Sequence[Probed]) -> str:
    """What was expected and given, and what it took, as Markdown."""
    lines = [f"| target | {' | '.join(CHECKS)} | time | memory |", f"|---|{'---|' * len(CHECKS)}---:|---:|"]
    for one in found:
        cells = []
        for name in CHECKS:
            given, expected = one.given.get(name, NOT_RUN), one.expected[name]
            cells.append(given if given == expected else f"{given} ({expected} expected)")
        name = f"{one.package}: `{one.target}`"
        lines.append(f"| {name} | {' | '.join(cells)} | {one.seconds:.1f} s | {one.megabytes:.0f} MB |")
    return "\n".join(lines)


def summary(found: Sequence[Probed]) -> str:
    """The figures of all targets."""
    kinds = ("right", "in part", "other", "not run", "false failed", "passed over")
    numbers = Counter({kind: sum(one.number(kind) for one in found) for kind in kinds})
    checks = max(1, sum(word != NOT_RUN for one in found for word in one.expected.values()))
    built = sum(one.number("not run") < len(CHECKS) for one in found)
    run = checks - numbers["not run"]
    said = ", ".join(f"{numbers[kind]} {kind}" for kind in kinds)
    times = sorted(one.seconds for one in found) or [0.0]
    largest = max((one.megabytes for one in found), default=0)
    return (
        f"{len(found)} targets, {built} built; of {checks} checks {run} ran ({run / checks:.0%}): {said}; processor "
        f"time {times[len(times) // 2]:.1f} s in the middle, {times[-1]:.1f} s at most, memory at most {largest:.0f} MB"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packages", type=Path, required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    found: list[Probed] = []
    for package, target, expected in targets(arguments.only):
        folder = folder_of(package, arguments.packages)
        if folder is None:
            print(f"{package} is not there", file=sys.stderr)
            continue
        one = probed(package, target, expected, folder, arguments)
        found.append(one)
        for name in CHECKS:
            kind = judged(expected[name], one.given.get(name, NOT_RUN))
            if kind != "right":
                print(f"{target} {name}: {kind}: {one.details.get(name, 'no report')[:300]}", file=sys.stderr)
    report = f"{table(found)}\n\n{summary(found)}\n"
    if arguments.output is not None:
        arguments.output.write_text(report, encoding="utf-8")
    print(report if arguments.output is None else summary(found))
    return int(any(one.number("false failed") or one.number("passed over") for one in found))


if __name__ == "__main__":
    raise SystemExit(main())
