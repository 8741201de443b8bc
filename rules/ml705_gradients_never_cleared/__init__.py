"""ML705: a loop in which gradients add up, as nothing clears them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.finding import Applicability, Confidence, Edit, Finding, Fix, Place, Related, Severity, Span
from modellint.flow import queries
from modellint.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import ModuleFacts
    from modellint.rule import Project


class GradientsNeverCleared(Rule):
    """Gradients are never cleared between the steps of an optimizer

    ## What it does
    Looks at loops in which a loss goes `backward()` and an optimizer of torch makes a `step()`, in functions, methods,
    scripts and notebooks. The parts of a step may stand in helpers that the loop calls. Reports the step if nothing in
    the loop clears the gradients of its parameters, on any path.

    Gradients are cleared by `zero_grad()` of the optimizer, of another one of the same parameters, or of the model, and
    by code that sets `grad`. A `zero_grad()` before the loop clears nothing between its turns.

    ## Why is this bad
    `backward()` adds to the gradients that are there. Each step uses the sum of all gradients since the beginning,
    most of them of earlier parameters. The loss falls slowly, oscillates or grows, and there is no error.

    ## How to fix
    Clear the gradients in each turn:

    ```python
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
    ```

    ## What it cannot see
    Optimizers that are made out of sight, and code that gets the model or the optimizer in each turn and that modellint
    cannot read. It ignores optimizers that get a closure, and those of frameworks that train by themselves.

    ```python
    def train(model, optimizer, loader):  # nobody in sight says what `optimizer` is
        ...
    ```

    ## Confirming
    modellint does not confirm the finding: nothing raises an error, and a run does not show what the code means.

    ## References
    - [Optimizer.zero_grad](https://pytorch.org/docs/stable/generated/torch.optim.Optimizer.zero_grad.html)
    """

    code = "ML705"
    name = "gradients-never-cleared"
    severity = Severity.WARNING
    about = ("torch",)

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        from .cleared import is_cleared

        told: set[int] = set()
        for course in queries.courses(module, project):
            for turn in course.turns():
                if id(turn.step.value) not in told and not is_cleared(turn):
                    told.add(id(turn.step.value))
                    yield self._report(turn)

    def _report(self, turn: queries.Turn) -> Finding:
        step, loss = turn.step, turn.losses[-1]
        name = step.name
        before = [one for one in turn.course.of(queries.Act.CLEAR) if one.subject is not None]
        outside = [Related(one.place, "cleared here, outside of the loop") for one in before[:1]]
        return self.finding(
            step.place,
            f"`{name}` makes its steps in a loop, and nothing in the loop clears the gradients",
            symbol=f"{step.function.qualname}.{name}",
            confidence=Confidence.HIGH,
            severity=Severity.INFO if step.is_tried else None,
            evidence=("`backward()` adds to the gradients of the turns before",),
            related=[Related(loss.place, "a loss goes backward here"), *outside],
            help=f"call `{name}.zero_grad()` before `backward()`, in each turn",
            fix=_fix(turn),
        )


def _fix(turn: queries.Turn) -> Fix | None:
    """A `zero_grad()` before `backward()`; behind the step where this is done in some turns only."""
    step, loss = turn.step, turn.losses[0]
    if step.scaler is not None:
        return None
    is_each = len(turn.losses) == 1 and loss.tests == step.tests and loss.loops == step.loops
    is_each &= loss.function is step.function
    place, module = (loss if is_each else step).place, step.function.module
    line, text = module.source.lines[place.span.line - 1], module.text_of((loss if is_each else step).value)
    margin, rest = line[: place.span.column - 1], line[place.span.end_column - 1 :].strip()
    if margin.strip() or place.span.end_line != place.span.line or (rest and rest[0] != "#"):
        return None
    cleared, margin = f"{step.name}.zero_grad()", margin.replace("\f", "")
    ending = line[len(line.rstrip("\r\n")) :] or "\n"
    if is_each:
        return Fix(f"call `{cleared}`", Applicability.UNSAFE, (Edit(place, f"{cleared}{ending}{margin}{text}"),))
    below = place.span.line + 1
    if not line.endswith(ending):
        return None
    place = Place(place.path, Span(below, 1, below, 1))
    return Fix(f"call `{cleared}`", Applicability.UNSAFE, (Edit(place, f"{margin}{cleared}{ending}"),))
