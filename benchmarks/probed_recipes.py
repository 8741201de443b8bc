"""What `modellint probe` builds, runs and finds of every recipe of a checkout.

    python benchmarks/probed_recipes.py CHECKOUT [--python PYTHON] [--only TEXT] [--output FILE]

CHECKOUT is a clone of speechbrain, or any folder with HyperPyYAML recipes. Each recipe is probed in its own folder, by
a process of its own that is forked from one which has imported torch. PYTHON has what the recipes import, as far as
that is to be there: the rest gets stand-ins.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from modellint.config import settings_for
from modellint.config.errors import UsageError
from modellint.confirm.battery import probe
from modellint.confirm.confirmer import Wishes
from modellint.confirm.forkserver import ForkServers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from modellint.confirm.battery import Check

_BUILT = re.compile(r"\b(\d+) parameters and buffers")
_REPLACED = re.compile(r"not built: ([^;)]*)")
#: Where a report says what had to be assumed.
_ASSUMED = re.compile(r" \((?:not importable and replaced|not built|placeholders filled|assumed):")
#: Characters of what is told of one recipe.
_LONGEST = 140
_FILES = (".yaml", ".yml")


@dataclass(frozen=True)
class Probed:
    """A recipe with its checks, or with the reason why there are none."""

    path: str
    loading: Check | None
    placement: Check | None
    refusal: str = ""

    @property
    def built(self) -> str:
        """How many parameters and buffers there are, and what was not built."""
        detail = "" if self.placement is None else self.placement.verdict.detail
        number, replaced = _BUILT.search(detail), _REPLACED.search(detail)
        names = [f"`{name.rpartition('.')[2]}`" for name in replaced[1].split(", ")] if replaced else []
        lacking = f", without {', '.join(names)}" if names else ""
        return f"{number[1] if number else 'no'} parameters and buffers{lacking}"

    @property
    def found(self) -> str:
        """What failed, or why a check was not run."""
        said = [
            _ASSUMED.split(check.verdict.detail)[0].split(" move to cuda:0, but ")[-1]
            for check in (self.loading, self.placement)
            if check is not None and check.status in ("failed", "not-run", "in-part")
        ]
        return "; ".join(said).replace("|", "\\|").replace("\n", " ")[:_LONGEST]


def recipes(checkout: Path) -> Iterator[Path]:
    """The files of a checkout that may be recipes."""
    for path in sorted(checkout.rglob("*")):
        if path.suffix in _FILES and not any(part.startswith(".") for part in path.relative_to(checkout).parts):
            yield path


def probed(path: Path, checkout: Path, python: Path, servers: ForkServers) -> Probed:
    """A recipe as it is probed."""
    settings = settings_for([path], None, isolated=True).with_options(python=python)
    name = path.relative_to(checkout).as_posix()
    try:
        result = probe(str(path), settings, Wishes(), servers)
    except UsageError as error:
        return Probed(name, None, None, str(error).rpartition(": ")[2])
    checks = {check.name: check for check in result.checks}
    return Probed(name, checks["loading"], checks["placement"])


def table(found: Sequence[Probed]) -> str:
    """What came of each recipe, as Markdown."""
    lines = ["| recipe | loading | placement | built | found |", "|---|---|---|---|---|"]
    for one in found:
        if one.loading is not None and one.placement is not None:
            statuses = f"{one.loading.status} | {one.placement.status}"
            lines.append(f"| {one.path} | {statuses} | {one.built} | {one.found} |")
    return "\n".join(lines)


def summary(found: Sequence[Probed]) -> str:
    """The figures of all recipes."""
    run = [one for one in found if one.loading is not None and one.placement is not None]
    parts = [f"{len(run)} recipes"]
    for name, checks in (("loading", [one.loading for one in run]), ("placement", [one.placement for one in run])):
        numbers = Counter(check.status for check in checks if check is not None)
        parts.append(f"{name}: {', '.join(f'{number} {word}' for word, number in numbers.most_common())}")
    others = Counter(one.refusal for one in found if one.refusal)
    parts += [f"{number} other files: {reason}" for reason, number in others.items()]
    return "; ".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--python", type=Path, default=Path(sys.executable))
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    checkout = arguments.checkout.resolve()
    found: list[Probed] = []
    with ForkServers() as servers:
        for path in recipes(checkout):
            if arguments.only in path.as_posix():
                found.append(probed(path, checkout, arguments.python, servers))
                print(
                    f"{found[-1].path}: {found[-1].found or found[-1].refusal or 'passed'}", file=sys.stderr, flush=True
                )
    report = f"{table(found)}\n\n{summary(found)}\n"
    if arguments.output is not None:
        arguments.output.write_text(report, encoding="utf-8")
    print(report if arguments.output is None else summary(found))


if __name__ == "__main__":
    main()
