"""What `modellint check --confirm` lets hostile models do: each is confirmed, and what is left is compared.

    python benchmarks/hostile.py [--only NAME] [--jobs 2] [--together 1]

Prints a row for each model: what it tries and where, its verdict, and what it changed, which is to be nothing: no file
of the project or beside it, no process and no scratch folder. Exits 1 if something was. Models that are confirmed
together, in one run, share one import of torch; each has a project of its own that it tries to harm.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import uuid
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

sys.path.insert(0, str(Path(__file__).parent))

from attacks import ATTACKS, Attack, model, processes_with, state, victim

COMMAND = (sys.executable, "-m", "modellint", "check", "--confirm", "--isolated", "--no-cache", "--select", "ML205")
TIMEOUT = 12


@dataclass(frozen=True)
class Outcome:
    """What came of an attack: the verdict, what was left or changed, and the guard that was in force."""

    attack: Attack
    status: str
    detail: str
    left: tuple[str, ...]
    guard: dict[str, Any]


def run(attacks: Sequence[Attack]) -> list[Outcome]:
    """Confirm hostile models in one run, each in a project of its own.

    A process or a scratch folder that is left counts for each of them: nobody knows whose it is.
    """
    with tempfile.TemporaryDirectory(prefix="hostile-") as folder:
        base = Path(folder)
        scratches = base / "tmp"
        scratches.mkdir()
        victims = [victim(base / str(number)) for number in range(len(attacks))]
        for attack, (project, outside) in zip(attacks, victims, strict=True):
            (project / "model.py").write_text(model(attack, project, outside))
        before = [state(*folders) for folders in victims]
        mark = f"MODELLINT_HOSTILE={uuid.uuid4().hex}"
        environment = {**os.environ, "TMPDIR": scratches.as_posix(), **dict([mark.split("=")])}
        models = [(project / "model.py").relative_to(base).as_posix() for project, _ in victims]
        arguments = ("--timeout", str(TIMEOUT), "--show-refuted", "--output-format", "json", *models)
        done = subprocess.run(
            [*COMMAND, *arguments],
            cwd=base,
            env=environment,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        left = [f"process {pid}" for pid in processes_with(mark)]
        left += [f"scratch folder {path.name}" for path in scratches.iterdir()]
        if "\x1b" in done.stdout:
            left.append("control characters")
        changed = [(*differences(old, state(*new)), *left) for old, new in zip(before, victims, strict=True)]
        try:
            document = json.loads(done.stdout)
            verdicts = {one["path"]: one["verdict"] for one in document["findings"]}
            told = [verdicts[path] for path in models]
        except (ValueError, LookupError):
            reason = done.stderr[-300:]
            return [
                Outcome(attack, "no report", reason, (*own, "no report"), {})
                for attack, own in zip(attacks, changed, strict=True)
            ]
        return [
            Outcome(attack, verdict["status"], verdict["detail"], own, document["guard"])
            for attack, verdict, own in zip(attacks, told, changed, strict=True)
        ]


def differences(before: dict[str, tuple[object, ...]], after: dict[str, tuple[object, ...]]) -> list[str]:
    """What was added, removed or changed."""
    return [path for path in sorted(before.keys() | after.keys()) if before.get(path) != after.get(path)]


def batches(attacks: Sequence[Attack], size: int) -> list[Sequence[Attack]]:
    """Attacks by so many."""
    return [attacks[start : start + size] for start in range(0, len(attacks), size)]


def can_be_tried(attack: Attack) -> bool:
    """Whether the package that it needs is there."""
    return not attack.needs or importlib.util.find_spec(attack.needs) is not None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--together", type=int, default=1)
    wanted = parser.parse_args()
    attacks = [attack for attack in ATTACKS if wanted.only in attack.name and can_be_tried(attack)]
    with ThreadPoolExecutor(wanted.jobs) as executor:
        outcomes = []
        for outcome in chain.from_iterable(executor.map(run, batches(attacks, wanted.together))):
            outcomes.append(outcome)
            shown = outcome.detail.replace("|", "\\|")[:150]
            left = ", ".join(outcome.left) or "nothing"
            print(
                f"| {outcome.attack.name} | {outcome.attack.where} | {outcome.status} | {shown} | {left} |", flush=True
            )
    bad = [outcome for outcome in outcomes if outcome.left]
    counts = {status: sum(one.status == status for one in outcomes) for status in {one.status for one in outcomes}}
    print(f"{len(outcomes)} models, {len(bad)} left something; verdicts: {counts}; guard: {outcomes[0].guard}")
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main())
