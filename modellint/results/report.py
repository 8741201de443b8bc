"""The outcome of a run, as reporters show it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from modellint.finding import Finding, Sandbox
    from modellint.reading.sizes import Oversized
    from modellint.results.baseline import Comparison
    from modellint.results.failures import Crash


class Inventory(NamedTuple):
    """The number of model definitions that were checked: classes of layers, recipes, configurations, model folders."""

    layers: int = 0
    recipes: int = 0
    configurations: int = 0
    models: int = 0

    def plus(self, other: Inventory) -> Inventory:
        """Both together."""
        return Inventory(*map(sum, zip(self, other, strict=True)))

    def __str__(self) -> str:
        """`2 layer classes, 1 recipe`; empty if there is nothing."""
        classes = "class" if self.layers == 1 else "classes"
        parts = [f"{self.layers} layer {classes}"] if self.layers else []
        nouns = ("recipe", "configuration", "model folder")
        for number, noun in zip((self.recipes, self.configurations, self.models), nouns, strict=True):
            parts += [f"{number} {noun}{'' if number == 1 else 's'}"] if number else []
        return ", ".join(parts)


class ScriptChoice(NamedTuple):
    """The scripts chosen for a recipe, the reason, and the scripts turned down, each with its reason.

    `original` is the file that was checked in place of it, if it is a copy.
    """

    scripts: tuple[str, ...]
    reason: str
    turned_down: tuple[tuple[str, str], ...] = ()
    original: str = ""

    def lines(self, shown: Callable[[str], str]) -> Iterator[str]:
        """The choice in lines of text, with paths as `shown` writes them."""
        several = "" if len(self.scripts) < 2 else ": only facts that hold for all of them count"
        yield f"{', '.join(map(shown, self.scripts))}, by {self.reason}{several}" if self.scripts else "no script"
        yield from (f"not {shown(path)}: {reason}" for path, reason in self.turned_down)


@dataclass(frozen=True)
class Part:
    """A part of a run, such as `2/8`, and its `data`: JSON-able values that `modellint merge` makes one report of."""

    shard: str
    data: dict[str, Any]


@dataclass(frozen=True)
class Report:
    """The outcome of a run: findings to show, in order, and what failed on our side.

    `unfinished` are the files that were too large for some rules to follow to their end, with the rules' codes and what
    each did not follow.
    `checked` are the files whose findings count, and `known` is what a baseline says about the findings.
    `fixed` are findings that were there before their fixes were made; `refuted` is how many were left out since running
    the code refutes them, and `guard` what that code ran under, if any was run. `skipped` are files that were too
    large. `seconds` is the processor time of each rule and of reading files, the dearest first; files that the cache
    knew took none. `inventory` is what there was in the files to be checked; None of a report that does not tell.
    `pairings` are the recipes among them, by path, with their scripts. `unchanged_since` is the revision since which
    nothing has changed that counts, if there is one. `part` is set if other machines check the rest.
    """

    findings: tuple[Finding, ...]
    files_checked: int
    crashes: tuple[Crash, ...]
    duration: float
    unfinished: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = ()
    checked: frozenset[str] = frozenset()
    known: Comparison | None = None
    fixed: tuple[Finding, ...] = ()
    refuted: int = 0
    guard: Sandbox | None = None
    skipped: tuple[Oversized, ...] = ()
    seconds: tuple[tuple[str, float], ...] = ()
    inventory: Inventory | None = None
    pairings: tuple[tuple[str, ScriptChoice], ...] = ()
    unchanged_since: str = ""
    part: Part | None = None
