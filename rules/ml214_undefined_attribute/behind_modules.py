"""Attributes of the entries of a Brain's `modules`, which several processes wrap in `DistributedDataParallel`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow import queries
from modellint.graph.immutable import dataclass
from modellint.graph.value import Op, self_attribute
from modellint.link.recipes import queries as recipes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.value import Value
    from modellint.rule import Project


#: Functions that set up a process group.
_DISTRIBUTED = frozenset(("ddp_init_group", "init_process_group"))
#: Words of code that tells a wrapper from the layer inside, or runs of one process from those of several.
_TELLING = frozenset(
    "DataParallel DistributedDataParallel distributed_backend distributed_launch getattr isinstance module".split()
)
_WRAPPER = "torch.nn.parallel.DistributedDataParallel"


@dataclass(frozen=True, eq=False, slots=True)
class BehindWrapper:
    """A read of an attribute `name` of an entry of `self.modules` that learns, or a call of `hasattr` for it."""

    function: Function
    value: Value
    entry: str
    name: str
    root: recipes.Root


def read_behind_wrappers(module: ModuleFacts, project: Project) -> Iterator[BehindWrapper]:
    """The attributes that a script's Brain reads of wrapped entries of `modules`, and that the wrapper lacks."""
    if not any(name in module.text for name in _DISTRIBUTED):
        return
    script = recipes.script(module, project)
    if not script.recipes or not any(name.rpartition(".")[2] in _DISTRIBUTED for name in script.callees):
        return
    members = queries.wrapper_members(_WRAPPER) or frozenset()
    told: set[tuple[Function, str, str]] = set()
    for recipe in script.recipes:
        asked = recipes.about(recipe, project)
        for registration in asked.registrations(module):
            if registration.reach is None:
                continue
            roots = {root.text: root for root in registration.modules.roots}
            for function in _methods(registration.reach.brain):
                for value, entry, name in _reads(function):
                    root = roots.get(f"modules[{entry}]")
                    key = function, entry, name
                    if root is None or name in members or name.startswith("__") or key in told:
                        continue
                    if _has(root.item, name, project) and _is_wrapped(root.item, registration, asked):
                        told.add(key)
                        yield BehindWrapper(function, value, entry, name, root)


def _methods(brain: recipes.BrainUse) -> Iterator[Function]:
    """The methods of a Brain that run once its modules are wrapped, and do not tell wrappers from layers."""
    for cls in brain.classes:
        for name, method in cls.methods.items():
            is_own = name != "__init__" and brain.method(name) is method
            if is_own and "modules" in method.words and _TELLING.isdisjoint(method.words):
                yield method


def _reads(function: Function) -> Iterator[tuple[Value, str, str]]:
    """The reads of attributes of `self.modules.entry`, and `hasattr` of one, with the entry and the attribute."""
    seen: set[int] = set()
    for event in function.flow.events:
        values = (event.value, *(event.target.args if event.target is not None else ()))
        if event.handled or (event.target is not None and _entry(event.target.args[0]) is not None):
            continue
        for value in (part for one in values for part in one.walk()):
            if id(value) in seen:
                continue
            seen.add(id(value))
            if value.op is Op.ATTR and (entry := _entry(value.args[0])) is not None:
                yield value, entry, str(value.data)
            elif value.op is Op.CALL and value.callee.data == "hasattr" and len(value.positional) == 2:
                entry = _entry(value.positional[0])
                if entry is not None and value.positional[1].op is Op.CONST:
                    yield value, entry, str(value.positional[1].data)


def _entry(value: Value) -> str | None:
    """The entry of `self.modules` that a value is; None for any other value."""
    if value.op is Op.ATTR and self_attribute(value.args[0]) == "modules":
        return str(value.data)
    is_item = value.op is Op.INDEX and self_attribute(value.args[0]) == "modules"
    return str(value.args[1].data) if is_item and value.args[1].op is Op.CONST else None


def _has(item: recipes.Item, name: str, project: Project) -> bool:
    """True if the class of an object of a recipe has a method or sets an attribute of this name."""
    model = project.classes.resolve(item.target, item.recipe.file)
    for current in () if model is None else model.mro():
        if current.facts.has_method(name) or name in current.facts.attributes:
            return True
        if current.cls is None:
            if name in (queries.layer_members(current.name) or ()):
                return True
        elif name in queries.mentions(current.cls, project).stored:
            return True
    return False


def _is_wrapped(item: recipes.Item, registration: recipes.Registration, asked: recipes.Queries) -> bool:
    """True if an entry of `modules` has parameters to train, so that the framework wraps it."""
    held = (status for status in registration.layers if asked.holds(item, status.item))
    return any(not status.may_be_frozen and status.has_parameters for status in held)
