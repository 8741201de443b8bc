"""ML707: a total or a list that keeps the graph of each loss."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from modellint.finding import Applicability, Confidence, Edit, Finding, Fix, Related, Severity
from modellint.flow import queries
from modellint.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import ModuleFacts
    from modellint.rule import Project

    from .totals import Kept


class GraphKept(Rule):
    """A total or a list keeps the graph of each loss

    ## What it does
    Looks at loops in which a loss goes `backward()`. Reports code that adds the loss itself to a total
    (`total += loss`), or appends it to a list, over the turns of the loop, if nothing goes backward from the total or
    from the list. The loss may come from a helper of the same file that the loop calls.

    It ignores `loss.item()`, `loss.detach()` and `float(loss)`, totals that the loop sets anew, and code under
    `torch.no_grad()`.

    ## Why is this bad
    The total refers to the graph of each turn. `backward()` frees most tensors of the graph, and the total keeps the
    rest: its nodes, and what custom functions store. Memory grows with each turn, and a long loop ends with
    `CUDA out of memory`.

    ## How to fix
    Add the number:

    ```python
    total += loss.item()
    ```

    Use `loss.detach()` where waiting for the GPU costs too much.

    ## What it cannot see
    Losses that objects of other classes collect, such as meters, and results of a model that are kept.

    ```python
    meter.update(loss)
    ```

    ## Confirming
    modellint does not confirm the finding: the first turns raise no error, and memory grows slowly.

    ## References
    - [My model reports "cuda runtime error(2): out of memory"](https://pytorch.org/docs/stable/notes/faq.html)
    """

    code = "ML707"
    name = "graph-kept"
    severity = Severity.WARNING
    about = ("torch",)

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        from .totals import kept_graphs

        told: set[int] = set()
        for course in queries.courses(module, project):
            for kept in kept_graphs(course):
                if kept.function.module is module and kept.value.at not in told and course.is_whole:
                    told.add(kept.value.at)
                    yield self._report(kept)

    def _report(self, kept: Kept) -> Finding:
        module = kept.function.module
        place = module.place(kept.value)
        what = "keeps" if kept.is_list else "adds up losses and keeps"
        return self.finding(
            place,
            f"`{kept.name}` {what} the graph of each loss in memory",
            symbol=f"{kept.function.qualname}.{kept.name}",
            confidence=Confidence.HIGH,
            severity=Severity.INFO if kept.loss.is_tried else None,
            evidence=(f"the loss goes backward in each turn, and nothing goes backward from `{kept.name}`",),
            related=(Related(kept.loss.place, "the loss goes backward here"),),
            help=f"{'append' if kept.is_list else 'add'} `loss.item()`, the number",
            fix=_fix(kept),
        )


def _fix(kept: Kept) -> Fix | None:
    """The number in place of the loss; without a graph, where the total may be used as a tensor."""
    module, name = kept.function.module, kept.added.target
    place, text = module.place(kept.value), module.text_of(kept.value)
    if name is None or place.span.line != place.span.end_line:
        return None
    sign = text.find("(" if kept.is_list else "=")
    uses = [one for one in re.finditer(rf"(?<![\w.]){re.escape(name)}(?![\w.(\[])", text) if one.start() > sign]
    if len(uses) != 1:
        return None
    is_number = not kept.is_list and not re.search(rf"(?<![\w.]){re.escape(kept.name)}\s*\.", kept.function.text)
    method = "item" if is_number else "detach"
    end = uses[0].end()
    changed = f"{text[:end]}.{method}(){text[end:]}"
    return Fix(f"use `{name}.{method}()`", Applicability.UNSAFE, (Edit(place, changed),))
