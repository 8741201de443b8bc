"""ML503: what is no layer, in the place of one: in `nn.Sequential`, `nn.ModuleList`, `nn.ModuleDict`, `add_module`."""

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

    from .strangers import Slot, Stranger

#: The longest source that a message shows.
_MAX_SHOWN = 40


class NotALayerInContainer(Rule):
    """A container of layers gets something that is no layer

    ## What it does
    Reports what `nn.Sequential`, `nn.ModuleList`, `nn.ModuleDict`, their `append` and `add_module` get in the place of
    a layer: a function (`F.relu`), a class that is not built (`nn.ReLU`), a text, a number, or a list of layers. It
    follows names, elements of lists, helpers and their callers, and reports what is no layer on each path.

    ## Why is this bad
    The constructor or method raises `TypeError: list is not a Module subclass`, or
    `TypeError: torch.nn.functional.relu is not a Module subclass`.

    ## How to fix
    Unpack the list, build the layer, or use the layer of the same name, as `--fix` does:

    ```python
    self.layers = nn.Sequential(*layers)
    self.head = nn.Sequential(nn.Linear(width, width), nn.ReLU())
    ```

    ## What it cannot see
    Lists that arrive as arguments, and what is no layer on some paths only.

    ```python
    def build(layers):
        return nn.Sequential(layers)  # a list, an `OrderedDict`, or one layer?
    ```

    ## Confirming
    modellint builds the layer, calls the function or imports the file that contains the call. PyTorch's error is the
    verdict.

    ## References
    - [torch.nn.Sequential](https://pytorch.org/docs/stable/generated/torch.nn.Sequential.html)
    - [torch.nn.ModuleList](https://pytorch.org/docs/stable/generated/torch.nn.ModuleList.html)
    """

    code = "ML503"
    name = "not-a-layer-in-container"
    severity = Severity.ERROR
    requires = ("calls", "constructions")
    about = ("torch.nn.Module",)
    probe = staticmethod(called_probe)

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        from .strangers import is_list, slots, stranger

        for call in queries.flow(module, project).constructions("torch.nn.Sequential"):
            held = call.value.positional
            is_alone = len(call.value.args) == 2 and not call.is_expected_to_fail
            if is_alone and held and is_list(held[0]):
                yield self._of_list(call, held[0])
        told: set[int] = set()
        for slot in slots(module, project):
            if slot.call.is_expected_to_fail or id(slot.layer.value) in told:
                continue
            held = slot.call.value.positional
            if len(held) == 1 and slot.layer.value is held[0] and is_list(held[0]):
                continue
            found = stranger(slot)
            if found is not None:
                told.add(id(slot.layer.value))
                yield self._of_stranger(slot, found)

    def _of_list(self, call: queries.Call, held: Value) -> Finding:
        module = call.module
        place = edits.argument_place(call.value, 0, "", module) or call.place
        made = module.place(held)
        kind = "tuple" if held.op is Op.TUPLE else "list"
        return self.finding(
            place,
            f"`nn.Sequential` takes layers, not a {kind} of them",
            symbol=f"{call.symbol}.Sequential",
            confidence=Confidence.HIGH,
            severity=Severity.INFO if call.is_tried_out else None,
            evidence=(f"torch raises `TypeError: {kind} is not a Module subclass`",),
            related=(Related(made, f"the {kind} is made here"),) if made.span.line < place.span.line else (),
            help="unpack it with a star",
            fix=_starred(place),
            claim=claims.Refused(call.place, "TypeError", f"{kind} is not a Module subclass"),
        )

    def _of_stranger(self, slot: Slot, found: Stranger) -> Finding:
        call, made = slot.call, found.made
        is_own = made.function.module is call.module
        here = call.module.place(slot.layer.value)
        place = slot.place or (here if slot.layer.value.op is not Op.PARAM else call.place)
        text = " ".join(edits.text_at(place, call.module).split())
        shown = f"`{text}` is {found.kind}" if len(text) <= _MAX_SHOWN else f"this is {found.kind}"
        # A run of this function alone gets other arguments than its callers pass.
        is_passed = any(part.op is Op.PARAM for part in slot.layer.value.walk())
        is_run = made.function is call.function or not is_passed
        is_elsewhere = not is_own or made.place.span.line != place.span.line
        return self.finding(
            place,
            f"`{slot.container}` takes layers, but {shown}" + (", not a layer" if found.kind == "a class" else ""),
            symbol=f"{call.symbol}.{slot.container.rpartition('.')[2]}",
            confidence=Confidence.HIGH,
            severity=Severity.INFO if call.is_tried_out else None,
            evidence=("torch raises `TypeError: … is not a Module subclass`",),
            related=(Related(made.place, "it comes from here"),) if is_elsewhere else (),
            help=_HELP.get(found.kind, "build a layer there"),
            fix=_fix(slot, found, place, call.project),
            claim=claims.Refused(call.place, "TypeError", "is not a Module subclass") if is_run else None,
        )


_HELP = {
    "a class": "build the layer: `nn.ReLU()`",
    "a function": "use the layer that calls it: `nn.ReLU()` for `F.relu`",
    "a list": "unpack it with a star, or make it an `nn.Sequential`",
    "a tuple": "unpack it with a star, or make it an `nn.Sequential`",
    "a dictionary": "make it an `OrderedDict`, or pass its values",
}


def _starred(place: Place) -> Fix:
    spot = Place(place.path, Span(place.span.line, place.span.column, place.span.line, place.span.column))
    return Fix("Unpack it", Applicability.SAFE, (Edit(spot, "*"),))


def _fix(slot: Slot, found: Stranger, place: Place, project: Project) -> Fix | None:
    """The star of a list, the parentheses of a class, or the layer of a function, where these are written."""
    from .strangers import can_be_built, layer_of_function

    module = slot.call.module
    if found.kind in ("a list", "a tuple") and slot.container == "nn.Sequential" and slot.place is not None:
        return _starred(place)
    if found.made.value is not slot.layer.value or found.made.function.module is not module or not found.name:
        return None
    if found.made.place != place:
        return None
    if found.kind == "a class" and can_be_built(found.name, project):
        span = place.span
        spot = Place(module.path, Span(span.end_line, span.end_column, span.end_line, span.end_column))
        return Fix("Build the layer", Applicability.SAFE, (Edit(spot, "()"),))
    name = layer_of_function(found.name, project) if found.kind == "a function" else None
    written = None if name is None else edits.nn_name(module, name)
    return None if written is None else Fix(f"Use `{written}`", Applicability.SAFE, (Edit(place, f"{written}()"),))
