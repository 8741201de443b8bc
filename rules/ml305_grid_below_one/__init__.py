"""ML305: a side of an image that is rounded down to no patch at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import claims, edits
from modellint.finding import Applicability, Confidence, Edit, Finding, Fix, Related, Severity
from modellint.graph.value import Op
from modellint.rule import Rule, boundary_probe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.flow import queries
    from modellint.graph.python import ModuleFacts
    from modellint.graph.value import Value
    from modellint.rule import Probe, Project

    from .following import SideUse


class GridBelowOne(Rule):
    """An image side below one patch is rounded down to 0

    ## What it does
    Looks at the height and width to which code resizes an image, and at the numbers of patches into which it cuts one.
    Follows them back to the image. Reports a side that code rounds down to a multiple of the patch
    (`side // patch * patch`, `floor(side / patch) * patch`), if there is no `max`, comparison or rounding up on the
    way.

    ## Why is this bad
    A side that is shorter than the patch becomes 0, and the grid of patches has no rows or no columns. `resize` or
    `reshape` raises an error (`RuntimeError: Input and output sizes should be greater than 0`), or the image gives no
    tokens where the prompt expects some. A limit on the area scales a large image down first, so the short side of a
    long, narrow image can become 0, too.

    ## How to fix
    If you resize the image, keep at least one patch:

    ```python
    height = max(patch, height // patch * patch)
    ```

    If you only cut the image into patches, enlarge or reject an image that is too small.

    ## References
    - Qwen2-VL: images with a side under 56 pixels, and the `max(factor, …)` that `smart_resize` now has
    """

    code = "ML305"
    name = "grid-below-one"
    severity = Severity.WARNING

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        from .grids import Grids

        for use in project.of(Grids).rounded_sides(module):
            yield self._report(use)

    def probe(self, claim: claims.GridEmpty, project: Project) -> Probe | None:
        """Run the function that uses the size, else the one that computes it, with images that become smaller."""
        return boundary_probe(claim, [claim.used, claim.measured, claim.place])

    def _report(self, use: SideUse) -> Finding:

        side, quotient, rounding = use.side, use.side.quotient, use.side.rounding
        assert quotient is not None
        assert rounding is not None
        module, place = rounding.module, rounding.place
        text = module.text_of(rounding.value)
        numerator, divisor = (quotient.module.text_of(part) for part in _operands(quotient))
        image = side.origin.module.text_of(side.origin.value)
        measured, used = side.origin.place, use.site.place
        return self.finding(
            place,
            f"`{text}` is 0 if `{numerator}` is below `{divisor}`: the grid of patches is empty",
            symbol=text,
            confidence=Confidence.MEDIUM,
            evidence=(
                f"the side comes from `{image}`, and the image may have any size",
                "no `max`, no comparison and no rounding up keeps it at one patch or more",
            ),
            related=(
                Related(measured, "the side is measured here"),
                Related(used, "the size is used here"),
            ),
            help=f"keep one patch: `max(1, {text})`" if use.is_resized_to else _TOO_SMALL,
            fix=Fix("Keep one patch", Applicability.UNSAFE, (Edit(place, f"max(1, {text})"),))
            if use.is_resized_to and edits.written(rounding.value, module) is not None
            else None,
            claim=claims.GridEmpty(place, measured, used),
        )


_TOO_SMALL = "enlarge or reject an image that is smaller than one patch"


def _operands(quotient: queries.Site) -> tuple[Value, Value]:
    """The dividend and the divisor."""
    one, other = quotient.value.args
    return (one, other.args[1]) if quotient.value.data == "-" and other.op is Op.BIN else (one, other)
