"""The layers that an object makes anew whenever it is called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow.built import state_in
from modellint.flow.gate import Keepers
from modellint.flow.late_layers import LateLayers
from modellint.flow.object_run import ObjectRun

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from modellint.flow.heap import Shell
    from modellint.flow.late_layers import Step
    from modellint.graph.python import Function
    from modellint.link.classes.models import ClassModel
    from modellint.link.project import Project

#: Methods that run once for each object.
_ONCE = frozenset(("__init__", "__new__", "__post_init__", "__init_subclass__", "__setstate__"))


class LateLayer:
    """A layer that a call of an object makes.

    `route` are the calls that lead to it, outermost first, the last of which makes it. `attribute` is the attribute of
    the object that keeps it, None if none does.
    """

    def __init__(self, shell: Shell, route: tuple[Step, ...], object_run: ObjectRun) -> None:
        self._shell = shell
        self._object_run = object_run
        self._late = object_run.run.of(LateLayers)
        self.route = route
        self.attribute = self._late.attribute_of(shell)

    @property
    def model(self) -> ClassModel | None:
        """The model of the layer's class; None for one that cannot be read."""
        return self._shell.model

    @property
    def has_parameters(self) -> bool | None:
        """True if the layer has parameters of its own; a container has none. None if its arguments decide."""
        if self.model is None or self._shell.is_module_container:
            return False
        if self.model.cls is not None:
            return self._object_run.has_parameters(self._shell)
        return state_in(self._object_run.run, self._shell, trained=True)

    def use(self) -> Step | None:
        """The call of the layer, if the object keeps it in any method; None if it is changed, or kept elsewhere."""
        found = self._late.use_of(self._shell)
        if found is not None or self.attribute is None:
            return found
        model = self._object_run.model
        for owner in model.mro():
            for method in owner.cls.methods.values() if owner.cls is not None else ():
                is_own = method.name not in _ONCE and model.method(method.name) is method
                if is_own and self.attribute in method.words:
                    self._object_run.follow(method)
        return self._late.use_of(self._shell)


def late_layers(entry: Function, model: ClassModel, project: Project) -> Iterator[LateLayer]:
    """The layers that a call of the method `entry` of an object makes anew."""
    object_run = ObjectRun(model, project, project.of(Keepers))
    object_run.begin()
    if model.is_module is None and not _holds_layers(object_run):
        return
    object_run.follow(entry, at_work=True)
    for shell, route in list(object_run.run.of(LateLayers).routes.items()):
        yield LateLayer(shell, route, object_run)


def may_make_layers(function: Function, model: ClassModel | None, project: Project) -> bool:
    """True if a function may make layers with parameters, called on an object of `model` if it is a method.

    It is cheap, and only its False is certain.
    """
    return project.of(Keepers).makers.may_make(function, model)


def reached_on_object(entry: Function, model: ClassModel, project: Project) -> Iterable[Function]:
    """A method, and the functions that it may call by name, on the same object or not."""
    return project.of(Keepers).makers.reached(entry, model)


def _holds_layers(object_run: ObjectRun) -> bool:
    """True if the constructor of a class with an unknown base stores layers, so that it is a layer."""
    return any(getattr(atom, "is_layer", False) for store in object_run.shell.stores for atom in store.atoms)
