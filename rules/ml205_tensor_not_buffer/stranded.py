"""Tensors that a layer makes in its constructor and keeps as plain attributes: they stay behind when it moves.

An object's life is run on paper. A tensor that its constructor makes on the default device is left behind, unless it is
registered or stored anew on another device; the run notes where it meets tensors that have moved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import operators
from modellint.flow import queries
from modellint.graph.declared import FACTORIES
from modellint.graph.definitions import External
from modellint.graph.immutable import dataclass
from modellint.graph.value import EventKind, Op, called_name, may_spell, self_attribute, text_pattern

from .cached import caches, empty_store
from .tools import feeding_methods

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Value
    from modellint.rule import Project

    from .cached import Cached

#: Methods by which a class moves its attributes itself, or computes them.
_MOVERS = ("_apply", "to", "cuda", "__getattr__", "__getattribute__", "__setattr__")
#: Methods by which an object is called.
_CALLED = frozenset(("__call__", "forward"))
_MOVES = operators.methods("Tensor", "moves")
_MOVING = _MOVES | operators.methods("Tensor", "host")


@dataclass(frozen=True, eq=False)
class Stranded:
    """A tensor, `made` by a constructor and kept as a plain attribute by `target`, and its `meetings` with moved ones.

    `is_certain`: it is such a tensor on every path, and one of the tensors that it meets has moved for sure.
    `can_register`: a buffer can take the attribute's place, at `target`. `is_placed`: the constructor was given it, or
    put it on a device of its own choice, or `is_layer` is False: then nothing moves the object at all.
    """

    cls: Class
    attribute: str
    function: Function
    target: Value
    made: queries.Fresh
    meetings: tuple[queries.Meeting, ...]
    is_certain: bool
    can_register: bool
    is_placed: bool
    is_layer: bool
    #: The store by which the constructor says that a cache is empty, if it does.
    empty: queries.Store | None = None

    @property
    def is_cached(self) -> bool:
        """True if it is made when the object is called, and kept for the next call."""
        return self.made.is_late

    @property
    def best_meeting(self) -> queries.Meeting:
        """The meeting that is the best evidence: a sure one, and one with a known tensor, before others."""
        return min(self.meetings, key=lambda meeting: (not meeting.is_sure, meeting.other is None))


def stranded(module: ModuleFacts, project: Project) -> Iterator[Stranded]:
    """The tensors that the classes of a file leave behind."""
    flow = queries.flow(module, project)
    seen = {id(one.target) for one in flow.unregistered_tensors()}  # these are told as parameters
    given_new = flow.tensors_given()
    for cls in module.classes.values():
        subjects = [model for model in flow.layers_of(cls) if model.is_module is True]
        given = given_new.get(cls, {})
        work = frozenset[str]()
        if not subjects and flow.may_store_tensor(cls) and project.classes.model(cls).is_module is False:
            work = feeding_methods(cls, project) if _may_make(cls) else work
            subjects = [project.classes.model(cls)] if work or flow.holders(cls) else []
        for model in subjects if subjects and (given or work or flow.may_store_tensor(cls)) else ():
            if not any(map(model.has_own_adder, _MOVERS)):
                for found in _Search(cls, model, project, given, work).run(seen):
                    seen.add(id(found.target))
                    yield found
        for found in _kept_for_later(cls, project):
            if id(found.target) not in seen:
                yield found


def _kept_for_later(cls: Class, project: Project) -> Iterator[Stranded]:
    """The tensors that methods of a layer keep for its next call, though the layer may move in between."""
    candidates = caches(cls, project)
    model = project.classes.model(cls) if candidates else None
    if model is None or model.is_module is not True or any(map(model.has_own_adder, _MOVERS)):
        return
    search = _Search(cls, model, project, {}, frozenset())
    for one in candidates:
        found = search.judge_cache(one)
        if found is not None:
            yield found


def _may_make(cls: Class) -> bool:
    """True if objects of a class can be called, or its methods mention a function that makes tensors."""
    if not _CALLED.isdisjoint(cls.methods):
        return True
    named = {name for name, full in cls.module.imports.items() if full.rpartition(".")[2] in FACTORIES}
    return any(not (FACTORIES | named).isdisjoint(method.words) for method in cls.methods.values())


class _Search:
    """Finds the tensors, among those that `cls` stores, that objects of the class `model` leave behind."""

    def __init__(
        self,
        cls: Class,
        model: queries.ClassModel,
        project: Project,
        given: dict[str, queries.Fresh | queries.Shell | queries.ClassModel],
        work: frozenset[str],
    ) -> None:
        self._cls = cls
        self._project = project
        self._flow = queries.flow(cls.module, project)
        self._finished = self._flow.object(model, given, work)
        self._is_fed = bool(work)

    def run(self, seen: Collection[int]) -> Iterator[Stranded]:
        """The tensors that meet moved ones and are never moved themselves, but for those with targets in `seen`."""
        first: dict[str, list[queries.Store]] = {}
        for store in self._finished.first_stores:
            if store.name is not None:
                first.setdefault(store.name, []).append(store)
        for name, stores in first.items():
            found = self._judge(name, _lasting(stores), seen) if any(map(_fresh, stores)) else None
            if found is not None:
                yield found

    def _judge(self, name: str, stores: list[queries.Store], seen: Collection[int]) -> Stranded | None:
        store = next((one for one in reversed(stores) if _fresh(one)), None)
        if store is None or store.function is None or store.function.module is not self._cls.module:
            return None
        target = store.place
        if target is None or id(target) in seen or not all(_fresh(one) or one.atoms == queries.NONE for one in stores):
            return None
        lives = [self._finished, *self._flow.objects_below(self._finished.model, self._cls)]
        meetings = tuple(self._meetings(name, lives))
        if (
            not meetings
            or any(self._is_looked_after(name, finished) for finished in lives)
            or self._is_set_outside(name)
        ):
            return None
        if any(
            self._finished.is_shared(atom)
            for atom in store.atoms
            if isinstance(atom, queries.Shell) and atom.is_container
        ):
            return None
        made = _fresh(store)[0]
        if any(self._is_told_as_parameter(one) for one in stores):
            return None
        is_given = made.maker.op is not Op.CALL and not made.is_derived  # where it is None it is not used
        if is_given and not self._may_be_new(made):
            return None
        something = [one for one in stores if one.atoms != queries.NONE]
        is_certain = (
            queries.covers(one.path for one in something)
            and all(
                _is_kept(atom) or (is_given and atom == queries.NONE[0]) for one in something for atom in _left(one)
            )
            and not any(atom.device_may_be_passed for one in something for atom in _fresh(one))
            and any(meeting.is_sure for meeting in meetings)
        )
        is_layer = self._finished.model.is_module is True
        is_alone = len(stores) == 1 and all(isinstance(atom, queries.Fresh) for atom in store.atoms)
        can_register = is_layer and is_alone and store.target is not None and self._is_new(made)
        can_register = can_register and not made.is_derived  # of a parameter, which changes
        is_taken = store.value is not None and store.value.op is Op.ATTR  # from an object that keeps it, too
        can_register = can_register and store.is_initialised and not is_taken
        is_placed = is_given or not is_layer or any(atom.is_placed for one in stores for atom in _fresh(one))
        return Stranded(
            cls=self._cls,
            attribute=name,
            function=store.function,
            target=target,
            made=made,
            meetings=meetings,
            is_certain=is_certain,
            can_register=can_register,
            is_placed=is_placed,
            is_layer=is_layer,
        )

    def _meetings(self, name: str, lives: list[queries.FinishedObject]) -> Iterator[queries.Meeting]:
        """The meetings of an attribute in runs of its own objects, or else in those of the layers that hold some."""
        model = self._finished.model
        own = lives if model.is_module is True or self._is_fed else ()
        met = [meeting for finished in own for meeting in finished.meetings_of(name)]
        yield from met
        for finished in self._flow.holders(self._cls) if not met else ():
            yield from finished.meetings_within(model, name)

    def judge_cache(self, one: Cached) -> Stranded | None:
        """The tensor that a method keeps for later calls, if it meets one that has moved by the next; else None."""
        name, finished = one.attribute, self._finished
        meetings = tuple(meeting for meeting in finished.left_meetings_of(name) if meeting.is_sure)
        if not meetings or self._is_set_outside(name):
            return None
        stores = finished.stores_of(name)
        if any(map(_fresh, finished.first_stores_of(name))) or any(_registers(store) for store in stores):
            return None
        empty = empty_store(one, finished)
        return Stranded(
            cls=self._cls,
            attribute=name,
            function=one.function,
            target=one.target,
            made=one.made,
            meetings=meetings,
            is_certain=True,
            can_register=False,
            is_placed=True,
            is_layer=True,
            empty=empty,
        )

    def _is_new(self, made: queries.Fresh) -> bool:
        """True if a tensor is made by a factory, from nothing that a layer has registered."""
        if made.maker.op is not Op.CALL or made.function is None:
            return True
        definition = self._project.names.definition(made.function.module, made.maker.callee)
        row = operators.row(definition.name) if isinstance(definition, External) else None
        return row is not None and "fresh" in row.facets

    def _may_be_new(self, given: queries.Fresh) -> bool:
        """True if a parameter that is annotated as a tensor is given new ones, or nobody in sight calls for it."""
        function = given.function
        name = next((p.name for p in function.parameters if p.annotation is given.maker), None) if function else None
        if name is None and given.maker.op is Op.PARAM:
            name = str(given.maker.data)
        cls = None if function is None else function.owner
        if name is None or cls is None:
            return False
        values = list(self._flow.given_values(cls, name))
        return not values or any(
            queries.is_new_tensor(value, where, self._project) or self._is_array(value, where)
            for value, where in values
        )

    def _is_array(self, value: Value, function: Function) -> bool:
        """True if a function of numpy makes a value, which is on no other device then."""
        definition = self._project.names.definition(function.module, value.callee) if value.op is Op.CALL else None
        return isinstance(definition, External) and definition.name.startswith("numpy.")

    def _is_told_as_parameter(self, store: queries.Store) -> bool:
        """True if a store is of what an operation makes of a parameter that no attribute keeps (ML207)."""
        made = [atom.parameter for atom in store.atoms if isinstance(atom, queries.Derived)]
        return any(not self._finished.is_registered(parameter, store) for parameter in made)

    def _is_looked_after(self, name: str, finished: queries.FinishedObject) -> bool:
        """True if objects of the class register the attribute or store it anew, or may do so."""
        met = {id(meeting.value) for meeting in finished.meetings_of(name)}
        stores = finished.stores_of(name)
        for store in stores:
            is_first = store in finished.first_stores and _fresh(store)
            # `self.hits += …`: it meets what has moved before it becomes that
            is_over = id(store.value) in met or finished.is_met_before(name, store)
            is_over = is_over or self._is_of_itself(name, store)
            if store.name is None and not _may_be_called(store, name):
                continue
            if store.name is None or (not is_first and not is_over and not _is_still_fresh(store)):
                return True
        for target, function in finished.replacements_of(name).items():
            stored = (event.value for event in function.flow.of(EventKind.STORE) if event.target is target)
            if all(id(part) not in met for value in stored for part in _calculated_of(value)):
                return True
        seen = {id(store.value) for store in stores}
        owners = [model.cls for model in finished.model.mro() if model.cls is not None]
        return any(id(event.value) not in seen for cls in owners for _, event in cls.stores(name))

    def _is_of_itself(self, name: str, store: queries.Store) -> bool:
        """True if a stored value is made of the attribute alone, where that is: `torch.zeros_like(self.state)`."""
        if store.value is None or store.function is None:
            return False
        parts = tuple(store.value.walk())
        own = {part.data for part in parts if self_attribute(part) is not None}
        names = self._project.names
        for call in (part for part in parts if part.op is Op.CALL):
            is_method = call.callee.op is Op.ATTR and call.callee.args[0].op is not Op.GLOBAL
            definition = names.definition(store.function.module, call.callee)
            if called_name(call.callee) in _MOVING or "device" in call.data or None in call.data:
                return False
            if not is_method and not (isinstance(definition, External) and definition.name.startswith("torch.")):
                return False
        is_known = not any(part.op is Op.UNKNOWN or part.op is Op.INNER for part in parts)
        return own == {name} and is_known and all(part.data == "self" for part in parts if part.op is Op.PARAM)

    def _is_set_outside(self, name: str) -> bool:
        """True if a function in sight sets or moves the attribute of another object than its own."""
        return any(
            _sets(name, function)
            for module in queries.neighbours(self._cls.module, self._project, name)
            for function in (module.body, *module.all_functions())
            if name in function.text
        )


def _is_container(atom: queries.Atom) -> bool:
    return isinstance(atom, queries.Shell) and atom.is_container


def _may_be_called(store: queries.Store, name: str) -> bool:
    """True if a store under a name that is put together may be one of `name`."""
    call = store.value
    if call is None or call.op is not Op.CALL:
        return True
    return all(may_spell(part, name) for part in call.positional[:2] if text_pattern(part) is not None)


def _left(store: queries.Store) -> list[queries.Atom]:
    """The atoms that are stored; what an operation makes of a parameter is a tensor made by the constructor, too."""
    return [atom for atom in store.atoms if not (isinstance(atom, queries.Derived) and _fresh(store))]


def _fresh(store: queries.Store) -> list[queries.Fresh]:
    """The tensors made on the default device that are stored, in containers too."""
    return [atom for atom in queries.opened(store.atoms) if isinstance(atom, queries.Fresh)]


def _calculated_of(value: Value) -> list[Value]:
    """An expression and all parts of it, but for the earlier values of variables."""
    found = {id(value): value}
    pending = [value]
    while pending:
        part = pending.pop()
        for inner in part.args if part.op not in (Op.CHOICE, Op.UPDATE) else ():
            if id(inner) not in found:
                found[id(inner)] = inner
                pending.append(inner)
    return list(found.values())


def _registers(store: queries.Store) -> bool:
    """True if a store is a call that registers a module, or has a name that is not known."""
    return store.name is None or (store.target is None and any(isinstance(a, queries.Shell) for a in store.atoms))


def _is_kept(atom: queries.Atom) -> bool:
    """True if an atom is such a tensor, or a container, in which one stands."""
    return isinstance(atom, queries.Fresh) or _is_container(atom)


def _is_still_fresh(store: queries.Store) -> bool:
    """True if nothing but such tensors, or None, is stored."""
    left = queries.opened(tuple(_left(store)))
    return all(isinstance(atom, queries.Fresh | queries.Derived) or atom == queries.NONE[0] for atom in left)


def _lasting(stores: list[queries.Store]) -> list[queries.Store]:
    """The assignments of an attribute that no later one overwrites."""
    last = max((number for number, store in enumerate(stores) if not store.path), default=0)
    return stores[last:]


def _sets(name: str, function: Function) -> bool:
    for event in function.flow.events:
        if event.kind is EventKind.STORE and event.target is not None:
            changed = event.target
        elif event.kind is EventKind.CALL and event.value.callee.op is Op.ATTR and event.value.callee.data in _MOVES:
            changed = event.value.callee.args[0]
        else:
            continue
        if changed.op is Op.ATTR and changed.data == name and self_attribute(changed) is None:
            return True
    return False
