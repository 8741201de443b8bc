"""What share of mistakes is found again when they are said in another way.

    python tests/rewriting table [NAME…]               the share by rewriting
    python tests/rewriting update [NAME…]              write exceptions.json anew
    python tests/rewriting show NAME [CASE]            what is wrong in a rewriting, or what it makes of `ML101 bad 0`

A NAME is a part of a rewriting's name.
"""

from __future__ import annotations

import argparse
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parent.parent))

from rewriting import exceptions, trials
from rewriting.catalogue import REWRITINGS
from rewriting.marks import unmarked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rewriting.rewriting import Rewriting


def _tried(number: int) -> tuple[dict[str, str], float]:
    start = time.process_time()
    return trials.tried(REWRITINGS[number], trials.cases()), time.process_time() - start


def _all_tried(chosen: Sequence[Rewriting], jobs: int) -> list[tuple[Rewriting, dict[str, str], float]]:
    with ProcessPoolExecutor(jobs) as pool:
        results = pool.map(_tried, [REWRITINGS.index(rewriting) for rewriting in chosen])
        return [(rewriting, *result) for rewriting, result in zip(chosen, results, strict=True)]


def table(chosen: Sequence[Rewriting], jobs: int) -> None:
    """Print how many bad examples are found again, and how many good ones are left alone."""
    total = 0.0
    print("| rewriting | kind | bad: found | good: silent | s |")
    print("|---|---|---:|---:|---:|")
    for rewriting, tried, seconds in _all_tried(chosen, jobs):
        shares = []
        for kind in ("bad", "good"):
            outcomes = [outcome for case, outcome in tried.items() if f" {kind} " in case]
            shares.append(f"{outcomes.count('')} / {len(outcomes)}")
        print(f"| {rewriting.name} | {rewriting.kind.value} | {shares[0]} | {shares[1]} | {seconds:.1f} |")
        total += seconds
    print(f"\n{len(chosen)} rewritings, {total:.0f} s")


def update(chosen: Sequence[Rewriting], jobs: int) -> None:
    """Write the exceptions for some rewritings anew, and forget those of rewritings that are no more."""
    before = exceptions.load()
    known = {rewriting.name: before.get(rewriting.name, {}) for rewriting in REWRITINGS}
    for rewriting, found, _ in _all_tried(chosen, jobs):
        known[rewriting.name] = exceptions.updated(known[rewriting.name], found)
    exceptions.save(known)


def show(chosen: Sequence[Rewriting], case_name: str) -> None:
    """Print what is wrong in rewritings, or the rewritten files of a case."""
    for rewriting in chosen:
        print(f"== {rewriting.name}")
        if not case_name:
            for case, outcome in trials.tried(rewriting, trials.cases()).items():
                if outcome:
                    print(f"{case}: {outcome}")
        for case in trials.cases():
            rewritten = trials.rewrite(case, rewriting) if str(case) == case_name else None
            if rewritten is not None:
                for path, text in rewritten.items():
                    print(f"-- {path}\n{text}")
                print("found:", sorted(trials.findings(case.rule, unmarked(rewritten).files)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("table", "update", "show"))
    parser.add_argument("names", nargs="*")
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    names = arguments.names
    case = names.pop() if arguments.command == "show" and len(names) > 1 else ""
    chosen = [each for each in REWRITINGS if not names or any(name in each.name for name in names)]
    if arguments.command == "table":
        table(chosen, arguments.jobs)
    elif arguments.command == "update":
        update(chosen, arguments.jobs)
    else:
        show(chosen, case)


if __name__ == "__main__":
    main()
