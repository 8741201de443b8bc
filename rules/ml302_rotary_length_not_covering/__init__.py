"""ML302: a rotary table that is sized by the current input and indexed by positions from outside."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.finding import Confidence, Finding, Related, Severity
from modellint.graph.value import Op
from modellint.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.claims.positions import LengthNotPositions, StepBeyond
    from modellint.flow.domain import Site
    from modellint.flow.length_terms import FunctionTables, PickedRows, SizedTable, Term
    from modellint.graph.python import ModuleFacts
    from modellint.graph.value import Value
    from modellint.link.project import Project
    from modellint.probes import Probe


class RotaryLengthNotCovering(Rule):
    """A rotary table is sized by the current input, but positions come from outside

    ## What it does
    Finds calls `rotary(seq_len=n)` whose table is then indexed by position ids that the caller passes in, where `n` is
    the length of the current input alone although the same function continues a cached sequence. Where `n` is the
    number of keys, the cached ones among them, and nothing compares the ids, it says so as *info*: that holds for
    ordinary, padded and packed ids, but not for those that a caller sets beyond the cache.

    ## Why is this bad
    When a sequence is continued, the input is one token long while its position is as large as the cache: the table
    has one row, and `cos[position_ids]` is out of bounds.

    ## How to fix
    Size the table by `position_ids.max() + 1`, or by the length of the keys once the cache is added.

    ## References
    - [RoFormer: Enhanced Transformer with Rotary Position Embedding](https://arxiv.org/abs/2104.09864)
    """

    code = "ML302"
    name = "rotary-length-not-covering"
    severity = Severity.WARNING

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        from modellint.link.values.position_lengths import PositionLengths

        from .counted import counts_keys, is_current_length

        reported: set[Value | Term] = set()
        for asked in project.of(PositionLengths).asked(module):
            for picked in asked.picked.values():
                is_current = asked.is_kept and all(is_current_length(length, asked) for length in picked.lengths)
                if not _is_given(picked, asked) or not (is_current or counts_keys(picked)):
                    continue
                for table in asked.sized.values():
                    place = table.call(picked) or table.use
                    told = table.passed[place].given if place in table.passed else frozenset()
                    is_told = picked.parameter in told or not asked.exceeding(table).isdisjoint(table.length.parts())
                    if table.length in picked.lengths and not is_told and place.module is module:
                        key = place.value if table.calls else table.length
                        if key not in reported:
                            yield self._report(place, table, picked, asked, is_current=is_current)
                        reported.add(key)

    def probe(self, claim: StepBeyond | LengthNotPositions, project: Project) -> Probe | None:
        """Run some tokens at once, then one more with their cache, or positions beyond the number of keys."""
        from modellint.probes import boundary_probe

        return boundary_probe(claim, [claim.place])

    def _report(
        self, place: Site, table: SizedTable, picked: PickedRows, asked: FunctionTables, *, is_current: bool
    ) -> Finding:
        passed = table.passed.get(place)
        said = None if passed is None else passed.length
        length, ids = table.length.text if said is None else said.module.text_of(said.value), picked.parameter
        return self.finding(
            place.place,
            f"the table has `{length}` rows, which need not cover the positions `{ids}`",
            symbol=place.module.text_of(place.value.callee if place.value.op is Op.CALL else place.value),
            severity=None if is_current else Severity.INFO,
            confidence=Confidence.MEDIUM,
            evidence=_evidence(length, ids, is_current=is_current),
            related=(Related(picked.use.place, "the table is indexed here"),),
            help=f"size the table by `{ids}.max() + 1`",
            claim=_claim(place, said or table.length.origin, picked, asked, is_current=is_current),
        )


def _claim(
    place: Site, length: Site, picked: PickedRows, asked: FunctionTables, *, is_current: bool
) -> StepBeyond | LengthNotPositions:
    from modellint.claims.positions import LengthNotPositions, StepBeyond

    if is_current:
        return StepBeyond(place.place, picked.use.place, tuple(asked.kept))
    return LengthNotPositions(length.place, picked.use.place, place.place, is_offset=True)


def _evidence(length: str, ids: str | None, *, is_current: bool) -> tuple[str, str]:
    if is_current:
        return (
            f"`{length}` is the length of the current input",
            f"`{ids}` is passed in, and the sequence may continue a cached one",
        )
    return (
        f"`{length}` is the number of keys, the cached ones among them",
        f"`{ids}` is passed in, and nothing compares it: a caller may set larger ones",
    )


def _is_given(picked: PickedRows, asked: FunctionTables) -> bool:
    """True if ids are a parameter, and nothing compares them."""
    return picked.parameter is not None and picked.parameter not in asked.compared
