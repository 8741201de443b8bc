"""ML706: a layer that is evaluated in training mode, or trained in evaluation mode."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import edits
from modellint.finding import Confidence, Finding, Related, Severity
from modellint.flow import queries
from modellint.graph.value import Op
from modellint.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import ModuleFacts
    from modellint.rule import Project

    from .evaluated import Evaluated
    from .frozen import Undone
    from .left import Left


class ModeNotSet(Rule):
    """A model is evaluated in training mode, or trained in evaluation

    ## What it does
    Follows models from where they are made to where they run, through functions, methods and files, and reports

    - a model with dropout or batch norm that is evaluated under `torch.no_grad()` or traced, after it was trained or
      its weights were loaded, if nothing on the whole way calls `eval()`;
    - `eval()` in a loop that trains the model, if nothing in the loop calls `train()` again;
    - `eval()` of norms or parts in a constructor, if `train()` is called on the model and its class does not override
      `train`. This is an info if nobody can see which model `train()` is called on;
    - a condition whose branches both do nothing but call `train()`.

    ## Why is this bad
    In training mode, dropout sets values to zero at random, and batch norm uses the statistics of the batch and updates
    its own. Results are noisy and depend on the other elements of the batch. In evaluation mode, dropout does nothing
    and batch norm learns no statistics. PyTorch raises no error.

    ## How to fix
    Set the mode where it begins:

    ```python
    for epoch in range(epochs):
        model.train()
        train_one_epoch(model, loader)
        model.eval()
        with torch.no_grad():
            validate(model, held_out)
    ```

    `torch.no_grad()` does not set the mode. To keep norms frozen, override `train`:

    ```python
    def train(self, mode=True):
        super().train(mode)
        self.backbone.eval()
        return self
    ```

    ## What it cannot see
    Models that code out of sight makes or gets, such as those of a framework that sets modes itself. The rule ignores
    several runs of one input in training mode (Monte Carlo dropout), runs whose result nobody uses, samples that a
    generator makes of noise while it is trained, classes that set their own mode, and evaluations before the training
    in a loop. `torch.onnx.export` without `dynamo=True` sets the mode itself.

    ```python
    def accuracy(model, loader):  # the caller may have called `model.eval()`
        ...
    ```

    ## Confirming
    modellint does not confirm the finding: nothing raises an error, and a run does not show what the code means.

    ## References
    - [torch.nn.Module.eval](https://pytorch.org/docs/stable/generated/torch.nn.Module.html)
    - [Autograd mechanics: evaluation mode](https://pytorch.org/docs/stable/notes/autograd.html)
    """

    code = "ML706"
    name = "mode-not-set"
    severity = Severity.WARNING
    about = ("torch",)

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        from .branches import same_mode
        from .candidates import courses_of_modes
        from .evaluated import evaluated_in_training
        from .frozen import undone_by_train
        from .left import left_in_evaluation

        for function, first, second in same_mode(module):
            name = module.text_of(second.value.callee.args[0])
            yield self.finding(
                module.place(second.value),
                f"both branches put `{name}` into training mode",
                symbol=f"{function.qualname}.{name}",
                confidence=Confidence.HIGH,
                related=(Related(module.place(first.value), "the other branch"),),
                help=f"call `{name}.eval()` in one of them",
            )
        if not any(word in module.text for word in ("no_grad", "inference_mode", "eval", "trace", "export")):
            return
        courses = list(courses_of_modes(module, project))
        for left in left_in_evaluation(module, courses):
            yield self._report_left(left)
        for undone in undone_by_train(module, project):
            yield self._report_undone(undone)
        for one in evaluated_in_training(module, courses):
            yield self._report_evaluated(one)

    def _report_left(self, left: Left) -> Finding:
        action = left.action
        name = action.name
        related = [Related(left.trained.place, "it is trained here, in each turn")]
        if left.set is not None:
            related.append(Related(left.set.place, "it is put into training mode here, once"))
        return self.finding(
            action.place,
            f"`{name}` is put into evaluation mode in the loop that trains it, and nothing in the loop puts it back",
            symbol=f"{action.function.qualname}.{name}",
            confidence=Confidence.HIGH if left.is_known else Confidence.MEDIUM,
            evidence=("from the second turn on it is trained in evaluation mode",),
            related=related,
            help=f"call `{name}.train()` at the beginning of each turn",
        )

    def _report_undone(self, undone: Undone) -> Finding:
        name = "the norms" if undone.name == "the norms" else f"`{undone.name}`"
        where = "" if undone.is_certain else ", if it is this object that it is called on"
        return self.finding(
            undone.function.module.place(undone.event.value),
            f"`train()` puts {name} back into training mode",
            symbol=f"{undone.cls.qualname}.{undone.name.removeprefix('self.')}",
            confidence=Confidence.HIGH if undone.is_certain else Confidence.MEDIUM,
            severity=None if undone.is_certain else Severity.INFO,
            evidence=(f"`{undone.cls.name}` does not override `train`", "the constructor calls `eval()` once"),
            related=(Related(undone.train.place, f"`train()` is called here{where}"),),
            help="override `train`, and call `eval()` of the parts behind `super().train(mode)`",
        )

    def _report_evaluated(self, one: Evaluated) -> Finding:
        action, name = one.action, _name(one.action)
        related = [Related(one.made.place, "it is made here, in training mode")]
        if one.set is not None:
            related = [Related(one.set.place, "it is put into training mode here")]
        if one.trained is not None:
            evidence = "it runs in the training, too, and nothing calls `eval()`"
        else:
            evidence = "its weights are loaded, and nothing calls `eval()`"
        return self.finding(
            action.place,
            f"`{name}` is evaluated in training mode: its dropout or batch norm is active",
            symbol=f"{action.function.qualname}.{name}",
            confidence=Confidence.HIGH,
            evidence=(evidence,),
            related=related,
            help=f"call `{name}.eval()` before",
        )


def _name(action: queries.Action) -> str:
    """The model that runs, in the words of the call: `model` of `model(x)`, `model.sample(x)` and `trace(model, x)`."""
    module, call = action.function.module, action.value
    if action.act is queries.Act.RECORD:
        place = edits.argument_place(call, 0, "func", module)
        return "" if place is None else edits.text_at(place, module)
    text = module.text_of(call)
    subject = action.subject
    if call.callee.op is Op.ATTR and subject is not None and subject.value is not call.callee:
        return text.partition(f".{call.callee.data}(")[0]
    return text.partition("(")[0]
