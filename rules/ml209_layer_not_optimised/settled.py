"""Signs in the code around a layer that it is trained, filled or frozen on purpose: by names, or by its parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import operators
from modellint.flow import queries
from modellint.graph.definitions import External
from modellint.graph.value import EventKind, Op, walk_all

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.value import Event, Value
    from modellint.rule import Project

#: Parts of names that tell of layers kept from training, or given weights that were trained before.
_FREEZING = ("requires_grad", "freeze", "frozen", "no_grad", "inference_mode", "pretrained", "load_state_dict")
#: Methods that are called on a layer by code that trains it by hand, freezes, fills or copies it.
_ASKED = frozenset(("requires_grad_", "eval", "state_dict", "load_state_dict"))
_PARAMETERS = "parameters"
#: Methods and attributes of a tensor that return its numbers without their graph.
_LEAVING = frozenset(("detach", "detach_", "data"))
_COPIES = operators.functions("copies")
#: Attributes of a layer that are no tensors.
_PLAIN = {"__name__"} | operators.attributes("Tensor", "gives:size", "gives:device", "gives:dtype", "gives:int")
_SAYING = frozenset((Op.GLOBAL, Op.ATTR, Op.PARAM))


class TrainedElsewhere:
    """Looks for signs that a child of a model is trained elsewhere: in the files of both classes and the optimizer."""

    def __init__(
        self,
        project: Project,
        finished: queries.FinishedObject,
        child: str,
        made: list[queries.Store],
        optimizer_in: Function,
    ) -> None:
        self._project = project
        self._finished = finished
        self._child = child
        self._made = made
        layers = [
            atom.model for store in made for atom in store.atoms if isinstance(atom, queries.Shell) and atom.model
        ]
        files = [optimizer_in.module]
        for model in (finished.model, *layers):
            owners = [owner.cls for owner in model.mro() if owner.cls is not None]
            files += [
                cls.module for cls in owners if cls is model.cls or not project.names.path.is_installed(cls.module)
            ]
        self._modules = list(dict.fromkeys(files))

    @property
    def is_likely(self) -> bool:
        """True if something may train the child, or keeps it from being trained."""
        if any(map(self._is_copied, self._made)):
            return True
        if any(map(self._speaks_of_freezing, self._modules)):
            return True
        return any(map(self._is_asked_in, (*self._modules, *self._users())))

    def _users(self) -> Iterator[ModuleFacts]:
        """Other files that import something from these modules."""
        for module in self._modules:
            for other in queries.neighbours(module, self._project, self._child):
                targets = (*other.imports.values(), *other.star_imports)
                if other not in self._modules and any(f"{name}.".startswith(f"{module.name}.") for name in targets):
                    yield other

    def _is_copied(self, store: queries.Store) -> bool:
        """True if a child is a copy of another layer, whose weights it may go on to follow."""
        for atom in store.atoms:
            made = atom.value if isinstance(atom, queries.Shell) else None
            module = atom.function.module if isinstance(atom, queries.Shell) and atom.function is not None else None
            if made is not None and made.op is Op.CALL and module is not None:
                found = self._project.names.definition(module, made.callee)
                if isinstance(found, External) and found.name in _COPIES:
                    return True
        return False

    def _speaks_of_freezing(self, module: ModuleFacts) -> bool:
        return any(word in name.lower() for name in _names(module) for word in _FREEZING)

    def _is_asked_in(self, module: ModuleFacts) -> bool:
        """True if a file asks for the child's parameters, changes them in place or ties them."""
        for function in (*module.all_functions(), module.body):
            if self._child not in function.words:
                continue
            is_later = function not in self._finished.first_done
            for event in function.flow.events:
                if self._is_tied(event) or any(map(self._is_asked, _values((event,)))):
                    return True
                if is_later and self._is_written(event):
                    return True
        return False

    def _is_asked(self, value: Value) -> bool:
        if value.op is Op.ATTR and value.data in _LEAVING:
            return self._is_output(value.args[0])
        if value.op is not Op.ATTR or not (str(value.data).endswith(_PARAMETERS) or value.data in _ASKED):
            return False
        owner = value.args[0]
        while owner.op in (Op.ATTR, Op.INDEX) and owner.data != self._child:
            owner = owner.args[0]
        return owner.op is Op.ATTR and owner.data == self._child

    def _is_written(self, event: Event) -> bool:
        """True if an event changes numbers of the child in place: `self.codebook.weight.data.mul_(…)`."""
        changed = event.target if event.kind is EventKind.STORE else None
        if event.kind is EventKind.CALL and event.value.callee.op is Op.ATTR:
            name = str(event.value.callee.data)
            changed = event.value.callee if name.endswith("_") and not name.endswith("__") else None
        owner = changed.args[0] if changed is not None else None
        while owner is not None and owner.op in (Op.ATTR, Op.INDEX):
            if owner.op is Op.ATTR and owner.data == self._child:
                return True
            owner = owner.args[0]
        return False

    def _is_output(self, value: Value) -> bool:
        """True if a value is an output of the child, or a part of it; detached, it stops the gradients."""
        while value.op in (Op.ATTR, Op.INDEX, Op.CALL):
            if value.op is Op.CALL and value.callee.op is Op.ATTR and value.callee.data == self._child:
                return True
            value = value.args[0]
        return False

    def _is_tied(self, event: Event) -> bool:
        """True if an event sets a parameter of the child, or stores it elsewhere: `head.weight = embed.weight`."""
        return event.kind is EventKind.STORE and any(
            side is not None
            and side.op is Op.ATTR
            and side.args[0].op is Op.ATTR
            and side.args[0].data == self._child
            and side.data not in _PLAIN
            for side in (event.target, event.value)
        )


def _names(module: ModuleFacts) -> Iterator[str]:
    """The names in the code of a file, with strings that may be options."""
    yield from module.imports.values()
    for function in (*module.all_functions(), module.body):
        yield function.name
        yield from (parameter.name for parameter in function.parameters)
        for value in (*walk_all(function.signature.decorators), *_values(function.flow.events)):
            if value.op in _SAYING:
                yield str(value.data)
            elif value.op is Op.CALL:
                yield from filter(None, value.data)
            elif value.op is Op.CONST and isinstance(value.data, str) and len(value.data.split()) == 1:
                yield value.data


def _values(events: Iterable[Event]) -> Iterator[Value]:
    """All values in events, with their contexts and conditions."""
    wanted: list[Value] = []
    for event in events:
        wanted += [event.value, *event.contexts]
        if event.target is not None:
            wanted.append(event.target)
        if event.guard is not None:
            wanted += [link.test for link in event.guard.chain()]
    return walk_all(wanted)
