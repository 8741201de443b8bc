"""ML509: a function of torch that is given something else than the tensor it takes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from modellint import claims, edits
from modellint.finding import Applicability, Confidence, Edit, Finding, Fix, Place, Related, Severity, Span
from modellint.flow import queries
from modellint.graph.value import Op
from modellint.rule import Rule, called_probe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import ModuleFacts
    from modellint.graph.value import Value
    from modellint.rule import Project

    from .methods import OnNumber

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
    """A torch function that takes a tensor gets a number, a list or a layer

    ## What it does
    Reports a call of `torch` or `torch.nn.functional` whose first argument has to be a tensor, by torch's own
    signatures, but is something else on every path: a number (`torch.log(math.pi)`), a list, a string, or a layer
    instead of its output (`F.relu(self.proj)`). Also reports an optimizer that gets a dictionary, and a method of
    tensors that is called on a number (`self.scale.to(x.device)`). It is a warning where the constructor stores a
    number or a tensor, and the defaults of its parameters select the number.

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
    requires = ("calls",)
    about = ("torch.Tensor",)
    probe = staticmethod(called_probe)

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        from .methods import on_number

        for call in queries.flow(module, project).calls():
            if (found := on_number(call)) is not None and not _is_asked(call):
                if not call.may_be_compiled:
                    yield self._method_finding(call, found)
                continue
            name = next((name for name in call.function_names if name.startswith("torch.")), "")
            given = call.argument(0, _first(name)) if name and "TypeError" not in call.event.handled else None
            kind = None if given is None else _kind(name, given)
            if given is not None and kind is not None and _ASKING.isdisjoint(call.questions):
                yield self._finding(call, given, name, kind)

    def _method_finding(self, call: queries.Call, found: OnNumber) -> Finding:
        """The finding about a method of tensors that is called on a number."""
        name, place = str(call.value.callee.data), call.callee.place
        text = " ".join(edits.text_at(place, call.module).removesuffix(f".{name}").split())[:60]
        evidence = f"`{text}` is a number on every path"
        if found.default:
            evidence = f"the default of `{found.default}` makes it a number, and the other side a tensor"
        related = () if found.stored is None or found.stored.target is None else (found.stored.target,)
        return self.finding(
            place,
            f"`{text}` is a number{' by default' if found.default else ''}, and numbers have no method `{name}`",
            symbol=f"{call.symbol}.{name}",
            confidence=Confidence.HIGH,
            severity=Severity.INFO if call.is_tried_out else Severity.WARNING if found.default else None,
            evidence=(evidence,),
            related=tuple(Related(call.module.place(target), "set here") for target in related),
            help="make it a tensor on every path, or leave out the call",
            claim=claims.Refused(place, "AttributeError", f"has no attribute '{name}'"),
        )

    def _finding(self, call: queries.Call, given: queries.Argument, name: str, kind: str) -> Finding:
        short, is_optimizer = name.rpartition(".")[2], name.startswith("torch.optim.")
        return self.finding(
            given.place_of_use or call.place,
            f"`{short}` takes {'parameters' if is_optimizer else 'a tensor'}, but gets {kind}",
            symbol=f"{call.symbol}.{short}",
            confidence=Confidence.HIGH,
            evidence=(f"torch raises `TypeError`: `{given.text[:60]}` is {kind} on every path",),
            help=_OPTIMIZER_HELP if is_optimizer else _help(short, kind),
            fix=_fix(call.value, call.module, short) if kind == "a number" else None,
            claim=claims.Refused(call.place, "TypeError", "can only optimize Tensors" if is_optimizer else "be Tensor"),
        )


def _is_asked(call: queries.Call) -> bool:
    """True if a condition asks what a value is, or a handler expects the error."""
    is_caught = not {"AttributeError", "Exception", "BaseException"}.isdisjoint(call.event.handled)
    return is_caught or not _ASKING.isdisjoint(call.questions)


def _first(name: str) -> str:
    """The name of a function's first parameter."""
    return "params" if name.startswith("torch.optim.") else "input"


def _kind(name: str, given: queries.Operand) -> str | None:
    """The kind of value that is passed instead of a tensor, in words; None if it may be a tensor."""
    value = given.value
    if name.startswith("torch.optim.") and name.count(".") == 2 and name.rpartition(".")[2][:1].isupper():
        return "a dictionary" if value.op is Op.DICT else None
    if not queries.takes_tensor(name):
        return None
    if given.is_number:
        return "a number"
    if value.op in (Op.LIST, Op.DICT, Op.TUPLE):
        return {Op.LIST: "a list", Op.DICT: "a dictionary", Op.TUPLE: "a tuple"}[value.op]
    if (value.op is Op.CONST and isinstance(value.data, str)) or value.op is Op.STRING:
        return "a string"
    return "a layer" if given.torch_layer("") is not None else None


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
