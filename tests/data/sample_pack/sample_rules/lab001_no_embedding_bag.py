"""LAB001: a house rule."""

from modellint.finding import Confidence, Severity
from modellint.rule import Example, Rule

from .calls import calls_of


class NoEmbeddingBag(Rule):
    """An embedding bag, which our exporter does not know

    ## What it does
    Looks for `nn.EmbeddingBag`.

    ## Why is this bad
    Models with it cannot be exported.

    ## How to fix
    Use `nn.Embedding` and a sum.
    """

    code = "LAB001"
    name = "no-embedding-bag"
    severity = Severity.WARNING
    bad = (
        Example(
            "Imported from the package",
            {"model.py": "from torch import nn\n\ndef build():\n    return nn.EmbeddingBag(8, 4)  # expect: LAB001\n"},
        ),
    )
    good = (
        Example(
            "A class of the same name",
            {"model.py": "class EmbeddingBag:\n    pass\n\n\ndef build():\n    return EmbeddingBag()\n"},
        ),
    )

    def check_python(self, module, project):
        for function, call in calls_of("torch.nn.EmbeddingBag", module, project):
            yield self.finding(
                module.place(call),
                "`nn.EmbeddingBag` cannot be exported",
                symbol=function.qualname,
                confidence=Confidence.HIGH,
                help="use `nn.Embedding` and a sum",
            )
