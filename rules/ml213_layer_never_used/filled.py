"""Reads of layers that only give them their first values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.graph.definitions import DefinedFunction, External
from modellint.graph.python import INITIAL
from modellint.graph.value import EventKind, Op, self_attribute

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Function
    from modellint.graph.value import Value
    from modellint.rule import Project


def is_only_filled(function: Function, name: str, project: Project) -> bool:
    """True if a function reads an attribute only to fill in its first values."""
    reads = {id(event.value) for event in function.flow.reads if event.value.data == name}
    return not reads or reads <= set(_filling_reads(function, project))


def _filling_reads(constructor: Function, project: Project) -> Iterator[int]:
    """The attributes that a constructor reads only to fill in their first values."""
    for event in constructor.flow.events:
        if event.kind is EventKind.STORE and event.target is not None:
            if event.target.op is Op.ATTR and event.target.data != "requires_grad":
                yield from _chain(event.target.args[0])
        elif event in constructor.flow.dropped:
            call = event.value
            callee = call.callee
            if callee.op is Op.ATTR and _is_filling(str(callee.data)):
                yield from _chain(callee.args[0])
            definition = project.names.definition(constructor.module, callee)
            is_init = isinstance(definition, External) and definition.name.startswith("torch.nn.init.")
            is_own = isinstance(definition, DefinedFunction) and INITIAL.fullmatch(definition.function.name) is not None
            is_method = self_attribute(callee) is not None and INITIAL.fullmatch(str(callee.data)) is not None
            if is_init or is_own or is_method:
                for argument in call.args[1:]:
                    yield from _chain(argument)


def _is_filling(method: str) -> bool:
    is_in_place = method.endswith("_") and not method.endswith("__") and method != "requires_grad_"
    return is_in_place or method == "apply" or INITIAL.fullmatch(method) is not None


def _chain(value: Value) -> Iterator[int]:
    """The attribute, and each attribute that holds its object: `self.proj` of `self.proj.weight.data`."""
    while value.op in (Op.ATTR, Op.INDEX):
        yield id(value)
        value = value.args[0]
