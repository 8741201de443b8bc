"""What fixes do to real code: mistakes are planted in packages and recipes, fixed, and the results compared.

    python benchmarks/fixes.py [--packages PATH…] [--recipes CHECKOUT] [--fixes 1000] [--seed 0] [--jobs N]

The mistakes are those of `mutants.py` and `recipe_mutants.py`, as many in a file as do not overlap. All fixes are made,
unsafe ones too, one pass at a time. What is looked at after each pass does not rest on what modellint itself looks at:
the file compiles, or loads as YAML; lines that `difflib` finds in both texts have the same tokens in both; and in the
lines that differ all tokens that do not overlap a place that an edit names are still there, in the same order.
"""

from __future__ import annotations

import argparse
import difflib
import io
import os
import random
import sys
import time
import tokenize
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from modellint import linter
from modellint.config import settings_for
from modellint.fix.fixer import Fixer
from modellint.packs import select_rules
from modellint.source import decode_python, decode_yaml

sys.path.insert(0, str(Path(__file__).parent))

from planting.catalogue import load
from planting.checkout import Checkout
from planting.recipes import OPERATORS, read_training
from planting.source import Edit as Planting
from planting.source import Source, applied

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from modellint.config import Settings
    from modellint.finding import Edit, Finding
    from modellint.packs import RuleSet

_MAX_BYTES = 200_000
_MAX_PASSES = 10
#: How often a mistake of one kind is planted in a file.
_OF_A_KIND = 3
_FIXABLE = ("ML101", "ML103", "ML204", "ML205", "ML207", "ML301", "ML304", "ML305")
#: Mistakes of those rules that take more than a fix.
_NOT_FIXABLE = ("layer-before-super",)
_RECIPE_KINDS = (
    "entry-removed-from-modules",
    "element-removed-from-module-list",
    "entry-removed-from-recoverables",
    "modules-made-hparams",
)


@dataclass(frozen=True)
class Task:
    """Files to check together, in a package or checkout, and the contents that mistakes give some of them."""

    root: Path
    paths: tuple[Path, ...]
    contents: dict[Path, bytes]
    planted: int


@dataclass
class Tally:
    """What became of fixes: how often each rule's were made, refused or went wrong."""

    planted: int = 0
    made: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    files: int = 0
    restored: int = 0

    def add(self, other: Tally) -> None:
        self.planted += other.planted
        self.made += other.made
        self.refused += other.refused
        self.wrong += other.wrong
        self.files += other.files
        self.restored += other.restored


# -- planting ----------------------------------------------------------------------------------------------------------


def tasks_of(package: Path, generator: random.Random, codes: Sequence[str] = _FIXABLE) -> Iterator[Task]:
    """The files of a package, shuffled, with as many mistakes as do not overlap."""
    paths = sorted(package.rglob("*.py"))
    generator.shuffle(paths)
    operators = [
        operator for operator in load().values() if operator.code in codes and operator.name not in _NOT_FIXABLE
    ]
    for path in paths:
        data = path.read_bytes()
        if len(data) > _MAX_BYTES or not any(all(word in data for word in one.words) for one in operators):
            continue
        try:
            source = Source(data)
            data.decode()
        except (SyntaxError, ValueError, RecursionError):
            continue
        mutants = []
        for operator in operators:
            found = operator.sites(source)
            mutants += generator.sample(found, min(len(found), _OF_A_KIND))
        generator.shuffle(mutants)
        chosen: list[Planting] = []
        number = 0
        for mutant in mutants:
            edits = (*mutant.scaffold, *mutant.edits)
            if not any(_meet(one, other) for one in edits for other in chosen):
                chosen += mutant.edits
                number += 1
        mistaken = applied(data, tuple(chosen))
        if chosen and _compiles(mistaken):
            yield Task(package, (path,), {path: mistaken}, number)


def recipe_tasks(root: Path, generator: random.Random) -> Iterator[Task]:
    """The trainings of a checkout, shuffled, with one mistake of each kind in each file."""
    checkout = Checkout(root)
    trainings = sorted(checkout.trainings())
    generator.shuffle(trainings)
    for recipe, script in trainings:
        training = read_training(checkout, recipe, script)
        if training is None:
            continue
        for kind in _RECIPE_KINDS:
            planted = list(OPERATORS[kind](training))
            if planted:
                one = generator.choice(planted)
                text = one.applied(one.path.read_bytes().decode())
                yield Task(root, (recipe, script), {one.path: text.encode()}, 1)


def _meet(one: Planting, other: Planting) -> bool:
    return one.start <= other.end and other.start <= one.end


def _compiles(data: bytes) -> bool:
    try:
        compile(data, "mutant", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True


# -- fixing ------------------------------------------------------------------------------------------------------------


@cache
def _settings(root: Path) -> tuple[Settings, RuleSet]:
    settings = settings_for([root], isolated=True).with_options(jobs=1)
    return settings, select_rules(settings)


def fixed(task: Task) -> Tally:
    """Make all fixes in the files of a task, and compare each pass with the one before."""
    settings, rules = _settings(task.root)
    tally = Tally(planted=task.planted, files=1)
    contents = dict(task.contents)
    for _ in range(_MAX_PASSES):
        fixer = Fixer(settings, rules, unsafe=True, write=False, passes=1, overlay=contents)
        report = linter.run(task.paths, settings, rules, overlay=contents, use_cache=False, fix=fixer)
        tally.made += Counter(finding.code for finding in report.fixed)
        if not fixer.rewrites:
            tally.refused += Counter(f"{one.finding.code}: {one.reason[:60]}" for one in fixer.failures)
            break
        for rewrite in fixer.rewrites:
            edits = _edits_of(report.fixed, rewrite.path)
            tally.wrong += [
                f"{rewrite.path}: {what}" for what in compare(rewrite.path, rewrite.before, rewrite.after, edits)
            ]
            contents[rewrite.path] = rewrite.after
    tally.restored = int(all(data == path.read_bytes() for path, data in contents.items()))
    return tally


def _edits_of(findings: Iterable[Finding], path: Path) -> list[Edit]:
    every = [edit for finding in findings if finding.fix is not None for edit in finding.fix.edits]
    return [edit for edit in every if edit.place.path == path.as_posix()]


# -- comparing ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Token:
    line: int
    start: int
    end: int
    kind: str
    text: str


def compare(path: Path, before: bytes, after: bytes, edits: Sequence[Edit]) -> Iterator[str]:
    """What is wrong with a fixed file: it cannot be read, or a token has changed that no edit names."""
    is_python = path.suffix == ".py"
    decode, tokens_of_ = (decode_python, python_tokens) if is_python else (decode_yaml, yaml_tokens)
    try:
        if is_python:
            compile(after, path.name, "exec", dont_inherit=True)
        old, new = decode(path, before), decode(path, after)
        old_tokens, new_tokens = tokens_of_(old.text), tokens_of_(new.text)
    except (SyntaxError, ValueError, yaml.YAMLError, tokenize.TokenError) as error:
        yield f"cannot be parsed: {error}"
        return
    matcher = difflib.SequenceMatcher(None, old.lines, new.lines, autojunk=False)
    for tag, first, last, new_first, new_last in matcher.get_opcodes():
        mine = [token for token in old_tokens if first < token.line <= last]
        theirs = [token for token in new_tokens if new_first < token.line <= new_last]
        if tag == "equal":
            if [(token.kind, token.text) for token in mine] != [(token.kind, token.text) for token in theirs]:
                yield f"lines {first + 1} to {last} read differently"
            continue
        kept = [token for token in mine if not any(_names(edit, token) for edit in edits)]
        yield from (f"line {token.line}: `{token.text}` is lost" for token in _not_in_order(kept, theirs))


def _not_in_order(kept: Iterable[Token], there: Iterable[Token]) -> Iterator[Token]:
    """The first of the tokens that do not follow one another among others, with whatever between them."""
    rest = iter(there)
    for token in kept:
        if not any((other.kind, other.text) == (token.kind, token.text) for other in rest):
            yield token
            return


def _names(edit: Edit, token: Token) -> bool:
    """Whether an edit replaces some of a token."""
    span = edit.place.span
    starts_before_end = (token.line, token.start) < (span.end_line, span.end_column)
    return starts_before_end and (span.line, span.column) < (token.line, token.end)


def python_tokens(text: str) -> list[Token]:
    """Everything but the layout of lines, with columns from 1."""
    layout = (tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
    return [
        Token(token.start[0], token.start[1] + 1, token.end[1] + 1, str(token.type), token.string)
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type not in layout
    ]


def yaml_tokens(text: str) -> list[Token]:
    """Tokens with a text of their own, with columns from 1; comments are left to the comparison of lines."""
    return [
        Token(
            token.start_mark.line + 1,
            token.start_mark.column + 1,
            token.end_mark.column + 1,
            type(token).__name__,
            value,
        )
        for token in yaml.scan(text, Loader=yaml.SafeLoader)
        if (value := str(getattr(token, "value", "") or getattr(token, "id", "")))
    ]


# -- the run -----------------------------------------------------------------------------------------------------------


def run(tasks: Iterable[Task], count: int, jobs: int) -> Tally:
    """Fix until there are `count` fixes, or no more tasks."""
    total = Tally()
    with ProcessPoolExecutor(jobs) as executor:
        pending = iter(tasks)
        while sum(total.made.values()) < count:
            batch = [task for task, _ in zip(pending, range(jobs * 4), strict=False)]
            if not batch:
                break
            for tally in executor.map(fixed, batch):
                total.add(tally)
            print(f"\r{total.files} files, {sum(total.made.values())} fixes", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return total


def in_turn(sources: Sequence[Iterator[Task]]) -> Iterator[Task]:
    """The tasks of several sources, one of each at a time."""
    left = list(sources)
    while left:
        for source in list(left):
            task = next(source, None)
            if task is None:
                left.remove(source)
            else:
                yield task


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--packages", type=Path, nargs="+", default=[], help="folders of unpacked packages")
    parser.add_argument("--recipes", type=Path, help="a checkout of the speechbrain repository")
    parser.add_argument("--fixes", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args(arguments)

    started = time.perf_counter()
    generator = random.Random(options.seed)
    sources = [tasks_of(package.resolve(), generator) for package in options.packages]
    if options.recipes:
        sources.append(recipe_tasks(options.recipes.resolve(), generator))
    total = run(in_turn(sources), options.fixes, options.jobs)
    print(f"{total.planted} mistakes in {total.files} files, {sum(total.made.values())} fixes, seed {options.seed}\n")
    print("| rule | fixes |\n|---|---:|")
    for code, number in sorted(total.made.items()):
        print(f"| {code} | {number} |")
    print(f"\nfiles that are again what they were, byte by byte: {total.restored}")
    print(f"fixes that were left out: {sum(total.refused.values())}")
    for reason, number in total.refused.most_common():
        print(f"- {number} times {reason}")
    print(f"results that cannot be parsed or changed another token: {len(total.wrong)}")
    for what in total.wrong:
        print(f"- {what}")
    print(f"\n{time.perf_counter() - started:.0f} s", file=sys.stderr)
    raise SystemExit(int(bool(total.wrong)))


if __name__ == "__main__":
    main()
