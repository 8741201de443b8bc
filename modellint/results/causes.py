"""Findings that have one cause are shown as one, with the places of the others beside it.

Each of them is a finding of its own until then: comments silence it where it stands, a baseline holds it, and what is
checked of a change is what changed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from modellint.finding import Related

if TYPE_CHECKING:
    from collections.abc import Iterable

    from modellint.finding import Finding
    from modellint.source import Place

_SAME = "the same here"


def by_cause(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings with those of one cause joined, at the place of the first; one that can be fixed stays alone."""
    groups: dict[tuple[object, ...], list[Finding]] = {}
    for number, finding in enumerate(findings):
        cause = (finding.cause, finding.severity, finding.confidence, finding.verdict.status)
        is_alone = not finding.cause or finding.fix is not None
        groups.setdefault((finding.code, number) if is_alone else (finding.code, *cause), []).append(finding)
    return tuple(_join(*group) for group in groups.values())


def _join(first: Finding, *others: Finding) -> Finding:
    if not others:
        return first
    count = "one other place" if len(others) == 1 else f"{len(others)} other places"
    same = (Related(other.place, _SAME) for other in others)
    return replace(first, message=f"{first.message}, here and in {count}", related=(*first.related, *same))


def without_same(finding: Finding) -> tuple[list[Related], list[Place]]:
    """The related places of a finding, and those of other findings that it was joined with."""
    others = [related for related in finding.related if related.message != _SAME]
    return others, [related.place for related in finding.related if related.message == _SAME]
