"""Runs of objects, one for each class: the attributes they store, register and read, and the calls of methods."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from modellint.flow.built import state_in
from modellint.flow.calls import MOVES
from modellint.flow.gate import Keepers
from modellint.flow.heap import TENSORS, Shell
from modellint.flow.object_run import ObjectRun, covers, undecided_on
from modellint.flow.tensor_devices import Attribute
from modellint.graph.python import WORK
from modellint.graph.value import EventKind, Op
from modellint.link.classes.assignments import AttributeAssignment, last_assignments
from modellint.link.classes.calls import ADDERS
from modellint.link.classes.holders import holders
from modellint.link.values.callers import neighbours

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping
    from collections.abc import Set as AbstractSet

    from modellint.flow.devices import Devices, Handed
    from modellint.flow.domain import Arguments, Atom
    from modellint.flow.heap import Store
    from modellint.flow.objects import AttributeRead
    from modellint.flow.tensor_devices import Encounter, Meeting
    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Value
    from modellint.link.classes.models import ClassModel
    from modellint.link.project import Project

#: Methods that `nn.Module` has for its children; a class that writes them for a container looks after it by hand.
CARE = frozenset(
    """_apply apply to cuda cpu half float double train eval parameters named_parameters children named_children modules
    named_modules state_dict load_state_dict requires_grad_ __setattr__ __getstate__ __setstate__""".split()
)
#: How many subclasses of a class are run.
_MAX_DERIVED = 6


class ObjectRuns:
    """Memoises the runs of objects. Reached as `project.of(ObjectRuns)`; one for each file that is checked."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self.keepers = Keepers(project)
        self._known: dict[ClassModel, FinishedObject] = {}
        self._subjects: dict[Class, list[ClassModel]] = {}
        self._below: dict[tuple[ClassModel, Class], list[FinishedObject]] = {}
        self._holders: dict[Class, list[FinishedObject]] = {}

    def of(self, model: ClassModel) -> FinishedObject:
        found = self._known.get(model)
        if found is None:
            found = self._known[model] = FinishedObject(model, self.keepers)
        found.tell()
        return found

    def subjects(self, cls: Class) -> list[ClassModel]:
        """The layers whose objects run the methods of `cls`: itself, or the layers that it is mixed into.

        Empty if the class stores nothing, which is cheaper to find out than its bases.
        """
        found = self._subjects.get(cls)
        if found is None:
            found = self._subjects[cls] = self._find_subjects(cls) if self.keepers.may_store(cls) else []
        return found

    def _find_subjects(self, cls: Class) -> list[ClassModel]:
        model = self._project.classes.model(cls)
        models = [model]
        if is_layer(model) is None:
            models = [other for other in self._layers_in(cls.module) if other is not model and model in other.mro()]
        return [other for other in models if not other.has_own_adder("__setattr__")]

    def _layers_in(self, module: ModuleFacts) -> list[ClassModel]:
        """The layers that a file defines."""

        def find() -> list[ClassModel]:
            models = map(self._project.classes.model, module.classes.values())
            return [model for model in models if model.is_module is True]

        return self._project.once(("layers in", module.path), find)

    def below(self, model: ClassModel, cls: Class) -> list[FinishedObject]:
        """Runs of subclasses of `model` in sight; `cls` is its class statement or a part of it."""
        if (model, cls) not in self._below:
            self._below[model, cls] = self._find_below(model, cls)
        return self._below[model, cls]

    def _find_below(self, model: ClassModel, cls: Class) -> list[FinishedObject]:
        derived: dict[ClassModel, None] = {}
        pending = [cls]
        while pending and len(derived) < _MAX_DERIVED:
            near = pending.pop(0)
            for module in neighbours(self._project, near.module, near.name):
                for found, other in self._derived_in(module).get(model, ()):
                    if found not in derived:
                        derived[found] = None
                        pending.append(other)
        return [self.of(found) for found in list(derived)[:_MAX_DERIVED]]

    def _derived_in(self, module: ModuleFacts) -> dict[ClassModel, list[tuple[ClassModel, Class]]]:
        """The subclasses that a file defines, in order, by base."""

        def find() -> dict[ClassModel, list[tuple[ClassModel, Class]]]:
            derived: dict[ClassModel, list[tuple[ClassModel, Class]]] = {}
            for cls in module.classes.values():
                model = self._project.classes.model(cls)
                for base in model.mro()[1:]:
                    derived.setdefault(base, []).append((model, cls))
            return derived

        return self._project.once(("derived in", module.path), find)

    def holders(self, cls: Class) -> list[FinishedObject]:
        """Runs of layers in sight that may hold objects of a class, which their constructors may get."""
        if cls not in self._holders:
            found = holders(cls, self._project).items()
            self._holders[cls] = [
                FinishedObject(model, self.keepers, given) if given else self.of(model) for model, given in found
            ]
        return self._holders[cls]

    def may_strand(self, cls: Class) -> bool:
        """True if a class may store a new tensor as a plain attribute."""
        return self.keepers.may_strand(cls)

    def may_keep(self, cls: Class) -> bool:
        """True if a class may store layers or parameters in plain containers."""
        return self.keepers.may_keep(cls)

    def may_derive(self, cls: Class) -> bool:
        """True if a class may store a tensor that is computed from a new parameter."""
        return self.keepers.may_derive(cls)

    def may_store_early(self, cls: Class) -> bool:
        """True if a class may store layers or parameters before the constructor of its base has run."""
        return self.keepers.may_store_early(cls)


def is_layer(model: ClassModel) -> bool | None:
    """True for a layer; False for a class that looks like one but has an unknown base; None for no layer."""
    if model.is_module is True:
        return True
    if model.is_module is None and model.has_method("forward"):
        return False
    return None


class FinishedObject:
    """An object of a class after its methods were run: its stores, registrations by path, reads and uses."""

    def __init__(
        self,
        model: ClassModel,
        keepers: Keepers,
        handed: Mapping[str, Handed] | None = None,
        work: frozenset[str] = frozenset(),
    ) -> None:
        self.model = model
        self._classes = keepers.project.classes
        self._gate = keepers
        self._handed, self._work_names = handed, work
        self._object_run = ObjectRun(model, keepers.project, keepers, handed, work)
        self._has_worked = self._is_whole = False
        self._work_stores: tuple[Store, ...] = ()
        #: The functions and the calls of the object until it has worked.
        self._work_done: frozenset[Function] = frozenset()
        self._work_calls: frozenset[int] = frozenset()
        self._object_run.begin()
        if () in self._object_run.failures:  # there is no such object
            self._object_run.shell.stores.clear()
            self._has_worked = self._is_whole = True
        #: The attribute stores of the constructor.
        self.first_stores = tuple(self._object_run.shell.stores)
        self._first_reads = frozenset(self._object_run.reads)
        #: The functions that the constructor runs.
        self.first_done = frozenset(self._object_run.done)
        for method in self._early_methods if not self._is_whole else ():
            if self._is_own(method) and keepers.method_matters(method):
                self._object_run.follow(method)
        self._settle()
        if any(map(self.lost, self.final_stores)):  # another method may register it, before the object works
            for method in self._early_methods:
                self._object_run.follow(method)
            self._settle()

    def tell(self) -> None:
        """Report to the rule that asks which questions ran out of budget."""
        self._object_run.run.tell()

    def _settle(self) -> None:
        self.final_stores = last_assignments(self._object_run.shell.stores)
        self._make_holders()
        wanted = {leaf for kept in self.final_stores for leaf, _ in kept.leaves() if isinstance(leaf, Shell)}
        self._registered = self._object_run.registered(wanted)

    def _make_holders(self) -> None:
        """Run the constructors of the objects that the object stores and that are no layers."""
        done: set[Shell] = set()
        while pending := {one for kept in self.final_stores for one in kept.holders()} - done:
            done |= pending
            for one in pending:
                self._object_run.run.objects.construct(one)

    @property
    def stores(self) -> list[Store]:
        """The attribute stores of the object, in order."""
        return self._object_run.shell.stores

    @property
    def is_initialised(self) -> bool:
        """True if `nn.Module.__init__` runs."""
        return self._object_run.shell.is_initialised

    def is_registered(self, shell: Shell, without: Store) -> bool:
        """True if another assignment than `without` registers a layer or parameter on some path."""
        return bool(self._object_run.registered((shell,), without).get(shell))

    @cached_property
    def _methods(self) -> list[Function]:
        """The methods of the object that matter, inherited ones included."""
        found: dict[str, Function] = {}
        for owner in self.model.mro():
            for name, method in owner.cls.methods.items() if owner.cls is not None else ():
                if name not in found and self.model.method(name) is method:
                    found[name] = method
        return [method for method in found.values() if self._matters(method)]

    @cached_property
    def _early_methods(self) -> list[Function]:
        """The methods that may register something before the object is called, and those that store attributes.

        What the object's call runs, or mentions, registers too late for an optimizer.
        """
        pending = [method for method in self._methods if method.name in WORK]
        at_work = set(pending)
        while pending:
            words = pending.pop().words
            more = [method for method in self._methods if method.name in words and method not in at_work]
            at_work.update(more)
            pending += more
        return [method for method in self._methods if method not in at_work or _stores(method)]

    def _matters(self, method: Function) -> bool:
        """True if the effects of a method on the object are worth a run."""
        if method.is_class_method:
            return False
        return self._is_own(method) or method.name in WORK or not self._gate.is_idle(method)

    def _is_own(self, method: Function) -> bool:
        """True if a method is defined in the file of the class itself."""
        return self.model.cls is not None and method.module is self.model.cls.module

    def _work(self) -> ObjectRun:
        """The run after all methods that run when the object is called."""
        if not self._has_worked:
            self._has_worked = True
            for method in self._methods:
                if method.name in WORK:
                    self._object_run.follow(method, at_work=True)
            self._work_stores = tuple(self._object_run.shell.stores[len(self.first_stores) :])
            self._work_done = frozenset(self._object_run.done)
            self._work_calls = frozenset(self._object_run.calls)
        return self._object_run

    def _go_on(self) -> ObjectRun:
        """The run after all methods of the object."""
        object_run = self._work()
        if not self._is_whole:
            self._is_whole = True
            for method in self._methods:
                object_run.follow(method)
        return object_run

    def lost(self, kept: AttributeAssignment) -> dict[Shell, bool]:
        """The stateful layers and parameters in a container that lack registration; True if only on some paths."""
        found: dict[Shell, bool] = {}
        for leaf, taken in kept.leaves():
            is_own = leaf is self._object_run.shell
            if isinstance(leaf, Shell) and not is_own and (leaf.is_layer or leaf.kind == "parameter"):
                open_paths = undecided_on(self._registered.get(leaf, ()), taken)
                if not covers(open_paths) and self._has_state(leaf):
                    found[leaf] = bool(open_paths)
        return found

    def _has_state(self, shell: Shell) -> bool:
        """True if a layer has parameters or buffers, by shipped facts for a layer of a library."""
        if shell.kind != "instance" or shell.model is None or shell.model.cls is not None:
            return self._object_run.has_state(shell)
        return bool(state_in(self._object_run.run, shell))

    def keeps_nothing_of(self, kept: AttributeAssignment) -> bool:
        """True if this object registers everything in the container, or stores another one there."""
        return not any(self.lost(other) for other in self.final_stores if other.store.place is kept.store.place)

    @cached_property
    def _meetings(self) -> dict[Attribute, list[Meeting]]:
        return _by_attribute(self._go_on().devices.meetings)

    def meetings_of(self, name: str) -> list[Meeting]:
        """The uses of an attribute's tensor that was not moved together with a tensor that was."""
        return self._meetings.get(self._attribute(name), [])

    def meetings_within(self, model: ClassModel, name: str) -> list[Meeting]:
        """Those uses of an attribute's tensor of the objects of a class that the object holds."""
        return [
            meeting
            for kept, meetings in self._meetings.items()
            if kept.name == name and kept.owner is not self._object_run.shell and kept.owner.model is not None
            if model in kept.owner.model.mro()
            for meeting in meetings
        ]

    def _attribute(self, name: str) -> Attribute:
        return Attribute(self._object_run.shell, name)

    def is_met_before(self, name: str, store: Store) -> bool:
        """True if a store in an attribute happens only in calls of the object that have met its first tensor before."""
        calls = set() if store.target is None else self._go_on().devices.stored_after.get(store.target, set())
        return bool(calls) and all(any(call in one.first_in for one in self.meetings_of(name)) for call in calls)

    def replacements_of(self, name: str) -> Mapping[Value, Function]:
        """The stores of moved tensors into a container in the attribute, each with its function."""
        return self._go_on().devices.replacements.get(self._attribute(name), {})

    @cached_property
    def _left_meetings(self) -> dict[str, list[Meeting]]:
        again = FinishedObject(self.model, self._gate, self._handed, self._work_names)  # one that is lived to its end
        met = again._go_on().moved_again(method for method in self._methods if method.name in WORK)
        shell = again._object_run.shell
        return {kept.name: meetings for kept, meetings in _by_attribute(met).items() if kept.owner is shell}

    def left_meetings_of(self, name: str) -> list[Meeting]:
        """The uses of a tensor stored in a call of the object with tensors that were moved after that call."""
        return self._left_meetings.get(name, [])

    @cached_property
    def _stores(self) -> dict[str | None, list[Store]]:
        found: dict[str | None, list[Store]] = {}
        for store in self._go_on().shell.stores:
            found.setdefault(store.name, []).append(store)
        return found

    def is_shared(self, container: Shell) -> bool:
        """True if a container was a constructor argument of another object, which may refill it."""
        made = (shell for shell in self._object_run.run.shells() if shell.kind == "instance")
        return any(container in atoms for shell in made for atoms in shell.arguments.all())

    @property
    def work_stores(self) -> tuple[Store, ...]:
        """The attribute stores of the methods that run when the object is called."""
        self._work()
        return self._work_stores

    def first_stores_of(self, name: str) -> list[Store]:
        """The stores of the constructor in an attribute."""
        return [store for store in self.first_stores if store.name == name]

    def stores_of(self, name: str) -> list[Store]:
        """The stores of all methods in an attribute, and those under unknown names."""
        return [*self._stores.get(name, ()), *self._stores.get(None, ())]

    def encounters(self, methods: Iterable[Function]) -> list[Encounter]:
        """The uses of tensors made in a call of the object, or of one of `methods`, with moved tensors.

        Calls of other methods, which other questions may have run, tell nothing here.
        """
        object_run = self._work()
        own = [one for one in methods if self.model.method(one.name) is one and one not in self._work_done]
        for method in own:
            object_run.follow(method, again=method not in object_run.calls.values())
        calls = {*self._work_calls, *(number for number, method in object_run.calls.items() if method in own)}
        return _while_at_work(object_run.devices, calls)

    def encounters_with(self, bare: Mapping[Function, Collection[str]]) -> list[Encounter]:
        """The encounters of a new object whose methods get no tensor on its device for `bare` parameters."""
        again = FinishedObject(self.model, self._gate, self._handed, self._work_names)._object_run
        for method, names in bare.items():
            again.follow(method, at_work=method.name in WORK, bare=names)
        return _while_at_work(again.devices, set(again.calls))

    def given_to(self, method: Function) -> list[Arguments]:
        """The argument lists with which the object's methods call `method` of a layer."""
        return list(self._go_on().devices.given_to.get(method, {}))

    def reads(self, name: str) -> list[AttributeRead]:
        return [read for read in self._go_on().reads if read.name == name]

    def is_called(self, name: str) -> bool:
        """True if a method other than the constructor calls the object in an attribute."""
        return any(map(_is_callee, self._later_reads(name)))

    def is_used(self, name: str) -> bool:
        """True if an attribute is read when the object is called, or another method calls its object."""
        return any(read.at_work or _is_callee(read) for read in self._later_reads(name))

    def _later_reads(self, name: str) -> list[AttributeRead]:
        return [read for read in self.reads(name) if read not in self._first_reads]

    def is_trained(self, shell: Shell) -> bool | None:
        """True if a layer has parameters to train; None if its arguments decide or it is unknown."""
        if shell.kind != "instance" or shell.model is None:
            return None
        if shell.is_module_container:
            held = [atom for entry in shell.entries for atom in entry.atoms]
            known = {self.is_trained(atom) if isinstance(atom, Shell) else None for atom in held}
            return True if True in known else None if None in known else False
        if shell.model.cls is not None:
            return self._object_run.has_parameters(shell)
        return state_in(self._object_run.run, shell, trained=True)

    def is_tied(self, shell: Shell) -> bool:
        """True if code outside of a layer stores into it, or another object stores one of its parameters."""
        own = [store for store in shell.stores if store.function is None or store.function.owner in self._owners(shell)]
        if len(own) != len(shell.stores):
            return True
        parameters = {atom for store in own for atom in store.atoms if getattr(atom, "kind", "") in TENSORS}
        return any(
            not parameters.isdisjoint(store.atoms)
            for other in self._object_run.run.shells()
            for store in (other.stores if other is not shell else ())
        )

    @staticmethod
    def _owners(shell: Shell) -> list[Class | None]:
        return [] if shell.model is None else [model.cls for model in shell.model.mro()]

    def cares_for(self, kept: AttributeAssignment) -> bool:
        """True if a method for children of `nn.Module`, like `_apply` or `state_dict`, reads the attribute."""
        return any(read.function.name in CARE for read in self.reads(kept.attribute))

    def calls_by_hand(self, kept: AttributeAssignment) -> Iterator[tuple[str, Function]]:
        """The methods that the object calls by hand on elements of a container, each with its caller."""
        held = self._elements(kept)
        for shell, name, function in self._go_on().run.calls.handled:
            if shell in held and function is not None:
                yield name, function

    def moves(self, kept: AttributeAssignment) -> bool:
        """True if every layer of a container was moved when it was made, or one is moved by hand."""
        layers = {leaf for leaf in self._elements(kept) if isinstance(leaf, Shell) and leaf.is_layer}
        was_moved = bool(layers) and layers <= self._object_run.run.calls.placed
        return was_moved or any(name in MOVES for name, _ in self.calls_by_hand(kept))

    def _elements(self, kept: AttributeAssignment) -> set[Atom]:
        """The elements of all containers that are stored at the same place."""
        same = [other for other in self.final_stores if other.store.place is kept.store.place]
        return {leaf for other in same for leaf, _ in other.leaves()}


def _while_at_work(devices: Devices, calls: AbstractSet[int]) -> list[Encounter]:
    """The encounters in some calls, without those in methods that set the object up before it is moved."""
    return [one for one in devices.encounters.values() if not one.calls & calls <= devices.set_up]


def _by_attribute(meetings: Mapping[tuple[Attribute, int], Meeting]) -> dict[Attribute, list[Meeting]]:
    found: dict[Attribute, list[Meeting]] = {}
    for meeting in meetings.values():
        found.setdefault(meeting.kept, []).append(meeting)
    return found


def _is_callee(read: AttributeRead) -> bool:
    return any(event.value.callee is read.value for event in read.function.flow.of(EventKind.CALL))


def _stores(method: Function) -> bool:
    """True if a method stores attributes or elements, or calls a method that adds to a container."""
    for event in method.flow.events:
        if event.kind is EventKind.STORE:
            return True
        if event.kind is EventKind.CALL and event.value.callee.op is Op.ATTR and event.value.callee.data in ADDERS:
            return True
    return False
