"""ML709: a tensor is changed in place before the backward pass needs it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from modellint import claims, edits, operators
from modellint.finding import Applicability, Confidence, Edit, Finding, Fix, Severity
from modellint.flow import queries
from modellint.graph.definitions import External
from modellint.graph.value import EventKind, InPlace, Op
from modellint.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import ModuleFacts
    from modellint.rule import Probe, Project

#: `x += y`, in its three parts.
_AUGMENTED = re.compile(r"([^\W\d]\w*)\s*([-+*/@%|&^<>]+|//|\*\*)=\s*(.+)", re.DOTALL)
_RAISED = {
    "leaf": "PyTorch raises `a leaf Variable that requires grad is being used in an in-place operation` here",
    "": "`backward()` raises `one of the variables needed for gradient computation has been modified by an inplace "
    "operation`",
}


class InPlaceOnSaved(Rule):
    """A tensor is changed in place before backward needs it

    ## What it does
    Follows each tensor from the operator that keeps it for the backward pass to what changes it in place: through
    `forward`, `Sequential`, methods, functions, views and files. Reports `+=`, `x[i] = y`, methods such as `add_`, and
    layers and functions with `inplace=True`, on

    - the result of an operator that keeps its result, such as ReLU, `sigmoid`, `tanh`, `exp` and `softmax`
    - the input of a layer that keeps its input, such as `Linear`, convolutions and norms
    - an operand of `*`, `/`, `@` or `**`, where the other one needs a gradient
    - a parameter, where gradients are recorded

    The finding is an error. It is a warning if only some condition leads there, and an info in tests.

    ## Why is this bad
    PyTorch keeps these tensors as they are, and not as copies. `backward()` finds that one has changed, and raises
    RuntimeError: `one of the variables needed for gradient computation has been modified by an inplace operation`. The
    message names neither the operator that changed it nor a line. A parameter that needs a gradient cannot be changed
    in place at all.

    ## How to fix
    Make a new tensor.

    ```python
    x = F.relu(self.conv(x))
    x = x + shortcut  # not: x += shortcut
    ```

    Change a parameter under `torch.no_grad()`.

    ## Fixes
    `--unsafe-fixes` writes `x += y` as `x = x + y`. The tensor that another name stands for stays as it was.

    ## What it cannot see
    Tensors that need a gradient only for some callers. It is silent where code decides itself which tensors need one
    (`requires_grad_`), under `torch.no_grad()`, in functions from which no way leads to `backward()` or `forward`, and
    for `x.data`, which hides the change from PyTorch: the gradients are silently wrong there.

    ```python
    def forward(self, x):
        x = F.relu(x)
        x += self.bias_of(x)  # `x` may need no gradient
    ```

    ## Confirming
    modellint builds the layer, calls it, and goes backwards. PyTorch's error is the verdict.

    ## References
    - [In-place correctness checks](https://pytorch.org/docs/stable/notes/autograd.html#in-place-correctness-checks)
    """

    code = "ML709"
    name = "in-place-on-saved"
    severity = Severity.ERROR
    about = ("torch",)

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        for changed in queries.tensors_changed(module, project):
            operation = changed.operation
            place = operation.site.place
            is_leaf = changed.what == "leaf"
            if is_leaf and _runs_without_gradients(module, project):
                continue
            what = "input" if changed.what == "operand" and changed.keeper[:1].isalpha() else changed.what
            keeps = f"`{changed.keeper}` keeps its {what} for the backward pass"
            message = f"`{changed.by}` changes a parameter that needs a gradient"
            yield self.finding(
                place,
                message if is_leaf else f"{keeps}, and `{changed.by}` changes it",
                symbol=operation.symbol,
                confidence=Confidence.HIGH,
                severity=Severity.INFO if operation.is_tried else Severity.WARNING if operation.is_open else None,
                evidence=(_RAISED["leaf" if is_leaf else ""],),
                related=operation.related_places(keeps),
                help=_help(changed),
                fix=None if is_leaf else _fix(changed, module),
                claim=None if changed.owner is None else claims.Changed(place, changed.owner),
            )

    def probe(self, claim: claims.Changed, project: Project) -> Probe:
        """Go backwards once: does torch refuse it?"""
        from modellint.rule import file_probe

        return file_probe(claim, claim.owner)


def _runs_without_gradients(module: ModuleFacts, project: Project) -> bool:
    """True if a package of the project switches gradients off when it is imported."""
    for other in queries.files_mentioning(module, project, "set_grad_enabled"):
        if other.path.rpartition("/")[2] != "__init__.py":
            continue
        for event in other.body.flow.of(EventKind.CALL):
            definition = project.names.definition(other, event.value.callee)
            name = definition.name if isinstance(definition, External) else ""
            given = event.value.argument(0, "mode")
            is_off = given is not None and given.op is Op.CONST and given.data is False and event.guard is None
            if is_off and name.startswith("torch.") and name.endswith(".set_grad_enabled"):
                return True
    return False


def _help(changed: queries.ChangedTensor) -> str:
    by, value = changed.by, changed.operation.site.value
    if changed.what == "leaf":
        return "change it under `torch.no_grad()`, or make a new tensor of it"
    if by == "[]=":
        return "change a copy (`clone()`), or make a new tensor with `torch.where` or `torch.cat`"
    if value.op is Op.BIN:
        return f"make a new tensor: `x = x {by[:-1]} y`"
    if by.endswith("()"):
        return "pass a copy (`clone()`)"
    if not by.endswith("_"):
        return "leave out `inplace=True`"
    is_known = by[:-1] in operators.methods("Tensor")
    return f"make a new tensor with `{by[:-1]}`" if is_known else "change a copy (`clone()`)"


def _fix(changed: queries.ChangedTensor, module: ModuleFacts) -> Fix | None:
    """`x = x + y` for `x += y`."""
    site = changed.operation.site
    if site.value.op is not Op.BIN or not isinstance(site.value.data, InPlace):
        return None
    written = _AUGMENTED.fullmatch(edits.text_at(site.place, module))
    if written is None:
        return None
    name, operator, other = written.groups()
    operand = other if edits.is_atom(other) else f"({other})"
    text = f"{name} = {name} {operator} {operand}"
    return Fix("Make a new tensor", Applicability.UNSAFE, (Edit(site.place, text),))
