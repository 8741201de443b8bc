"""ML206: a layer with parameters that is made anew at each call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import claims
from modellint.finding import Confidence, Finding, Related, Severity
from modellint.rule import Rule, file_probe, python_probe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import ModuleFacts
    from modellint.graph.value import Value
    from modellint.rule import Probe, Project

    from .creations import Creation


class LayerCreatedInForward(Rule):
    """A layer with parameters is created in `forward`

    ## What it does
    Reports layers with parameters that `forward`, or a method or function that it calls, creates and calls in the same
    run, if nothing keeps the layer for the next run.

    ## Why is this bad
    Each call makes a new layer with new weights. The optimizer got its parameters earlier and never sees these, and no
    checkpoint holds them. The layer computes random noise, in training and afterwards, without an error.

    ## How to fix
    Create the layer in `__init__` and call it in `forward`. If only the first input tells its size, use a lazy layer:

    ```python
    self.proj = nn.LazyLinear(width)
    ```

    ## References
    - [torch.nn.Module](https://pytorch.org/docs/stable/generated/torch.nn.Module.html)
    - [torch.nn.LazyLinear](https://pytorch.org/docs/stable/generated/torch.nn.LazyLinear.html)
    """

    code = "ML206"
    name = "layer-created-in-forward"
    severity = Severity.ERROR
    requires = ("callers", "late_layers")
    about = ("torch.nn.Module",)

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        from .creations import Creations

        for creation in project.of(Creations).of(module):
            yield self._report(creation)

    def probe(self, claim: claims.MadeAnew, project: Project) -> Probe | None:
        """Call the layer twice, and look for the parameters that the first call made."""
        if claim.owner:
            method = claims.name_at(claim, claim.entry).rpartition(".")[2]
            return file_probe(claim, f"{claim.owner}.{method}")
        return python_probe(claim, claim.entry)

    def _report(self, creation: Creation) -> Finding:

        module = creation.function.module
        shown = _name_of_class(creation)
        entry = creation.entry
        owner = entry.owner.name if entry.owner is not None else entry.module.name
        related = [
            Related(
                step.function.module.place(step.value),
                f"`{step.function.name}` calls `{_name(step.value)}`",
            )
            for step in creation.route
        ]
        place = module.place(creation.call)
        called = related[0].place if related else place
        related.append(Related(creation.use.function.module.place(creation.use.value), "the new layer is used here"))
        cls = creation.cls
        made_for = cls.qualname if cls is not None and cls is not entry.owner and cls.module is module else ""
        confidence = Confidence.MEDIUM if creation.is_conditional else Confidence.HIGH
        return self.finding(
            place,
            f"`{shown}` is created anew at each call of `{owner}.{entry.name}`: its weights are never trained or saved",
            symbol=f"{owner}.{creation.attribute or shown.rpartition('.')[2]}",
            confidence=confidence if creation.is_certain else Confidence.LOW,
            evidence=tuple(_evidence(creation)),
            related=tuple(related),
            help="create the layer in `__init__`, and only call it here",
            claim=claims.MadeAnew(place, called, made_for),
        )


def _evidence(creation: Creation) -> Iterator[str]:
    shown = _name_of_class(creation)
    if creation.is_certain:
        yield f"`{shown}` has parameters, which start at random or at their defaults each time"
    else:
        yield f"`{shown}` has parameters unless its arguments say otherwise"
    if creation.attribute is None:
        yield "the new layer is gone when the call ends"
    else:
        yield f"`self.{creation.attribute}` is replaced even if it is set"
    if creation.is_conditional:
        yield "it is created whenever a condition on the arguments holds"


def _name_of_class(creation: Creation) -> str:
    """The layer's class as it is written where it is constructed, or its own name where that is another."""
    written = creation.function.module.text_of(creation.call.callee)
    name = creation.model.name.rpartition(".")[2]
    return written if written.rpartition(".")[2] == name else name


def _name(call: Value) -> str:
    return str(call.callee.data)
