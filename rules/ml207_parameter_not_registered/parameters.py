"""Parameters and layers that an assignment loses: tensors made from parameters, and stores before `nn.Module.__init__`.

`nn.Parameter(…).to(device)` is no parameter but the result of an operation on one, which a module does not register.
Before `nn.Module.__init__` has run, a module takes neither layers nor parameters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow import queries
from modellint.graph.immutable import dataclass
from modellint.graph.value import EventKind, Op, is_super

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Value
    from modellint.rule import Project

#: The number of bytes in which a generated file says what it was generated from.
_HEAD = 2000


@dataclass(frozen=True, eq=False)
class Derived:
    """An attribute that gets a tensor made from a new parameter.

    `call` in `maker` makes the parameter, `value` is the stored expression, `operation` the method or operator that
    makes a tensor of it. `is_rare`: the operation returns the parameter itself, unless it changes its type.
    """

    cls: Class
    function: Function
    target: Value
    value: Value
    call: Value
    maker: Function
    operation: str
    attribute: str
    use: queries.AttributeRead | None
    is_certain: bool
    is_rare: bool


@dataclass(frozen=True, eq=False)
class Early:
    """A layer or parameter that is assigned before `later`, the call of the base's constructor."""

    cls: Class
    function: Function
    target: Value
    attribute: str
    is_layer: bool
    later: Value
    is_certain: bool


# -- tensors made from parameters ----------------------------------------------------------------------------------


def derived(module: ModuleFacts, project: Project) -> Iterator[Derived]:
    """The attributes of a file's classes that are meant to be parameters, and are results of operations on one."""
    for cls in module.classes.values():
        flow = queries.flow(module, project)
        subjects = flow.layers_of(cls)
        for model in subjects if subjects and flow.may_store_derived(cls) else ():
            yield from _derived_in(cls, module, flow.object(model), project)


def _derived_in(
    cls: Class, module: ModuleFacts, finished: queries.FinishedObject, project: Project
) -> Iterator[Derived]:
    seen: set[int] = set()
    for store in finished.stores:
        made = [atom for atom in store.atoms if isinstance(atom, queries.Derived)]
        place, function = store.place, store.function
        if (
            not made
            or not store.is_sure
            or store.name is None
            or place is None
            or function is None
            or function.module is not module
        ):
            continue
        found = made[0]
        call, maker = found.parameter.value, found.parameter.function
        if call is None or maker is None or id(place) in seen or _is_kept_otherwise(found.parameter, store, finished):
            continue
        seen.add(id(place))
        reads = [read for read in finished.reads(store.name) if read.function is not function]
        use = next(iter(sorted(reads, key=lambda read: not read.at_work)), None)
        is_certain = queries.is_layer(finished.model, project) is True
        told = found.moved_to
        is_rare = found.is_rare or (told is not None and _is_told_host(told.name, finished.model, project))
        yield Derived(
            cls, function, place, found.value, call, maker, found.operation, store.name, use, is_certain, is_rare
        )


def _is_told_host(name: str, model: queries.ClassModel, project: Project) -> bool:
    """True if there are calls that make objects of a class, and each gives the CPU for the parameter `name`."""
    constructor = model.method("__init__")
    names = [] if constructor is None else [one.name for one in constructor.parameters[1:]]
    if constructor is None or name not in names:
        return False
    made = queries.flow(constructor.module, project).constructed_anywhere(model)
    return bool(made) and all(one.argument(names.index(name), name).is_host for one in made or ())


def _is_kept_otherwise(parameter: queries.Shell, store: queries.Store, finished: queries.FinishedObject) -> bool:
    """True if the parameter itself, or another one under the same name, is stored as well."""
    if finished.is_registered(parameter, store):
        return True
    others = [
        other for other in finished.stores if other is not store and not queries.are_exclusive(other.path, store.path)
    ]
    if any(parameter in other.atoms for other in others):
        return True
    return any(
        isinstance(atom, queries.Shell) and atom.kind == "parameter"
        for other in others
        if other.name == store.name
        for atom in other.atoms
    )


# -- before nn.Module ------------------------------------------------------------------------------------------------


def early(module: ModuleFacts, project: Project) -> Iterator[Early]:
    """The layers and parameters that constructors of a file assign before `nn.Module.__init__` has run."""
    for cls in module.classes.values():
        if "__init__" not in cls.methods:
            continue
        model = project.classes.model(cls)
        flow = queries.flow(module, project)
        if model.is_module is True and flow.may_store_early(cls) and not _is_special(model):
            found = list(_early_in(cls, model, flow.object(model)))
            if found and not _is_template(module, project):
                yield from found


def _is_special(model: queries.ClassModel) -> bool:
    """True if a class makes its objects, or stores their attributes, in a way of its own."""
    if model.has_own_adder("__setattr__") or model.has_own_adder("__new__"):
        return True
    return any("metaclass" in owner.cls.head.keywords for owner in model.mro() if owner.cls is not None)


def _is_template(module: ModuleFacts, project: Project) -> bool:
    """True if a file in the same folder says that it was generated from this one: it runs in place of this one."""
    folder, own = module.file.parent, module.file.name.encode()
    heads = (
        (project.files.read(folder / name) or b"")[:_HEAD]
        for name in project.files.listdir(folder)
        if name.endswith(".py") and name != module.file.name
    )
    return any(b"generated" in head and own in head for head in heads)


def _early_in(cls: Class, model: queries.ClassModel, finished: queries.FinishedObject) -> Iterator[Early]:
    later = _base_constructor(cls.methods["__init__"])
    if later is None or not finished.is_initialised:
        return
    for store in finished.stores:
        place, function, name = store.place, store.function, store.name
        if (
            store.is_initialised
            or not store.is_sure
            or name is None
            or place is None
            or function is None
            or model.has_method(name)
        ):
            continue
        layers = [isinstance(atom, queries.Shell) and atom.is_layer for atom in store.atoms]
        parameters = [isinstance(atom, queries.Shell) and atom.kind == "parameter" for atom in store.atoms]
        if function.owner is cls and (any(layers) or any(parameters)):
            is_certain = not store.path and all(a or b for a, b in zip(layers, parameters, strict=True))
            yield Early(cls, function, place, name, any(layers), later, is_certain)


def _base_constructor(function: Function) -> Value | None:
    """The call of a base's constructor: `super().__init__(…)` or `Base.__init__(self, …)`."""
    for event in function.flow.of(EventKind.CALL):
        call = event.value
        if call.callee.op is Op.ATTR and call.callee.data == "__init__":
            is_given_self = any(arg.op is Op.PARAM and arg.data == "self" for arg in call.positional)
            if is_given_self or is_super(call.callee.args[0]):
                return call
    return None
