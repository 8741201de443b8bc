"""Parameters that are tensors, by annotations, docstrings and uses."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from modellint import operators
from modellint.graph.value import Op, dotted, self_attribute, walk_all

if TYPE_CHECKING:
    from modellint.graph.python import Function
    from modellint.graph.value import Parameter, Value
    from modellint.operators import Operator

#: Attributes and methods of tensors that lists, tuples, dicts, sets, strings and numbers lack.
_OF_TENSORS = (operators.methods("Tensor") | operators.attributes("Tensor")) - frozenset(
    name for kind in (list, tuple, dict, set, str, int, float, complex) for name in dir(kind)
)
#: Annotations of sequences, which make tensors of at least one dimension.
_SEQUENCES = frozenset(("list", "List", "tuple", "Tuple", "Sequence", "ndarray"))
#: The names of factories.
FACTORIES = operators.words("fresh")
#: Words of an annotation that name no further class.
_AROUND = frozenset(("Optional", "Union", "None"))

#: Parts of names that have to do with devices.
_ABOUT_DEVICES = ("device", "cuda", "gpu", "cpu")

#: `name (torch.Tensor): …`, `name : Tensor`, `:type name: torch.FloatTensor` in a docstring, and the rest of the line.
_DOCUMENTED = re.compile(
    r"^[ \t]*(?::(?:param|type)[ \t]+)?([A-Za-z_]\w*)[ \t]*[:(][ \t]*(?:an?[ \t]+)?[`~:a-z]*"
    r"(?:torch\.)?(?:Float|Double|Half|Long|Int|Bool)?Tensor\b`?([^\n]*)$",
    re.MULTILINE,
)
#: The rest of the line if the parameter may be something else, too.
_ELSE = re.compile(r"^[^):]*(?:\bor\b|[|\[])")


def worked_with(function: Function, *, only_asked: bool = False) -> set[str]:
    """The parameters that a function uses as tensors: reads their attributes, indexes them, or passes them to torch."""
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
    """True if a callee is a function of torch (no factory), or an attribute that the class assigns, as a layer."""
    name = self_attribute(callee)
    if name is not None:
        return function.owner is not None and name in function.owner.assigned
    return (dotted(callee) or "").startswith(("torch.", "F.")) and callee.data not in FACTORIES


def is_given_tensor(parameter: Parameter, plain: frozenset[str], *, at_work: bool) -> bool | None:
    """True if a parameter takes a tensor, False if perhaps an object with tensors, None without any evidence."""
    if parameter.name == "self":
        return None
    if may_be_tensor(parameter):
        return True
    if not at_work or parameter.name in plain:
        return None
    return parameter.annotation is None


def is_tensor(parameter: Parameter) -> bool:
    """True if the annotation of a parameter names tensors only."""
    words = {word.rpartition(".")[2] for word in _words(parameter.annotation)} - _AROUND
    return bool(words) and all(word.endswith("Tensor") for word in words)


def documented(parameter: Parameter, function: Function) -> Value | None:
    """The first use of a parameter that only a docstring declares to be a tensor; None for others."""
    texts = [function.docstring, None if function.owner is None else function.owner.docstring]
    if parameter.annotation is not None or not any("Tensor" in text for text in texts if text is not None):
        return None
    said = (found for text in texts if text is not None for found in _DOCUMENTED.findall(text))
    if not any(name == parameter.name and not _ELSE.match(rest) for name, rest in said):
        return None
    values = walk_all(event.value for event in function.flow.events)
    return next((value for value in values if value.op is Op.PARAM and value.data == parameter.name), None)


def may_be_tensor(parameter: Parameter) -> bool:
    """True if the annotation of a parameter mentions tensors, other than in a callable."""
    words = _words(parameter.annotation)
    return any("Tensor" in word for word in words) and "Callable" not in words


def is_about_devices(test: Value) -> bool:
    """True if a condition mentions devices."""
    words = (part.data for part in test.walk() if isinstance(part.data, str))
    return any(word in name.lower() for name in words for word in _ABOUT_DEVICES)


def _words(annotation: Value | None) -> set[str]:
    """The names in an annotation, without the modules that they are taken from."""
    pending = [] if annotation is None else [annotation]
    written: list[str] = []
    while pending:
        part = pending.pop()
        written += [part.data] if isinstance(part.data, str) else []
        pending += part.args if part.op is not Op.ATTR else ()
    return {word for name in written for word in name.replace("[", " ").replace("]", " ").replace("|", " ").split()}


def is_sequence(call: Value, function: Function | None) -> bool:
    """True if the first argument of a call is a parameter annotated as a sequence."""
    first = call.positional[0] if call.positional else None
    if first is None or first.op is not Op.PARAM or function is None:
        return False
    parameter = function.parameter(str(first.data))
    return parameter is not None and not _SEQUENCES.isdisjoint(_words(parameter.annotation))


def is_single_number(call: Value, row: Operator) -> bool:
    """True if a tensor factory gets an empty size, so the tensor has no rows: `torch.rand([])`, `torch.zeros(())`."""
    first = call.argument(0, "size")
    is_sized = "sized" in row.facets and row.facets.keys().isdisjoint(("passed", "literal"))
    is_alone = len(call.positional) < 2 or row.facets.get("sized") == "tuple"
    return is_sized and is_alone and first is not None and first.op in (Op.LIST, Op.TUPLE) and not first.args
