"""Which parameters of functions are tensors: what their annotations say, and what is done with them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from modellint import operators
from modellint.graph.value import Op, dotted, self_attribute, walk_all

if TYPE_CHECKING:
    from modellint.graph.python import Function, Parameter
    from modellint.graph.value import Value

#: What tensors have and do, but not lists, tuples, dicts, sets, strings or numbers.
_OF_TENSORS = (operators.methods("Tensor") | operators.attributes("Tensor")) - frozenset(
    name for kind in (list, tuple, dict, set, str, int, float, complex) for name in dir(kind)
)
#: Annotations of what has one dimension or more as a tensor.
_SEQUENCES = frozenset(("list", "List", "tuple", "Tuple", "Sequence", "ndarray"))
#: Words of what makes tensors.
FACTORIES = operators.words("fresh")
#: What may stand around a class in an annotation that leaves nothing else than the class, or None.
_AROUND = frozenset(("Optional", "Union", "None", "typing", "torch", "t"))

#: What names have in them that are about devices.
_ABOUT_DEVICES = ("device", "cuda", "gpu", "cpu")

#: `name (torch.Tensor): …`, `name : Tensor`, `:type name: torch.FloatTensor` in a docstring, and the rest of the line.
_DOCUMENTED = re.compile(
    r"^[ \t]*(?::(?:param|type)[ \t]+)?([A-Za-z_]\w*)[ \t]*[:(][ \t]*(?:an?[ \t]+)?[`~:a-z]*"
    r"(?:torch\.)?(?:Float|Double|Half|Long|Int|Bool)?Tensor\b`?([^\n]*)$",
    re.MULTILINE,
)
#: What the rest says where it is something else, too.
_ELSE = re.compile(r"^[^):]*(?:\bor\b|[|\[])")


def worked_with(function: Function, *, only_asked: bool = False) -> set[str]:
    """The parameters with which a function does what is done with tensors: asks them, or gives them to torch."""
    found: set[str] = set()
    for value in walk_all(event.value for event in function.flow.events):
        is_asked = value.op is Op.ATTR and value.data in _OF_TENSORS
        if is_asked or (not only_asked and value.op is Op.INDEX and value.args[1].op is Op.TUPLE):
            known = value.args[0]
        elif not only_asked and value.op is Op.CALL and value.positional and _takes_tensors(value.callee, function):
            known = value.positional[0]
        else:
            continue
        if known.op is Op.PARAM:
            found.add(str(known.data))
    return found


def _takes_tensors(callee: Value, function: Function) -> bool:
    """Whether a call is one of torch's functions but a factory, or of a layer that the object has."""
    name = self_attribute(callee)
    if name is not None:
        return function.owner is not None and name in function.owner.assigned
    return (dotted(callee) or "").startswith(("torch.", "F.")) and callee.data not in FACTORIES


def is_given_tensor(parameter: Parameter, plain: frozenset[str], *, at_work: bool) -> bool | None:
    """Whether a method is given a tensor, or something with tensors; None if not, or where nothing speaks for it."""
    if parameter.name == "self":
        return None
    if may_be_tensor(parameter):
        return True
    if not at_work or parameter.name in plain:
        return None
    return parameter.annotation is None


def is_tensor(parameter: Parameter) -> bool:
    """Whether the annotation of a parameter says that it is a tensor, rather than something else, too, or with some."""
    words = {word.rpartition(".")[2] for word in _words(parameter.annotation)} - _AROUND
    return bool(words) and all(word.endswith("Tensor") for word in words)


def documented(parameter: Parameter, function: Function) -> Value | None:
    """Where a constructor uses a parameter that a docstring, and nothing else, says to be a tensor; None if not."""
    texts = [function.docstring, None if function.owner is None else function.owner.docstring]
    if parameter.annotation is not None or not any("Tensor" in text for text in texts if text is not None):
        return None
    said = (found for text in texts if text is not None for found in _DOCUMENTED.findall(text))
    if not any(name == parameter.name and not _ELSE.match(rest) for name, rest in said):
        return None
    values = walk_all(event.value for event in function.flow.events)
    return next((value for value in values if value.op is Op.PARAM and value.data == parameter.name), None)


def may_be_tensor(parameter: Parameter) -> bool:
    """Whether the annotation of a parameter says that it may be a tensor."""
    words = _words(parameter.annotation)
    return any("Tensor" in word for word in words) and "Callable" not in words


def is_about_devices(test: Value) -> bool:
    """Whether a condition may say on which device something is."""
    words = (part.data for part in test.walk() if isinstance(part.data, str))
    return any(word in name.lower() for name in words for word in _ABOUT_DEVICES)


def _words(annotation: Value | None) -> set[str]:
    """The identifiers in an annotation."""
    if annotation is None:
        return set()
    written = [part.data for part in annotation.walk() if isinstance(part.data, str)]
    return {word for name in written for word in name.replace("[", " ").replace("]", " ").replace("|", " ").split()}


def is_sequence(call: Value, function: Function | None) -> bool:
    """Whether the first argument of a call in a function is a parameter that is said to be a sequence of numbers."""
    first = call.positional[0] if call.positional else None
    if first is None or first.op is not Op.PARAM or function is None:
        return False
    parameter = function.parameter(str(first.data))
    return parameter is not None and not _SEQUENCES.isdisjoint(_words(parameter.annotation))
