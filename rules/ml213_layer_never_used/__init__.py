"""ML213: a trainable layer that is kept and never used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.finding import Confidence, Finding, Related, Severity
from modellint.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import ModuleFacts
    from modellint.link.classes.unused import Unused
    from modellint.link.project import Project


class LayerNeverUsed(Rule):
    """A layer with parameters is kept on a model, and nothing uses it

    ## What it does
    Looks for trainable layers and parameters that a constructor keeps and that nothing reads: no method of the class,
    of its bases or subclasses, no owner, and no function that is given the object. Giving it its first values is no
    use; handing it on is.

    An info; a warning where the project wraps models in `DistributedDataParallel` without `find_unused_parameters`.

    ## Why is this bad
    It takes memory and rows in checkpoints. Under `DistributedDataParallel` the second step stops with "Expected to
    have finished reduction in the prior iteration". And often the layer was meant to be used: a norm that was
    forgotten, a projection whose twin is read twice.

    ## How to fix
    Use the layer, or remove it.

    ## What it cannot see
    Layers of classes that go through all they hold (`children()`), whose base cannot be read, or whose `forward` is
    borrowed from another class. A layer that a comment keeps for checkpoints is left alone.

    ## Confirming
    Not run: that no code reads a layer is a fact about the whole project; one backward pass shows only its own way.

    ## References
    - [DistributedDataParallel](https://pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html)
    - [pytorch/pytorch#57776](https://github.com/pytorch/pytorch/issues/57776)
    """

    code = "ML213"
    name = "layer-never-used"
    severity = Severity.INFO
    preview = True

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        from modellint.link.classes.unused import unused

        for found in unused(module, project):
            yield self._finding(found, project)

    def _finding(self, found: Unused, project: Project) -> Finding:
        from modellint.link.values.callers import mentioning

        module = found.cls.module
        wrapping = [
            one
            for one in mentioning(project, module, "DistributedDataParallel")
            if "find_unused_parameters" not in one.text
        ]
        evidence = ["no method of the class, its bases or subclasses reads it, and no other code that knows the class"]
        if wrapping:
            evidence.append("`DistributedDataParallel` waits for its gradients: the second step raises `RuntimeError`")
        return self.finding(
            module.place(found.target),
            f"`self.{found.name}` is never used: it is trained by nothing, and kept in every checkpoint",
            symbol=f"{found.cls.name}.{found.name}",
            confidence=Confidence.MEDIUM,
            severity=Severity.WARNING if wrapping else None,
            evidence=evidence,
            related=(Related(found.cls.place, "the class"),),
            help=f"use `self.{found.name}`, or remove it",
        )
