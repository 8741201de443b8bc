"""ML301: a length for a position table that is computed with a hard-coded offset."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import claims, edits
from modellint.finding import Applicability, Confidence, Edit, Finding, Fix, Related, Severity
from modellint.flow import queries
from modellint.rule import Rule, boundary_probe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import ModuleFacts
    from modellint.rule import Probe, Project

    from .offsets import LengthUse

_COVERING = "size the table by the largest position plus 1"


class HardCodedRotaryOffset(Rule):
    """A rotary table's length has a hard-coded offset

    ## What it does
    Follows the length that sizes or slices a rotary (or other sinusoidal) position table back to the expression that
    computes it. Reports

    - a whole number of 2 or more, added to or subtracted from a run-time length: `q.shape[1] + 10`
    - a `+ 1` outside of a `max` of a length and a position: `max(length, position_ids.max()) + 1`
    - the last position taken for the largest: `position_ids[:, -1] + 1`

    ## Why is this bad
    The table needs a row for the largest position: `position_ids.max() + 1` rows. A fixed offset holds until positions
    run further ahead of the length, as they do for images, packed sequences and continued generation. Then the lookup
    raises `IndexError: index 12 is out of bounds for dimension 0 with size 10`, or a device-side assert on a GPU.

    ## How to fix
    Size the table by the positions that index it:

    ```python
    cos, sin = self.rotary(v, seq_len=position_ids.max() + 1)  # or max(length, position_ids.max() + 1)
    ```

    ## References
    - Qwen2-VL: `rotary_seq_len = cache_position[-1] + 10`
    - [RoFormer: Enhanced Transformer with Rotary Position Embedding](https://arxiv.org/abs/2104.09864)
    """

    code = "ML301"
    name = "hard-coded-rotary-offset"
    severity = Severity.ERROR
    requires = ("position_tables",)

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        from .offsets import uses

        for found in uses(queries.flow(module, project).position_tables()).values():
            finding = self._finding(found, module, project)
            if finding is not None:
                yield finding

    def probe(self, claim: claims.LengthNotPositions, project: Project) -> Probe | None:
        """Run the function that asks for the table, with positions that run ahead of the length, and packed ones."""
        return boundary_probe(claim, [*([claim.asking] if claim.asking else []), claim.place])

    def _finding(self, found: list[LengthUse], module: ModuleFacts, project: Project) -> Finding | None:
        from .offsets import base_of, is_meant, is_run_time, mixed_extreme, offset_of, takes_last

        first = found[0]
        offset = offset_of(first.part)
        at = _place_of_length(first, module, project)
        if offset is None or at is None:
            return None
        if abs(offset) >= 2 and is_run_time(base_of(first.part)[0]):
            return None if any(is_meant(use, offset) for use in found) else self._offset_finding(first, at, offset)
        extreme = mixed_extreme(first.part) if offset == 1 else None
        if extreme is not None:
            return self._outside(first, at, extreme)
        last = next(filter(takes_last, found), None) if offset == 1 else None
        return None if last is None else self._last(last, at)

    def _offset_finding(self, use: LengthUse, at: queries.Site, offset: int) -> Finding:
        from .offsets import base_of

        text, base = _text(use.part.origin), use.part.origin.module.text_of(base_of(use.part)[1])
        rows = f"{abs(offset)} rows {'more' if offset > 0 else 'fewer'}"
        return self.finding(
            at.place,
            f"`{text}` sizes a position table with a hard-coded offset of {offset}",
            symbol=at.value.target or text,
            confidence=Confidence.HIGH if use.picks or not use.table.calls else Confidence.MEDIUM,
            evidence=(f"{rows} than `{base}` are enough for some inputs only", *map(_picked_by, use.picks[:1])),
            related=_related(use),
            help=_help(use.picks),
            fix=_fix(use, at),
            claim=_claim(use, at, is_offset=True),
        )

    def _outside(self, use: LengthUse, at: queries.Site, extreme: queries.Term) -> Finding:
        from .offsets import measured

        operand = next(n for n, atoms in enumerate(extreme.operands) if measured(atoms) is queries.LengthKind.LARGEST)
        written = extreme.origin.value.positional
        inside = extreme.origin.module.text_of(written[operand]) if operand < len(written) else "the position"
        return self.finding(
            at.place,
            f"`+ 1` is outside of `max`: add it to `{inside}` alone, the other operand is already a length",
            symbol=at.value.target or _text(use.part.origin),
            confidence=Confidence.MEDIUM,
            severity=Severity.WARNING,
            evidence=("a table needs `position + 1` rows for a position, and `length` rows for a length",),
            related=_related(use),
            help=f"write `max(…, {inside} + 1)`",
            fix=edits.one_inside(at.value, operand, at.module),
            claim=_claim(use, at, is_offset=False),
        )

    def _last(self, use: LengthUse, at: queries.Site) -> Finding:
        from .offsets import competes

        text = _text(use.part.origin)
        reason = "packed or right-padded positions do not end with their maximum"
        if competes(use):
            reason += "; this matters if they exceed the number of tokens"
        return self.finding(
            at.place,
            f"`{text}` takes the last position for the largest",
            symbol=at.value.target or text,
            confidence=Confidence.MEDIUM,
            severity=Severity.INFO if competes(use) else Severity.WARNING,
            evidence=(reason,),
            related=_related(use),
            help="take the maximum over all positions",
            fix=edits.maximum_of_all(at.value, at.module),
            claim=_claim(use, at, is_offset=False),
        )


def _text(site: queries.Site) -> str:
    return site.module.text_of(site.value)


def _place_of_length(use: LengthUse, module: ModuleFacts, project: Project) -> queries.Site | None:
    """The place in a file where the length is computed, or the call of another file's function that computes it."""
    from .offsets import uses

    home = use.part.origin.module
    if home is module:
        return use.part.origin
    if use.part.origin.value in uses(queries.flow(home, project).position_tables()):
        return None  # that file's own function knows the table
    passed = [one.length for one in use.table.passed.values() if one.length is not None]
    return next((site for site in (*passed, *reversed(use.table.calls)) if site.module is module), None)


def _claim(use: LengthUse, at: queries.Site, *, is_offset: bool) -> claims.LengthNotPositions | None:
    """The claim for a run; None for a table of an object of which nothing is known."""
    if use.table.use in use.table.passed:
        return None
    call = next(iter(use.table.calls), None)
    lookup = use.picks[0].use.place if use.picks else None
    return claims.LengthNotPositions(at.place, lookup, None if call is None else call.place, is_offset)


def _picked_by(picked: queries.PickedRows) -> str:
    return f"`{picked.name}` indexes the table, and its maximum may exceed this length"


def _related(use: LengthUse) -> Iterator[Related]:
    call = use.table.call(use.picks[0] if use.picks else None)
    if call is not None:
        yield Related(call.place, "the length is passed on here")
    for picked in use.picks[:1]:
        yield Related(picked.use.place, "the table is indexed here")


def _help(picks: list[queries.PickedRows]) -> str:
    names = [picked.parameter for picked in picks if picked.parameter is not None]
    return f"size the table by its positions: `{names[0]}.max() + 1`" if names else _COVERING


def _fix(use: LengthUse, at: queries.Site) -> Fix | None:
    if edits.written(at.value, at.module) is None:
        # `length += 10` is a statement.
        return None
    for picked in use.picks:
        if picked.parameter is not None and use.asked.function is at.function:
            text = f"{picked.parameter}.max() + 1"
            return Fix(f"Size the table by `{text}`", Applicability.UNSAFE, (Edit(at.place, text),))
    return None
