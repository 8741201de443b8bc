"""ML508: a tuple that is unpacked into another number of names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.finding import Confidence, Finding, Related, Severity
from modellint.graph.value import Op, called_name
from modellint.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.claims.calls import Refused
    from modellint.graph.python import ModuleFacts
    from modellint.link.project import Project
    from modellint.probes import Probe

    from .returned import Unpacking


class UnpackMismatch(Rule):
    """A tuple is unpacked into another number of names than it has values

    ## What it does
    Compares tuple assignments with what they are given, where each way through the callee says how many values come
    back: functions, methods and layers (`features, attention = self.encoder(x)`) that one definition answers to, with
    the constants that the call passes (`return_attention=True`); recurrent layers, `topk`, `split` into given sizes,
    `zip` and `enumerate` in loops.

    In tests, demonstrations and under `if __name__ == "__main__"` it is an info.

    ## Why is this bad
    `ValueError: too many values to unpack` (or not enough) at the first call: a `return` was changed, and this caller
    was left behind.

    ## How to fix
    Name as many values as come back, `_` for those that are not needed.

    ## What it cannot see
    Callees with a `return` whose number of values is not known, generators, named tuples, and methods that a subclass
    overrides. A single tensor may be unpacked along its first dimension, whose size is seldom known.

    ```python
    mean, deviation = self.statistics(x)  # which a subclass overrides, and gives three values
    ```

    ## Confirming
    Calls the function around it with inputs that it takes: Python's own words are the verdict.

    ## References
    - [Python: assignment statements](https://docs.python.org/3/reference/simple_stmts.html#assignment-statements)
    """

    code = "ML508"
    name = "unpack-mismatch"
    severity = Severity.ERROR

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        from .returned import misfit_unpackings

        for unpacking in misfit_unpackings(module, project):
            yield self._finding(unpacking, project)

    def probe(self, claim: Refused, project: Project) -> Probe:
        """Reach the assignment: does Python refuse it?"""
        from modellint.probes import called_probe

        return called_probe(claim, project)

    def _finding(self, found: Unpacking, project: Project) -> Finding:
        from modellint.claims.calls import Refused
        from modellint.link.calls.doubts import is_tried_out

        module, event = found.function.module, found.event
        names = event.target
        assert names is not None
        counts = sorted({part.count for part in found.parts})
        shown = module.text_of(event.value.callee) if event.value.op is Op.CALL else ""
        what = f"`{shown}` gives" if shown and "\n" not in shown and len(shown) < 60 else "there are"
        number = " or ".join(map(str, counts))
        callee = None if found.reached is None else found.reached.function
        return self.finding(
            module.place(names),
            f"{what} {number} value{'s' if counts != [1] else ''}, which {len(names.args)} names cannot take",
            symbol=f"{found.function.qualname}.{called_name(event.value.callee) if shown else ''}".rstrip("."),
            confidence=Confidence.HIGH,
            severity=Severity.INFO if is_tried_out(project, found.function, event) else None,
            evidence=("unpacking raises `ValueError` whichever way is taken",),
            related=[
                Related(part.function.module.place(part.value), f"{part.count} values are returned here")
                for part in found.parts[:3]
                if found.reached is not None
            ],
            help=f"name {number} values, `_` for those that are not needed",
            cause="" if callee is None else f"{callee.module.path} {callee.qualname} {number} {len(names.args)}",
            claim=Refused(module.place(names), "ValueError", f"values to unpack (expected {len(names.args)}"),
        )
