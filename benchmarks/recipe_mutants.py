"""What share of mistakes in recipes modellint finds: recipes of a speechbrain checkout, one mistake at a time.

    python benchmarks/recipe_mutants.py CHECKOUT [--mutants 600] [--seed 0] [--only KIND] [--survivors FILE]

A mutant is found if checking the one file that changed gives a finding that the original does not give, of the
mistake's rule, on a line where the mistake is due, at the confidence that is shown by default. What can be planted, and
when it is a mistake, is decided in `planting/recipes.py` by reading the files, never by modellint; where it says that
HyperPyYAML refuses the recipe, the library is asked.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import re
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from functools import cache, lru_cache
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from hyperpyyaml import resolve_references

from modellint.config import settings_for
from modellint.finding import Confidence, Finding
from modellint.packs import select_rules
from modellint.pipeline.analyser import Analyser

sys.path.insert(0, str(Path(__file__).parent))

from mutants import Outcome, Site, choose, new_findings, table
from planting.checkout import Checkout
from planting.recipes import OPERATORS, Planted, Training, read_training

if TYPE_CHECKING:
    from collections.abc import Sequence

    from yaml.nodes import Node

    from modellint.pipeline.analyser import FileResult


@dataclass
class Bench:
    """A checkout, what has been read of it, and what rules find in the files as they are."""

    root: Path
    checkout: Checkout = field(init=False)
    _findings: dict[tuple[Path, tuple[str, ...]], FileResult] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.checkout = Checkout(self.root)
        self._settings = settings_for([self.root], isolated=True)

    def check(self, path: Path, codes: tuple[str, ...] = (), text: str | None = None) -> FileResult:
        """What some rules, or all, find about a file, with `text` in place of its content."""
        settings = self._settings.with_options(select=codes) if codes else self._settings
        overlay = {} if text is None else {path: text.encode()}
        return Analyser(select_rules(settings), settings, overlay, record=False).analyse(path)

    def original(self, path: Path, codes: tuple[str, ...]) -> FileResult:
        if (path, codes) not in self._findings:
            self._findings[path, codes] = self.check(path, codes)
        return self._findings[path, codes]


@cache
def _bench(root: Path) -> Bench:
    return Bench(root)


@cache
def _trainings(root: Path) -> dict[str, tuple[Path, Path]]:
    """The trainings of a checkout by the path of the recipe."""
    return {recipe.as_posix(): (recipe, script) for recipe, script in _bench(root).checkout.trainings()}


@lru_cache(maxsize=1)
def _training(root: Path, recipe: str) -> Training | None:
    return read_training(_bench(root).checkout, *_trainings(root)[recipe])


@lru_cache(maxsize=len(OPERATORS))
def _planted(root: Path, recipe: str, kind: str) -> list[Planted]:
    training = _training(root, recipe)
    return [] if training is None else list(OPERATORS[kind](training))


def sites_in(root: Path, recipe: str, kinds: Sequence[str]) -> list[Site]:
    """Every place for a mistake in a recipe and its script; those of all recipes of a data set are one package."""
    training = _training(root, recipe)
    if training is None:
        return []
    folder = Path(recipe).relative_to(root).parts[1]
    return [
        Site(folder, recipe, kind, number, planted.what)
        for kind in kinds
        for number, planted in enumerate(OPERATORS[kind](training))
    ]


# -- asking the library ------------------------------------------------------------------------------------------------


class _Inert(yaml.SafeLoader):
    """Constructs what HyperPyYAML would, with nothing in place of objects."""


def _nothing(loader: yaml.SafeLoader, suffix: str, node: Node) -> None:
    if isinstance(node, yaml.MappingNode):
        loader.construct_mapping(node, deep=True)
    elif isinstance(node, yaml.SequenceNode):
        loader.construct_sequence(node, deep=True)


for _tag in ("!new:", "!name:", "!apply:", "!module:"):
    _Inert.add_multi_constructor(_tag, _nothing)


def refusal(text: str) -> str:
    """What HyperPyYAML says against a recipe, empty if it loads; no class is looked up and nothing is called."""
    filled = re.sub(r"!PLACEHOLDER\b", "filled", text)
    try:
        yaml.load(resolve_references(StringIO(filled)), _Inert)  # a safe loader
    except Exception as error:  # whatever the library raises
        return f"{type(error).__name__}: {error}".splitlines()[0]
    return ""


@cache
def _loads(path: Path) -> bool:
    return not refusal(path.read_text(encoding="utf-8"))


# -- one mutant --------------------------------------------------------------------------------------------------------


def plant(root: Path, site: Site) -> Outcome:
    """Plant one mistake, check the file that it is in, and compare."""
    planted = _planted(root, site.path, site.operator)[site.number]
    before = planted.path.read_bytes().decode()
    after = planted.applied(before)
    reason, findings = "loads", list[Finding]()
    if not planted.is_refused or (_loads(planted.path) and refusal(after)):
        reason, findings = _compared(_bench(root), planted, after)
    shown = tuple(f"{f.code} {f.confidence} {Path(f.path).name}:{f.span.line}: {f.message}" for f in findings)
    texts = (before.splitlines(True), after.splitlines(True))
    diff = "".join(difflib.unified_diff(*texts, "correct", "mutant", n=2))
    lines = tuple((line, line) for _, line in planted.due)
    return Outcome(site, "/".join(planted.codes), reason, lines, shown, diff)


def _compared(bench: Bench, planted: Planted, after: str) -> tuple[str, list[Finding]]:
    """What became of a mutant, and the findings of it that its file does not give as it is: all, if it is not found."""
    mistaken = bench.check(planted.path, planted.codes, after)
    if mistaken.crashes:
        return "crash", []
    places = {(path.as_posix(), line) for path, line in planted.due}
    ours = new_findings(mistaken, bench.original(planted.path, planted.codes)) if mistaken.findings else []
    due = [finding for finding in ours if (finding.path, finding.span.line) in places]
    if any(finding.confidence >= Confidence.MEDIUM for finding in due):
        return "found", ours
    said = new_findings(bench.check(planted.path, (), after), bench.original(planted.path, ()))
    return "unsure" if due else "elsewhere" if ours else "silent", said


# -- the run -----------------------------------------------------------------------------------------------------------


def _sites_of(task: tuple[Path, str, tuple[str, ...]]) -> list[Site]:
    return sites_in(*task)


def _outcomes_of(task: tuple[Path, list[Site]]) -> list[Outcome]:
    root, sites = task
    return [plant(root, site) for site in sites]


def run(root: Path, *, count: int, seed: int, only: Sequence[str], copies: int, jobs: int) -> list[Outcome]:
    """Plant `count` mutants in the recipes of a checkout; the result does not depend on `jobs`."""
    kinds = tuple(only) or tuple(OPERATORS)
    recipes = sorted(_trainings(root))
    with ProcessPoolExecutor(jobs) as executor:
        found = executor.map(_sites_of, [(root, recipe, kinds) for recipe in recipes], chunksize=10)
        chosen = choose((site for sites in found for site in sites), count, seed, copies)
        tasks = [(root, [site for site in chosen if site.path == recipe]) for recipe in recipes]
        results = executor.map(_outcomes_of, [task for task in tasks if task[1]], chunksize=4)
        return [outcome for outcomes in results for outcome in outcomes]


def describe(outcome: Outcome, root: Path) -> str:
    """A survivor in a line: where, what, and what modellint says instead."""
    site = outcome.site
    said = "; ".join(outcome.findings[:2]) or "nothing"
    what = site.text.removeprefix(root.as_posix() + "/")
    return f"- {site.operator}, {Path(site.path).relative_to(root)}, {what}: {outcome.reason} ({said})"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("checkout", type=Path, help="a checkout of the speechbrain repository")
    parser.add_argument("--mutants", type=int, default=600)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", action="append", default=[], metavar="KIND", choices=sorted(OPERATORS))
    parser.add_argument("--copies", type=int, default=1, help="how often the same mistake is planted")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--survivors", type=Path, help="file for what was not found, as JSON")
    options = parser.parse_args(arguments)

    started = time.perf_counter()
    root = options.checkout.resolve()
    outcomes = run(
        root,
        count=options.mutants,
        seed=options.seed,
        only=options.only,
        copies=options.copies,
        jobs=options.jobs,
    )
    counted = [outcome for outcome in outcomes if outcome.reason != "loads"]
    print(f"{len(counted)} mutants of recipes in {root.name}, seed {options.seed}")
    table("By rule", counted, "rule")
    table("By kind", counted, "kind")
    survivors = [outcome for outcome in counted if not outcome.is_found]
    print(f"\n### Not found\n\n{chr(10).join(describe(one, root) for one in survivors) or 'nothing'}")
    if len(counted) < len(outcomes):
        print(f"\nleft out, since HyperPyYAML loads them: {len(outcomes) - len(counted)}")
    print(f"\n{time.perf_counter() - started:.0f} s", file=sys.stderr)
    if options.survivors:
        listed: list[dict[str, Any]] = [asdict(outcome) for outcome in outcomes if not outcome.is_found]
        options.survivors.write_text(json.dumps(listed, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
