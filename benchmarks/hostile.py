"""What `modellint check --confirm` lets hostile models do: each is confirmed, and what is left is compared.

    python benchmarks/hostile.py [--only NAME] [--jobs 2]

Prints a row for each model: what it tries and where, its verdict, and what it changed, which is to be nothing: no file
of the project or beside it, no process and no scratch folder. Exits 1 if something was.
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
from pathlib import Path
from typing import Any

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


def run(attack: Attack) -> Outcome:
    """Confirm a hostile model."""
    with tempfile.TemporaryDirectory(prefix="hostile-") as folder:
        base = Path(folder)
        project, outside = victim(base)
        scratches = base / "tmp"
        scratches.mkdir()
        (project / "model.py").write_text(model(attack, project, outside))
        before = state(project, outside)
        mark = f"MODELLINT_HOSTILE={uuid.uuid4().hex}"
        environment = {**os.environ, "TMPDIR": scratches.as_posix(), **dict([mark.split("=")])}
        arguments = ("--timeout", str(TIMEOUT), "--show-refuted", "--output-format", "json", "model.py")
        done = subprocess.run(
            [*COMMAND, *arguments],
            cwd=project,
            env=environment,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        left = [*differences(before, state(project, outside))]
        left += [f"process {pid}" for pid in processes_with(mark)]
        left += [f"scratch folder {path.name}" for path in scratches.iterdir()]
        if "\x1b" in done.stdout:
            left.append("control characters")
        try:
            document = json.loads(done.stdout)
            verdict = document["findings"][0]["verdict"]
        except (ValueError, LookupError):
            return Outcome(attack, "no report", done.stderr[-300:], (*left, "no report"), {})
        return Outcome(attack, verdict["status"], verdict["detail"], tuple(left), document["guard"])


def differences(before: dict[str, tuple[object, ...]], after: dict[str, tuple[object, ...]]) -> list[str]:
    """What was added, removed or changed."""
    return [path for path in sorted(before.keys() | after.keys()) if before.get(path) != after.get(path)]


def can_be_tried(attack: Attack) -> bool:
    """Whether the package that it needs is there."""
    return not attack.needs or importlib.util.find_spec(attack.needs) is not None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=2)
    wanted = parser.parse_args()
    attacks = [attack for attack in ATTACKS if wanted.only in attack.name and can_be_tried(attack)]
    with ThreadPoolExecutor(wanted.jobs) as executor:
        outcomes = []
        for outcome in executor.map(run, attacks):
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
