"""ML211: a tensor that a layer makes on the default device while it works elsewhere."""

from __future__ import annotations

import ast
import textwrap
from typing import TYPE_CHECKING

from modellint import claims, edits
from modellint.finding import Applicability, Confidence, Edit, Finding, Fix, Place, Related, Severity, Span
from modellint.flow import queries
from modellint.graph.declared import worked_with
from modellint.graph.value import Op
from modellint.rule import Rule, file_probe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.value import Value
    from modellint.rule import Probe, Project

#: Words of projects that move their models, or have them moved.
_MOVING = (". to", "cuda", "accelerator", "gpus", "Trainer")


class TensorOnDefaultDevice(Rule):
    """A tensor on the default device meets those of the layer's device

    ## What it does
    Looks at tensors that `forward`, or a function that it calls, creates without `device=` (`torch.zeros`,
    `torch.arange`, `torch.tensor`, `torch.from_numpy`, …). Reports a tensor if the layer combines it with its input, a
    parameter or the output of a layer, in an operation that needs all tensors on one device: arithmetic, `cat`,
    `stack`, `matmul`, `masked_fill`, a lookup, the state of an RNN.

    Reports a tensor on a device that the constructor kept (`device=self.device`), too, if nothing moves the layer to
    it, no caller in sight passes a device, and nothing sets the attribute again. If no caller is in sight, the severity
    is `info`.

    These operations reject a tensor with one element (`torch.zeros(1)`), too. They accept a 0-dimensional tensor
    (`torch.tensor(1.0)`) from the CPU. `clamp` does not accept one as a bound, so the rule reports it, with severity
    `error`. If nothing in the project moves a model, the severity is `info`. No file can import a script such as
    `2_train.py`. There, the severity is `info` if the script and the files that it imports move no model.

    ## Why is this bad
    On a GPU, the first batch fails with `Expected all tensors to be on the same device`.

    ## How to fix
    Create the tensor on the device of the input, or use `x.new_zeros(n)` or `torch.zeros_like(x)`:

    ```python
    torch.zeros(n, device=x.device)
    ```

    ## What it cannot see
    - tensors that come from unknown functions or objects
    - layers that only files in other folders call

    ## References
    - [Device-agnostic code](https://pytorch.org/docs/stable/notes/cuda.html#device-agnostic-code)
    """

    code = "ML211"
    name = "tensor-on-default-device"
    severity = Severity.WARNING
    requires = ("callers", "holders", "layers_of", "object")
    about = ("torch.Tensor",)

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        from .made import encounters

        for met, model in encounters(module, project):
            yield self._finding(met, model, project)

    def probe(self, claim: claims.MadeAside, project: Project) -> Probe | None:
        """Move the layer to a device that is not there, and call it: do its new tensors meet ones that have moved?"""
        return file_probe(claim, claim.owner)

    def _finding(self, met: list[queries.Encounter], model: queries.ClassModel, project: Project) -> Finding:
        from .aside import is_passed_by_nobody

        made = min((one.made for one in met), key=lambda one: (one.maker.line, one.maker.offset))
        function = made.function
        assert function is not None
        module = function.module
        maker = module.text_of(made.maker.callee)
        is_bound = all(one.made.rank == 0 for one in met)
        kept = next((one.made.at for one in met if one.made.at is not None), None)
        where = "the default device" if kept is None else f"`self.{kept.name}`, where the layer was made"
        evidence = [f"`{maker}` makes a tensor on {where}, and nothing moves it"]
        is_still = not is_bound and not _moves(module, project)
        if is_still:
            evidence.append("nothing in this program moves a model yet")
        if kept is not None:
            evidence.append(f"`.to()` moves the layer, and `self.{kept.name}` stays the same")
            is_still = is_still or not is_passed_by_nobody(kept, model, project)
        return self.finding(
            module.place(made.maker),
            f"`{maker}` makes a tensor on {where}, but it is used with {_others(met[0])}"
            ", which may be on another device",
            symbol=f"{function.qualname}.{maker.rpartition('.')[2]}",
            confidence=Confidence.MEDIUM,
            severity=Severity.ERROR if is_bound else Severity.INFO if is_still else None,
            evidence=evidence,
            related=_related(made, met),
            help="make it on the device of the tensor that it is used with",
            fix=_fix(made, met, project),
            claim=_claim(made, met[0], model),
        )


def _claim(made: queries.Fresh, met: queries.Encounter, model: queries.ClassModel) -> claims.MadeAside | None:
    """The claim for a run; None for a tensor from another file."""
    assert made.function is not None
    module, cls = made.function.module, model.cls
    is_kept = made.at is not None and made.at.parameter is not None
    if cls is None or cls.module is not module:
        return None
    return claims.MadeAside(module.place(made.maker), cls.qualname, met.function.module.place(met.value), is_kept)


def _related(made: queries.Fresh, met: list[queries.Encounter]) -> list[Related]:
    more = dict.fromkeys(one.made for one in met if one.made.maker is not made.maker)
    uses = {id(one.value): one for one in met}.values()
    return [
        *(Related(one.function.module.place(one.value), f"`{one.function.name}` uses it here") for one in uses),
        *(
            Related(one.function.module.place(one.maker), f"made {'there' if one.at else 'on the default device'}, too")
            for one in more
            if one.function is not None
        ),
    ]


def _others(met: queries.Encounter) -> str:
    text = "a tensor" if met.other is None else met.function.module.text_of(met.other)
    return text if met.other is None else f"`{text if len(text) <= 40 else f'{text[:37]}...'}`"


def _fix(made: queries.Fresh, met: list[queries.Encounter], project: Project) -> Fix | None:
    """Make it on the device of a tensor among the arguments; of a bound, use the number."""
    from .made import factory

    function, call = made.function, made.maker
    if function is None or any(one.made.maker is not call or one.made.at is not None for one in met):
        return None
    module, row = function.module, factory(call, function, project)
    if row is None:
        return None
    if made.rank == 0:
        number = call.positional[0] if "literal" in row.facets and len(call.args) == 2 and not call.keywords else None
        is_bound = all(any(part is call for part in one.value.args) for one in met)
        if number is None or number.op is not Op.CONST or not is_bound:
            return None
        return Fix("Clamp by the number", Applicability.SAFE, (Edit(module.place(call), module.text_of(number)),))
    name = _tensor_given(function, call, {str(one.other.data) for one in met if one.other is not None})
    whole = edits.text_at(module.place(call), module)
    if row.facets["fresh"] != "default" or name is None or not call.positional or not whole.endswith(")"):
        return None
    span = module.span(call)
    spot = Place(module.path, Span(span.end_line, span.end_column - 1, span.end_line, span.end_column - 1))
    comma = "" if whole[:-1].rstrip().endswith(",") else ", "
    return Fix(f"Make it on the device of `{name}`", Applicability.SAFE, (Edit(spot, f"{comma}device={name}.device"),))


def _tensor_given(function: Function, call: Value, met: set[str]) -> str | None:
    """The only tensor among a function's parameters, or the only one that is met; None if its name is reused before."""
    known = worked_with(function, only_asked=True) - {"self"}
    tensors = [one.name for one in function.parameters if one.default is None and one.name in known]
    chosen = [name for name in tensors if name in met] or tensors
    if len(chosen) != 1:
        return None
    return chosen[0] if _keeps_name(chosen[0], function, call) else None


def _keeps_name(name: str, function: Function, call: Value) -> bool:
    """True if a function assigns to a parameter's name nowhere above a call, in the text."""
    try:
        tree = ast.parse(textwrap.dedent(function.text))
    except (SyntaxError, ValueError):
        return False
    stored = (node for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    return not any(node.id == name and function.line + node.lineno - 1 < call.line for node in stored)


def _moves(module: ModuleFacts, project: Project) -> bool:
    """True if code that may run beside a file's layers may move models, or have them moved."""
    from .program import program_of

    if not queries.is_searchable(module, project):
        return True
    moving = {path for word in _MOVING for path in queries.paths_mentioning(module, project, word)}
    if not moving:
        return False
    program = program_of(module, project)
    return program is None or not moving.isdisjoint(program)
