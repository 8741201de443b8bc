"""Verdicts of probes: the linter's own class, and the statuses that a run can give."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .beside import VERDICTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from modellint.results.verdicts import Extent as Extent
    from modellint.results.verdicts import Status as Status
    from modellint.results.verdicts import Verdict as Verdict
else:
    Extent, Status, Verdict = VERDICTS.Extent, VERDICTS.Status, VERDICTS.Verdict

CONFIRMED, REFUTED, UNCONFIRMED = Status.CONFIRMED, Status.REFUTED, Status.UNCONFIRMED
WHOLE, PART, NOTHING, NEVER = Extent.WHOLE, Extent.PART, Extent.NOTHING, Extent.NEVER


def confirmed(detail: str, device: str = "cpu") -> Verdict:
    """A verdict: the claim holds, as was observed."""
    return Verdict(CONFIRMED, device, detail)


def refuted(detail: str, device: str = "cpu") -> Verdict:
    """A verdict: the claim does not hold, as was observed."""
    return Verdict(REFUTED, device, detail)


def unconfirmed(detail: str) -> Verdict:
    """A verdict: nothing was observed, and why."""
    return Verdict(UNCONFIRMED, None, detail)


def quoted(names: Sequence[str], most: int = 4) -> str:
    """Names as a detail shows them: of many the first."""
    return ", ".join(f"`{name}`" for name in names[:most]) + (" …" if len(names) > most else "")
