"""ML508: a tuple that is unpacked into another number of names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import claims
from modellint.finding import Confidence, Finding, Related, Severity
from modellint.flow import queries
from modellint.graph.value import Op, called_name
from modellint.rule import Rule, called_probe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import ModuleFacts
    from modellint.rule import Project

    from .returned import Unpacking


class UnpackMismatch(Rule):
    """A tuple is unpacked into the wrong number of names

    ## What it does
    Compares the number of names in a tuple assignment with the number of values, if every path through the callee says
    how many it returns:

    - functions, methods and layers (`features, attention = self.encoder(x)`) with one definition, given the constants
      that the call passes (`return_attention=True`)
    - recurrent layers, `topk`, and `split` into given sizes
    - `zip` and `enumerate` in loops

    In tests, demonstrations and under `if __name__ == "__main__"`, the finding is an info.

    ## Why is this bad
    The first call raises `ValueError: too many values to unpack (expected 2)` or
    `ValueError: not enough values to unpack (expected 3, got 2)`. Usually somebody changed a `return`, but not this
    caller.

    ## How to fix
    Use as many names as there are values, with `_` for those that you do not need:

    ```python
    features, _ = self.encoder(x)
    ```

    ## What it cannot see
    Callees with a `return` of an unknown number of values, generators, named tuples, and methods that a subclass
    overrides. Code may unpack a single tensor along its first dimension, whose size is seldom known.

    ```python
    mean, deviation = self.statistics(x)  # which a subclass overrides, and gives three values
    ```

    ## Confirming
    modellint calls the function that contains the assignment, with inputs that it accepts. Python's error is the
    verdict.

    ## References
    - [Python: assignment statements](https://docs.python.org/3/reference/simple_stmts.html#assignment-statements)
    """

    code = "ML508"
    name = "unpack-mismatch"
    severity = Severity.ERROR
    probe = staticmethod(called_probe)

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        from .returned import misfit_unpackings

        for unpacking in misfit_unpackings(module, project):
            yield self._finding(unpacking, project)

    def _finding(self, found: Unpacking, project: Project) -> Finding:
        module, event = found.function.module, found.event
        names = event.target
        assert names is not None
        counts = sorted({count for _, count in found.parts})
        shown = module.text_of(event.value.callee) if event.value.op is Op.CALL else ""
        of = f" of `{shown}`" if shown and "\n" not in shown and len(shown) < 60 else ""
        number = " or ".join(map(str, counts))
        values = "values" if counts != [1] else "value"
        callee = None if found.reached is None else found.reached.function
        return self.finding(
            module.place(names),
            f"cannot unpack {number} {values}{of} into {len(names.args)} names",
            symbol=f"{found.function.qualname}.{called_name(event.value.callee) if shown else ''}".rstrip("."),
            confidence=Confidence.HIGH,
            severity=Severity.INFO if queries.Call(event, found.function, project).is_tried_out else None,
            evidence=("unpacking raises `ValueError` on every path",),
            related=[
                Related(part.place, f"{count} values are returned here")
                for part, count in found.parts[:3]
                if found.reached is not None
            ],
            help=f"unpack into {number} names, with `_` for values that you do not need",
            cause="" if callee is None else f"{callee.module.path} {callee.qualname} {number} {len(names.args)}",
            claim=claims.Refused(module.place(names), "ValueError", f"values to unpack (expected {len(names.args)}"),
        )
