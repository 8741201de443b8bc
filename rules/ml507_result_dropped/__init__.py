"""ML507: a statement whose result is all it does, and is lost."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from modellint import claims, operators
from modellint.finding import Applicability, Confidence, Edit, Finding, Fix, Place, Severity, Span
from modellint.graph.definitions import External
from modellint.graph.value import Op
from modellint.rule import Rule, called_probe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.value import Event, Value
    from modellint.link.values.kinds import Kinds
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

    ## Why is this bad
    The line has no effect, and nothing tells you: the mask is not applied, the norm does not normalise, the tensor
    stays on its device.

    ## How to fix
    Assign the result, or call the in-place method (`masked_fill_`). `--unsafe-fixes` assigns it to the name that the
    method was called on:

    ```python
    scores = scores.masked_fill(mask, float("-inf"))
    ```

    ## What it cannot see
    Methods that other objects have as well (`to`, `type`, `detach`), if the object may be no tensor: modules and
    batches move in place.

    ```python
    batch.to(device)  # a tensor stays where it is, a batch of texts moves
    ```

    ## Confirming
    modellint calls the function with inputs that it takes, and looks whether the statement changes any of its tensors.

    ## References
    - [In-place operations](https://pytorch.org/docs/stable/notes/autograd.html#in-place-operations-with-autograd)
    """

    code = "ML507"
    name = "result-dropped"
    severity = Severity.WARNING
    probe = staticmethod(called_probe)

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        from modellint.link.values.kinds import Kinds

        for function in (*module.all_functions(), module.body):
            kinds: Kinds | None = None
            if not function.flow.dropped or _TRYING.search(function.name):
                continue
            for event in function.flow.dropped:
                kinds = kinds or Kinds(project, function)
                what = _dropped_operation(event, function, kinds, project)
                if what is not None and not _TRYING.search(module.file.name):
                    yield self._finding(function, event.value, what, kinds, project)

    def _finding(self, function: Function, call: Value, what: str, kinds: Kinds, project: Project) -> Finding:
        from modellint.link.calls.doubts import is_tried_out

        module = function.module
        is_weak = what == "contiguous"
        event = next(event for event in function.flow.dropped if event.value is call)
        is_trial = is_tried_out(project, function, event)
        return self.finding(
            module.place(call),
            f"`{what}` has no effect here: nothing uses its result",
            symbol=f"{function.qualname}.{what}",
            confidence=Confidence.HIGH if kinds.is_tensor(call) else Confidence.MEDIUM,
            severity=Severity.INFO if is_weak or is_trial else None,
            evidence=("the statement computes a new tensor and drops it",),
            help="assign the result" + (f", or call `{what}_`" if f"{what}_" in operators.methods("Tensor") else ""),
            fix=_assign_fix(call, module),
            claim=claims.Lost(module.place(call)),
        )


def _dropped_operation(event: Event, function: Function, kinds: Kinds, project: Project) -> str | None:
    """The name of the operation whose result a statement drops; None if it may have an effect."""
    call = event.value
    if event.handled or "out" in call.data:
        return None
    callee = call.callee
    definition = project.names.definition(function.module, callee)
    if definition is not None:
        name = definition.name if isinstance(definition, External) else ""
        last = name.rpartition(".")[2]
        is_pure = name.startswith("torch.") and name.count(".") == 1 and last in _PURE
        return last if is_pure and not call.has_unpacking else None
    if callee.op is Op.ATTR and callee.data in _PURE and callee.args[0].op is not Op.GLOBAL:
        name = str(callee.data)
        if kinds.is_tensor(callee.args[0]):
            is_fresh = callee.args[0].op is Op.CALL and callee.args[0].target is None
            return None if is_fresh and name in ("to", "cuda") else name  # which only wakes a device up
        is_shape = name == "reshape" and len(call.positional) > 1 and not call.data
        if (name in _TELLING or is_shape) and len(call.args) > 1 and not _is_defined(name, function.module, project):
            return name
    layer = kinds.layer(callee, _STATELESS)
    if layer is not None and call.positional and "_hook" not in function.module.code:
        return function.module.text_of(callee)
    return None


def _is_defined(name: str, module: ModuleFacts, project: Project) -> bool:
    """True if a class near a file, or mentioned in it, has a method of this name, which may do anything."""
    from modellint.link.searched import mentioning

    return any(
        one.file.parent == module.file.parent or cls.name in module.body.words
        for one in (module, *mentioning(project, module, f"def {name}"))
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
