"""ML706: a layer that is evaluated in training mode, or trained in evaluation mode."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.finding import Confidence, Finding, Related, Severity
from modellint.flow import queries
from modellint.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import ModuleFacts
    from modellint.rule import Project

    from .evaluated import Evaluated
    from .frozen import Undone
    from .left import Left


class ModeNotSet(Rule):
    """A model is evaluated in training mode, or trained in evaluation mode

    ## What it does
    x

    ## Why is this bad
    x

    ## How to fix
    x
    """

    code = "ML706"
    name = "mode-not-set"
    severity = Severity.WARNING
    about = ("torch",)

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        from .branches import same_mode
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
        for left in left_in_evaluation(module, project):
            yield self._left(left)
        for undone in undone_by_train(module, project):
            yield self._undone(undone)
        for one in evaluated_in_training(module, project):
            yield self._evaluated(one)

    def _left(self, left: Left) -> Finding:
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

    def _undone(self, undone: Undone) -> Finding:
        where = "" if undone.is_certain else ", if it is this object that it is called on"
        return self.finding(
            undone.function.module.place(undone.event.value),
            f"`train()` puts {'the norms' if undone.name == 'the norms' else f'`{undone.name}`'} back into training mode",
            symbol=f"{undone.cls.qualname}.{undone.name.removeprefix('self.')}",
            confidence=Confidence.HIGH if undone.is_certain else Confidence.MEDIUM,
            severity=None if undone.is_certain else Severity.INFO,
            evidence=(f"`{undone.cls.name}` does not override `train`", "the constructor calls `eval()` once"),
            related=(Related(undone.train.place, f"`train()` is called here{where}"),),
            help="override `train`, and call `eval()` of the parts behind `super().train(mode)`",
        )

    def _evaluated(self, one: Evaluated) -> Finding:
        action, made = one.action, one.made
        subject = action.subject
        assert subject is not None
        name = subject.text
        related = []
        if one.set is not None:
            related.append(Related(one.set.place, "it is put into training mode here"))
        else:
            related.append(Related(made.place, "it is made here, in training mode"))
        return self.finding(
            action.place,
            f"`{name}` is evaluated in training mode",
            symbol=f"{action.function.qualname}.{name}",
            confidence=Confidence.HIGH,
            related=related,
            help="call `eval()` before",
        )
