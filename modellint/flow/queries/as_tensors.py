"""Uses of a value that only a tensor stands: arguments of layers and operators, arithmetic, methods of tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import operators
from modellint.flow.queries.calls import Call
from modellint.flow.queries.values import Operand, returns
from modellint.graph.definitions import DefinedConstant, External
from modellint.graph.immutable import dataclass
from modellint.graph.value import EventKind, Op
from modellint.knowledge import surface

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.value import Event, Value
    from modellint.link.project import Project

_PAIRS = operators.functions("pair")
_PAIR_METHODS = operators.methods("Tensor", "pair")
#: Layers that return their output and something else.
_PAIR_LAYERS = operators.functions("recurrent") | {"torch.nn.MultiheadAttention", "torch.nn.LSTMCell"}
#: What a file mentions that makes such a layer.
_PAIR_WORDS = ("LSTM", "GRU", "RNN", "MultiheadAttention")
#: Values that are one value, whatever their operands.
_ONE = frozenset((Op.CONST, Op.BIN, Op.UNARY, Op.COMPARE, Op.LIST, Op.DICT, Op.SET, Op.STRING, Op.COMPREHENSION))
#: Operations whose result may be one of their operands: of branches, containers and helpers.
_PASSING = frozenset((Op.CHOICE, Op.INDEX, Op.UNPACK, Op.BOOL, Op.CALL))
#: Layers of torch that take anything.
_TAKING_ANYTHING = frozenset(
    f"torch.nn.{name}" for name in ("Identity", "Sequential", "Module", "Container", "DataParallel")
)
#: Attributes that other values have, too, whatever they are: those of tuples, lists, dictionaries and arrays.
_COMMON = frozenset(
    name for kind in (tuple, list, dict, str, int, float) for name in dir(kind) if not name.startswith("__")
)


@dataclass(frozen=True, slots=True)
class TensorUse:
    """A use of a value as a tensor. `user` is the call, the attribute or the operation, `how` names it for messages.

    `how` is "the layer `self.fc`", "`torch.relu`", "the operator `+`", "the method `view`".
    """

    user: Value
    event: Event
    how: str


def tensor_uses(operands: Iterable[Operand]) -> Iterator[tuple[Operand, TensorUse]]:
    """The uses of values of one function that fail for anything but a tensor, each with the value that is used.

    A variable or an element that may be one of the values is told, too: ask it what it is on every path.
    """
    wanted = {id(operand.value): operand for operand in operands}
    first = next(iter(wanted.values()), None)
    if first is None:
        return
    function, project = first.function, first.project
    values = list(_values(function))
    holders = _holders([value for value, _ in values], wanted)
    for value, event in values:
        may_use = any(id(part) in wanted or (part.op in _PASSING and id(part) in holders) for part in value.args)
        for used, how in _uses(value, function, project) if may_use else ():
            operand = wanted.get(id(used))
            if operand is None and used.op in _PASSING and id(used) in holders:
                operand = Operand(used, function, project)
            if operand is not None:
                yield operand, TensorUse(value, event, how)


def _holders(values: list[Value], wanted: Iterable[int]) -> set[int]:
    """The identities of the values that some of them are a part of."""
    users: dict[int, list[int]] = {}
    for value in values:
        for part in value.args:
            users.setdefault(id(part), []).append(id(value))
    pending, holders = list(wanted), set[int]()
    while pending:
        new = [user for user in users.pop(pending.pop(), ()) if user not in holders]
        holders.update(new)
        pending += new
    return holders


def _values(function: Function) -> Iterator[tuple[Value, Event]]:
    """All values of a function, each with the first event that it is a part of."""
    seen: set[int] = set()
    for event in function.flow.events:
        pending = [event.value, *(event.target.args if event.target is not None else ())]
        while pending:
            value = pending.pop()
            if id(value) not in seen:
                seen.add(id(value))
                yield value, event
                pending += value.args


def _uses(value: Value, function: Function, project: Project) -> Iterator[tuple[Value, str]]:
    if value.op is Op.CALL:
        yield from _of_call(value, function, project)
    elif value.op is Op.ATTR and _is_of_tensors(str(value.data)):
        yield value.args[0], f"`.{value.data}`"
    elif value.op is Op.BIN and len(value.args) == 2:
        left, right = value.args
        for one, other in ((left, right), (right, left)):
            if Operand(other, function, project).is_tensor or (value.data in "-/@" and _is_number(other)):
                yield one, f"the operator `{value.data}`"
    elif value.op is Op.UNARY and value.data == "-":
        yield value.args[0], "the operator `-`"


def _is_of_tensors(name: str) -> bool:
    return name in surface.tensor_names() and name not in _COMMON and not name.startswith("__")


def _is_number(value: Value) -> bool:
    return value.op is Op.CONST and type(value.data) in (int, float)


def _of_call(value: Value, function: Function, project: Project) -> Iterator[tuple[Value, str]]:
    definition = project.names.definition(function.module, value.callee)
    given = value.argument(0, "input")
    if given is None or given.op is Op.STARRED:
        return
    if definition is not None:
        name = getattr(definition, "name", "")
        if surface.takes_tensor(name):
            yield given, f"`{name.rpartition('.')[2]}`"
        return
    if value.callee.op in (Op.ATTR, Op.CALL, Op.ITEM, Op.INDEX, Op.CHOICE):
        layer = Operand(value.callee, function, project).object_class()
        if layer is not None and layer_takes_tensor(layer.name):
            yield given, f"`nn.{layer.name.rpartition('.')[2]}`"


def layer_takes_tensor(layer: str) -> bool:
    """True if objects of a class of torch take a tensor as their first argument, and nothing else."""
    if not layer.startswith("torch.nn.") or layer in _TAKING_ANYTHING:
        return False
    return surface.forward_parameters(layer) is not None


def number_of_values(call: Operand) -> int | None:
    """The number of values that a display has, or a call of torch returns: an output and a state, elements and ids.

    None for a single value, and for what is not known.
    """
    value = call.value
    if value.op in (Op.TUPLE, Op.LIST) and call.part is None:
        return None if any(part.op is Op.STARRED for part in value.args) else len(value.args)
    if value.op is not Op.CALL or call.part is not None:
        return None
    if call.context is not None:
        return _number_of_values(call)
    return call.project.once(("number of values", value), lambda: _number_of_values(call))


def _number_of_values(call: Operand) -> int | None:
    value = call.value
    definition = call.project.names.definition(call.function.module, value.callee)
    name = getattr(definition, "name", "")
    if definition is None and value.callee.op is Op.ATTR:
        receiver = call.of(value.callee.args[0])
        if value.callee.data in _PAIR_METHODS and receiver.is_tensor:
            return _of_pair(f"Tensor.{value.callee.data}", value, 0)
    if name in ("torch.split", "torch.functional.split"):
        sizes = value.argument(1, "split_size_or_sections")
        is_list = sizes is not None and sizes.op in (Op.LIST, Op.TUPLE)
        is_plain = is_list and not any(part.op is Op.STARRED for part in sizes.args)  # type: ignore[union-attr]
        return len(sizes.args) if sizes is not None and is_plain else None
    if name in _PAIRS and name.startswith("torch."):
        return _of_pair(name, value, 1)
    if definition is None or not name:
        model = call.of(value.callee).object_class()
        return 2 if model is not None and model.name in _PAIR_LAYERS else None
    return None


def _of_pair(name: str, value: Value, position: int) -> int | None:
    """Two for elements and ids; `max(x)` and `max(x, other)` return one tensor."""
    row, dim = operators.row(name), value.argument(position, "dim")
    is_pair = row is not None and (dim is not None or ("reduces" not in row.facets and not name.endswith("median")))
    return 2 if is_pair and (dim is None or dim.op is Op.CONST) and not value.has_unpacking else None


def several(module: ModuleFacts, project: Project) -> Iterator[list[Operand]]:
    """The calls of a file that return several values on each path unless a subclass overrides what they run.

    Those of one function come at a time; `counts` asks for subclasses, too.
    """
    for function in (*module.all_functions(), module.body):
        calls = (Call(event, function, project) for event in function.flow.of(EventKind.CALL))
        found = [call.result for call in calls if _may_be_several(call) and call.result.presume(_counts) is not None]
        if found:
            yield found


def _may_be_several(call: Call) -> bool:
    """True if a call may return several values, by the name of what it calls, or by what its target returns."""
    callee, module = call.value.callee, call.module
    definition = call.project.names.definition(module, callee)
    if isinstance(definition, External):
        return definition.name in _PAIRS or definition.name.endswith(".split")
    if definition is None and callee.op is Op.ATTR and callee.data in _PAIR_METHODS:
        return True
    target = call.target
    if target is not None and target.function is not None:
        returned = returns(target.function)
        return bool(returned) and not any(value.op in _ONE for value in returned)
    is_object = definition is None or isinstance(definition, DefinedConstant)
    return is_object and call.project.once(("pair layers", module), lambda: _names_pair_layers(module))


def _names_pair_layers(module: ModuleFacts) -> bool:
    return any(name in module.code for name in _PAIR_WORDS)


def counts(operand: Operand) -> frozenset[int] | None:
    """The numbers of values that an operand is on its paths, if it is several on each of them; else None."""
    return operand.conclude(_counts)


def _counts(leaves: Iterable[Operand]) -> frozenset[int] | None:
    found: set[int] = set()
    for leaf in leaves:
        number = number_of_values(leaf)
        if number is None or leaf.value.op is Op.LIST:
            return None
        found.add(number)
    return frozenset(found) or None
