"""Values in the places of layers: in `nn.Sequential`, `nn.ModuleList`, `nn.ModuleDict` and `add_module`."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from modellint import edits, operators
from modellint.flow import queries
from modellint.graph.definitions import DefinedClass, DefinedFunction, External
from modellint.graph.immutable import dataclass
from modellint.graph.value import Op, is_super, self_attribute, walk_all

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from modellint.finding import Place
    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.value import Value
    from modellint.rule import Project

_SEQUENTIAL, _LIST, _DICT = "torch.nn.Sequential", "torch.nn.ModuleList", "torch.nn.ModuleDict"
_DICTIONARIES = frozenset(("builtins.dict", "collections.OrderedDict"))
#: Methods that take a layer, by the classes that have them, with the position of the layer.
_TAKING = {"append": 0, "add_module": 1, "register_module": 1}
_APPENDED = frozenset((_SEQUENTIAL, _LIST))
#: Functions by which code asks what a value is, before it puts that into a container.
_ASKING = frozenset(("isinstance", "callable", "issubclass", "isclass", "isfunction", "type", "hasattr", "ismodule"))
_DISPLAYS = {Op.LIST: "a list", Op.TUPLE: "a tuple", Op.DICT: "a dictionary", Op.SET: "a set"}
_LISTS = (Op.LIST, Op.COMPREHENSION)
#: Values that another function, a container or the file makes.
_FROM_ELSEWHERE = (Op.CALL, Op.INDEX, Op.GLOBAL)
_ORIGINAL = re.compile(r"[a-z]\w*")


@dataclass(frozen=True, slots=True)
class Slot:
    """A value in the place of a layer, by a call of `container` (`nn.Sequential`, `add_module`)."""

    call: queries.Call
    container: str
    layer: queries.Operand
    #: Where the call names the layer; None if the value comes in a list.
    place: Place | None


@dataclass(frozen=True, slots=True)
class Stranger:
    """A value in the place of a layer, in words; `made` is the value itself, `name` its dotted name if any."""

    kind: str
    made: queries.Operand
    name: str = ""


def slots(module: ModuleFacts, project: Project) -> Iterator[Slot]:
    """The values in the places of layers in a file."""
    found = queries.flow(module, project)
    for call in found.constructions(_SEQUENTIAL, _LIST, _DICT):
        definition = project.names.definition(module, call.value.callee)
        if isinstance(definition, External):
            yield from _constructed(call, definition.name)
    has_super = "super" in module.code and "Sequential" in module.code
    taking = [name for name in _TAKING if name in module.code]
    for call in found.calls() if has_super or taking else ():
        callee = call.value.callee
        if callee.op is not Op.ATTR:
            continue
        if callee.data in taking:
            yield from _taken(call, str(callee.data))
        elif (
            has_super
            and callee.data == "__init__"
            and is_super(callee.args[0])
            and _is_sequential(call.function, project)
        ):
            yield from _constructed(call, _SEQUENTIAL)


def _is_sequential(function: Function, project: Project) -> bool:
    """True for the constructor of a class whose only base is `nn.Sequential`."""
    owner = function.owner
    if owner is None or function.name != "__init__" or len(owner.bases) != 1:
        return False
    return project.names.definition(owner.module, owner.bases[0]) == External(_SEQUENTIAL)


def _constructed(call: queries.Call, name: str) -> Iterator[Slot]:
    container = f"nn.{name.rpartition('.')[2]}"
    given = call.value.positional
    only = call.value.keywords.get("modules") or (given[0] if len(given) == 1 else None)
    if only is not None and only.op is Op.STARRED and only.args[0].op is Op.TUPLE and len(only.args[0].args) == 1:
        only = only.args[0].args[0]
    if name == _SEQUENTIAL and (only is None or not _is_ordered(only, call)):
        for number, value in enumerate(given):
            place = edits.argument_place(call.value, number, "", call.module)
            if value.op is Op.STARRED:
                yield from (Slot(call, container, one, None) for one in _elements(value.args[0], call))
            else:
                yield Slot(call, container, _operand(value, call), place)
    elif only is not None and only.op is not Op.STARRED:
        values = _elements(only, call) if name == _LIST else (_operand(one, call) for one in _values(only, call))
        yield from (Slot(call, container, one, None) for one in values)


def _taken(call: queries.Call, method: str) -> Iterator[Slot]:
    layer = call.argument(_TAKING[method], "module")
    receiver = call.value.callee.args[0]
    if layer is None or call.value.has_unpacking:
        return
    if receiver.op is Op.PARAM and receiver.data == "self":
        owner = call.function.owner
        model = None if owner is None else call.project.classes.model(owner)
        if model is None or not model.is_module or model.has_own_adder(method):
            return
        if method == "append" and _APPENDED.isdisjoint(one.name for one in model.mro()):
            return
    else:
        made = _operand(receiver, call)
        model = made.object_class()
        if model is None or not model.is_module or model.has_own_adder(method) or not _is_settled(made):
            return
        if method == "append" and model.name not in _APPENDED:
            return
    yield Slot(call, method, layer, layer.place_of_use)


def _operand(value: Value, call: queries.Call) -> queries.Operand:
    return queries.Operand(value, call.function, call.project)


def _elements(value: Value, call: queries.Call) -> list[queries.Operand]:
    """The elements of a list that are surely in it: none where some may have been replaced."""
    added: list[queries.Operand] = []
    while value.op is Op.UPDATE and value.data == "append" and len(value.args) == 2:
        added.insert(0, _operand(value.args[1], call))
        value = value.args[0]
    made = _operand(value, call)
    if added and value.op in _FROM_ELSEWHERE:
        leaves = list(made.origins(through_operators=False))
        return added if all(leaf.value.op in _LISTS and leaf.part is None for leaf in leaves) else []
    if value.op in _FROM_ELSEWHERE:
        leaves = list(made.origins(through_operators=False))
        if len(leaves) != 1 or leaves[0].part is not None or _is_changed(leaves[0]):
            return []
        made = replace(leaves[0], context=None)
    parts = (made.value, *made.value.walk())
    if any(part.op is Op.UPDATE and part.data not in ("append", "extend", "insert") for part in parts):
        return []
    if any(part.op is Op.COMPREHENSION and part.guard is not None for part in parts):
        return []
    return [*(queries.elements(made) or []), *added]


def _is_changed(made: queries.Operand) -> bool:
    """True if the function that makes a list puts something into it, or its file does."""
    function = made.function
    parts = walk_all(function.flow.evaluated())
    return any(part.op is Op.UPDATE and any(one is made.value for one in part.walk()) for part in parts)


def _is_ordered(value: Value, call: queries.Call) -> bool:
    """True for an `OrderedDict` of layers."""
    definition = call.project.names.definition(call.module, value.callee) if value.op is Op.CALL else None
    return isinstance(definition, External) and definition.name == "collections.OrderedDict"


def _values(given: Value, call: queries.Call) -> list[Value]:
    """The values of a dictionary that is written out, or of a list of pairs."""
    if given.op is Op.DICT:
        return [one for key, one in zip(given.data, given.args, strict=False) if key is not None]
    if given.op is Op.UPDATE and given.data == "[]=" and len(given.args) == 3:
        if given.args[0].op not in (Op.UPDATE, Op.DICT, Op.CALL):
            return []
        keys = [key.data for key in _keys(given)]
        inside = _values(given.args[0], call)
        return [*inside, given.args[2]] if len(inside) == len(keys) - 1 and len(set(keys)) == len(keys) else []
    if given.op in (Op.LIST, Op.TUPLE):
        return [pair.args[1] for pair in given.args if pair.op in (Op.LIST, Op.TUPLE) and len(pair.args) == 2]
    if given.op is Op.COMPREHENSION and given.data == "dict" and given.guard is None:
        return [given.args[1]]
    if given.op is not Op.CALL:
        return []
    definition = call.project.names.definition(call.module, given.callee)
    if not isinstance(definition, External) or definition.name not in _DICTIONARIES:
        return []
    inside = _values(given.positional[0], call) if len(given.positional) == 1 else []
    return [*inside, *given.keywords.values()]


def _keys(given: Value) -> Iterator[Value]:
    """The keys of a dictionary that is written out and filled by key, as far as they are constants."""
    while given.op is Op.UPDATE and given.data == "[]=" and len(given.args) == 3:
        yield from (given.args[1],) if given.args[1].op is Op.CONST else ()
        given = given.args[0]
    yield from (key for key in given.data if key is not None and key.op is Op.CONST) if given.op is Op.DICT else ()


def stranger(slot: Slot) -> Stranger | None:
    """The kind of a value that is certainly no layer; None for a layer, for None, and for what may be one."""
    layer = slot.layer
    if not _is_settled(layer):
        return None
    if layer.value.op in (Op.BIN, Op.UPDATE, Op.CHOICE) and is_list(layer.value):
        return Stranger("a list", layer)
    return layer.conclude(_stranger)


def _stranger(leaves: Iterable[queries.Operand]) -> Stranger | None:
    found: dict[str, Stranger] = {}
    for leaf in leaves:
        what = None if leaf.part is not None else _of(leaf)
        if what is None:
            return None
        found.setdefault(what.kind, what)
    return next(iter(found.values())) if len(found) == 1 else None


def _is_settled(operand: queries.Operand) -> bool:
    """True unless a value may be another one for objects of other classes, or is asked what it is."""
    value, function = operand.value, operand.function
    asks = not _ASKING.isdisjoint(function.words)
    if asks and any(part.op in (Op.PARAM, Op.ITEM, Op.INDEX) and part.data != "self" for part in value.walk()):
        return False
    name, owner = self_attribute(value), function.owner
    if name is None or len(value.args) == 2:
        return True
    if owner is None or asks or not queries.is_searchable(function.module, operand.project):
        return False
    return not queries.subclasses(owner, operand.project) and not queries.is_set_outside(owner, name, operand.project)


def _of(leaf: queries.Operand) -> Stranger | None:
    value, project = leaf.value, leaf.project
    if value.op is Op.CONST:
        if isinstance(value.data, str):
            return Stranger("a text", leaf)
        return Stranger("a number", leaf) if isinstance(value.data, int | float) else None
    if value.op is Op.LAMBDA:
        return Stranger("a function", leaf) if leaf.text.startswith("lambda") else None
    kind = _DISPLAYS.get(value.op) or ("a list" if value.op is Op.COMPREHENSION and value.data == "list" else "")
    if kind:
        return Stranger(kind, leaf)
    definition = project.names.definition(leaf.function.module, value)
    if isinstance(definition, DefinedFunction):
        function = definition.function
        is_plain = function.owner is None and not function.signature.decorators
        is_same = function.name not in function.module.rebound
        return Stranger("a function", leaf) if is_plain and is_same else None
    if isinstance(definition, DefinedClass):
        model = project.classes.model(definition.cls)
        is_sure = bool(model.is_module) and not queries.is_doubtful(definition.cls, project)
        return Stranger("a class", leaf, model.name) if is_sure else None
    if isinstance(definition, External):
        described = project.classes.of(definition)
        if described is not None and described.is_module:
            return Stranger("a class", leaf, described.name)
        if _is_function_of_torch(definition.name):
            return Stranger("a function", leaf, definition.name)
    return None


def _is_function_of_torch(name: str) -> bool:
    home, _, last = name.rpartition(".")
    if home not in ("torch", "torch.nn.functional") or not _ORIGINAL.fullmatch(last):
        return False
    return queries.takes_tensor(name) or operators.row(name) is not None


def is_list(value: Value, depth: int = 0) -> bool:
    """True if a value is a list or a tuple on every path, whatever was added to it."""
    if depth > 30:
        return False
    if value.op in (Op.LIST, Op.TUPLE):
        return True
    if value.op is Op.COMPREHENSION:
        return bool(value.data == "list")
    if value.op is Op.UPDATE:
        return is_list(value.args[0], depth + 1)
    if value.op is Op.BIN and value.data == "+":
        return any(is_list(part, depth + 1) for part in value.args)
    if value.op is Op.CHOICE:
        parts = value.args[:1] if value.data is None else value.args
        return bool(parts) and all(is_list(part, depth + 1) for part in parts)
    return False


def layer_of_function(name: str, project: Project) -> str | None:
    """The layer that computes a function of torch: `ReLU` of `torch.nn.functional.relu`, if it needs no argument."""
    wanted = name.rpartition(".")[2].replace("_", "")
    layers = queries.module_names("torch.nn") or frozenset()
    found = next((one for one in layers if one.lower() == wanted), None)
    if found is None or found in _ASKING_FOR_DIM or not can_be_built(f"torch.nn.{found}", project):
        return None
    return found


#: Layers that should be told a dimension, though they need not be.
_ASKING_FOR_DIM = frozenset(("Softmax", "LogSoftmax", "Softmin"))


def can_be_built(name: str, project: Project) -> bool:
    """True if a class of torch can be built without arguments, and is then what it is meant to be."""
    model = project.classes.of(External(name))
    if model is None or name.rpartition(".")[2] in _ASKING_FOR_DIM or model.signature is None:
        return False
    return all(one.default is not None or one.kind.startswith("var") for one in model.signature)
