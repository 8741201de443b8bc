"""Batches that a trainer of Lightning passes from loaders to the steps of a module.

`trainer.fit(model, datamodule=data)` calls `model.training_step(batch, number)` with what `data.train_dataloader()`
gives; a module may have that method itself, or `fit` may be passed the loader.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from modellint import knowledge
from modellint.flow.callees import ProjectInstance
from modellint.flow.summaries import Summaries
from modellint.graph.value import EventKind, Op, called_name
from modellint.link.names import External
from modellint.link.searched import mentioning

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Value
    from modellint.link.classes.models import ClassModel
    from modellint.link.project import Project

#: The methods that give loaders.
_LOADERS = frozenset(knowledge.STEP_LOADERS.values())
#: How many files that mention a class are searched for the calls of trainers.
_MAX_USERS = 16


class Step(NamedTuple):
    """A method that is called with batches: the parameter that takes them, and the expressions that make the loaders.

    The method is called on objects of `cls`; each loader stands with its function, and the class of its object.
    """

    cls: Class
    method: Function
    batch: str
    loaders: tuple[tuple[Function, Class | None, Value], ...]


def steps(module: ModuleFacts, project: Project) -> Iterator[Step]:
    """The steps of the modules of Lightning in a file, of which loaders are known."""
    for cls in module.classes.values():
        if not knowledge.STEP_LOADERS.keys().isdisjoint(_method_names(cls, project)):
            yield from _steps_of(cls, project)


def modules_fed(module: ModuleFacts, project: Project) -> Iterator[ModuleFacts]:
    """The files with modules of Lightning that a trainer calls with batches from the classes of a file."""
    found: dict[ModuleFacts, None] = {}
    for cls in module.classes.values():
        if not _LOADERS.isdisjoint(_method_names(cls, project)):
            for function, call in _trainings(cls, project):
                classes = [one for arg in call.args[1:] for one in _classes(arg, function, project)]
                if cls in classes:
                    found.update((one.module, None) for one in classes)
    yield from found


def _method_names(cls: Class, project: Project) -> set[str]:
    """The names of the methods of a class that derives from one of Lightning; none for others."""
    bases = [project.names.definition(cls.module, base) for base in cls.bases]
    if all(isinstance(base, External) and base.name.startswith("torch.") for base in bases):
        return set()
    model = project.classes.model(cls)
    known = knowledge.STEP_LOADERS.keys() | _LOADERS
    names = {name for one in model.mro() if one.cls is not None for name in one.cls.methods.keys() & known}
    return names if names and any(map(_is_of_lightning, _names_above(model))) else set()


def _names_above(model: ClassModel) -> Iterator[str]:
    for one in model.mro():
        yield one.name
        yield from (base.name for base in one.facts.bases if isinstance(base, External))


def _is_of_lightning(name: str) -> bool:
    return name.partition(".")[0] in knowledge.LIGHTNING


def _steps_of(cls: Class, project: Project) -> Iterator[Step]:
    model = project.classes.model(cls)
    trainings: list[tuple[Function, Value]] | None = None
    for name, loader in knowledge.STEP_LOADERS.items():
        method = model.method(name)
        if method is None or len(method.parameters) < 2:
            continue
        loaders = _loaders_of(cls, loader, project)
        trainings = [*_trainings(cls, project)] if trainings is None else trainings
        for function, call in trainings:
            loaders += _loaders_passed(cls, loader, function, call, project)
        if loaders and not _changes_batches(cls, project):
            yield Step(cls, method, method.parameters[1].name, tuple(dict.fromkeys(loaders)))


def _loaders_of(cls: Class, name: str, project: Project) -> list[tuple[Function, Class | None, Value]]:
    """The loaders that a method of a class returns, unless hooks of the class may change their batches."""
    method = project.classes.model(cls).method(name)
    if method is None or _changes_batches(cls, project):
        return []
    return [(method, cls, event.value) for event in method.flow.of(EventKind.RETURN)]


def _changes_batches(cls: Class, project: Project) -> bool:
    return any(project.classes.model(cls).method(name) is not None for name in knowledge.BATCH_HOOKS)


def _trainings(cls: Class, project: Project) -> Iterator[tuple[Function, Value]]:
    """The calls `trainer.fit(…, …)` in functions that mention a class, each with its function."""
    others = (module for _, module in zip(range(_MAX_USERS), mentioning(project, cls.module, cls.name), strict=False))
    for module in dict.fromkeys((cls.module, *others)):
        for function in (*module.all_functions(), module.body):
            if not knowledge.TRAININGS.keys().isdisjoint(function.words):
                for event in function.flow.of(EventKind.CALL):
                    callee = event.value.callee
                    if callee.op is Op.ATTR and callee.data in knowledge.TRAININGS and len(event.value.args) > 2:
                        yield function, event.value


def _loaders_passed(
    cls: Class, loader: str, function: Function, call: Value, project: Project
) -> Iterator[tuple[Function, Class | None, Value]]:
    """The loaders for a step that a call of a trainer passes together with an object of a class."""
    model = call.argument(0, "model")
    if model is None or cls not in _classes(model, function, project):
        return
    names = knowledge.TRAININGS[called_name(call.callee)]
    given = [*(("", value) for value in call.positional[1:2]), *call.keywords.items()]
    for name, value in given:
        classes = [*_classes(value, function, project)]
        for one in classes:
            yield from _loaders_of(one, loader, project)
        if not classes and names.get(name or "") == loader:
            yield function, function.owner, value


def _classes(value: Value, function: Function, project: Project) -> Iterator[Class]:
    """The classes of the project that a value may be an object of."""
    objects = project.of(Summaries).body(function).objects(value)
    return (one.cls for one in objects if isinstance(one, ProjectInstance))
