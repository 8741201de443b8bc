"""Removes each entry from `modules:` of real recipes in turn and tells whether modellint names it.

    python tests/corpus/remove_modules.py CHECKOUT [--recipes 20] [--list]

CHECKOUT is a checkout of the speechbrain repository. Nothing in it is changed: the mutants exist in memory only.
An entry that is not named is either not certainly used, or without state; `--list` prints them, to be read.
"""

from __future__ import annotations

import argparse
import random
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from modellint.config import Settings
from modellint.frontends.recipe import read
from modellint.graph.recipe import NodeKind
from modellint.linter import run
from modellint.packs import select_rules

if TYPE_CHECKING:
    from collections.abc import Iterator

CODES = ("ML201", "ML202")


@dataclass(frozen=True)
class Mutant:
    """A recipe without one entry of its `modules:`."""

    entry: str
    text: str


def mutants(path: Path) -> Iterator[Mutant]:
    """The recipe at `path` with each entry of `modules:` (in block style, on a line of its own) removed."""
    recipe = read(path, path.read_bytes())
    modules = recipe.keys.get("modules") if recipe is not None else None
    if recipe is None or modules is None or modules.value.kind is not NodeKind.MAPPING or modules.value.flow:
        return
    lines = recipe.source.lines
    for entry in modules.value.entries:
        number = entry.key.span.line
        if re.fullmatch(r"\s+\w+: !ref <[^>]*>\s*(#.*)?", lines[number - 1].rstrip("\n")):
            left = [*lines[: number - 1], *lines[number:]]
            if len(modules.value.entries) == 1:
                left.insert(number - 1, "    {}\n")
            yield Mutant(str(entry.name), "".join(left))


def named(root: Path, path: Path, text: str | None = None) -> set[str]:
    """The codes and symbols of the findings about a recipe and its script, with `text` in place of its content."""
    settings = Settings(root).with_options(select=CODES, jobs=1)
    overlay = None if text is None else {path: text.encode()}
    report = run([path], settings, select_rules(settings), overlay=overlay, use_cache=False)
    assert not report.crashes, report.crashes
    return {f"{finding.code} {finding.symbol}" for finding in report.findings}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--recipes", type=int, default=20)
    parser.add_argument("--seed", type=int, default=2804)
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    root = options.checkout.resolve()
    recipes = [path for path in sorted((root / "recipes").rglob("*.yaml")) if any(mutants(path))]
    random.Random(options.seed).shuffle(recipes)
    counts: Counter[str] = Counter()
    for path in recipes[: options.recipes]:
        before = named(root, path)
        counts["untouched recipes"] += 1
        counts["untouched recipes that are not silent"] += bool(before)
        for mutant in mutants(path):
            found = named(root, path, mutant.text) - before
            counts["removed entries"] += 1
            counts["named"] += bool(found)
            if options.list and not found:
                print(f"not named: {path.relative_to(root)}: {mutant.entry}")
    for name, count in counts.items():
        print(f"{name}: {count}")


if __name__ == "__main__":
    main()
