"""What builtins, containers of Python and functions of torch give, as far as numbers of parameters are concerned."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from modellint import operators
from modellint.graph.size import Size
from modellint.mapping.objects import UNKNOWN, ClassRef, Function, Text, Thing, UncertainError, Weights, number, whole

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

#: Methods that change a list or a dict.
MUTATORS = frozenset().union(*(operators.methods(of, "adds", "extends", "removes") for of in ("list", "dict")))
#: Methods by which something is added to a layer.
ADDERS = operators.methods("Module", "registers") | operators.methods("ModuleList", "adds", "extends") | {"update"}
#: Methods that give back the layer itself; that give a tensor of the same shape.
_ITSELF = operators.methods("Module", "itself")
_SAME_SHAPE = operators.methods("Tensor", "passed same-shape", "changes itself")
#: Functions of torch that make a tensor of the shape that they are given.
_FACTORIES = operators.functions("sized")
_OF_TUPLE, _OF_DATA = operators.functions("sized:tuple"), operators.functions("sized passed")
#: Functions that add nothing to the objects that they are given.
ONLOOKERS = operators.functions("looks")
_COPIES = operators.functions("copies")
_SPECTRAL = operators.functions("spectral-norm")
_WEIGHT_NORMS = operators.functions("weight-norm")
_MAX_RANGE = 4096


def elements(value: Any) -> list[Any] | None:
    """What iterating over a value yields, None if that is not known."""
    if isinstance(value, list | tuple | dict | str):
        return list(value)
    if isinstance(value, Thing) and value.children and not value.is_open:
        return list(value.children)
    return None


def part(owner: Any, index: Any) -> Any:
    """`owner[index]`."""
    index = number(index)
    if isinstance(owner, Thing):
        owner = owner.children
    if isinstance(owner, list | tuple) and isinstance(index, int) and -len(owner) <= index < len(owner):
        return owner[index]
    if isinstance(owner, dict) and isinstance(index, str | int) and index in owner:
        return owner[index]
    return UNKNOWN


def call(function: Function, positional: Sequence[Any], keywords: dict[str, Any]) -> Any:
    """What a function that cannot be read gives; UNKNOWN for most."""
    if function.owner is not None:
        return _method(function.owner, function.name, positional, keywords)
    name = function.name
    if name in _FACTORIES:
        return Weights(_shape(name, positional, keywords))
    if name in _COPIES:
        return _copied(positional[0]) if positional else UNKNOWN
    if name in _SPECTRAL:
        return positional[0] if positional else UNKNOWN
    if name in _WEIGHT_NORMS:
        return _with_norms(positional, keywords)
    if name == "functools.partial" and positional and isinstance(positional[0], ClassRef):
        first = positional[0]
        return ClassRef(first.model, (*first.positional, *positional[1:]), {**first.keywords, **keywords})
    handler = _BUILTINS.get(name.removeprefix("builtins."))
    if handler is None and name.startswith("math."):
        handler = _mathematical(name.removeprefix("math."))
    if handler is None or (keywords and name != "builtins.dict"):
        return UNKNOWN
    try:
        return handler(*positional, **keywords)
    except (TypeError, ValueError, ArithmeticError, IndexError):
        return UNKNOWN


def _method(owner: Any, name: str, positional: Sequence[Any], keywords: dict[str, Any]) -> Any:
    if isinstance(owner, list):
        return _of_list(owner, name, positional)
    if isinstance(owner, dict):
        return _of_dict(owner, name, positional, keywords)
    if isinstance(owner, str):
        return getattr(owner, name)() if name in ("lower", "upper", "strip") and not positional else UNKNOWN
    if isinstance(owner, Thing):
        if name in _ITSELF:
            return owner
        if name in ADDERS and owner.model.is_module:
            return _added(owner, name, positional, keywords)
        return UNKNOWN
    return owner if isinstance(owner, Weights) and (name in _SAME_SHAPE or name.endswith("_")) else UNKNOWN


def _of_list(owner: list[Any], name: str, positional: Sequence[Any]) -> Any:
    if name == "append" and len(positional) == 1:
        owner.append(positional[0])
    elif name == "extend" and len(positional) == 1:
        more = elements(positional[0])
        if more is None:
            raise UncertainError
        owner.extend(more)
    elif name == "insert" and len(positional) == 2 and isinstance(number(positional[0]), int):
        owner.insert(number(positional[0]), positional[1])
    elif name in MUTATORS:
        raise UncertainError
    else:
        return list(owner) if name == "copy" else UNKNOWN
    return None


def _of_dict(owner: dict[Any, Any], name: str, positional: Sequence[Any], keywords: dict[str, Any]) -> Any:
    if name in ("items", "keys", "values"):
        return {"items": list(owner.items()), "keys": list(owner), "values": list(owner.values())}[name]
    if name == "get" and positional:
        key = number(positional[0])
        if isinstance(key, str | int):
            return owner.get(key, positional[1] if len(positional) > 1 else None)
        return UNKNOWN
    if name == "update" and all(isinstance(value, dict) for value in positional):
        for value in positional:
            owner.update(value)
        owner.update(keywords)
        return None
    if name in MUTATORS:
        raise UncertainError
    return dict(owner) if name == "copy" else UNKNOWN


def _added(owner: Thing, name: str, positional: Sequence[Any], keywords: dict[str, Any]) -> Any:
    """Something is registered by a method of `torch.nn`."""
    given = [*positional, *keywords.values()]
    if name == "register_buffer":
        return None
    if name in ("add_module", "register_module", "register_parameter"):
        if len(given) == 2 and isinstance(given[0], str):
            owner.attributes[given[0]] = given[1]
            return None
        owner.fill(given[1:] or [UNKNOWN])
    elif name == "insert":
        owner.fill(given[1:])
    elif owner.model.is_container:
        owner.fill(given)
    else:
        owner.is_open = True
    return None


def _shape(name: str, positional: Sequence[Any], keywords: dict[str, Any]) -> Size | None:
    if name in _OF_TUPLE:
        positional = positional[:1]
    elif name in _OF_DATA and len(positional) == 1 and isinstance(positional[0], list | tuple):
        return None  # `torch.Tensor([1, 2])` holds these numbers
    given = keywords.get("size", positional[0] if len(positional) == 1 else list(positional))
    sides = given if isinstance(given, list | tuple) else [given]
    total = Size.of(1)
    for side in sides:
        size = whole(side)
        if size is None:
            return None
        total = total * size
    return total


def parameter(positional: Sequence[Any], keywords: Mapping[str, Any], *, is_parameter: bool) -> Weights:
    """A parameter, or a buffer, made of a tensor."""
    data = positional[0] if positional else keywords.get("data")
    return Weights(data.size if isinstance(data, Weights) else None, is_parameter)


def _with_norms(positional: Sequence[Any], keywords: dict[str, Any]) -> Any:
    """A layer whose weight is split into a direction and a length for each of its first dimension."""
    layer = positional[0] if positional else keywords.get("module")
    if not isinstance(layer, Thing):
        return UNKNOWN
    is_transposed = "Transpose" in layer.model.name
    names = ("in_channels",) if is_transposed else ("out_channels", "out_features")
    sizes = [whole(layer.attributes[name]) for name in names if name in layer.attributes]
    if layer.own is None or len(sizes) != 1 or sizes[0] is None or len(positional) > 1 or set(keywords) - {"module"}:
        layer.own = None
    else:
        layer.own = layer.own + sizes[0]
    return layer


def _copied(value: Any) -> Any:
    """A deep copy of layers, which belongs to whoever made it; anything else may be shared."""
    if isinstance(value, Thing):
        copy = Thing(value.model)
        copy.own, copy.is_open = value.own, value.is_open
        copy.attributes = {name: _copied(item) for name, item in value.attributes.items()}
        copy.children = [_copied(item) for item in value.children]
        return copy
    if isinstance(value, Weights):
        return Weights(value.size, value.is_parameter)
    if isinstance(value, list):
        return [_copied(item) for item in value]
    if isinstance(value, tuple):
        return tuple(_copied(item) for item in value)
    return value


# -- builtins ------------------------------------------------------------------------------------------------------


def _range(*bounds: Any) -> Any:
    numbers = [number(bound) for bound in bounds]
    if not all(isinstance(bound, int) for bound in numbers):
        return UNKNOWN
    found = range(*numbers)
    return list(found) if len(found) <= _MAX_RANGE else UNKNOWN


def _length(value: Any) -> Any:
    found = elements(value)
    return UNKNOWN if found is None else len(found)


def _listed(value: Any = None) -> Any:
    found = [] if value is None else elements(value)
    return UNKNOWN if found is None else found


def _tupled(value: Any = ()) -> Any:
    found = elements(value)
    return UNKNOWN if found is None else tuple(found)


def _zipped(*values: Any) -> Any:
    columns = [elements(value) for value in values]
    known = [column for column in columns if column is not None]
    if len(known) < len(columns):
        return UNKNOWN
    return list(zip(*known, strict=False))


def _enumerated(value: Any, start: Any = 0) -> Any:
    found = elements(value)
    if found is None or not isinstance(start, int):
        return UNKNOWN
    return list(enumerate(found, start))


def _reversed(value: Any) -> Any:
    found = elements(value)
    return UNKNOWN if found is None else found[::-1]


def _whole(value: Any = 0) -> Any:
    value = number(value)
    if isinstance(value, Size):
        return value
    return int(value) if isinstance(value, int | float | str) else UNKNOWN


def _real(value: Any = 0.0) -> Any:
    value = number(value)
    return float(value) if isinstance(value, int | float | str) else UNKNOWN


def _picked(pick: Callable[..., Any]) -> Callable[..., Any]:
    def apply(*values: Any) -> Any:
        found = elements(values[0]) if len(values) == 1 else list(values)
        numbers = [number(value) for value in found or ()]
        if not numbers or not all(isinstance(value, int | float) for value in numbers):
            return UNKNOWN
        return pick(numbers)

    return apply


def _sum(values: Any, start: Any = 0) -> Any:
    found = elements(values)
    sizes = [whole(value) for value in (*found, start)] if found is not None else [None]
    total = Size.of(0)
    for size in sizes:
        if size is None:
            return UNKNOWN
        total = total + size
    return number(total)


def _rounded(value: Any, digits: Any = None) -> Any:
    value = number(value)
    return round(value, digits) if isinstance(value, int | float) else UNKNOWN


def _is_instance(value: Any, kind: Any) -> Any:
    value = number(value)
    wanted = kind if isinstance(kind, list | tuple) else [kind]
    names = [one.name.removeprefix("builtins.") if isinstance(one, Function) else "" for one in wanted]
    if isinstance(value, Thing) or value is UNKNOWN or not all(names):
        return UNKNOWN
    if isinstance(value, Size):
        return UNKNOWN
    kinds = {"int": int, "float": float, "str": str, "bool": bool, "dict": dict, "list": list, "tuple": tuple}
    if isinstance(value, ClassRef | Function | Weights) or not set(names) <= set(kinds):
        return UNKNOWN
    return any(isinstance(value, kinds[name]) for name in names)


def _attribute(owner: Any, name: Any, *default: Any) -> Any:
    if isinstance(owner, Thing) and isinstance(name, str) and name in owner.attributes:
        return owner.attributes[name]
    return UNKNOWN


def _set_attribute(owner: Any, name: Any, value: Any) -> Any:
    if not isinstance(owner, Thing):
        return None
    if isinstance(name, str):
        owner.keep(name, value)
    elif isinstance(name, Text):
        owner.fill([value])
    else:
        owner.is_open = True
    return None


def _mathematical(name: str) -> Callable[..., Any] | None:
    function = getattr(math, name, None)
    if not callable(function) or name not in ("sqrt", "ceil", "floor", "log2", "log", "log10", "prod", "gcd", "pow"):
        return None

    def apply(*values: Any) -> Any:
        numbers = [number(value) for value in values]
        if not all(isinstance(value, int | float) for value in numbers):
            return UNKNOWN
        return function(*numbers)

    return apply


_BUILTINS: dict[str, Callable[..., Any]] = {
    "range": _range,
    "len": _length,
    "list": _listed,
    "tuple": _tupled,
    "zip": _zipped,
    "enumerate": _enumerated,
    "reversed": _reversed,
    "int": _whole,
    "float": _real,
    "max": _picked(max),
    "min": _picked(min),
    "sum": _sum,
    "round": _rounded,
    "abs": lambda value: abs(value) if isinstance(value, int | float) else UNKNOWN,
    "str": lambda value: str(number(value)) if isinstance(number(value), int | str) else UNKNOWN,
    "dict": lambda *values, **keywords: {**(values[0] if values else {}), **keywords},
    "isinstance": _is_instance,
    "getattr": _attribute,
    "setattr": _set_attribute,
}
