"""ML708: the parts of a training step in the wrong order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.finding import Confidence, Finding, Related, Severity
from modellint.flow import queries
from modellint.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import ModuleFacts
    from modellint.rule import Project

    from .order import Misplaced


class StepOrder(Rule):
    """The parts of a training step are in the wrong order

    ## What it does
    Follows what a loop does, with its helpers: `backward()`, the `step()` of an optimizer, and what belongs to it.
    Reports

    - a scheduler of torch that steps in each turn before its optimizer has made a step
    - gradients that are clipped after the step
    - gradients that are clipped while a `GradScaler` still scales them, as nothing called `unscale_`
    - `zero_grad()` between `backward()` and `step()`
    - `scaler.step()` in a loop without `scaler.update()`

    The kind of the object decides. The `step()` of an environment, a profiler or a scheduler of diffusion is none of
    these. Where the requirements ask for torch before 1.1, schedulers step first.

    ## Why is this bad
    A scheduler that steps first skips the first learning rate, and PyTorch warns of it. Clipping after the step
    changes gradients that nothing uses. Scaled gradients are thousands of times as large as the limit, so that each
    step has the same length. After `zero_grad()`, the step has no gradients, and nothing is learned. Without
    `update()`, the second step raises `RuntimeError: step() has already been called since the last update()`.

    ## How to fix
    ```python
    for inputs, targets in loader:
        optimizer.zero_grad()
        loss = criterion(model(inputs), targets)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        scheduler.step()
    ```

    ## What it cannot see
    Optimizers, schedulers and scalers that are made out of sight, and parts of the step in code that modellint cannot
    read. It ignores schedulers that get the number of the epoch.

    ```python
    def train(model, optimizer, scheduler, loader):  # nobody in sight says what these are
        ...
    ```

    ## Confirming
    modellint does not confirm the finding: most orders raise no error.

    ## References
    - [How to adjust learning rate](https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate)
    - [Working with unscaled gradients](https://pytorch.org/docs/stable/notes/amp_examples.html)
    """

    code = "ML708"
    name = "step-order"
    severity = Severity.WARNING
    about = ("torch",)

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        from .order import wrong_orders

        told: set[int] = set()
        for course in queries.courses(module, project):
            for found in wrong_orders(course, project):
                if id(found.action.value) not in told:
                    told.add(id(found.action.value))
                    yield self._report(found)

    def _report(self, found: Misplaced) -> Finding:
        action, other = found.action, found.other
        message, evidence, said, advice = _texts(found)
        return self.finding(
            action.place,
            message,
            symbol=f"{action.function.qualname}.{found.order.value}",
            confidence=Confidence.HIGH,
            severity=Severity.INFO if action.is_tried else None,
            evidence=(evidence,),
            related=(Related(other.place, said),),
            help=advice,
        )


def _texts(found: Misplaced) -> tuple[str, str, str, str]:
    """The message, the evidence, the note at the other place, and the advice."""
    from .order import Order

    name, other = found.action.name, found.other.name
    if found.order is Order.SCHEDULED_FIRST:
        return (
            f"`{name}.step()` comes before `{other}.step()`: the first learning rate is skipped",
            "nothing in the loop steps the optimizer before",
            "the optimizer steps here",
            f"call `{name}.step()` after `{other}.step()`",
        )
    if found.order is Order.CLIPPED_LATE:
        return (
            f"gradients are clipped after `{other}` has made its step",
            "nothing uses the clipped gradients",
            "the optimizer steps here",
            "clip between `backward()` and `step()`",
        )
    if found.order is Order.CLIPPED_SCALED:
        assert found.other.scaler is not None
        return (
            "gradients are clipped while a `GradScaler` still scales them",
            "the scaler divides them by its factor in `step()`, after the clip",
            "the scaler steps here",
            f"call `unscale_({other})` of the scaler before the clip",
        )
    if found.order is Order.CLEARED_EARLY:
        return (
            f"`{name}.zero_grad()` clears the gradients before `{other}` makes its step",
            "nothing goes backward between the two",
            "the optimizer steps here",
            "clear the gradients before `backward()`, or after `step()`",
        )
    return (
        f"the scaler makes steps of `{name}` in a loop, and is never updated",
        "the second step raises RuntimeError",
        "the loss goes backward here",
        "call `update()` of the scaler after each step",
    )
