"""ML302: a rotary table that is sized by the current input and indexed by positions from outside."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import claims
from modellint.finding import Confidence, Finding, Related, Severity
from modellint.flow import queries
from modellint.graph.value import Op
from modellint.rule import Rule, boundary_probe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import ModuleFacts
    from modellint.graph.value import Value
    from modellint.rule import Probe, Project


class RotaryLengthNotCovering(Rule):
    """A rotary table is sized by the input, but the caller passes positions

    ## What it does
    Reports a rotary table with one row for each token of the current input (`rotary(seq_len=n)`), if the same function
    indexes the table with position ids from its caller and continues a key-value cache. The same goes for such a table
    that is combined as a whole with keys to which earlier ones were joined.

    Also reports, as an info, a table with one row for each key, including the cached ones, if nothing compares the
    position ids with that number. Ordinary, padded and packed ids fit such a table. Ids that a caller sets beyond the
    end of the cache do not. Two more are infos:

    - a table with one row for each token of the current input, if the ids are among keywords (`**kwargs`) that the
      function passes on to code that may continue earlier calls
    - a table with at most `min(limit, n)` rows for an input of `n` tokens that nothing cuts

    ## Why is this bad
    In a decoding step, the input has one token, and its position is the length of the cache. The table has one row, so
    `cos[position_ids]` raises an error such as `IndexError: index 12 is out of bounds for dimension 0 with size 1`.

    ## How to fix
    Compute the length from the positions, or from the keys after you append them to the cache:

    ```python
    cos, sin = self.rotary(v, seq_len=position_ids.max() + 1)
    ```

    ## References
    - [RoFormer: Enhanced Transformer with Rotary Position Embedding](https://arxiv.org/abs/2104.09864)
    """

    code = "ML302"
    name = "rotary-length-not-covering"
    severity = Severity.WARNING
    requires = ("position_tables",)
    about = ("torch.Tensor",)

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        from .counted import counts_keys, cut_to_limit, is_current_length, is_in_passed_keywords, is_short_of_keys

        reported: set[Value | queries.Term] = set()
        for asked in queries.flow(module, project).position_tables():
            for picked in asked.picked.values():
                is_current = asked.is_kept and all(is_current_length(length, asked) for length in picked.lengths)
                is_passed = is_in_passed_keywords(picked, asked)
                if not _is_given(picked, asked) or not (is_current or is_passed or counts_keys(picked)):
                    continue
                for table in asked.sized.values():
                    place = table.call(picked) or table.use
                    told = table.passed[place].given if place in table.passed else frozenset()
                    is_told = picked.parameter in told or not asked.exceeding(table).isdisjoint(table.length.parts())
                    if table.length in picked.lengths and not is_told and place.module is module:
                        key = place.value if table.calls else table.length
                        if key not in reported:
                            yield self._report(place, table, picked, asked, is_current=is_current, is_passed=is_passed)
                        reported.add(key)
            for table in asked.sized.values():
                place = table.call() or table.use
                if place.module is module and table.length not in reported and cut_to_limit(table, asked):
                    reported.add(table.length)
                    yield self._cut_finding(place, table)
            for table in asked.sized.values():
                place = table.call() or table.use
                if place.module is module and table.length not in reported and is_short_of_keys(table, asked):
                    reported.add(table.length)
                    yield self._short_finding(place, table)

    def probe(
        self, claim: claims.StepBeyond | claims.LengthNotPositions | claims.TableShort, project: Project
    ) -> Probe | None:
        """Run some tokens at once, then one more with their cache, positions beyond the keys, or a longer input."""
        return boundary_probe(claim, [claim.place])

    def _cut_finding(self, place: queries.Site, table: queries.SizedTable) -> Finding:
        """A finding about a table that a limit makes shorter than the input, which goes on whole."""
        length = table.length
        written = length.origin.module.text_of(length.origin.value)
        return self.finding(
            place.place,
            f"the table has `{written}` rows, fewer than a longer input has tokens",
            symbol=place.module.text_of(place.value.callee if place.value.op is Op.CALL else place.value),
            severity=Severity.INFO,
            confidence=Confidence.MEDIUM,
            evidence=("the limit cuts the table, but nothing cuts the input to it or compares its length",),
            related=(Related(length.origin.place, "the length is limited here"),),
            help="size the table by the input, or cut the input to the same length",
            claim=claims.TableShort(place.place, is_kept=False),
        )

    def _short_finding(self, place: queries.Site, table: queries.SizedTable) -> Finding:
        """A finding about a table for the current input that is combined with keys, the earlier ones among them."""
        return self.finding(
            place.place,
            f"the table has `{table.length.text}` rows, but it is combined with more keys",
            symbol=place.module.text_of(place.value.callee if place.value.op is Op.CALL else place.value),
            confidence=Confidence.MEDIUM,
            evidence=(
                f"`{table.length.text}` is the length of the current input",
                "the keys begin with those of earlier calls",
            ),
            related=(Related(table.length.origin.place, "the length is measured here"),),
            help="size the table by all keys, or rotate the new keys before they are joined to the earlier ones",
            claim=claims.TableShort(place.place, is_kept=True),
        )

    def _report(
        self,
        place: queries.Site,
        table: queries.SizedTable,
        picked: queries.PickedRows,
        asked: queries.FunctionTables,
        *,
        is_current: bool,
        is_passed: bool,
    ) -> Finding:
        passed = table.passed.get(place)
        said = None if passed is None else passed.length
        length = table.length.text if said is None else said.module.text_of(said.value)
        ids = _keyword(picked) if is_passed else picked.parameter
        return self.finding(
            place.place,
            f"the table has `{length}` rows, which may be too few for the positions `{ids}`",
            symbol=place.module.text_of(place.value.callee if place.value.op is Op.CALL else place.value),
            severity=None if is_current else Severity.INFO,
            confidence=Confidence.MEDIUM,
            evidence=_evidence(length, ids, is_current=is_current or is_passed),
            related=(Related(picked.use.place, "the table is indexed here"),),
            help=f"size the table by `{ids}.max() + 1`",
            claim=_claim(place, said or table.length.origin, picked, asked, is_current=is_current or is_passed),
        )


def _claim(
    place: queries.Site,
    length: queries.Site,
    picked: queries.PickedRows,
    asked: queries.FunctionTables,
    *,
    is_current: bool,
) -> claims.StepBeyond | claims.LengthNotPositions:
    if is_current:
        return claims.StepBeyond(place.place, picked.use.place, tuple(asked.kept))
    return claims.LengthNotPositions(length.place, picked.use.place, place.place, is_offset=True)


def _evidence(length: str, ids: str | None, *, is_current: bool) -> tuple[str, str]:
    if is_current:
        return (
            f"`{length}` is the length of the current input",
            f"the caller passes `{ids}`, which may continue a cached sequence",
        )
    return (
        f"`{length}` is the number of keys, including the cached ones",
        f"the caller passes `{ids}`, and nothing compares them with the number of keys",
    )


def _keyword(picked: queries.PickedRows) -> str | None:
    """The keyword that ids are among others passed by: `position_ids` of `options["position_ids"]`."""
    return next((atom.name.rpartition(".")[2] for atom in picked.ids if isinstance(atom, queries.SymbolicInput)), None)


def _is_given(picked: queries.PickedRows, asked: queries.FunctionTables) -> bool:
    """True if ids are a parameter, and nothing compares them."""
    return picked.parameter is not None and picked.parameter not in asked.compared
