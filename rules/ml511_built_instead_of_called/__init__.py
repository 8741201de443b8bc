"""ML511: a layer that is built with tensors instead of being called with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import claims
from modellint.finding import Applicability, Confidence, Edit, Finding, Fix, Place, Related, Severity, Span
from modellint.flow import queries
from modellint.graph.value import EventKind, Op
from modellint.rule import Rule, called_probe

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from modellint.graph.python import Class, ModuleFacts
    from modellint.graph.value import Value
    from modellint.rule import Project

_CATCHING = frozenset(("TypeError", "AttributeError", "Exception", "BaseException"))
_ASKING = frozenset(("isinstance", "is_tensor", "type", "hasattr", "callable", "issubclass", "isclass"))
#: Values that are settings of a layer, and no tensors.
_SETTINGS = (Op.CONST, Op.TUPLE, Op.LIST, Op.DICT, Op.STRING, Op.COMPARE, Op.LAMBDA)


class BuiltInsteadOfCalled(Rule):
    """A layer is built with tensors instead of being called with them

    ## What it does
    Reports a layer or a loss that code constructs with a tensor, and whose object it then uses as a tensor:
    `nn.ReLU(x)`, `nn.CrossEntropyLoss(output, target)`, `loss = VolumeLoss(pred, target)`. It also reports a class that
    the constructor keeps (`self.act = nn.ReLU`) and that `forward` calls with a tensor. The result
    counts as a tensor if code computes with it, calls `backward`, passes it to a layer, or returns it from `forward`.

    ## Why is this bad
    The constructor takes settings, so the tensor becomes a setting. The result is a layer, and the next operation
    raises an error such as `AttributeError: 'CrossEntropyLoss' object has no attribute 'backward'`, or
    `RuntimeError: Boolean value of Tensor with more than one value is ambiguous`.

    ## How to fix
    Build the layer first, then call it, as `--fix` does for layers of torch:

    ```python
    loss = nn.CrossEntropyLoss()(output, target)
    ```

    ## What it cannot see
    A result that the rule cannot follow to a use as a tensor. A class with that name may be a function elsewhere, and
    distributions and parameters take tensors.

    ```python
    def losses(self, output, target):
        return {"main": nn.MSELoss(output, target)}
    ```

    ## Confirming
    modellint builds the layer around the code, or imports the file, and calls the function. Python's error is the
    verdict. A layer that `forward` only returns raises nothing there, so the finding stays unconfirmed.

    ## References
    - [torch.nn](https://pytorch.org/docs/stable/nn.html)
    """

    code = "ML511"
    name = "built-instead-of-called"
    severity = Severity.ERROR
    requires = ("calls",)
    about = ("torch.nn.Module",)
    probe = staticmethod(called_probe)

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        for call in queries.flow(module, project).calls():
            if len(call.value.args) < 2 or not _CATCHING.isdisjoint(call.event.handled):
                continue
            built = _built_class(call)
            if built is None or not any(map(_may_be_tensor, _arguments(call))):
                continue
            use = _use(call, built)
            if use is not None and _ASKING.isdisjoint(call.questions):
                yield self._finding(call, built, use)

    def _finding(self, call: queries.Call, built: _Built, use: _Use) -> Finding:
        short = built.name.rpartition(".")[2]
        is_same_line = use.place is None or use.place.span.line == call.place.span.line
        related = (
            [] if is_same_line or use.place is None else [Related(use.place, "the layer is used as a tensor here")]
        )
        if built.kept is not None:
            related.append(Related(built.kept.place, "the class is kept here, and not an object of it"))
        return self.finding(
            call.place,
            f"this builds a `{short}` instead of calling one: a layer is {use.how}",
            symbol=f"{call.symbol}.{short}",
            confidence=Confidence.HIGH,
            severity=Severity.INFO if call.is_tried_out else None,
            evidence=(f"the constructor of `{short}` takes settings, and returns a layer",),
            related=related,
            help=f"build it first, then call it: `{call.callee.text}()(…)`",
            fix=_fix(call, built),
            claim=_claim(call, built, use),
        )


class _Built:
    """The class that a call constructs: its dotted `name`, and where it was `kept` if it is called by an attribute."""

    def __init__(self, name: str, cls: Class | None, kept: queries.Operand | None = None) -> None:
        self.name, self.cls, self.kept = name, cls, kept


class _Use:
    """A use as a tensor: in words, with its place if it can raise an error there."""

    def __init__(self, how: str, place: Place | None) -> None:
        self.how, self.place = how, place


def _built_class(call: queries.Call) -> _Built | None:
    """The layer class that a call constructs, by its name or by an attribute that keeps the class."""
    project = call.project
    definition = project.names.definition(call.module, call.value.callee)
    if definition is not None:
        model = project.classes.of(definition)
        is_layer = model is not None and model.is_module and _takes_settings(model.name, model.cls)
        return _Built(model.name, model.cls) if model is not None and is_layer else None
    if call.value.callee.op is not Op.ATTR:
        return None
    return call.callee.conclude(_kept_class)


def _kept_class(leaves: Iterable[queries.Operand]) -> _Built | None:
    found: set[str] = set()
    kept = None
    for leaf in leaves:
        if leaf.kind() is not queries.Kind.CLASS or leaf.value.op is Op.PARAM:
            return None
        definition = leaf.project.names.definition(leaf.function.module, leaf.value)
        model = None if definition is None else leaf.project.classes.of(definition)
        if model is None or not model.is_module or model.cls is not None or not _takes_settings(model.name, None):
            return None
        found.add(model.name)
        kept = leaf
    return _Built(found.pop(), None, kept) if len(found) == 1 else None


def _takes_settings(name: str, cls: Class | None) -> bool:
    """True if the constructor of a class of torch takes settings; classes of the project are asked by the use."""
    return cls is not None or queries.layer_takes_tensor(name)


def _arguments(call: queries.Call) -> list[queries.Operand]:
    return [queries.Operand(value, call.function, call.project) for value in call.value.args[1:]]


def _may_be_tensor(operand: queries.Operand) -> bool:
    return operand.value.op not in _SETTINGS and not operand.is_number and operand.value.op is not Op.STARRED


def _use(call: queries.Call, built: _Built) -> _Use | None:
    """The first use of the constructed layer that only a tensor stands; None if there is none."""
    for operand, use in queries.tensor_uses([call.result]):
        is_layer = operand.value is call.value or (
            operand.kinds() == {queries.Kind.LAYER} and _is_built_by(call, operand)
        )
        if is_layer and not _is_of_layer(use.user, built, call.project):
            # A run tells no error of an operator from one of its operands.
            place = None if use.user.op in (Op.BIN, Op.UNARY) else call.module.place(use.user)
            return _Use(_in_words(use), place) if _CATCHING.isdisjoint(use.event.handled) else None
    owner = call.function.owner
    is_forward = call.function.name == "forward" and owner is not None and call.project.classes.model(owner).is_module
    if is_forward and any(event.value is call.value for event in call.function.flow.of(EventKind.RETURN)):
        return _Use("returned from `forward`", None)
    return None


def _is_built_by(call: queries.Call, used: queries.Operand) -> bool:
    """True if a value may be what a call constructs, and not a layer of which that is a part."""
    return any(origin.value is call.value for origin in used.origins(through_operators=False))


def _in_words(use: queries.TensorUse) -> str:
    if use.user.op is Op.ATTR:
        return f"asked for `{use.user.data}`"
    return f"passed to {use.how}" if use.user.op is Op.CALL else "computed with"


def _is_of_layer(user: Value, built: _Built, project: Project) -> bool:
    """True for an attribute or an operator that objects of the class have themselves."""
    own = built.cls
    if user.op is Op.ATTR and own is not None:
        return queries.may_have(own, str(user.data), project)
    if user.op is Op.ATTR:
        members = queries.layer_members(built.name)
        return members is None or user.data in members
    models = () if own is None else project.classes.model(own).mro()
    methods = (name for model in models if model.cls is not None for name in model.cls.methods)
    return any(name.startswith("__") and name != "__init__" for name in methods)


def _claim(call: queries.Call, built: _Built, use: _Use) -> claims.Refused | None:
    """The error of the use; of the constructor, where a loss of torch takes its second tensor for a flag."""
    if built.name.startswith("torch.nn.") and built.name.endswith("Loss") and len(call.value.positional) > 1:
        return claims.Refused(call.place, "TypeError or RuntimeError", "")
    return None if use.place is None else claims.Refused(use.place, "TypeError or AttributeError", "")


def _fix(call: queries.Call, built: _Built) -> Fix | None:
    """`()` behind the name of the class, where its constructor needs no argument."""
    target = call.target
    if built.cls is not None or built.kept is not None or target is None:
        return None
    if any(one.default is None and one.kind in ("positional", "keyword") for one in target.parameters):
        return None
    span = call.callee.place.span
    spot = Place(call.module.path, Span(span.end_line, span.end_column, span.end_line, span.end_column))
    return Fix("Build the layer, then call it", Applicability.SAFE, (Edit(spot, "()"),))
