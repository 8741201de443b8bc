"""Optimizers that are given tensors which need no gradient: the data instead of the parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from modellint import operators
from modellint.flow.queries.saved import sets_gradients
from modellint.flow.training import is_torch_optimizer
from modellint.graph.value import EventKind, Op
from modellint.link.names import DefinedFunction, External

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.value import Value
    from modellint.rule import Project

#: Functions that make a tensor, which needs no gradient unless an argument says so.
_MAKING = frozenset(name for name in operators.functions("fresh") if not name.endswith("Tensor"))
#: Methods that give the elements of a tensor, or a copy of them; the copy needs a gradient only if the tensor does.
_KEEPING = frozenset(
    "to cuda cpu float double half clone detach view reshape flatten squeeze t transpose contiguous".split()
)


class OfData(NamedTuple):
    """An optimizer that is given only tensors which need no gradient; `made` are the calls that make them."""

    function: Function
    optimizer: Value
    made: tuple[Value, ...]


def optimizers_of_data(module: ModuleFacts, project: Project) -> Iterator[OfData]:
    """The optimizers beside a backward pass that are given a list of tensors which certainly need no gradient."""
    if _asks(module):
        return
    for function in (*module.all_functions(), module.body):
        if not any(event.value.callee.data == "backward" for event in function.flow.of(EventKind.CALL)):
            continue  # an optimizer for a scheduler alone, which changes nothing on purpose
        for event in function.flow.of(EventKind.CALL):
            call = event.value
            given = call.argument(0, "params")
            if given is None or given.op not in (Op.LIST, Op.TUPLE) or not _makes_optimizer(call, module, project):
                continue
            made = [_maker(one, module, project) for one in given.args]
            known = tuple(one for one in made if one is not None)
            if known and len(known) == len(made) and not any(_is_passed_on(one, function, project) for one in known):
                yield OfData(function, call, tuple(dict.fromkeys(known)))


def _asks(module: ModuleFacts) -> bool:
    """True if code of a file asks for gradients of tensors that are there, or sets them."""
    flows = [function.flow for function in (*module.all_functions(), module.body)]
    stored = (event.target for flow in flows for event in flow.of(EventKind.STORE))
    return any(flow.once(sets_gradients) for flow in flows) or any(
        target is not None and target.op is Op.ATTR and target.data == "grad" for target in stored
    )


def _makes_optimizer(call: Value, module: ModuleFacts, project: Project) -> bool:
    found = project.names.definition(module, call.callee)
    return isinstance(found, External) and is_torch_optimizer(found.name)


def _maker(value: Value, module: ModuleFacts, project: Project) -> Value | None:
    """The call that makes a tensor, or the one that it is a part or a copy of, without a gradient; else None."""
    while (owner := _owner(value)) is not None:
        value = owner
    found = project.names.definition(module, value.callee) if value.op is Op.CALL else None
    is_made = isinstance(found, External) and found.name in _MAKING
    return value if is_made and not value.has_unpacking and "requires_grad" not in value.keywords else None


def _owner(value: Value) -> Value | None:
    """The tensor that a value is a part or a copy of; None for any other value."""
    if value.op is Op.INDEX or (value.op is Op.ATTR and value.data in ("T", "mT")):
        return value.args[0]
    callee = value.callee if value.op is Op.CALL else value
    is_method = callee is not value and callee.op is Op.ATTR and callee.args[0].op is not Op.GLOBAL
    return callee.args[0] if is_method and callee.data in _KEEPING else None


def _is_passed_on(tensor: Value, function: Function, project: Project) -> bool:
    """True if a function gets a tensor that may ask for its gradient: of another library, or of such a file."""
    for event in function.flow.of(EventKind.CALL):
        if any(part is tensor for part in event.value.args[1:]):
            found = project.names.definition(function.module, event.value.callee)
            if isinstance(found, External) and not found.name.startswith(("torch.", "builtins.")):
                return True
            if isinstance(found, DefinedFunction) and _asks(found.function.module):
                return True
    return False
