"""ML507: a statement whose result is all it does, and is lost."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from modellint import claims, operators
from modellint.finding import Applicability, Confidence, Edit, Finding, Fix, Place, Severity, Span
from modellint.flow import queries
from modellint.graph.value import Op
from modellint.rule import Rule, called_probe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import ModuleFacts
    from modellint.graph.value import Value
    from modellint.rule import Project

#: Methods that compute a new tensor, and change nothing.
_PURE = frozenset(
    (
        *("to", "cuda", "cpu", "type", "float", "half", "double", "long", "int", "bool", "bfloat16", "type_as"),
        *(
            "masked_fill",
            "clamp",
            "detach",
            "unsqueeze",
            "squeeze",
            "reshape",
            "transpose",
            "permute",
            "view",
            "expand",
        ),
        *("contiguous", "clone", "flatten", "repeat", "softmax", "sigmoid", "tanh", "relu", "mul", "div", "add", "sub"),
        *(
            "index_select",
            "masked_select",
            "gather",
            "scatter",
            "scatter_add",
            "index_fill",
            "index_add",
            "fill_diagonal",
        ),
        *("swapaxes", "t", "flip", "roll", "tril", "triu", "abs", "exp", "log", "sqrt", "pow", "neg", "nan_to_num"),
    )
)
#: Those whose names only methods of arrays and tensors have: whatever the class, they change nothing.
_TELLING = frozenset(
    ("masked_fill", "unsqueeze", "index_select", "masked_select", "transpose", "swapaxes", "type_as", "contiguous")
)
#: Layers that compute from their input alone.
_STATELESS = (
    *("Linear", "Conv", "LayerNorm", "GroupNorm", "RMSNorm", "Embedding", "Dropout", "ReLU", "GELU", "SiLU", "Sigmoid"),
    *("Tanh", "Softmax", "LogSoftmax", "LeakyReLU", "ELU", "AvgPool", "MaxPool"),
)
_TRYING = re.compile(r"warm|profil|bench|timing|measure", re.IGNORECASE)


class ResultDropped(Rule):
    """A statement computes a tensor and drops the result

    ## What it does
    Reports statements that compute a tensor without using it: `x.masked_fill(mask, 0)`, `mask.unsqueeze(1)`,
    `torch.transpose(x, 0, 1)`, `x.to(device)` of a tensor, and calls of layers such as `self.layer_norm(x)`. The
    finding is an info for `contiguous`.

    Also reports statements that change a copy: an index by a mask or by a list of numbers makes a new tensor, so
    `scores[mask].fill_(0)` leaves `scores` as it was.

    ## Why is this bad
    The line has no effect, and nothing tells you: the mask is not applied, the norm does not normalise, the tensor
    stays on its device.

    ## How to fix
    Assign the result, or call the in-place method (`masked_fill_`). `--unsafe-fixes` assigns it to the name that the
    method was called on:

    ```python
    scores = scores.masked_fill(mask, float("-inf"))
    scores[mask] = 0
    ```

    ## What it cannot see
    Methods that other objects have as well (`to`, `type`, `detach`), if the object may be no tensor: modules and
    batches move in place.

    ```python
    batch.to(device)  # a tensor stays where it is, a batch of texts moves
    ```

    ## Confirming
    modellint calls the function with inputs that it takes, and looks whether the statement changes any of its tensors,
    or whether the index makes a new one.

    ## References
    - [In-place operations](https://pytorch.org/docs/stable/notes/autograd.html#in-place-operations-with-autograd)
    """

    code = "ML507"
    name = "result-dropped"
    severity = Severity.WARNING
    requires = ("dropped_calls",)
    about = ("torch.Tensor",)
    probe = staticmethod(called_probe)

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        from .copies import changes_copy

        for call in queries.flow(module, project).dropped_calls():
            if _TRYING.search(call.function.name) or _TRYING.search(module.file.name):
                continue
            what = _dropped_operation(call)
            if what is not None:
                yield self._finding(call, what)
            elif changes_copy(call) and not _is_defined(str(call.value.callee.data), module, project):
                yield self._copy_finding(call)

    def _finding(self, call: queries.Call, what: str) -> Finding:
        is_weak = what == "contiguous"
        return self.finding(
            call.place,
            f"`{what}` has no effect here: nothing uses its result",
            symbol=f"{call.symbol}.{what}",
            confidence=Confidence.HIGH if call.result.is_tensor else Confidence.MEDIUM,
            severity=Severity.INFO if is_weak or call.is_tried_out else None,
            evidence=("the statement computes a new tensor and drops it",),
            help="assign the result" + (f", or call `{what}_`" if f"{what}_" in operators.methods("Tensor") else ""),
            fix=_assign_fix(call.value, call.module),
            claim=claims.Lost(call.place),
        )

    def _copy_finding(self, call: queries.Call) -> Finding:
        from .copies import assignment_fix

        callee = call.value.callee
        index = queries.Operand(callee.args[0], call.function, call.project)
        return self.finding(
            call.place,
            f"`{callee.data}` changes a copy: `{index.text}` is a new tensor",
            symbol=f"{call.symbol}.{callee.data}",
            confidence=Confidence.HIGH,
            severity=Severity.INFO if call.is_tried_out else None,
            evidence=("an index by a mask, or by a list of numbers, copies the elements",),
            help=f"assign to the index: `{index.text} = …`",
            fix=assignment_fix(call),
            claim=claims.Copied(index.place),
        )


def _dropped_operation(call: queries.Call) -> str | None:
    """The name of the operation whose result a statement drops; None if it may have an effect."""
    value, callee, project = call.value, call.value.callee, call.project
    if call.event.handled or "out" in value.data:
        return None
    if project.names.definition(call.module, callee) is not None:
        name = next((one for one in call.function_names if one.startswith("torch.") and one.count(".") == 1), "")
        last = name.rpartition(".")[2]
        return last if last in _PURE and not value.has_unpacking else None
    if callee.op is Op.ATTR and callee.data in _PURE and callee.args[0].op is not Op.GLOBAL:
        name, receiver = str(callee.data), queries.Operand(callee.args[0], call.function, project)
        if receiver.is_tensor:
            is_fresh = callee.args[0].op is Op.CALL and callee.args[0].target is None
            return None if is_fresh and name in ("to", "cuda") else name  # which only wakes a device up
        is_shape = name == "reshape" and len(value.positional) > 1 and not value.data
        if (name in _TELLING or is_shape) and len(value.args) > 1 and not _is_defined(name, call.module, project):
            return name
    is_layer = call.callee.torch_layer(*_STATELESS) is not None
    return call.callee.text if is_layer and value.positional and "_hook" not in call.module.code else None


def _is_defined(name: str, module: ModuleFacts, project: Project) -> bool:
    """True if a class near a file, or mentioned in it, has a method of this name, which may do anything."""
    return any(
        one.file.parent == module.file.parent or cls.name in module.body.words
        for one in (module, *queries.files_mentioning(module, project, f"def {name}"))
        for cls in one.classes.values()
        if name in cls.methods
    )


def _assign_fix(call: Value, module: ModuleFacts) -> Fix | None:
    """Assign the result to the name that the method was called on."""
    if call.callee.op is not Op.ATTR:
        return None
    text = module.text_of(call)
    owner = re.match(r"([A-Za-z_][\w.]*)\s*\.\s*\w+\(", text)
    if owner is None or owner[1].startswith("torch"):
        return None
    name = text[: len(owner[1])]
    if (
        name == "self"
        or name.count(".") > 1
        or (module.text_of(call.callee.args[0]) != name and call.callee.args[0].target != name)
    ):
        return None
    span = module.place(call).span
    spot = Place(module.path, Span(span.line, span.column, span.line, span.column))
    return Fix(f"Assign it to `{name}`", Applicability.UNSAFE, (Edit(spot, f"{name} = "),))
