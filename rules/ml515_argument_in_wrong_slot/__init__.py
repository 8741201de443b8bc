"""ML515: an argument that is named like one parameter and passed to another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import claims, edits
from modellint.finding import Applicability, Confidence, Edit, Finding, Fix, Place, Related, Severity, Span
from modellint.flow import queries
from modellint.rule import Rule, called_probe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import ModuleFacts
    from modellint.rule import Project

    from .misplaced import Misplaced


class ArgumentInWrongSlot(Rule):
    """An argument is in the slot of another parameter

    ## What it does
    Compares the names of arguments that a call passes by position with the parameters of the callee. Reports an
    argument that has the name of another parameter if one of these holds:

    - Both parameters are optional, and the one of that name keeps its default: `nn.Conv2d(3, 8, 3, padding)`.
    - The two parameters take different kinds of values, and the argument is of the other one's kind.
    - Two arguments are in each other's place, and torch treats the two differently: `F.cross_entropy(target, output)`,
      `torch.atan2(real, imag)`.

    The finding is an error if the callee cannot work with the value.

    ## Why is this bad
    The callee uses the value for something else: `nn.Conv2d(3, 8, 3, padding)` sets the stride, and
    `F.dropout(x, self.training)` drops every element. Often nothing fails, or only far from the call.

    ## How to fix
    Pass the argument by name. `--unsafe-fixes` does that for the last argument, and swaps two arguments that are in
    each other's place:

    ```python
    self.first = nn.Conv2d(3, 8, 3, padding=padding)
    ```

    ## What it cannot see
    Arguments that are no plain names, such as `2 * width`, arguments that are passed by name, and callees that it
    cannot tell for certain. It ignores two arguments of one kind in each other's place, because authors exchange roles
    on purpose:

    ```python
    self.decoder = nn.Linear(out_features, in_features)
    ```

    ## Confirming
    modellint imports the file, builds the object whose method the code calls, and lets Python bind the arguments to the
    callee's signature. If the callee cannot work with the value, modellint makes the call, and Python's error is the
    verdict.

    ## References
    - [Python: calls](https://docs.python.org/3/reference/expressions.html#calls)
    """

    code = "ML515"
    name = "argument-in-wrong-slot"
    severity = Severity.WARNING
    requires = ("calls",)
    probe = staticmethod(called_probe)

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        from .misplaced import misplaced

        for call in queries.flow(module, project).calls():
            found = misplaced(call) if call.value.positional else None
            if found is not None:
                yield self._finding(found)

    def _finding(self, found: Misplaced) -> Finding:
        call, own, taken = found.call, found.own, found.taken
        place = edits.argument_place(call.value, found.position, "", call.module) or call.place
        callee = None if call.target is None else call.target.function
        severity = Severity.ERROR if found.is_refused else None
        return self.finding(
            place,
            f"`{edits.text_at(place, call.module)}` is passed as `{taken}` of `{found.callee}`, not as `{own}`",
            symbol=f"{call.symbol}.{found.callee}.{own}",
            confidence=Confidence.HIGH if found.is_refused else Confidence.MEDIUM,
            severity=Severity.INFO if call.is_tried_out else severity,
            evidence=(f"argument {found.position + 1} of `{found.callee}` is `{taken}`", found.evidence),
            related=() if callee is None else (Related(callee.place, "defined here"),),
            help=f"pass it by name: `{own}=`"
            if found.other < 0
            else f"pass `{taken}` first"
            if found.other > found.position
            else f"pass it as argument {found.other + 1}",
            fix=_fix(found),
            claim=claims.Refused(call.place, "TypeError or RuntimeError or ValueError or AttributeError", "")
            if found.is_refused
            else claims.InSlot(call.place, found.position, edits.text_at(place, call.module), taken),
        )


def _fix(found: Misplaced) -> Fix | None:
    """The argument by name if it is the last one; two in each other's place are swapped."""
    call, value = found.call, found.call.value
    if found.is_swap:
        return edits.exchanged(value, (found.position, ""), (found.other, ""), call.module)
    place = edits.argument_place(value, found.position, "", call.module)
    if place is None or found.other >= 0 or found.position != len(value.positional) - 1:
        return None
    spot = Place(place.path, Span(place.span.line, place.span.column, place.span.line, place.span.column))
    return Fix("Pass it by name", Applicability.UNSAFE, (Edit(spot, f"{found.own}="),))
