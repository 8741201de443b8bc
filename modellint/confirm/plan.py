"""Groups of probes that can run together: those of one target share a process, so that a recipe is built once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.graph.immutable import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable

    from modellint.probes import Probe, Target


@dataclass(frozen=True)
class Group:
    """Probes of one target, by the number of the finding that each belongs to."""

    target: Target
    probes: tuple[tuple[int, Probe], ...]


def group_by_target(probes: Iterable[tuple[int, Probe]]) -> list[Group]:
    """Group probes that can share a process, in the order of their first finding."""
    groups: dict[Target, list[tuple[int, Probe]]] = {}
    for number, probe in probes:
        groups.setdefault(probe.target, []).append((number, probe))
    return [Group(target, tuple(found)) for target, found in groups.items()]
