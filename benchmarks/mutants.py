"""What share of planted mistakes modellint finds: correct classes of public packages, one mistake at a time.

    python benchmarks/mutants.py --packages PATH… [--mutants 1000] [--seed 0] [--only ML204] [--survivors FILE]

A mutant is found if a finding that the correct file does not give names the mistake's rule (or one that speaks for it
by the catalogue) on a line of the place where the mistake is due, at the confidence that is shown by default. What can
be planted, and when it is a mistake, is decided in `planting/` by looking at the syntax tree, never by modellint.
"""

from __future__ import annotations

import argparse
import difflib
import gc
import json
import os
import random
import sys
import time
import warnings
from collections import Counter, defaultdict
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from modellint.config import settings_for
from modellint.finding import Confidence, Finding
from modellint.packs import select_rules
from modellint.pipeline.analyser import Analyser

sys.path.insert(0, str(Path(__file__).parent))

from planting.catalogue import Mutant, Operator, load
from planting.source import Source, is_template

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from modellint.config import Settings
    from modellint.packs import RuleSet
    from modellint.pipeline.analyser import FileResult

#: Files beyond this are left out: one of them would cost more than a hundred others.
_MAX_BYTES = 600_000
CATALOGUE = load()


@dataclass(frozen=True)
class Site:
    """Where a mistake can be planted: the `number`-th place of an operator in a file."""

    package: str
    path: str
    operator: str
    number: int
    #: The class and the text that changes: mature packages copy their own code, and a copy measures nothing new.
    text: str


@dataclass(frozen=True)
class Outcome:
    """What became of one mutant.

    `reason` is `found`, or why not: `silent`, `unsure` (found, at a confidence that is not shown), `elsewhere` (the
    rule speaks, of other lines), `false alarm` (it speaks of the correct code that was added to plant the mistake),
    `crash`, or `does not compile`.
    """

    site: Site
    code: str
    reason: str
    lines: tuple[tuple[int, int], ...] = ()
    findings: tuple[str, ...] = ()
    diff: str = ""

    @property
    def is_found(self) -> bool:
        return self.reason == "found"


def sites_in(package: Path, path: Path, only: Sequence[str]) -> list[Site]:
    """Every site of a file; none in one that others are generated from, since its code runs nowhere but there."""
    if is_template(path):
        return []
    try:
        data = path.read_bytes()
        operators = [operator for operator in CATALOGUE.values() if operator.code in only]
        if len(data) > _MAX_BYTES or not any(all(w in data for w in o.words) for o in operators):
            return []
        source = Source(data)
        data.decode()
    except (OSError, SyntaxError, ValueError, RecursionError):
        return []
    found = []
    for operator in operators:
        for number, mutant in enumerate(operator.sites(source)):
            text = " ".join((source.class_of(mutant.edits[0].start) or path.name, *_changed(source, mutant).split()))
            found.append(Site(package.name, path.as_posix(), operator.name, number, text))
    return found


def _changed(source: Source, mutant: Mutant) -> str:
    """The lines of the original that change, and the code of the places."""
    parts = []
    for edit in mutant.edits:
        start = source.data.rfind(b"\n", 0, edit.start) + 1
        end = source.data.find(b"\n", max(edit.end - 1, edit.start))
        parts.append(source.data[start : end if end >= 0 else None].decode())
    parts += [source.text(place) for place in mutant.places if not isinstance(place, tuple)]
    return "\n".join(parts)


def choose(sites: Iterable[Site], count: int, seed: int, copies: int) -> list[Site]:
    """`count` sites: each operator in turn, in each of them each package in turn, no text more than `copies` times."""
    generator = random.Random(seed)
    queues: dict[str, dict[str, list[Site]]] = defaultdict(lambda: defaultdict(list))
    for site in sorted(sites, key=lambda site: (site.operator, site.package, site.path, site.number)):
        queues[site.operator][site.package].append(site)
    turns = {name: _in_turn(list(packages.values()), generator, copies) for name, packages in queues.items()}
    chosen: list[Site] = []
    while turns and len(chosen) < count:
        for name in list(turns):
            if turns[name] and len(chosen) < count:
                chosen.append(turns[name].pop(0))
            if not turns[name]:
                del turns[name]
    return chosen


def _in_turn(packages: list[list[Site]], generator: random.Random, copies: int) -> list[Site]:
    """The sites of all packages, shuffled and taken in turn, without copies beyond a few."""
    for sites in packages:
        generator.shuffle(sites)
    seen: Counter[str] = Counter()
    result = []
    for round_ in range(max(map(len, packages), default=0)):
        for sites in packages:
            if round_ < len(sites) and seen[sites[round_].text] < copies:
                seen[sites[round_].text] += 1
                result.append(sites[round_])
    return result


@cache
def _settings(root: Path) -> tuple[Settings, RuleSet]:
    settings = settings_for([root], isolated=True)
    return settings, select_rules(settings)


def _findings(root: Path, path: Path, data: bytes) -> FileResult:
    settings, rules = _settings(root)
    return Analyser(rules, settings, {path: data}, record=False).analyse(path)


def plant(root: Path, site: Site) -> Outcome:
    """Plant one mistake, lint the file as if it stood in its package, and compare."""
    path, operator = Path(site.path), CATALOGUE[site.operator]
    source = Source(path.read_bytes())
    mutant = operator.sites(source)[site.number]
    before, after = mutant.before(source), mutant.after(source)
    lines = tuple(mutant.lines(source))
    reason, findings = "does not compile", list[Finding]()
    if _compiles(after, site.path):
        reason, findings = _compared(root, path, mutant, source, operator)
    shown = tuple(f"{f.code} {f.confidence} {Path(f.path).name}:{f.span.line}: {f.message}" for f in findings)
    texts = (before.decode().splitlines(True), after.decode().splitlines(True))
    return Outcome(
        site, operator.code, reason, lines, shown, "".join(difflib.unified_diff(*texts, "correct", "mutant", n=2))
    )


def _compiles(data: bytes, name: str) -> bool:
    try:
        compile(data, name, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True


def _compared(root: Path, path: Path, mutant: Mutant, source: Source, operator: Operator) -> tuple[str, list[Finding]]:
    """What became of a mutant, and the findings that its correct file does not give."""
    mistaken = _findings(root, path, mutant.after(source))
    if mistaken.crashes:
        return "crash", []
    if not any(finding.code in operator.codes for finding in mistaken.findings):
        return "silent", list(mistaken.findings)
    correct = _findings(root, path, mutant.before(source))
    new = new_findings(mistaken, correct)
    if mutant.scaffold and any(
        finding.code == operator.code and finding.confidence >= Confidence.MEDIUM
        for finding in new_findings(correct, _findings(root, path, source.data))
    ):
        return "false alarm", new
    ours = [finding for finding in new if finding.code in operator.codes]
    due = [finding for finding in ours if _is_due(finding, path, mutant.lines(source))]
    if any(finding.confidence >= Confidence.MEDIUM for finding in due):
        return "found", new
    return "unsure" if due else "elsewhere" if ours else "silent", new


def _is_due(finding: Finding, path: Path, lines: Iterable[tuple[int, int]]) -> bool:
    return finding.path == path.as_posix() and any(first <= finding.span.line <= last for first, last in lines)


def new_findings(result: FileResult, before: FileResult) -> list[Finding]:
    """The findings of a result that the earlier one does not have, wherever they stand now."""
    known = Counter((finding.code, finding.symbol, finding.message) for finding in before.findings)
    new = []
    for finding in result.findings:
        key = (finding.code, finding.symbol, finding.message)
        if known[key]:
            known[key] -= 1
        else:
            new.append(finding)
    return new


# -- the run -----------------------------------------------------------------------------------------------------------


def _start() -> None:
    gc.disable()
    warnings.simplefilter("ignore")


def _sites_of(task: tuple[Path, list[Path], tuple[str, ...]]) -> list[Site]:
    package, paths, only = task
    found = [site for path in paths for site in sites_in(package, path, only)]
    gc.collect()
    return found


def _outcomes_of(task: tuple[Path, list[Site]]) -> list[Outcome]:
    root, sites = task
    outcomes = [plant(root, site) for site in sites]
    gc.collect()
    return outcomes


def run(
    packages: Sequence[Path], *, count: int, seed: int, only: Sequence[str], copies: int, jobs: int
) -> list[Outcome]:
    """Plant `count` mutants in packages; the result does not depend on `jobs`."""
    codes = tuple(only) or tuple({operator.code for operator in CATALOGUE.values()})
    roots = {package.name: package for package in packages}
    scans = [
        (package, paths[at : at + 40], codes)
        for package in packages
        for paths in [sorted(package.rglob("*.py"))]
        for at in range(0, len(paths), 40)
    ]
    with ProcessPoolExecutor(jobs, initializer=_start) as executor:
        sites = [site for found in executor.map(_sites_of, scans) for site in found]
        chosen = sorted(choose(sites, count, seed, copies), key=lambda site: (site.path, site.operator, site.number))
        tasks = []
        for name, root in roots.items():
            mine = [site for site in chosen if site.package == name]
            tasks += [(root, mine[at : at + 10]) for at in range(0, len(mine), 10)]
        return [outcome for found in executor.map(_outcomes_of, tasks) for outcome in found]


def table(title: str, outcomes: Sequence[Outcome], key: str) -> None:
    """Print a Markdown table: mutants by `key`, the share found, and what became of the others."""
    groups: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        names = {"rule": outcome.code, "kind": outcome.site.operator}
        name = names[key] if key in names else getattr(outcome.site, key)
        groups[f"{outcome.code} {name}" if key == "operator" else name].append(outcome)
    print(f"\n### {title}\n\n| {key} | mutants | found | share | the others |\n|---|---:|---:|---:|---|")
    for name in [*sorted(groups), *(["all"] if key == "rule" else [])]:
        group = outcomes if name == "all" else groups[name]
        found = sum(outcome.is_found for outcome in group)
        others = Counter(outcome.reason for outcome in group if not outcome.is_found)
        listed = ", ".join(f"{number} {reason}" for reason, number in sorted(others.items()))
        print(f"| {name} | {len(group)} | {found} | {100 * found / max(len(group), 1):.1f} % | {listed} |")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--packages", type=Path, nargs="+", required=True, help="folders of unpacked packages")
    parser.add_argument("--mutants", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", action="append", default=[], metavar="CODE")
    parser.add_argument(
        "--copies", type=int, default=2, help="how often the same statement of a class of the same name is used"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--survivors", type=Path, help="file for what was not found, as JSON")
    options = parser.parse_args(arguments)

    started = time.perf_counter()
    packages = [package.resolve() for package in options.packages]
    outcomes = run(
        packages,
        count=options.mutants,
        seed=options.seed,
        only=options.only,
        copies=options.copies,
        jobs=options.jobs,
    )
    counted = [outcome for outcome in outcomes if outcome.reason != "does not compile"]
    print(f"{len(counted)} mutants in {len(packages)} packages, seed {options.seed}")
    table("By rule", counted, "rule")
    table("By mistake", counted, "operator")
    table("By package", counted, "package")
    if len(counted) < len(outcomes):
        print(f"\nleft out, since they do not compile: {len(outcomes) - len(counted)}")
    print(f"\n{time.perf_counter() - started:.0f} s", file=sys.stderr)
    if options.survivors:
        survivors = [asdict(outcome) for outcome in outcomes if not outcome.is_found]
        options.survivors.write_text(json.dumps(survivors, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
