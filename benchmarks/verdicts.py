"""How often `--confirm` is wrong: the examples of all rules, and mistakes planted in classes of public packages.

    python benchmarks/verdicts.py [--packages PATH… --mutants 40] [--only ML204] [--python PYTHON] [--list]

A case is a finding with what is run for it, once on the code that has the mistake and once, where there is one, on the
code without it: the repaired example, or the class before the mistake was planted. A `confirmed` of correct code and
a `refuted` of a mistake are false verdicts; `unconfirmed` is what nothing could be shown of.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import modellint
from modellint.confirm import child
from modellint.confirm.environment import environment
from modellint.confirm.plan import group_by_target
from modellint.confirm.scratch import scratch
from modellint.confirm.setup import Setup
from modellint.finding import Status, Verdict
from modellint.link.project import Project, ProjectOptions
from modellint.packs import load_rules

sys.path.insert(0, str(Path(__file__).parent))

from mutants import CATALOGUE, choose, sites_in
from planting.source import Source
from repaired import Repaired

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from modellint.confirm.plan import Group
    from modellint.finding import Finding
    from modellint.probes import Probe
    from modellint.rule import Rule

RULES = {code: rule for code, rule in load_rules().items() if rule.is_confirmable()}
#: For each line, which names a request and a file for the answers, a process of its own. Torch is imported once.
_FORKS = """
import json, os, signal, sys
sys.path.insert(0, sys.argv[1])
import torch
from worker import main, probes
sys.path.pop(0)
for line in sys.stdin:
    request, answers, environment, seconds = json.loads(line)
    pid = os.fork()
    if not pid:
        os.environ.update(environment)
        signal.alarm(seconds)
        main.main(request, str(os.open(answers, os.O_WRONLY | os.O_CREAT)))
    os.waitpid(pid, 0)
    print("done", flush=True)
"""
_SECONDS = 120


@dataclass(frozen=True)
class Case:
    """One verdict: of which rule and source, whether the code has the mistake, and what was said of it."""

    code: str
    source: str
    is_bad: bool
    verdict: Verdict

    @property
    def is_false(self) -> bool:
        return self.verdict.status is (Status.REFUTED if self.is_bad else Status.CONFIRMED)


class Judge:
    """Finds what a rule says of files, and what runs show of it, before and after the files change.

    Its interpreter imports torch once and forks for each group of probes: three times as fast as starting anew.
    """

    def __init__(self, python: Path) -> None:
        self._python = python
        command = [str(python), "-c", _FORKS, str(Path(child.__file__).parent)]
        self._forks = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )

    def close(self) -> None:
        self._forks.terminate()
        self._forks.wait()

    def probes(self, rule: Rule, root: Path, path: Path) -> list[tuple[Finding, Probe | None]]:
        """The findings of a rule, those of low confidence too, with their probes."""
        found = modellint.check([path], isolated=True, min_confidence="low", jobs=1, select=[rule.code])
        project = Project(ProjectOptions(root=root))
        return [(finding, finding.claim and rule.probe(finding.claim, project)) for finding in found]

    def verdicts(self, probes: Sequence[tuple[Finding, Probe | None]], root: Path) -> list[Verdict]:
        """What runs show; findings without a probe are unconfirmed."""
        answers: dict[int, Verdict] = {}
        for group in group_by_target(
            [(number, probe) for number, (_, probe) in enumerate(probes) if probe is not None]
        ):
            answers |= self._answers(group, Setup(self._python, (root.as_posix(),)))
        nothing = Verdict(Status.UNCONFIRMED, None, "nothing that can be run was found for it")
        return [answers.get(number, nothing) for number in range(len(probes))]

    def _answers(self, group: Group, setup: Setup) -> dict[int, Verdict]:
        with scratch() as place:
            run = child.ChildRun(group, setup, place)
            answers = Path(place.beside("answers.jsonl"))
            assert self._forks.stdin is not None
            assert self._forks.stdout is not None
            line = json.dumps(
                [run.write_request(), answers.as_posix(), dict(environment(place.folder, "auto")), _SECONDS]
            )
            self._forks.stdin.write(line + "\n")
            self._forks.stdin.flush()
            self._forks.stdout.readline()
            for said in answers.read_bytes().splitlines() if answers.is_file() else ():
                run.take(said)
            return run.verdicts()


# -- examples ----------------------------------------------------------------------------------------------------------


def _examples(rule: Rule, judge: Judge) -> Iterator[Case]:
    """The examples of a rule: bad ones, the same repaired where that changes what is built, and good ones.

    Of good ones only what is found with low confidence is run.
    """
    for is_bad, example in [*((True, bad) for bad in rule.bad), *((False, good) for good in rule.good)]:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name).resolve()
            _write(folder, example.files)
            probes = judge.probes(rule, folder, folder)
            for verdict in judge.verdicts(probes, folder):
                yield Case(rule.code, f"{'bad' if is_bad else 'good'}: {example.title}", is_bad, verdict)
            if is_bad and example.fixed:
                built = {probe.target.path for _, probe in probes if probe is not None}
                changed = {folder / file for file, text in example.fixed.items() if example.files.get(file) != text}
                repaired = Repaired(finding.fix for finding, _ in probes if finding.fix is not None)
                _write(folder, example.fixed)
                left = {(finding.symbol, finding.message) for finding, _ in judge.probes(rule, folder, folder)}
                gone = [
                    (finding, probe and repaired.probe(probe))
                    for finding, probe in probes
                    if (finding.symbol, finding.message) not in left
                ]
                for verdict in judge.verdicts(gone, folder) if built & changed else ():
                    yield Case(rule.code, f"repaired: {example.title}", is_bad=False, verdict=verdict)


def _write(folder: Path, files: Mapping[str, str]) -> None:
    for file, text in files.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_bytes(text.encode())


# -- mutants -----------------------------------------------------------------------------------------------------------


def _mutants(package: Path, count: int, seed: int, codes: Sequence[str], judge: Judge) -> Iterator[Case]:
    """Mistakes planted in correct classes, as far as they are found, and the same classes without them."""
    sites = [site for path in sorted(package.rglob("*.py")) for site in sites_in(package, path, codes)]
    with tempfile.TemporaryDirectory() as name:
        root = Path(name).resolve() / package.name
        shutil.copytree(package, root)
        for site in choose(sites, count, seed, 1):
            path, operator = root / Path(site.path).relative_to(package), CATALOGUE[site.operator]
            source = Source(path.read_bytes())
            mutant = operator.sites(source)[site.number]
            path.write_bytes(mutant.after(source))
            lines = mutant.lines(source)
            found = judge.probes(RULES[operator.code], root, path)
            due = [pair for pair in found if any(first <= pair[0].span.line <= last for first, last in lines)]
            title = f"{site.operator} in {path.relative_to(root)}:{lines[0][0]}"
            for verdict in judge.verdicts(due, root):
                yield Case(operator.code, f"planted: {title}", is_bad=True, verdict=verdict)
            path.write_bytes(mutant.before(source))
            for verdict in judge.verdicts(due, root):
                yield Case(operator.code, f"correct: {title}", is_bad=False, verdict=verdict)
            path.write_bytes(source.data)


# -- the run -----------------------------------------------------------------------------------------------------------


def table(cases: Sequence[Case]) -> None:
    """Print a Markdown table: the verdicts on code with and without a mistake, by rule."""
    print("| rule | code | cases | confirmed | refuted | unconfirmed |\n|---|---|---:|---:|---:|---:|")
    for code in [*sorted({case.code for case in cases}), "all"]:
        for is_bad, name in ((True, "mistaken"), (False, "correct")):
            mine = [case for case in cases if case.is_bad is is_bad and code in (case.code, "all")]
            counts = Counter(case.verdict.status for case in mine)
            shares = " | ".join(str(counts[s]) for s in (Status.CONFIRMED, Status.REFUTED, Status.UNCONFIRMED))
            if mine:
                print(f"| {code} | {name} | {len(mine)} | {shares} |")
    bad = [case for case in cases if case.is_bad]
    open_ = sum(case.verdict.status is Status.UNCONFIRMED for case in bad)
    print(f"\n{len(cases)} verdicts, {sum(case.is_false for case in cases)} of them false; ", end="")
    print(f"{100 * open_ / max(len(bad), 1):.1f} % of the mistakes are unconfirmed")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--packages", type=Path, nargs="+", default=[], help="folders of unpacked packages")
    parser.add_argument("--mutants", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", action="append", default=[], metavar="CODE")
    parser.add_argument("--python", type=Path, default=Path(sys.executable), help="an interpreter that has torch")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--list", action="store_true", help="print every verdict that is false or unconfirmed")
    options = parser.parse_args(arguments)

    codes = [code for code in RULES if not options.only or code in options.only]
    packages = [package.resolve() for package in options.packages]
    judges: queue.Queue[Judge] = queue.Queue()
    for _ in range(options.jobs):
        judges.put(Judge(options.python))

    def judged(task: Callable[[Judge], Iterator[Case]]) -> list[Case]:
        judge = judges.get()
        try:
            return list(task(judge))
        finally:
            judges.put(judge)

    tasks: list[Callable[[Judge], Iterator[Case]]] = [partial(_examples, RULES[code]) for code in codes]
    share = options.mutants // max(len(packages), 1)
    tasks += [partial(_mutants, package, share, options.seed, codes) for package in packages]
    with ThreadPoolExecutor(options.jobs) as executor:
        cases = [case for found in executor.map(judged, tasks) for case in found]
    while not judges.empty():
        judges.get().close()
    table(cases)
    for case in cases if options.list else ():
        if case.is_false or (case.is_bad and case.verdict.status is Status.UNCONFIRMED):
            print(f"\n{case.code} {case.source}\n    {case.verdict.status.value}: {case.verdict.detail}")


if __name__ == "__main__":
    main()
