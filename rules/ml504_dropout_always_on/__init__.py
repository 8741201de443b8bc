"""ML504: dropout by function, which no `eval()` turns off."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from modellint import claims, edits
from modellint.finding import Applicability, Confidence, Edit, Finding, Fix, Place, Severity, Span
from modellint.flow import queries
from modellint.graph.definitions import External
from modellint.graph.value import EventKind, Op, Value, is_argument, self_attribute
from modellint.rule import Rule, called_probe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Event
    from modellint.rule import Project

#: Functions whose `training` is true unless it is given, and the number of arguments before it.
_ALWAYS_ON = {f"torch.nn.functional.{name}": 2 for name in ("dropout", "dropout1d", "dropout2d", "dropout3d")}
_LOSS = re.compile(r"\w*loss\w*")
#: Words in names and comments that say that the noise is wanted.
_WANTED = re.compile(
    r"perturb|corrupt|monte|\bmc\b|mc_|noise|sampl|always|augment|determinis|stochastic", re.IGNORECASE
)


class DropoutAlwaysOn(Rule):
    """Dropout without `training` stays on after `model.eval()`

    ## What it does
    Reports `F.dropout(x, p)` (and `dropout1d` to `dropout3d`) without `training` in a method of a layer: `training` is
    `True` by default. The finding is an info if only a loss gets the result.

    ## Why is this bad
    `model.eval()` does not turn this dropout off. Predictions are noisy, and differ from call to call.

    ## How to fix
    Pass `training=self.training`, as `--fix` does, or use an `nn.Dropout`:

    ```python
    x = F.dropout(x, 0.1, training=self.training)
    ```

    ## What it cannot see
    Rates that every caller sets to zero. The rule ignores a rate that comes from an argument of the method, dropout
    under a condition on `self.training`, and noise that a comment or the method's name announces (`perturb`,
    `augment`).

    ```python
    def corrupt(x, rate):
        return F.dropout(x, rate)  # rate 0.0 in evaluation? Only its callers know
    ```

    ## Confirming
    modellint builds the layer, puts it into evaluation mode, calls it, and counts the values that dropout sets to
    zero.

    ## References
    - [torch.nn.functional.dropout](https://pytorch.org/docs/stable/generated/torch.nn.functional.dropout.html)
    """

    code = "ML504"
    name = "dropout-always-on"
    severity = Severity.WARNING
    about = ("torch.nn.functional.dropout",)
    probe = staticmethod(called_probe)

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        for cls in module.classes.values():
            for function in cls.methods.values():
                for event in function.flow.of(EventKind.CALL):
                    if (
                        _is_always_on(event, function, project)
                        and _is_of_layers(cls, project)
                        and not _is_for_training(function, cls)
                    ):
                        yield self._finding(function, event.value)

    def _finding(self, function: Function, call: Value) -> Finding:

        module = function.module
        owner = function.owner
        assert owner is not None
        is_loss = _LOSS.fullmatch(function.name) is not None or "loss" in owner.name.lower() or _makes_loss(function)
        return self.finding(
            module.place(call),
            "this dropout is always on: `eval()` does not turn it off",
            symbol=f"{function.qualname}.dropout",
            confidence=Confidence.HIGH,
            severity=Severity.INFO if is_loss else None,
            evidence=("`training` is `True` by default",),
            help="pass `training=self.training`",
            fix=_fix(call, module),
            claim=claims.AlwaysDrops(module.place(call)),
        )


def _is_always_on(event: Event, function: Function, project: Project) -> bool:
    call = event.value
    if len(call.args) < 2 or _WANTED.search(function.name):
        return False
    definition = project.names.definition(function.module, call.callee)
    if not isinstance(definition, External) or definition.name not in _ALWAYS_ON:
        return False
    if call.has_unpacking or "training" in call.data or len(call.positional) > _ALWAYS_ON[definition.name]:
        return False
    rate = call.argument(1, "p")
    if rate is not None and any(map(is_argument, rate.walk())):
        return False
    if rate is not None and rate.op is Op.CONST and rate.data in (0, 0.0):
        return False
    if _is_guarded(event) or (rate is not None and _asks_training(rate)):
        return False
    return not _WANTED.search(_comments(call, function.module))


def _comments(call: Value, module: ModuleFacts) -> str:
    """The comments behind a call, behind the statement above it, and between the two."""
    lines = module.source.lines
    first = max(call.line - 3, 0)
    while first > 0 and lines[first].strip()[:1] in ("", "#"):
        first -= 1
    return " ".join(line.partition("#")[2] for line in module.as_written(first + 1, call.end_line))


def _is_of_layers(cls: Class, project: Project) -> bool:
    """True if a class is a layer, or a mixin of layers."""
    if project.classes.model(cls).is_module:
        return True
    return any(project.classes.model(other).is_module for other in queries.subclasses(cls, project))


def _is_for_training(function: Function, cls: Class) -> bool:
    """True if other methods of the class read this one, all of them under a condition on `self.training`."""
    events = [
        event
        for other in cls.methods.values()
        if function.name in other.words
        for event in (*other.flow.of(EventKind.CALL), *other.flow.reads)
        if self_attribute(event.value.callee if event.kind is EventKind.CALL else event.value) == function.name
    ]
    return bool(events) and all(map(_is_guarded, events))


def _is_guarded(event: Event) -> bool:
    """True if an event is under a condition on `self.training`."""
    return event.guard is not None and any(_asks_training(guard.test) for guard in event.guard.chain())


def _asks_training(value: Value) -> bool:
    """True if a condition or a number depends on `self.training`."""
    tests = (part.data for part in value.walk() if part.op is Op.CHOICE and isinstance(part.data, Value))
    return any(self_attribute(part) == "training" for whole in (value, *tests) for part in whole.walk())


def _makes_loss(function: Function) -> bool:
    """True if a method returns nothing but losses, by the names of the variables."""
    returned = [event.value for event in function.flow.of(EventKind.RETURN)]
    return bool(returned) and all("loss" in (value.target or "") for value in returned)


def _fix(call: Value, module: ModuleFacts) -> Fix | None:
    """`training=self.training` behind the last argument."""
    places = [edits.argument_place(call, index, "", module) for index in range(len(call.positional))]
    places += [edits.argument_place(call, 99, name, module) for name in call.keywords]
    known = [place.span for place in places if place is not None]
    if not known:
        return None
    end = max(known, key=lambda span: (span.end_line, span.end_column))
    spot = Place(module.path, Span(end.end_line, end.end_column, end.end_line, end.end_column))
    return Fix("Pass `training`", Applicability.SAFE, (Edit(spot, ", training=self.training"),))
