"""Queries about the objects of classes: what they store, keep unregistered, replace, and make while they work.

The interpreter makes an object of the class, with unknown arguments, and runs its methods.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from modellint.flow.gate import Keepers
from modellint.flow.queries.late import LateLayer, late_layers
from modellint.flow.queries.values import Operand
from modellint.graph.python import Class
from modellint.graph.value import EventKind, Op, is_super, self_attribute, walk_all
from modellint.link.classes.handed import given_values, handed
from modellint.link.classes.learned import learned
from modellint.link.classes.object_runs import FinishedObject, ObjectRuns
from modellint.link.classes.registered import unregistered
from modellint.link.values.members import Members

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from modellint.flow.devices import Handed
    from modellint.flow.heap import Store
    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.value import Event, Value
    from modellint.link.classes.learned import Learned
    from modellint.link.classes.models import ClassModel
    from modellint.link.classes.registered import Unregistered
    from modellint.link.project import Project


class ObjectQueries:
    """The queries about objects of the classes of one file."""

    _module: ModuleFacts
    _project: Project

    def object(
        self,
        cls: Class | ClassModel,
        given: Mapping[str, Handed] | None = None,
        work: frozenset[str] = frozenset(),
    ) -> FinishedObject:
        """An object of a class after its methods were run: its stores, reads and uses, and the tensors that it mixes.

        Its constructor gets the arguments `given`, by name, and unknown ones. It is called by `forward` and by the
        methods `work`. `flow.object(cls).is_used("proj")` is True if the object reads `self.proj` when it is called.
        """
        model = self._project.classes.model(cls) if isinstance(cls, Class) else cls
        if given or work:
            return FinishedObject(model, self._project.of(Keepers), given, work)
        return self._project.of(ObjectRuns).of(model)

    def objects_below(self, model: ClassModel, cls: Class) -> list[FinishedObject]:
        """The objects of some subclasses of a layer, in files near `cls`, its class statement or a part of it."""
        return self._project.of(ObjectRuns).below(model, cls)

    def holders(self, cls: Class) -> list[FinishedObject]:
        """The objects of layers, in files near a class, that may hold objects of it, or hold what holds some.

        `[life.meetings_within(model, "cos") for life in flow.holders(cls)]` tells how they use its attribute `cos`.
        """
        return self._project.of(ObjectRuns).holders(cls)

    def layers_of(self, cls: Class) -> list[ClassModel]:
        """The layers whose objects run the methods of a class: itself, or those of its file that it is mixed into.

        Empty for a class that stores nothing.
        """
        return self._project.of(ObjectRuns).subjects(cls)

    def may_store_tensor(self, cls: Class) -> bool:
        """True if a class's own methods may store a tensor made on the default device. Only False is certain."""
        return self._project.of(ObjectRuns).may_strand(cls)

    def may_store_derived(self, cls: Class) -> bool:
        """True if a class's own methods may store a tensor computed from a new parameter. Only False is certain."""
        return self._project.of(ObjectRuns).may_derive(cls)

    def may_store_early(self, cls: Class) -> bool:
        """True if a constructor may store layers before the one of `nn.Module` has run. Only False is certain."""
        return self._project.of(ObjectRuns).may_store_early(cls)

    def attribute(self, cls: Class, name: str) -> list[Operand]:
        """The values that `self.name` may be in objects of a class; empty if they are unknown.

        They are those that the first class of the MRO stores which stores any, else the value in a class body.
        `[one.kinds() for one in flow.attribute(cls, "proj")]` tells layers from tensors.
        """
        held = self._project.of(Members).attribute(cls, name)
        return [Operand(one.value, one.function, self._project) for one in held]

    def overwritten(self, cls: Class) -> list[tuple[Store, Store]]:
        """The pairs of stores in one attribute by a class's own constructor, where the second makes the first useless.

        Both happen on every path. Nothing uses the first value in between: no read of the attribute, no method that
        mentions it, no second value that wraps the first. `first.is_layer` is True for a layer.
        """
        constructor = cls.methods.get("__init__")
        if constructor is None or all(len(events) < 2 for events in constructor.flow.stores.values()):
            return []
        found: dict[str, list[Store]] = {}
        for store in self.object(cls).first_stores:
            if store.function is constructor and store.name is not None and store.target is not None:
                found.setdefault(store.name, []).append(store)
        pairs = ((one, other) for stores in found.values() for one, other in pairwise(stores))
        return [(one, other) for one, other in pairs if _is_replaced(one, other, cls, constructor)]

    def unregistered_containers(self) -> tuple[Unregistered, ...]:
        """The containers of the file's layers whose layers or parameters `nn.Module` does not know of."""
        return unregistered(self._module, self._project)

    def tensors_given(self) -> dict[Class, dict[str, Handed]]:
        """The new tensors that the file passes to constructors of its classes which store them, by parameter.

        For a parameter of which an attribute is stored, it is an object with the new tensor in that attribute, and
        where something is calculated of it, the class of the object.
        """
        return handed(self._module, self._project)

    def given_values(self, cls: Class, parameter: str) -> Iterator[tuple[Value, Function]]:
        """The arguments for a parameter of a class's constructor in its folder, each with the calling function.

        None is left out; where the argument is unknown, it is the call itself.
        """
        return given_values(cls, parameter, self._project)

    def unregistered_tensors(self) -> tuple[Learned, ...]:
        """The tensors with `requires_grad` that the file's layers keep as plain attributes, unknown to optimizers."""
        return learned(self._module, self._project)

    def late_layers(self, entry: Function, cls: Class | ClassModel | str) -> Iterator[LateLayer]:
        """The layers that a call of the method `entry` of an object makes anew; none for an unknown class."""
        model = self._model(cls)
        return iter(()) if model is None else late_layers(entry, model, self._project)

    def _model(self, cls: Class | ClassModel | str) -> ClassModel | None:
        classes = self._project.classes
        if isinstance(cls, Class):
            return classes.model(cls)
        return classes.resolve(cls, self._module.file) if isinstance(cls, str) else cls


def _is_replaced(one: Store, other: Store, cls: Class, constructor: Function) -> bool:
    """True if the constructor stores `one` and then `other`, on every path, and uses the first value nowhere."""
    flow, name = constructor.flow, str(one.name)
    first, second = (next((e for e in flow.events if e.target is store.target), None) for store in (one, other))
    if first is None or second is None or not all(map(_is_plain, (first, second))):
        return False
    start, end = (flow.events.index(event) for event in (first, second))
    between = flow.events[start + 1 : end]
    if any(event.kind is EventKind.CALL and _may_read(event.value, name, cls) for event in between):
        return False
    if any(self_attribute(part) == name for part in walk_all(event.value for event in between)):
        return False
    if any(
        event.value is first.value and event is not first and event.kind is not EventKind.CALL for event in flow.events
    ):
        return False
    values = (*flow.evaluated(), *(event.value for event in flow.reads))
    return not any(value is not first.value and first.value in value.walk() for value in values)


def _is_plain(event: Event) -> bool:
    """True if an event happens once, on every path that raises no error."""
    is_certain = event.guard is None or all(link.raised for link in event.guard.chain())
    return is_certain and not event.loops and not event.handled


def _may_read(call: Value, name: str, cls: Class) -> bool:
    """True if a call in a constructor of a class may read an attribute: it runs a method, or gets `self`."""
    callee = call.callee
    if any(arg.op is Op.PARAM and arg.data == "self" for arg in call.args[1:]):
        return True
    if callee.op is Op.ATTR and is_super(callee.args[0]):
        return True
    method = self_attribute(callee)
    if method is None or (method not in cls.methods and any(cls.stores(method))):
        return False
    pending, seen = [method], {method}
    while pending:
        function = cls.methods.get(pending.pop())
        if function is None or name in function.words:
            return True
        called = function.words & cls.methods.keys() - seen
        seen |= called
        pending += called
    return False
