"""ML106: a constant among the targets of a loss that is no class, and not the one that the loss ignores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import edits, operators
from modellint.finding import Applicability, Confidence, Edit, Finding, Fix, Related, Severity
from modellint.flow import queries
from modellint.graph.size import excess
from modellint.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.size import Size
    from modellint.rule import Project

#: Names of the losses whose targets are classes.
_LOSSES = operators.words("judges")


class TargetOutsideClasses(Rule):
    """Targets are filled with a value that is no class and not `ignore_index`

    ## What it does
    Follows constants that are written into targets (`torch.full`, `masked_fill`, `pad_sequence(padding_value=…)`,
    `F.pad(value=…)`, `labels[…] = …`) to `F.cross_entropy`, `F.nll_loss`, `nn.CrossEntropyLoss` and `nn.NLLLoss`,
    across functions and files: from a `collate_fn` through the batches of its `DataLoader`, also those that the trainer
    of Lightning passes to `training_step`. A list may be padded first (`labels + [-1] * n`). Compares the constants
    with the `ignore_index` of the loss (-100 by default) and with the number of classes, where it is known.

    ## Why is this bad
    These losses accept a class from 0 to the number of classes minus 1, or the `ignore_index`. The first batch with any
    other target fails with `Target -1 is out of bounds` on the CPU and `device-side assert triggered` on a GPU.
    `reduction="none"` and a mask afterwards do not help: the loss fails first.

    ## How to fix
    Fill with the `ignore_index` of the loss, as `--unsafe-fixes` does, or pass your fill value as `ignore_index`:

    ```python
    F.cross_entropy(logits, targets, ignore_index=-1)
    ```

    ## What it cannot see
    - targets that a data loader passes from a dataset, without a `collate_fn`, to a training loop
    - a fill value of 0 or more, if the number of classes is unknown: it may be a class

    ## Confirming
    modellint runs nothing for this rule: the arguments of the loss say which targets it accepts.

    ## References
    - [torch.nn.CrossEntropyLoss](https://pytorch.org/docs/stable/generated/torch.nn.CrossEntropyLoss.html)
    """

    code = "ML106"
    name = "target-outside-classes"
    severity = Severity.WARNING
    requires = ("callers", "constants_written", "is_compared", "loss_targets", "modules_fed")
    about = ("torch.nn.CrossEntropyLoss",)

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        flow = queries.flow(module, project)
        losses = [*flow.loss_targets()]
        for function in {f: None for f, filler in flow.constants_written() if _is_below(filler)}:
            beside = _targets_beside(function, flow, project)
            losses += (one for one in beside if one.element.origin.module is module)
        seen: set[object] = set()
        for judged in losses:
            filler = judged.element
            assert isinstance(filler, queries.Filler)
            if not judged.is_conditional and filler.key not in seen and _is_outside(filler, judged):
                seen.add(filler.key)
                yield self._finding(filler, judged, flow.is_compared(filler))

    def _finding(self, filler: queries.Filler, judged: queries.LossLookup, is_compared: bool) -> Finding:
        value, function = filler.origin.value, filler.origin.function
        assert function is not None
        written = function.module.text_of(value)
        place, written_at = edits.constant_places(value, function, filler.size.number)
        number, ignored = filler.size.number, judged.ignored
        shown = written if number is None or written == str(number) else f"{written} = {number}"
        related = [Related(judged.place.place, "the targets are passed on here")] if len(judged.steps) > 1 else []
        related.append(Related(judged.steps[-1].place, f"this loss ignores {ignored.described}"))
        if judged.classes is not None and judged.rows is not None:
            related.append(Related(judged.classes.place, f"the scores are for {judged.rows.described} classes"))
        is_proved = filler.size.constant is not None and ignored.constant is not None
        can_be_fixed = ignored.constant is not None and not is_compared
        edit = None if written_at is None or not can_be_fixed else Edit(written_at, str(ignored.number))
        return self.finding(
            place,
            f"targets are filled with `{shown}`, which is no class, and the loss ignores {ignored.described}",
            symbol=written,
            confidence=Confidence.HIGH if is_proved else Confidence.MEDIUM,
            evidence=(_range(judged.rows),),
            related=related,
            help=f"fill with {ignored.described}, or pass `ignore_index={written}` to the loss",
            fix=None if edit is None else Fix("Fill with the `ignore_index`", Applicability.UNSAFE, (edit,)),
        )


def _targets_beside(function: Function, flow: queries.Queries, project: Project) -> Iterator[queries.LossLookup]:
    """The targets of losses in other files that use a loss and call a function or one of its callers."""
    called = (function, *flow.callers(function))
    functions = dict.fromkeys((*called, *(caller for one in called for caller in flow.callers(one))))
    for module in dict.fromkeys((*(one.module for one in functions), *flow.modules_fed(function))):
        if module is not function.module and any(_LOSSES & one.words for one in module.all_functions()):
            yield from queries.flow(module, project).loss_targets()


def _is_below(filler: queries.Filler) -> bool:
    """True if a constant is negative, and so is no class; a default may stand for one that is not known yet."""
    return filler.size.constant is not None and filler.size.constant < 0


def _is_outside(filler: queries.Filler, judged: queries.LossLookup) -> bool:
    """True if a constant is no class, as far as these are known, and not the one that the loss ignores.

    Where one of the two numbers is a default, a caller who passes another may pass both.
    """
    size, ignored = filler.size, judged.ignored
    if ignored.number is None or size == ignored or (size.constant is None and ignored.constant is None):
        return False
    if _is_below(filler):
        return size.constant != ignored.number
    above = None if judged.rows is None else excess(size, judged.rows)
    return above is not None and above >= 0


def _range(rows: Size | None) -> str:
    """The range of classes that a loss takes, in words."""
    if rows is None:
        return "a class is 0 or more"
    last = rows.number - 1 if rows.number is not None else f"{rows} - 1"
    return f"the classes are 0 to {last}"
