"""ML102: real numbers where an embedding expects ids."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.finding import Confidence, Finding, Related, Severity
from modellint.link.facts import FactKind
from modellint.rule import Rule

from .ml101_embedding_sized_by_features import is_width_of_index

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import ModuleFacts
    from modellint.link.arrivals import Arrival
    from modellint.link.project import Project


class EmbeddingFedFeatures(Rule):
    """An embedding is indexed by real numbers instead of ids

    ## What it does
    Follows what indexes an embedding to the layer, activation, cast to float or division that made it, through
    functions and files. A bare `.long()` does not turn features into ids.

    ## Why is this bad
    `nn.Embedding` raises `Expected tensor for argument #1 'indices' to have one of the following scalar types: Long,
    Int` for floating point indices. After `.long()` it runs, but truncated activations pick rows at random, and a
    negative or large one fails as a device-side assert.

    ## How to fix
    Project features with `nn.Linear`, or quantise them on purpose (`bucketize`, `argmax`, `round` and `clamp`).

    ## References
    - [torch.nn.Embedding](https://pytorch.org/docs/stable/generated/torch.nn.Embedding.html)
    """

    code = "ML102"
    name = "embedding-fed-features"
    severity = Severity.ERROR
    triggers = ("torch", "Embedding|F\.embedding")

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        for function in project.relevance.table_users(module):
            for arrival in project.arrivals.of(function):
                table = arrival.lookup.table
                if arrival.fact.kind is not FactKind.CONTINUOUS or table is None or table.kind == "codebook":
                    continue
                if not is_width_of_index(table, arrival.fact, project):
                    yield self._report(arrival)

    def _report(self, arrival: Arrival) -> Finding:
        module = arrival.frame.module
        call = arrival.event.value
        table = arrival.lookup.table
        assert table is not None
        origin = arrival.fact.origin
        made_by = origin.frame.module.text_of(origin.value)
        name = module.text_of(call.args[0])
        return self.finding(
            module.place(call),
            f"`{name}` is indexed by real numbers, the result of `{_short(made_by)}`",
            symbol=name,
            confidence=Confidence.LOW if arrival.conditional else Confidence.HIGH,
            evidence=(f"`{_short(made_by)}` gives floating point numbers; an embedding takes integer ids",),
            related=(
                Related(origin.frame.module.place(origin.value), "the numbers are made here"),
                Related(table.frame.module.place(table.call), "the embedding"),
            ),
            help="use `nn.Linear` for features, or quantise them to ids first",
        )


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."
