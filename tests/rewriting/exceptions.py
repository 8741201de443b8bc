"""The exceptions: which examples are not judged as they should be in which rewriting, and why not.

`exceptions.json` has for each rewriting a reason, and with it the numbers of the examples of each rule. A reason begins
with what happens (see `trials.outcome`); who knows more writes it behind a colon. The list may only become shorter:
`python tests/rewriting update` writes it anew and keeps the reasons.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from rewriting.trials import OF_GOOD_ONES

if TYPE_CHECKING:
    from collections.abc import Mapping

PATH = Path(__file__).with_name("exceptions.json")


def load() -> dict[str, dict[str, str]]:
    """The reason for each example (`ML101 bad 0`), by rewriting."""
    written: dict[str, dict[str, str]] = json.loads(PATH.read_text())
    return {name: _reasons(by_reason) for name, by_reason in written.items()}


def _reasons(by_reason: Mapping[str, str]) -> dict[str, str]:
    reasons = {}
    for reason, examples in by_reason.items():
        kind = "good" if outcome_of(reason) in OF_GOOD_ONES else "bad"
        for group in examples.split(", "):
            rule, *numbers = group.split()
            reasons.update({f"{rule} {kind} {number}": reason for number in numbers})
    return reasons


def save(exceptions: Mapping[str, Mapping[str, str]]) -> None:
    """Write the reasons down, sorted."""
    written = {name: _written(reasons) for name, reasons in sorted(exceptions.items()) if reasons}
    PATH.write_text(json.dumps(written, indent=1) + "\n")


def _written(reasons: Mapping[str, str]) -> dict[str, str]:
    groups: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for case, reason in reasons.items():
        rule, _, number = case.split()
        groups[reason][rule].append(int(number))
    return {
        reason: ", ".join(f"{rule} {' '.join(map(str, sorted(rules[rule])))}" for rule in sorted(rules))
        for reason, rules in sorted(groups.items())
    }


def outcome_of(reason: str) -> str:
    """What happens, without why."""
    return re.split(":", reason, maxsplit=1)[0]


def updated(known: Mapping[str, str], tried: Mapping[str, str]) -> dict[str, str]:
    """The reasons after a trial: those that still hold, and for what is new only what happens."""
    return {
        case: known[case] if outcome_of(known.get(case, "")) == outcome else outcome
        for case, outcome in tried.items()
        if outcome
    }


def differences(known: Mapping[str, str], tried: Mapping[str, str]) -> list[str]:
    """What a trial says against the exceptions: what is new, and what has been mended or does not apply any more."""
    lines = []
    for case, outcome in tried.items():
        expected = outcome_of(known.get(case, ""))
        if outcome == expected:
            continue
        if not outcome:
            lines.append(f"{case}: mended; remove the exception `{known[case]}`")
        else:
            lines.append(f"{case}: {outcome}" + (f", where the exceptions say `{known[case]}`" if expected else ""))
    return lines


def forgotten(known: Mapping[str, str], cases: set[str], tried: Mapping[str, str]) -> list[str]:
    """Exceptions for examples that the rewriting does not apply to, or that are no more."""
    return [f"{case}: not rewritten; remove the exception" for case in known if case in cases and case not in tried]
