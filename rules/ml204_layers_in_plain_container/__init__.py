"""ML204: layers that a module keeps in a plain container, where torch does not see them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.finding import Finding, Severity
from modellint.flow import queries
from modellint.rule import Rule, file_probe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint import claims
    from modellint.graph.python import ModuleFacts
    from modellint.rule import Probe, Project

_REMEDIES = {
    "instance": "derive its class from `nn.Module`",
    "namespace": "keep the layers on `self`, or in an `nn.ModuleDict`",
    "function": "keep the layers on `self`, and make it a method",
    "partial": "keep the layers on `self`, and pass them in `forward`",
}


class LayersInPlainContainer(Rule):
    """Layers are in a plain list, dict or object, which `nn.Module` does not register

    ## What it does
    Follows the layers that a constructor makes, through local names, helper functions, loops and base classes. Reports
    layers that the object keeps in a plain container and registers in no other way: not by `ModuleList`, `ModuleDict`
    or `Sequential`, not by `add_module`, `register_module` or `setattr`, not under another name. Skips layers without
    parameters and buffers (activations, dropout, pooling).

    An object of a class that is no layer is a container, too (also a dataclass or a named tuple), unless it moves,
    trains, loads or freezes layers. The same holds for a `functools.partial` that passes on layers, and for a function
    inside of the constructor, or a lambda, that uses layers which the constructor makes.

    A container that the constructor gets as an argument is a warning, if its annotation says that it holds layers
    (`List[nn.Module]`) or callers pass new layers that nothing else registers. It is an info if the class of those
    layers is a base class without parameters and buffers of its own.

    ## Why is this bad
    `nn.Module` registers layers that you assign to attributes, not layers in a list. The layers in a plain container

    - are not in `parameters()`, so no optimizer trains them
    - do not move with `.to(device)`, so the first batch on a GPU fails
    - are not in `state_dict()`, so a loaded model starts them at random, without an error

    A comma after `self.up = nn.Linear(…),` makes a tuple, and the first call fails.

    ## How to fix
    Wrap a list or tuple in `nn.ModuleList`, wrap a dict in `nn.ModuleDict`, and drop the comma:

    ```python
    self.layers = nn.ModuleList([nn.Linear(width, width) for _ in range(depth)])
    ```

    To hide a layer on purpose (a parent, a frozen teacher), write `object.__setattr__(self, "teacher", teacher)`.
    A list of one layer that code reads by a constant index (`self.teacher[0]`) may hide it on purpose, too. A finding
    about it has low confidence, unless the layer is made for the list and nothing freezes or loads it.

    ## References
    - [torch.nn.ModuleList](https://pytorch.org/docs/stable/generated/torch.nn.ModuleList.html)
    - [torch.nn.ModuleDict](https://pytorch.org/docs/stable/generated/torch.nn.ModuleDict.html)
    """

    code = "ML204"
    name = "layers-in-plain-container"
    severity = Severity.ERROR
    requires = ("unregistered_containers",)
    about = ("torch.nn.Module",)

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        for found in queries.flow(module, project).unregistered_containers():
            if found.layers or not found.parameters:
                yield self._finding(found)

    def probe(self, claim: claims.NotRegistered, project: Project) -> Probe | None:
        """Build the class, and look for the attribute's parameters in `parameters()` and `state_dict()`."""
        return file_probe(claim, claim.owner)

    def _finding(self, found: queries.Unregistered) -> Finding:
        kept = found.kept
        module = kept.function.module
        attribute = f"self.{kept.attribute}"
        names = " and ".join(found.names)
        if found.is_accident:
            lost = f": the {names or 'layer'} in it is not registered" if found.layers else ", which cannot be called"
            message = f"the comma makes `{attribute}` a tuple of one{lost}"
            remedy = "drop the comma"
        else:
            inside = "that it uses" if kept.kind == "function" else "in it"
            layers = f"the {names} layers" if names else "the layers"
            message = (
                f"`{attribute}` is {found.keeper}: {layers} {inside} are not registered, "
                "so they are not moved, trained or saved"
            )
            remedy = _REMEDIES.get(kept.kind, f"use `nn.Module{'Dict' if kept.kind == 'dict' else 'List'}`")
        return self.finding(
            module.place(kept.target),
            message,
            symbol=f"{found.cls.name}.{kept.attribute}",
            confidence=found.confidence,
            severity=_severity(found),
            evidence=found.evidence,
            related=found.related,
            help=remedy,
            fix=found.fix,
            claim=found.claim,
        )


def _severity(found: queries.Unregistered) -> Severity | None:
    """A warning for layers of which only an annotation tells, an info where their class itself has no state."""
    if not found.is_said:
        return None
    return Severity.WARNING if found.may_have_state else Severity.INFO
