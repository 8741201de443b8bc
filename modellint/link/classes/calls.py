"""What calls of things that cannot be read amount to: PyTorch's own, builtins, pretrained models."""

from __future__ import annotations

import re
import sys

from modellint import knowledge, operators
from modellint.link.classes.objects import (
    NOTHING,
    PLAIN,
    TRAINED,
    UNKNOWN,
    Arguments,
    Choice,
    ClassObject,
    Constant,
    Given,
    Group,
    Instance,
    Object,
    Outside,
    Plain,
    Rows,
    Tensor,
    Trained,
    choice,
    contents,
    element,
)

MODULE = "torch.nn.Module"
#: Containers that register what their constructor is given, and the parameter it is given by.
CONTAINERS = {name: argument for name, (_, argument) in operators.arguments("holds").items()}
TENSOR_CLASSES = operators.functions("trained", "kept")
#: Methods of a layer that give back the layer itself.
SAME = operators.methods("Module", "itself")
_VIEWS = operators.methods("dict", "contents") | operators.methods("Module", "contents") | {"keys"}
#: Methods whose result says something about what they are called on.
FOLLOWED = SAME | _VIEWS | {"items", "get", "pop", "from_pretrained", "from_config"}
PRETRAINED = re.compile(
    r"transformers\.(?:.*\.)?(?:AutoModel\w*|\w+Model|\w+For[A-Z]\w+)(?:\.(?:from_pretrained|from_config|_from_config))?$"
)
WRAPPERS = operators.functions("wraps", "builds")
COPIES = operators.functions("copies")
_SEQUENCES = operators.functions("contents", "element")


def method_result(owner: Object, name: str) -> Object | None:
    """What `owner.name(…)` gives, None if that is for the owner's class to say."""
    if isinstance(owner, Choice):
        results = [method_result(option, name) for option in owner.options]
        known = [result for result in results if result is not None]
        return choice(known, is_each=owner.is_each) if len(known) == len(results) else None
    if isinstance(owner, Instance | Given | Trained) and name in SAME:
        return owner
    if isinstance(owner, Tensor) and name.endswith("_"):
        return owner  # changed in place
    if isinstance(owner, Tensor | Plain | Constant):
        return PLAIN
    if isinstance(owner, Group | Given):
        if name == "items":
            return Rows((PLAIN, owner))
        if name in ("get", "pop"):
            return element(owner)
        if name in _VIEWS:
            return PLAIN if name == "keys" else owner
        return PLAIN if isinstance(owner, Group) else None
    if isinstance(owner, ClassObject) and name in ("from_pretrained", "from_config"):
        return Instance(owner.model, Arguments(is_complete=False)) if owner.model.is_module else UNKNOWN
    return None


#: Attributes of tensors.
PLAIN_ATTRIBUTES = {"__name__"} | operators.attributes(
    "Tensor", "gives:size", "gives:device", "gives:dtype", "gives:int"
)


def attribute_of(owner: Object, name: str) -> Object:
    """What `owner.name` gives for an owner without a class that can be asked."""
    if name in PLAIN_ATTRIBUTES:
        return PLAIN
    if isinstance(owner, ClassObject):
        return PLAIN if owner.model.is_module is False else UNKNOWN
    return PLAIN if isinstance(owner, Plain | Tensor | Constant | Group) else UNKNOWN


def external_result(name: str, arguments: Arguments) -> Object:
    """What calling the function or class `name`, which cannot be read, gives."""
    given = arguments.positional
    first = given[0] if given else UNKNOWN
    if name in COPIES or name in WRAPPERS:
        return first
    if name in _SEQUENCES:
        return _sequence(name, given)
    if name == "builtins.enumerate":
        return Rows((PLAIN, first))
    if name == "builtins.zip":
        return Rows(given)
    if name in ("builtins.dict", "collections.OrderedDict"):
        return _dict(arguments)
    if name == "builtins.getattr":
        return _getattr(given)
    if name == "functools.partial" and isinstance(first, ClassObject):
        rest = Arguments(given[1:], arguments.keywords, arguments.is_complete)
        return ClassObject(first.model, first.arguments.then(rest))
    if PRETRAINED.match(name):
        return TRAINED
    top = name.partition(".")[0]
    if top == "builtins":
        return PLAIN
    if top == "torch":
        return UNKNOWN if is_torch_class(name) else PLAIN
    is_tool = is_standard(top) or top == "numpy" or name.startswith(knowledge.TOOLS_ELSEWHERE)
    return PLAIN if is_tool else UNKNOWN


def is_standard(top: str) -> bool:
    """Whether a module belongs to the standard library."""
    return top in sys.stdlib_module_names


def is_torch_class(name: str) -> bool:
    """Whether a name of torch that the facts do not describe may be a layer class."""
    last = name.rpartition(".")[2]
    return last[:1].isupper() and not name.startswith(NON_LAYERS) and name.count(".") > 1


#: Parts of torch whose classes are no layers.
NON_LAYERS = (
    "torch.Tensor",
    "torch.autograd.",
    "torch.cuda.",
    "torch.distributions.",
    "torch.optim.",
    "torch.utils.data.",
)


def _sequence(name: str, given: tuple[Object, ...]) -> Object:
    if not given:
        return NOTHING
    if name == "builtins.next":
        return element(given[0])
    if isinstance(given[0], Group):
        return Group(given[0].items)
    return given[0]


def _dict(arguments: Arguments) -> Object:
    items = list(arguments.keywords.values())
    keys: tuple[object, ...] | None = tuple(arguments.keywords)
    for given in arguments.positional:
        if isinstance(given, Group) and given.keys is not None and keys is not None:
            items.extend(given.items)
            keys += given.keys
        else:
            items.extend(contents(given))
            keys = None
    return Group(tuple(items), keys if keys is not None and len(keys) == len(items) else None)


def _getattr(given: tuple[Object, ...]) -> Object:
    if len(given) > 1 and isinstance(given[0], Outside) and isinstance(given[1], Constant):
        return Outside(f"{given[0].name}.{given[1].value}")
    return UNKNOWN
