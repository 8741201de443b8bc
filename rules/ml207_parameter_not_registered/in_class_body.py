"""Layers and parameters that the body of a layer class makes: its objects share them, and none registers them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow import queries
from modellint.graph.definitions import External
from modellint.graph.immutable import dataclass
from modellint.graph.value import EventKind, Op, called_name, self_attribute

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Value
    from modellint.rule import Project

_DISPLAYS = frozenset((Op.LIST, Op.TUPLE, Op.SET, Op.DICT))
#: Classes of tensors that `nn.Module` registers where they are attributes of an object.
_PARAMETERS = frozenset(("torch.nn.Parameter", "torch.nn.parameter.Parameter"))


@dataclass(frozen=True, slots=True)
class InClassBody:
    """A class-level assignment of layers or parameters, of the classes `made`, and a read when the object works."""

    cls: Class
    name: str
    value: Value
    made: tuple[str, ...]
    use: queries.AttributeRead

    @property
    def is_one(self) -> bool:
        """True for a layer or parameter, False for a container of them."""
        return self.value.op is Op.CALL


def in_class_bodies(module: ModuleFacts, project: Project) -> Iterator[InClassBody]:
    """The layers and parameters that class bodies make, and that objects use and never take for themselves."""
    for cls in module.classes.values():
        made = {
            name: found for name, value in cls.attributes.items() if (found := made_classes(value, module, project))
        }
        if not made or cls.head.keywords or cls.head.decorators:
            continue
        model = project.classes.model(cls)
        if not model.is_module or not model.are_bases_known:
            continue
        for name, classes in made.items():
            use = _use(name, cls, project)
            if use is not None:
                yield InClassBody(cls, name, cls.attributes[name], classes, use)


def made_classes(value: Value, module: ModuleFacts, project: Project) -> tuple[str, ...]:
    """The names of the classes with parameters or buffers of which a value makes objects; empty if there is a doubt."""
    if value.op in _DISPLAYS and value.args:
        parts = [made_classes(part, module, project) for part in value.args]
        return tuple(dict.fromkeys(name for part in parts for name in part))
    if value.op is Op.COMPREHENSION:
        return made_classes(value.args[-1], module, project)
    if value.op is not Op.CALL:
        return ()
    definition = project.names.definition(module, value.callee)
    if isinstance(definition, External) and definition.name in _PARAMETERS:
        frozen = value.argument(1, "requires_grad")
        return ("Parameter",) if frozen is None else ()
    model = project.classes.of(definition)
    is_kept = model is not None and model.is_module and queries.flow(module, project).state(model)
    return (called_name(value.callee),) if is_kept else ()


def _stores_into(name: str, method: Function) -> bool:
    """True if a method sets an attribute of the object under a name: `self.layer.table = self.layer.table.to(x)`."""
    targets = (event.target for event in method.flow.of(EventKind.STORE))
    return any(one is not None and one.op is Op.ATTR and self_attribute(one.args[0]) == name for one in targets)


def _use(name: str, cls: Class, project: Project) -> queries.AttributeRead | None:
    """The first read of a class attribute when an object works; None if something else may be there, or takes it."""
    for relative in queries.family(cls, project).classes:
        said = queries.mentions(relative, project)
        if said.reads_any or said.may_name(name) or any(relative.stores(name)):
            return None
        for method in relative.methods.values():
            if name not in method.words:
                continue
            if method.name in ("__init__", "__new__") or _stores_into(name, method):
                return None
        if relative is not cls and name in relative.attributes:
            return None
    reads = queries.flow(cls.module, project).object(cls).reads(name)
    return next((read for read in reads if read.at_work), None)
