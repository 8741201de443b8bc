"""ML509: a function of torch that is given something else than the tensor it takes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from modellint import claims, edits
from modellint.finding import Applicability, Confidence, Edit, Finding, Fix, Place, Severity, Span
from modellint.graph.definitions import External
from modellint.graph.value import EventKind, Op, called_name
from modellint.rule import Rule, called_probe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.value import Event, Value
    from modellint.link.values.kinds import Kinds
    from modellint.rule import Project

#: Functions of `math` that torch has under the same name.
_IN_MATH = frozenset(
    (
        *("log", "log2", "log10", "log1p", "sqrt", "exp", "expm1", "sin", "cos", "tan", "sinh", "cosh", "tanh"),
        *("asin", "acos", "atan", "floor", "ceil", "trunc", "erf", "erfc", "lgamma"),
    )
)
#: Conditions that ask what kind of thing a value is, or how a program is run.
_ASKING = frozenset(("isinstance", "is_tensor", "type", "hasattr", "is_tracing", "is_scripting"))
_OPTIMIZER_HELP = "pass a list of parameters, or of dictionaries with `params`"


class NumberForTensor(Rule):
    """A torch function that takes a tensor gets a number, a list, a string or a layer

    ## What it does
    Reports a call of `torch` or `torch.nn.functional` whose first argument has to be a tensor, by torch's own
    signatures, but is something else on every path: a number (`torch.log(math.pi)`), a list, a string, or a layer
    instead of its output (`F.relu(self.proj)`). Also reports an optimizer that gets a dictionary.

    ## Why is this bad
    The call raises `TypeError: log(): argument 'input' (position 1) must be Tensor, not float`.

    ## How to fix
    For numbers, use `math`, as `--fix` does if the file imports it. Call the layer; convert the list to a tensor:

    ```python
    scale = math.sqrt(q.size(-1))
    y = F.relu(self.proj(x))
    ```

    ## What it cannot see
    Numbers that arrive as arguments or in settings.

    ```python
    def width(config):
        return torch.sqrt(config.width)  # a number, or a tensor of one?
    ```

    ## Confirming
    modellint builds the layer, or imports the file, and calls the function. PyTorch's error is the verdict.

    ## References
    - [torch](https://pytorch.org/docs/stable/torch.html)
    """

    code = "ML509"
    name = "number-for-tensor"
    severity = Severity.ERROR
    probe = staticmethod(called_probe)

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        from modellint.link.values.kinds import Kinds

        for function in (*module.all_functions(), module.body):
            kinds: Kinds | None = None
            for event in function.flow.of(EventKind.CALL):
                call = event.value
                if call.callee.op not in (Op.ATTR, Op.GLOBAL) or len(call.args) < 2 or "TypeError" in event.handled:
                    continue
                definition = project.names.definition(module, call.callee)
                if not isinstance(definition, External) or not definition.name.startswith("torch."):
                    continue
                given = call.argument(0, _first(definition.name))
                if given is None:
                    continue
                kinds = kinds or Kinds(project, function)
                kind = _kind(definition.name, given, kinds)
                if kind is not None and not _is_asked(event):
                    yield self._finding(function, call, given, definition.name, kind)

    def _finding(self, function: Function, call: Value, given: Value, name: str, kind: str) -> Finding:

        module, short = function.module, name.rpartition(".")[2]
        is_optimizer = name.startswith("torch.optim.")
        return self.finding(
            edits.argument_place(call, 0, _first(name), module) or module.place(call),
            f"`{short}` takes {'parameters' if is_optimizer else 'a tensor'}, but gets {kind}",
            symbol=f"{function.qualname}.{short}",
            confidence=Confidence.HIGH,
            evidence=(f"torch raises `TypeError`: `{module.text_of(given)[:60]}` is {kind} on every path",),
            help=_OPTIMIZER_HELP if is_optimizer else _help(short, kind),
            fix=_fix(call, module, short) if kind == "a number" else None,
            claim=claims.Refused(
                module.place(call), "TypeError", "can only optimize Tensors" if is_optimizer else "be Tensor"
            ),
        )


def _first(name: str) -> str:
    """The name of a function's first parameter."""
    return "params" if name.startswith("torch.optim.") else "input"


def _kind(name: str, value: Value, kinds: Kinds) -> str | None:
    """The kind of value that is passed instead of a tensor, in words; None if it may be a tensor."""
    from modellint.knowledge import surface

    if name.startswith("torch.optim.") and name.count(".") == 2 and name.rpartition(".")[2][:1].isupper():
        return "a dictionary" if value.op is Op.DICT else None
    if not surface.takes_tensor(name):
        return None
    if kinds.is_number(value):
        return "a number"
    if value.op in (Op.LIST, Op.DICT, Op.TUPLE):
        return {Op.LIST: "a list", Op.DICT: "a dictionary", Op.TUPLE: "a tuple"}[value.op]
    if (value.op is Op.CONST and isinstance(value.data, str)) or value.op is Op.STRING:
        return "a string"
    return "a layer" if kinds.layer(value, ("",)) is not None else None


def _is_asked(event: Event) -> bool:
    """True if a condition asks for a type, or for tracing, where tensors may stand for numbers."""
    tests = [guard.test for guard in event.guard.chain()] if event.guard is not None else []
    calls = (part for test in tests for part in test.walk() if part.op is Op.CALL)
    return any(called_name(call.callee) in _ASKING for call in calls)


def _help(short: str, kind: str) -> str:
    if kind == "a number":
        return f"use `math.{short}`" if short in _IN_MATH else "convert it to a tensor"
    return "call the layer" if kind == "a layer" else "convert it to a tensor"


def _fix(call: Value, module: ModuleFacts, short: str) -> Fix | None:
    """`math` in the place of `torch`, where the file imports it."""
    written = module.text_of(call.callee)
    if short not in _IN_MATH or module.imports.get("math") != "math" or call.data or len(call.args) != 2:
        return None
    if not re.fullmatch(rf"[A-Za-z_]\w*\.{short}", written):
        return None
    span = module.place(call.callee).span
    place = Place(module.path, Span(span.line, span.column, span.end_line, span.end_column))
    return Fix("Use `math`", Applicability.SAFE, (Edit(place, f"math.{short}"),))
