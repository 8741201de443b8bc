"""ML304: a negative filler in ids that index a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.edits.python import constant_places
from modellint.finding import Applicability, Confidence, Edit, Finding, Fix, Related, Severity
from modellint.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.claims.positions import NegativeFiller
    from modellint.flow.domain import Filler
    from modellint.flow.lookup_records import Lookup, PaddedPositions
    from modellint.graph.python import ModuleFacts
    from modellint.link.project import Project
    from modellint.probes import Probe
    from modellint.source import Place


class NegativeSentinelPositions(Rule):
    """Ids that index a table are padded with a negative sentinel

    ## What it does
    Finds a filler below -1, most often the label index that a loss ignores (-100), padded or filled into position ids
    or other ids that index an embedding, a cosine table or another tensor. A mask that is only made of them
    (`mask = positions.ne(-100)`) changes nothing about that; one that replaces or picks elements does.

    -1 is found where `gather`, `index_select` or `F.embedding` get it: they count from 0 only, so that pointers of a
    beam search which start as -1 fail. Where elements are indexed, -1 is the last one.

    What is handed to a class of a library that cannot be read is followed into what the project puts in the place of
    the library's code: a file that is copied over one of the library's, a function that replaces a method.

    ## Why is this bad
    A negative index counts from the end. With a table of 100 rows or more, -100 silently picks some other row; with
    fewer rows the lookup fails: `index -100 is out of bounds`, or a device-side assert on a GPU. Training runs until
    the first batch whose longest sequence is shorter than the sentinel is negative.

    ## How to fix
    Pad with 0 and let the attention mask hide the padding. Keep the sentinel for labels. Where the mask is made of the
    sentinel, make it of the lengths instead: no fix is offered there.

    ## References
    - VILA: position ids padded with `IGNORE_INDEX = -100`; dialogues below 100 tokens crash
    - [torch.nn.utils.rnn.pad_sequence](https://pytorch.org/docs/stable/generated/torch.nn.utils.rnn.pad_sequence.html)
    """

    code = "ML304"
    name = "negative-sentinel-positions"
    severity = Severity.ERROR

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        from modellint.flow.domain import Filler
        from modellint.link.values.indexed import Indexed

        seen: set[object] = set()
        indexed = project.of(Indexed)
        lookups = [*indexed.lookups(module)]
        for function in {f: None for f, filler in indexed.written(module) if _number(filler) is not None}:
            lookups += indexed.lookups_beside(function)
        padded = [one for one in indexed.padded(module) if _number(one.filler) is not None]
        padded = [one for one in padded if indexed.goes_on(one, module)]
        for one in padded:
            lookups += indexed.lookups_of_users(one)
        for lookup in sorted(lookups, key=lambda lookup: lookup.is_conditional):
            element = lookup.element
            number = _number(element, is_none=not lookup.is_made) if isinstance(element, Filler) else None
            if isinstance(element, Filler) and number is not None and element.key not in seen:
                seen.add(element.key)
                yield self._lookup_finding(lookup, element, number, indexed.is_compared(element, module))
        for one in padded:
            number = _number(one.filler)
            if number is not None and one.filler.key not in seen:
                yield self._padding_finding(one, number, indexed.is_compared(one.filler, module))

    def probe(self, claim: NegativeFiller, project: Project) -> Probe | None:
        """Run the functions that pad and look up, with sequences about as long as the filler is negative."""
        from modellint.link.values.callers import callers
        from modellint.probes import boundary_probe, function_at

        function = function_at(claim, project)
        found = [] if function is None else callers(project, function)
        users = dict.fromkeys(caller.module.source.path.as_posix() for caller in found)
        places = [claim.place] if claim.lookup is None else [claim.lookup, claim.place]
        return boundary_probe(claim, places, users)

    def _lookup_finding(self, lookup: Lookup, filler: Filler, number: int, is_compared: bool) -> Finding:
        place = lookup.steps[-1]
        index = place.module.text_of(place.value)
        related = [Related(place.place, "they are looked up here")]
        if lookup.is_made:
            related.append(Related(lookup.table.place, "in this table"))
        return self._finding(
            filler,
            f"ids are filled with {number}, and `{index}` looks them up",
            Confidence.LOW if lookup.is_conditional else Confidence.HIGH,
            (_consequence(number),),
            related,
            is_compared,
            place.place,
        )

    def _padding_finding(self, padded: PaddedPositions, number: int, is_compared: bool) -> Finding:
        origin = padded.positions.origin
        evidence = ("what is padded counts up from 0: it indexes a position table", _consequence(number))
        message = f"positions are padded with {number}, which is no position"
        related = [Related(origin.place, "the positions are made here")]
        return self._finding(padded.filler, message, Confidence.MEDIUM, evidence, related, is_compared)

    def _finding(
        self,
        filler: Filler,
        message: str,
        confidence: Confidence,
        evidence: tuple[str, ...],
        related: list[Related],
        is_compared: bool,
        lookup: Place | None = None,
    ) -> Finding:
        from modellint.claims.positions import NegativeFiller

        value, function = filler.origin.value, filler.origin.function
        assert function is not None
        place, written_at = constant_places(value, function, filler.size.number)
        edit = None if written_at is None or is_compared else Edit(written_at, "0")
        to_do = "fill with 0 and let the attention mask hide those elements"
        if is_compared:
            to_do += ", made of the lengths: one that compares with the filler would hide nothing"
        return self.finding(
            place,
            message,
            symbol=function.module.text_of(value),
            confidence=confidence,
            evidence=evidence,
            related=related,
            help=to_do,
            fix=None if edit is None else Fix("Fill with 0", Applicability.UNSAFE, (edit,)),
            claim=NegativeFiller(place, lookup),
        )


def _number(filler: Filler, *, is_none: bool = False) -> int | None:
    """The filler's number if it is below -1, which is the last row; with `is_none`, -1 is no row either. Else None."""
    number = filler.size.number
    return number if number is not None and number < (0 if is_none else -1) else None


def _consequence(number: int) -> str:
    if number == -1:
        return "what picks elements by a call counts from 0: -1 is an error, whatever the size"
    return f"a table of fewer than {-number} rows has no row {number}; a longer one gives a row from its end"
