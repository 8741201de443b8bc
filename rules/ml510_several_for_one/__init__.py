"""ML510: several values where one tensor is needed."""

from __future__ import annotations

import itertools
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

_RECURRENT = frozenset(f"torch.nn.{name}" for name in ("LSTM", "GRU", "RNN"))
#: The fields of the named tuples that functions of torch return: other than the attributes of tensors, they are there.
_FIELDS = frozenset(("values", "indices"))
_CATCHING = frozenset(("TypeError", "AttributeError", "Exception", "BaseException"))
#: Conditions that ask what kind of thing a value is.
_ASKING = frozenset(("isinstance", "is_tensor", "type", "hasattr", "len"))


class SeveralForOne(Rule):
    """A tuple is used where one tensor is needed

    ## What it does
    Reports a tuple that code uses as a tensor: the result of `nn.LSTM`, `nn.GRU`, `nn.RNN` or `nn.MultiheadAttention`,
    of `torch.max(x, dim)`, `topk` or `sort`, or of a function or `forward` of the project that returns several values
    on every path. Used as a tensor means: passed to a layer or to a function of torch that takes a tensor, computed
    with, or asked for a method of tensors (`.view`, `.size()`). A recurrent layer in front of another layer in
    `nn.Sequential` is such a use, too.

    ## Why is this bad
    The call raises an error such as `TypeError: linear(): argument 'input' (position 1) must be Tensor, not tuple`, or
    `AttributeError: 'tuple' object has no attribute 'size'`.

    ## How to fix
    Unpack the tuple, or take the element that you mean. `--unsafe-fixes` takes the first one:

    ```python
    x, _ = self.lstm(x)
    return self.fc(x)
    ```

    ## What it cannot see
    Functions that return several values on some paths only, or whose arguments decide how many: the rule ignores them.
    It ignores layers of the project, which may take a tuple, and code that asks `isinstance(x, tuple)`.

    ```python
    def forward(self, x, return_weights=False):
        out, weights = self.attention(x, x, x)
        return (out, weights) if return_weights else out
    ```

    ## Confirming
    modellint builds the layer, or imports the file, and calls the function. Python's error is the verdict.

    ## References
    - [torch.nn.LSTM](https://pytorch.org/docs/stable/generated/torch.nn.LSTM.html)
    - [torch.max](https://pytorch.org/docs/stable/generated/torch.max.html)
    """

    code = "ML510"
    name = "several-for-one"
    severity = Severity.ERROR
    requires = ("constructions",)
    about = ("torch.nn.Module",)
    probe = staticmethod(called_probe)

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        for found in queries.several(module, project):
            told: set[int] = set()
            for used, use in queries.tensor_uses(found):
                counts = queries.counts(used) if id(used.value) not in told and _is_plain(use, used) else None
                if counts is not None and _is_certain(used):
                    told.add(id(used.value))
                    yield self._finding(used, use, counts)
        for call in queries.flow(module, project).constructions("torch.nn.Sequential"):
            layers = [queries.Operand(value, call.function, project) for value in call.value.positional]
            classes = [layer.object_class() for layer in layers]
            for number, (one, following) in enumerate(itertools.pairwise(classes)):
                is_recurrent = one is not None and one.name in _RECURRENT
                if is_recurrent and following is not None and queries.layer_takes_tensor(following.name):
                    yield self._in_container(call, layers[number], layers[number + 1], following.name)

    def _finding(self, used: queries.Operand, use: queries.TensorUse, counts: frozenset[int]) -> Finding:
        module = used.function.module
        place = module.place(use.user)
        source = used.text if used.value.op is Op.CALL and len(used.text) < 60 else ""
        number = " or ".join(map(str, sorted(counts)))
        made = used.place
        return self.finding(
            place,
            f"{use.how} needs a tensor, but gets {number} values" + (f" from `{source}`" if source else ""),
            symbol=f"{used.function.qualname}.{module.text_of(use.user)[:40]}",
            confidence=Confidence.HIGH,
            severity=Severity.INFO if queries.Call(use.event, used.function, used.project).is_tried_out else None,
            evidence=(f"the value is a tuple of {number} on every path",),
            related=(Related(made, "the values come from here"),) if made.span.line < place.span.line else (),
            help="unpack them, or take the one that you mean: `[0]` is the output",
            fix=_fix(used, use.user),
            # A run tells no error of an operator from one of its operands.
            claim=None if use.user.op is Op.BIN else claims.Refused(place, "TypeError or AttributeError", ""),
        )

    def _in_container(
        self, call: queries.Call, layer: queries.Operand, following: queries.Operand, name: str
    ) -> Finding:
        short = name.rpartition(".")[2]
        return self.finding(
            following.place,
            f"`nn.{short}` needs a tensor, but gets the 2 values that `{layer.text.partition('(')[0]}` returns",
            symbol=f"{call.symbol}.Sequential",
            confidence=Confidence.HIGH,
            severity=Severity.INFO if call.is_tried_out else None,
            evidence=(
                "a recurrent layer returns its output and its state",
                "`nn.Sequential` passes on what a layer returns",
            ),
            related=(Related(layer.place, "the recurrent layer"),),
            help="call the recurrent layer in `forward`, or wrap it in a layer that returns its output",
        )


def _is_plain(use: queries.TensorUse, used: queries.Operand) -> bool:
    """True if a use is no field of a named tuple, and no error of it is expected."""
    if use.user.op is Op.ATTR and use.user.data in _FIELDS:
        return False
    call = queries.Call(use.event, used.function, used.project)
    return _CATCHING.isdisjoint(use.event.handled) and _ASKING.isdisjoint(call.questions)


def _is_certain(used: queries.Operand) -> bool:
    """True if the calls that give the values certainly run what they are believed to run."""
    for value in used.value.args if used.value.op is Op.CHOICE else (used.value,):
        event = queries.Call.at(value, used.function, used.project)
        target = None if event is None else event.target
        if event is not None and target is not None and not event.is_certain(target):
            return False
    return True


def _fix(used: queries.Operand, user: Value) -> Fix | None:
    """`[0]` behind the argument."""
    module = used.function.module
    place = edits.argument_place(user, 0, "input", module) if user.op is Op.CALL else None
    if place is None:
        return None
    span = place.span
    spot = Place(module.path, Span(span.end_line, span.end_column, span.end_line, span.end_column))
    return Fix("Take the first value", Applicability.UNSAFE, (Edit(spot, "[0]"),))
