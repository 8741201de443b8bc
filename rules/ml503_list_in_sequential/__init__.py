"""ML503: `nn.Sequential` of a list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import claims, edits
from modellint.finding import Applicability, Confidence, Edit, Finding, Fix, Place, Related, Severity, Span
from modellint.graph.definitions import External
from modellint.graph.value import EventKind, Op
from modellint.rule import Rule, called_probe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.value import Value
    from modellint.rule import Project

_SEQUENTIAL = External("torch.nn.Sequential")


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
    probe = staticmethod(called_probe)

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        for function in (*module.all_functions(), module.body):
            for event in function.flow.of(EventKind.CALL):
                call = event.value
                if len(call.args) != 2 or call.data or not _is_list(call.args[1]):
                    continue
                if project.names.definition(module, call.callee) == _SEQUENTIAL and "TypeError" not in event.handled:
                    yield self._finding(function, call)

    def _finding(self, function: Function, call: Value) -> Finding:

        module, held = function.module, call.args[1]
        place = edits.argument_place(call, 0, "", module) or module.place(call)
        made = module.place(held)
        spot = Place(module.path, Span(place.span.line, place.span.column, place.span.line, place.span.column))
        kind = "tuple" if held.op is Op.TUPLE else "list"
        return self.finding(
            place,
            f"`nn.Sequential` takes layers, not a {kind} of them",
            symbol=f"{function.qualname}.Sequential",
            confidence=Confidence.HIGH,
            evidence=(f"torch raises `TypeError: {kind} is not a Module subclass`",),
            related=(Related(made, f"the {kind} is made here"),) if made.span.line < place.span.line else (),
            help="unpack it with a star",
            fix=Fix("Unpack it", Applicability.SAFE, (Edit(spot, "*"),)),
            claim=claims.Refused(module.place(call), "TypeError", f"{kind} is not a Module subclass"),
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
