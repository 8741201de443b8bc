"""ML304: a negative filler in ids that index a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import claims, edits
from modellint.finding import Applicability, Confidence, Edit, Finding, Fix, Related, Severity
from modellint.flow import queries
from modellint.rule import Rule, boundary_probe, function_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.finding import Place
    from modellint.graph.python import ModuleFacts
    from modellint.rule import Probe, Project


class NegativeSentinelPositions(Rule):
    """Ids that index a table are padded with a negative sentinel

    ## What it does
    Reports a fill value below -1, usually the label that a loss ignores (-100), in position ids or other ids that index
    an embedding, a cosine table or another tensor. A mask made from the ids (`mask = positions.ne(-100)`) does not
    prevent the report; one that replaces or selects elements does. The ids may be a list that is padded first
    (`torch.tensor(ids + [-100] * n)`), a batch of a `DataLoader` with a `collate_fn`, or one that the trainer of
    Lightning passes to `training_step`.

    Reports -1 only in the ids of `gather`, `index_select` and `F.embedding`, which accept no negative index: beam
    search pointers that start as -1 fail there. In `table[ids]`, -1 is the last row.

    If the ids go into a library class that modellint cannot read, it follows them into the project's patch of that
    library: a file copied over a file of the library, or a function assigned to a method.

    ## Why is this bad
    `table[ids]` counts a negative index from the end. In a table of 100 rows or more, -100 silently picks another row.
    With fewer rows, PyTorch raises `IndexError: index -100 is out of bounds for dimension 0 with size 50`, or a
    device-side assert on a GPU. If the batch sets the number of rows, training runs until the first batch whose
    longest sequence has fewer than 100 tokens. An embedding fails at once: `IndexError: index out of range in self`.

    ## How to fix
    Pad with 0, and let the attention mask hide the padding. Keep the sentinel for labels:

    ```python
    position_ids = pad_sequence(position_ids, batch_first=True, padding_value=0)
    labels = pad_sequence(labels, batch_first=True, padding_value=-100)
    ```

    If the code makes the mask from the sentinel, make it from the lengths instead. modellint offers no fix there.

    ## References
    - VILA: position ids padded with `IGNORE_INDEX = -100`; dialogues below 100 tokens crash
    - [torch.nn.utils.rnn.pad_sequence](https://pytorch.org/docs/stable/generated/torch.nn.utils.rnn.pad_sequence.html)
    """

    code = "ML304"
    name = "negative-sentinel-positions"
    severity = Severity.ERROR
    requires = (
        "callers",
        "constants_written",
        "escapes",
        "is_compared",
        "lookups",
        "modules_fed",
        "padded_positions",
        "possible_callers",
    )
    about = ("torch.Tensor",)

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        seen: set[object] = set()
        flow = queries.flow(module, project)
        lookups = [*flow.lookups()]
        others: dict[ModuleFacts, None] = {}
        for function in {f: None for f, filler in flow.constants_written() if _number(filler) is not None}:
            others |= dict.fromkeys(caller.module for caller in flow.callers(function))
            others |= dict.fromkeys(flow.modules_fed(function))
        padded = [one for one in flow.padded_positions() if _number(one.filler) is not None and flow.escapes(one)]
        for one in padded:
            others |= dict.fromkeys(caller.module for caller in flow.possible_callers(one.frame.function))
        for other in others:
            found = queries.flow(other, project).lookups() if other is not module else ()
            lookups += (one for one in found if _is_written_in(one.element, module))
        for lookup in sorted(lookups, key=lambda lookup: lookup.is_conditional):
            element = lookup.element
            number = _number(element, is_none=not lookup.is_made) if isinstance(element, queries.Filler) else None
            if isinstance(element, queries.Filler) and number is not None and element.key not in seen:
                seen.add(element.key)
                yield self._lookup_finding(lookup, element, number, flow.is_compared(element))
        for one in padded:
            number = _number(one.filler)
            if number is not None and one.filler.key not in seen:
                yield self._padding_finding(one, number, flow.is_compared(one.filler))

    def probe(self, claim: claims.NegativeFiller, project: Project) -> Probe | None:
        """Run the functions that pad and look up, with sequences about as long as the filler is negative."""
        function = function_at(claim, project)
        found = [] if function is None else queries.flow(function.module, project).callers(function)
        users = dict.fromkeys(caller.module.source.path.as_posix() for caller in found)
        places = [claim.place] if claim.lookup is None else [claim.lookup, claim.place]
        return boundary_probe(claim, places, users)

    def _lookup_finding(
        self, lookup: queries.Lookup, filler: queries.Filler, number: int, is_compared: bool
    ) -> Finding:
        place = lookup.steps[-1]
        index = place.module.text_of(place.value)
        related = [Related(place.place, "they are looked up here")]
        if lookup.is_made:
            related.append(Related(lookup.table.place, "in this table"))
        return self._finding(
            filler,
            f"`{index}` looks up ids that are filled with {number}",
            Confidence.LOW if lookup.is_conditional else Confidence.HIGH,
            (_consequence(number),),
            related,
            is_compared,
            place.place,
        )

    def _padding_finding(self, padded: queries.PaddedPositions, number: int, is_compared: bool) -> Finding:
        origin = padded.positions.origin
        evidence = ("the padded values count up from 0, as indices of a position table do", _consequence(number))
        message = f"positions are padded with {number}, which is not a position"
        related = [Related(origin.place, "the positions are made here")]
        return self._finding(padded.filler, message, Confidence.MEDIUM, evidence, related, is_compared)

    def _finding(
        self,
        filler: queries.Filler,
        message: str,
        confidence: Confidence,
        evidence: tuple[str, ...],
        related: list[Related],
        is_compared: bool,
        lookup: Place | None = None,
    ) -> Finding:
        value, function = filler.origin.value, filler.origin.function
        assert function is not None
        place, written_at = edits.constant_places(value, function, filler.size.number)
        edit = None if written_at is None or is_compared else Edit(written_at, "0")
        to_do = "fill with 0, and let the attention mask hide those elements"
        if is_compared:
            to_do += "; make the mask from the lengths, since a comparison with the filler would hide nothing"
        return self.finding(
            place,
            message,
            symbol=function.module.text_of(value),
            confidence=confidence,
            evidence=evidence,
            related=related,
            help=to_do,
            fix=None if edit is None else Fix("Fill with 0", Applicability.UNSAFE, (edit,)),
            claim=claims.NegativeFiller(place, lookup),
        )


def _is_written_in(element: object, module: ModuleFacts) -> bool:
    return isinstance(element, queries.Filler) and element.origin.module is module


def _number(filler: queries.Filler, *, is_none: bool = False) -> int | None:
    """The filler's number if it is below -1, which is the last row; with `is_none`, -1 is no row either. Else None."""
    number = filler.size.number
    return number if number is not None and number < (0 if is_none else -1) else None


def _consequence(number: int) -> str:
    if number == -1:
        return "embeddings, `gather` and `index_select` take no negative index: -1 is an error for any size"
    return (
        f"a table of fewer than {-number} rows has no row {number}; "
        "a longer one gives a row from its end, or an error from an embedding or `gather`"
    )
