"""ML503: `nn.Sequential` of a list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import claims, edits
from modellint.finding import Applicability, Confidence, Edit, Finding, Fix, Place, Related, Severity, Span
from modellint.flow import queries
from modellint.graph.value import Op
from modellint.rule import Rule, called_probe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import ModuleFacts
    from modellint.graph.value import Value
    from modellint.rule import Project


class ListInSequential(Rule):
    """A list of layers is passed to `nn.Sequential` instead of the layers

    ## What it does
    Reports `nn.Sequential(layers)` if `layers` is a list or a tuple: a literal, a comprehension, or a name that holds
    one on every path.

    ## Why is this bad
    The constructor raises `TypeError: list is not a Module subclass`.

    ## How to fix
    Unpack the list, as `--fix` does:

    ```python
    self.layers = nn.Sequential(*layers)
    ```

    ## What it cannot see
    Lists that arrive as arguments, and lists that only some paths make.

    ```python
    def build(layers):
        return nn.Sequential(layers)  # a list, an `OrderedDict`, or one layer?
    ```

    ## Confirming
    modellint builds the layer, calls the function or imports the file that contains the call. PyTorch's error is the
    verdict.

    ## References
    - [torch.nn.Sequential](https://pytorch.org/docs/stable/generated/torch.nn.Sequential.html)
    """

    code = "ML503"
    name = "list-in-sequential"
    severity = Severity.ERROR
    requires = ("constructions",)
    probe = staticmethod(called_probe)

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        for call in queries.flow(module, project).constructions("torch.nn.Sequential"):
            held = call.value.positional
            is_alone = len(call.value.args) == 2 and "TypeError" not in call.event.handled
            if is_alone and held and _is_list(held[0]):
                yield self._finding(call, held[0])

    def _finding(self, call: queries.Call, held: Value) -> Finding:
        module = call.module
        place = edits.argument_place(call.value, 0, "", module) or call.place
        made = module.place(held)
        spot = Place(module.path, Span(place.span.line, place.span.column, place.span.line, place.span.column))
        kind = "tuple" if held.op is Op.TUPLE else "list"
        return self.finding(
            place,
            f"`nn.Sequential` takes layers, not a {kind} of them",
            symbol=f"{call.symbol}.Sequential",
            confidence=Confidence.HIGH,
            evidence=(f"torch raises `TypeError: {kind} is not a Module subclass`",),
            related=(Related(made, f"the {kind} is made here"),) if made.span.line < place.span.line else (),
            help="unpack it with a star",
            fix=Fix("Unpack it", Applicability.SAFE, (Edit(spot, "*"),)),
            claim=claims.Refused(call.place, "TypeError", f"{kind} is not a Module subclass"),
        )


def _is_list(value: Value, depth: int = 0) -> bool:
    """True if a value is a list or a tuple on every path, whatever was added to it."""
    if depth > 30:
        return False
    if value.op in (Op.LIST, Op.TUPLE):
        return True
    if value.op is Op.COMPREHENSION:
        return bool(value.data == "list")
    if value.op is Op.UPDATE:
        return _is_list(value.args[0], depth + 1)
    if value.op is Op.BIN and value.data == "+":
        return any(_is_list(part, depth + 1) for part in value.args)
    if value.op is Op.CHOICE:
        parts = value.args[:1] if value.data is None else value.args
        return bool(parts) and all(_is_list(part, depth + 1) for part in parts)
    return False
