"""ML512: a container of layers that is called as if it were a layer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import claims
from modellint.finding import Confidence, Finding, Related, Severity
from modellint.flow import queries
from modellint.graph.value import Op
from modellint.rule import Rule, called_probe

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from modellint.graph.python import ModuleFacts
    from modellint.rule import Project

_CONTAINERS = ("ModuleList", "ModuleDict", "ParameterList", "ParameterDict")
#: Displays of Python that make a container, with the word for it.
_DISPLAYS = {Op.LIST: "list", Op.DICT: "dict", Op.SET: "set", Op.TUPLE: "tuple"}
_CATCHING = frozenset(("TypeError", "NotImplementedError", "Exception", "BaseException"))
_ASKING = frozenset(("isinstance", "callable", "hasattr", "type"))


class ContainerCalled(Rule):
    """A container of layers is called, but only its layers can be

    ## What it does
    Reports `self.layers(x)` where `self.layers` is an `nn.ModuleList`, `nn.ModuleDict`, `nn.ParameterList`,
    `nn.ParameterDict`, or a list, tuple or dictionary of Python on every path. ML204 alone reports a comma that makes
    a tuple of one layer (`self.fc = nn.Linear(2, 2),`).

    ## Why is this bad
    These containers have no `forward`: they register their layers, and leave it to you to call them. The call raises
    `NotImplementedError: Module [ModuleList] is missing the required "forward" function`, or
    `TypeError: 'list' object is not callable`.

    ## How to fix
    Call the layers one after the other, or use `nn.Sequential`, which does that:

    ```python
    for layer in self.layers:
        x = layer(x)
    ```

    ## What it cannot see
    Containers of the project that derive from these: the rule ignores them if they define `forward`. Attributes that
    code sets from outside of the class.

    ```python
    def extend(model, layers):
        model.layers = layers
    ```

    ## Confirming
    modellint builds the layer and calls it. Python's error is the verdict.

    ## References
    - [torch.nn.ModuleList](https://pytorch.org/docs/stable/generated/torch.nn.ModuleList.html)
    """

    code = "ML512"
    name = "container-called"
    severity = Severity.ERROR
    requires = ("calls", "mro", "unregistered_containers")
    about = tuple(f"torch.nn.{name}" for name in _CONTAINERS)
    probe = staticmethod(called_probe)

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        for call in queries.flow(module, project).calls():
            if call.value.callee.op in (Op.ATTR, Op.GLOBAL, Op.CALL, Op.CHOICE, *_DISPLAYS):
                found = _container(call)
                if found is not None and not _is_expected(call) and not _is_by_accident(call, found[1], project):
                    yield self._finding(call, *found)

    def _finding(self, call: queries.Call, kind: str, made: queries.Operand) -> Finding:
        is_torchs = kind in _CONTAINERS
        shown = f"`nn.{kind}`" if is_torchs else f"a {kind}"
        error, words = ("NotImplementedError", "forward") if is_torchs else ("TypeError", "not callable")
        is_elsewhere = made.place.span.line != call.place.span.line or made.place.path != call.place.path
        return self.finding(
            call.place,
            f"`{call.callee.text}` is {shown}, which cannot be called",
            symbol=f"{call.symbol}.{call.callee.text}",
            confidence=Confidence.HIGH,
            severity=Severity.INFO if call.is_tried_out else None,
            evidence=(f"{shown} has no `forward`" if is_torchs else f"{shown} is no function",),
            related=(Related(made.place, "the container is made here"),) if is_elsewhere else (),
            help="call its layers in a loop, or use `nn.Sequential`",
            claim=claims.Refused(call.place, error, words),
        )


def _is_expected(call: queries.Call) -> bool:
    """True if the error is caught, or if a condition around the call asks whether the object can be called."""
    return not _CATCHING.isdisjoint(call.event.handled) or not _ASKING.isdisjoint(call.questions)


def _is_by_accident(call: queries.Call, made: queries.Operand, project: Project) -> bool:
    """True for a tuple that a stray comma makes of a layer, which ML204 reports where an attribute holds it."""
    if made.value.op is not Op.TUPLE or len(made.value.args) != 1 or call.value.callee.op is not Op.ATTR:
        return False
    owner = call.function.owner
    homes = [cls.module for cls in (queries.flow(owner.module, project).mro(owner) if owner is not None else ())]
    for module in dict.fromkeys((made.function.module, *homes)):
        for one in queries.flow(module, project).unregistered_containers():
            is_told = one.is_accident and one.confidence is not Confidence.LOW
            if is_told and one.kept.attribute == call.value.callee.data:
                return True
    return False


def _container(call: queries.Call) -> tuple[str, queries.Operand] | None:
    """The kind of container that is called, and where it is made; None if it may be anything else on some path."""
    if (
        call.project.names.definition(call.module, call.value.callee) is not None
        and call.value.callee.op is not Op.GLOBAL
    ):
        return None
    return call.callee.conclude(_kind)


def _kind(leaves: Iterable[queries.Operand]) -> tuple[str, queries.Operand] | None:
    kinds: dict[str, queries.Operand] = {}
    for leaf in leaves:
        if leaf.part is not None:
            return None
        if leaf.is_none:  # which an attribute often is at first
            continue
        model = leaf.made_class()
        kind = _DISPLAYS.get(leaf.value.op, "")
        if model is not None and model.cls is None and model.name.startswith("torch.nn."):
            kind = model.name.rpartition(".")[2]
        if kind not in _CONTAINERS and kind not in _DISPLAYS.values():
            return None
        kinds.setdefault(kind, leaf)
    return next(iter(kinds.items())) if len(kinds) == 1 else None
