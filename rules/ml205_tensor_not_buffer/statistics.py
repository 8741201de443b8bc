"""Statistics of a data set that other code puts into a plain attribute of a layer: `net.head.mean = targets.mean()`.

The constructor gets them as arguments, too, or None. `forward` computes with them. No checkpoint holds them, and the
layer does not take them to another device.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import operators
from modellint.flow import queries
from modellint.graph.definitions import DefinedClass, External
from modellint.graph.immutable import dataclass
from modellint.graph.value import EventKind, Op, self_attribute, walk_all

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Value
    from modellint.rule import Project

_REDUCING, _REDUCED = operators.methods("Tensor", "reduces"), operators.functions("reduces")
_JOINING = operators.functions("joins", "stacks")
_ARITHMETIC = frozenset(("+", "-", "*", "/"))


@dataclass(frozen=True, eq=False)
class Statistics:
    """A plain attribute of a layer, stored at `target`, that code elsewhere sets to a statistic of data, at `given`."""

    cls: Class
    attribute: str
    target: Value
    given: queries.Site


def statistics_set(module: ModuleFacts, project: Project) -> Iterator[Statistics]:
    """The plain attributes of the layers of a file that other code sets to statistics of a data set."""
    for cls in module.classes.values():
        optional = dict(_optional(cls))
        if not optional or project.classes.model(cls).is_module is not True:
            continue
        holders: set[str] | None = None
        for name, target in optional.items():
            if not _is_calculated_with(name, cls) or not queries.is_mentioned_elsewhere(module, project, f". {name}"):
                continue
            holders = set(_holders(cls, project)) if holders is None else holders
            given = next(_statistics_given(name, holders, module, project), None)
            if given is not None:
                yield Statistics(cls, name, target, given)


def _optional(cls: Class) -> Iterator[tuple[str, Value]]:
    """The attributes in which the constructor keeps an argument that may be None, each with the place that it sets."""
    function = cls.methods.get("__init__")
    for name, events in ({} if function is None else function.flow.stores).items():
        value, target = events[-1].value, events[-1].target
        parameter = function.parameter(str(value.data)) if function is not None and value.op is Op.PARAM else None
        default = None if parameter is None else parameter.default
        is_none = default is not None and default.op is Op.CONST and default.data is None
        is_only = len(events) == 1 and all(where is function for where, _ in cls.stores(name))
        if target is not None and is_none and is_only:
            yield name, target


def _is_calculated_with(name: str, cls: Class) -> bool:
    """True if a method other than the constructor adds an attribute to something, or multiplies it."""
    for method in cls.methods.values():
        if method.name != "__init__" and name in method.words:
            parts = walk_all(method.flow.evaluated())
            sums = (part for part in parts if part.op is Op.BIN and str(part.data) in _ARITHMETIC)
            if any(self_attribute(arg) == name for part in sums for arg in part.args):
                return True
    return False


def _holders(cls: Class, project: Project) -> Iterator[str]:
    """The attributes under which classes of the project keep objects of a class."""
    for module in queries.files_mentioning(cls.module, project, cls.name):
        for function in module.all_functions():
            for name, events in function.flow.stores.items() if cls.name in function.words else ():
                for value in (event.value for event in events):
                    if value.op is Op.CALL and project.names.definition(module, value.callee) == DefinedClass(cls):
                        yield name


def _statistics_given(name: str, holders: set[str], near: ModuleFacts, project: Project) -> Iterator[queries.Site]:
    """The statistics that code puts into the attribute `name` of an object that is kept under one of `holders`."""
    for holder in sorted(holders):
        for module in queries.files_mentioning(near, project, f". {holder}", f". {name}"):
            for function in (*module.all_functions(), module.body):
                events = function.flow.of(EventKind.STORE) if {name, holder} <= function.words else ()
                for event in (event for event in events if _is_attribute_of(event.target, name, holder)):
                    if _is_statistic(event.value, function, project):
                        yield queries.Site(event.value, function)


def _is_attribute_of(target: Value | None, name: str, holder: str) -> bool:
    """True for `net.holder.name`."""
    if target is None or target.op is not Op.ATTR or target.data != name:
        return False
    return target.args[0].op is Op.ATTR and target.args[0].data == holder


def _is_statistic(value: Value, function: Function, project: Project) -> bool:
    """True if a value is a mean, a deviation or the like of tensors that are joined, which stays where these are."""
    is_reduced = False
    while value.op is Op.CALL:
        definition = project.names.definition(function.module, value.callee)
        name = definition.name if isinstance(definition, External) else ""
        if name in _JOINING:
            return is_reduced
        if name in _REDUCED and value.positional:
            value = value.positional[0]
        elif not name and value.callee.op is Op.ATTR and value.callee.data in _REDUCING:
            value = value.callee.args[0]
        else:
            return False
        is_reduced = True
    return False
