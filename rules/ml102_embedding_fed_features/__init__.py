"""ML102: real numbers where an embedding expects ids."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import claims
from modellint.finding import Confidence, Finding, Related, Severity
from modellint.flow import queries
from modellint.rule import Rule, python_probe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import ModuleFacts
    from modellint.rule import Probe, Project


class EmbeddingFedFeatures(Rule):
    """An `nn.Embedding` is indexed by floating-point numbers instead of ids

    ## What it does
    Follows the index of an embedding back to its source, through functions and files. Reports the index if a layer, an
    activation, a cast to float or a division computes it. A bare `.long()` does not turn features into ids.

    ## Why is this bad
    For a floating point index, `nn.Embedding` raises
    `Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int`. After `.long()` it
    runs, but truncated activations pick arbitrary rows. A value that is negative or too large fails with
    `index out of range in self` on the CPU and `device-side assert triggered` on a GPU.

    ## How to fix
    Project features with `nn.Linear`, or quantise them to ids (`bucketize`, `argmax`, `round` and `clamp`):

    ```python
    self.embed(torch.bucketize(pitch, self.bins))
    ```

    ## References
    - [torch.nn.Embedding](https://pytorch.org/docs/stable/generated/torch.nn.Embedding.html)
    """

    code = "ML102"
    name = "embedding-fed-features"
    severity = Severity.ERROR
    requires = ("lookups",)
    about = ("torch.nn.Embedding",)

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        for lookup in queries.flow(module, project).lookups():
            is_width = lookup.rows is not None and lookup.width == lookup.rows
            if isinstance(lookup.element, queries.Real) and not is_width:
                yield self._report(lookup, lookup.element)

    def probe(self, claim: claims.FedNumbers, project: Project) -> Probe | None:
        """Run the function, and see whether torch refuses the numbers that reach the look-up."""
        return python_probe(claim)

    def _report(self, lookup: queries.Lookup, numbers: queries.Real) -> Finding:
        origin, name = numbers.origin, lookup.place.name
        made_by = origin.module.text_of(origin.value)
        evidence = [f"`{_short(made_by)}` gives floating point numbers; an embedding takes integer ids"]
        if lookup.way:
            evidence.append(f"they reach the embedding through {lookup.way}")
        return self.finding(
            lookup.place.place,
            f"`{name}` looks up real numbers, the result of `{_short(made_by)}`",
            symbol=name,
            confidence=Confidence.LOW if lookup.is_conditional else Confidence.HIGH,
            evidence=evidence,
            related=(
                Related(origin.place, "the numbers are made here"),
                Related(lookup.table.place, "the embedding"),
            ),
            help="use `nn.Linear` for features, or quantise them to ids first",
            claim=claims.FedNumbers(lookup.place.place),
        )


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."
