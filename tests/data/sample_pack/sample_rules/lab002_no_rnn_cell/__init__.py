"""LAB002: a house rule that is a folder."""

from modellint.finding import Confidence, Severity
from modellint.rule import Rule

from ..calls import calls_of
from .cells import CELLS


class NoRnnCell(Rule):
    """A single recurrent cell, which our exporter does not know

    ## What it does
    Looks for `nn.RNNCell` and its kin.

    ## Why is this bad
    Models with it cannot be exported.

    ## How to fix
    Use a layer that takes the whole sequence.
    """

    code = "LAB002"
    name = "no-rnn-cell"
    severity = Severity.WARNING

    def check_python(self, module, project):
        for name in CELLS:
            for function, call in calls_of(name, module, project):
                yield self.finding(
                    module.place(call),
                    f"`{name.removeprefix('torch.')}` cannot be exported",
                    symbol=function.qualname,
                    confidence=Confidence.HIGH,
                    help="use a layer that takes the whole sequence",
                )
