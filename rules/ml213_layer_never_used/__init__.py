"""ML213: a trainable layer that is kept and never used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import claims
from modellint.finding import Applicability, Confidence, Edit, Finding, Fix, Place, Related, Severity, Span
from modellint.flow import queries
from modellint.graph.definitions import External
from modellint.graph.value import EventKind, Op, called_name
from modellint.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Class, ModuleFacts
    from modellint.graph.value import Value
    from modellint.rule import Probe, Project

    from .twins import Twin
    from .unused import Unused

_WRAPPER = "DistributedDataParallel"
#: Up to this many layers of one class have a finding each.
_MOST = 3


class LayerNeverUsed(Rule):
    """A model keeps a layer with parameters that nothing uses

    ## What it does
    Reports trainable layers and parameters that a constructor keeps and nothing reads: no method of the class, its
    bases or its subclasses, no owner, and no function that gets the object. Initialising the layer does not count as a
    use; passing it on does. A layer is trainable if it has parameters by the defaults of the constructor's arguments.

    It is an info. It is a warning if the project wraps models in `DistributedDataParallel` without
    `find_unused_parameters`. It is an error if a method calls a twin of the layer twice, and one call is named after
    the unused layer: `self.dense_i` is unused beside `u = self.dense_u(users)` and `i = self.dense_u(items)`. A twin is
    made in the same way, under a similar name. More than three unused layers of a class are one finding.

    ## Why is this bad
    The layer takes memory and space in checkpoints. Under `DistributedDataParallel`, the second step stops with
    `Expected to have finished reduction in the prior iteration`. Often you meant to use the layer: a norm that
    `forward` forgets, a projection whose twin you called instead.

    ## How to fix
    Use the layer, or remove it. `--unsafe-fixes` calls the unused layer instead of its twin:

    ```python
    q, k = self.to_q(x), self.to_k(x)  # was: self.to_q(x), self.to_q(x)
    ```

    ## What it cannot see
    Classes that iterate over all that they hold (`children()`), whose base cannot be read, or whose `forward` comes
    from another class. Layers whose name other code reads from an object that may be the model. Code behind
    `raise NotImplementedError` counts as a use.

    Skips layers that a comment or docstring says are kept for checkpoints. Skips classes that load all of their weights
    from a file, in the constructor or in another method. Reading the parameters of a layer is a use too:

    ```python
    self.encoder_k = nn.Linear(width, width)  # `self.encoder_k.parameters()` is a use, though nothing calls it
    ```

    ## Confirming
    A run builds the class, calls it and backpropagates once: the layer gets no gradient, and others do. A run does not
    show that no other code of the project reads it.

    ## References
    - [DistributedDataParallel](https://pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html)
    - [pytorch/pytorch#57776](https://github.com/pytorch/pytorch/issues/57776)
    """

    code = "ML213"
    name = "layer-never-used"
    severity = Severity.INFO
    requires = ("children",)
    about = ("torch.nn.Module",)

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        from .kept_on_purpose import is_filled_from_file
        from .twins import twin_of
        from .unused import unused_layers

        by_class: dict[Class, list[Unused]] = {}
        for found in unused_layers(module, project):
            by_class.setdefault(found.cls, []).append(found)
        for together in by_class.values():
            alike = []
            for found in together:
                twin = twin_of(found)
                if twin is not None:
                    yield self._mistaken(found, twin)
                elif not is_filled_from_file(found.cls, project):
                    alike.append(found)
            for group in [alike] if len(alike) > _MOST else [[one] for one in alike]:
                yield self._finding(group, project)

    def _mistaken(self, found: Unused, twin: Twin) -> Finding:
        """The finding about a layer in whose place another one is called."""
        module, user = found.cls.module, twin.function.module
        place = user.place(twin.call.callee)
        span = place.span
        spot = Span(span.end_line, span.end_column - len(twin.name), span.end_line, span.end_column)
        return self.finding(
            module.place(found.target),
            f"`self.{found.name}` is never used: `self.{twin.name}` is called twice instead",
            symbol=f"{found.cls.name}.{found.name}",
            confidence=Confidence.MEDIUM,
            severity=Severity.ERROR,
            evidence=(
                f"`self.{twin.name}` is made in the same way, and called for both",
                "no method of the class, its bases or subclasses reads it, nor does any code that uses the class",
            ),
            related=(Related(place, "called in its place"), Related(user.place(twin.other), "called here, too")),
            help=f"call `self.{found.name}` there",
            fix=Fix(f"Call `self.{found.name}`", Applicability.UNSAFE, (Edit(Place(place.path, spot), found.name),)),
            claim=claims.Unused(module.place(found.target), found.cls.qualname, found.name),
        )

    def probe(self, claim: claims.Unused, project: Project) -> Probe:
        """Go backwards once: does it get a gradient?"""
        from modellint.rule import file_probe

        return file_probe(claim, claim.owner)

    def _finding(self, group: list[Unused], project: Project) -> Finding:

        found, *others = group
        module = found.cls.module
        is_wrapped = _is_wrapped(module, project)
        evidence = ["no method of the class, its bases or subclasses reads it, nor does any code that uses the class"]
        if is_wrapped:
            evidence.append("`DistributedDataParallel` waits for its gradients: the second step raises `RuntimeError`")
        more = f", and neither are {len(others)} more layers of the class" if others else ""
        return self.finding(
            module.place(found.target),
            f"`self.{found.name}` is never used{more}: nothing trains it, and every checkpoint holds it",
            symbol=f"{found.cls.name}.{found.name}",
            confidence=Confidence.MEDIUM,
            severity=Severity.WARNING if is_wrapped else None,
            evidence=evidence,
            related=(
                Related(found.cls.place, "the class"),
                *(Related(module.place(other.target), f"`self.{other.name}`, too") for other in others),
            ),
            help=f"use `self.{found.name}`, or remove it",
            claim=claims.Unused(module.place(found.target), found.cls.qualname, found.name),
        )


def _is_wrapped(module: ModuleFacts, project: Project) -> bool:
    """True if the project wraps models in `DistributedDataParallel` without `find_unused_parameters`."""

    calls = (
        (one, event.value)
        for one in queries.files_mentioning(module, project, _WRAPPER)
        for function in (*one.all_functions(), one.body)
        if _WRAPPER in function.words
        for event in function.flow.of(EventKind.CALL)
    )
    return any(_waits(call) and _is_wrapper(call, one, project) for one, call in calls)


def _waits(call: Value) -> bool:
    """True if a call does not set `find_unused_parameters`."""
    given = call.keywords.get("find_unused_parameters")
    return None not in call.data and (given is None or (given.op is Op.CONST and not given.data))


def _is_wrapper(call: Value, module: ModuleFacts, project: Project) -> bool:
    if called_name(call.callee) == _WRAPPER:
        return True
    return project.names.definition(module, call.callee) == External(f"torch.nn.parallel.{_WRAPPER}")
