"""Tokens that are added once a model was made as large as its tokenizer was, or though nothing makes it larger."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow import queries
from modellint.graph.arguments import possible_arguments
from modellint.graph.definitions import External
from modellint.graph.immutable import dataclass
from modellint.graph.value import EventKind, Op, called_name, same, self_attribute

from .room import fills_room
from .vocabularies import ADDED, GROWS, Vocabularies, given_tokens, is_made_with_tokens, may_grow, stored_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Event, Value
    from modellint.rule import Project

#: The method by which a model of a library gets as many rows as a tokenizer has tokens.
_RESIZES = "resize_token_embeddings"
#: The number of nested calls through which a model is followed to the call that resizes it.
_MAX_CALLS = 5
#: The method that loads a published checkpoint.
_LOADS = "from_pretrained"
#: Methods of layers that other objects have, too.
_OF_OTHERS = frozenset(("to", "apply", "type", "forward", "compile", "get_extra_state", "set_extra_state"))
_HOLDING = frozenset((Op.DICT, Op.TUPLE, Op.LIST, Op.STARRED))
_PARTS = frozenset((Op.UNPACK, Op.INDEX, Op.ITEM))


@dataclass(frozen=True)
class Late:
    """`resized` makes a model as large as a tokenizer, to which `added` gives more tokens afterwards."""

    resized: Value
    added: Value


@dataclass(frozen=True)
class Unresized:
    """`model` is loaded from a checkpoint, and `fed` by a tokenizer to which `added` gives more tokens.

    `is_trained`: the same code trains the model.
    """

    model: Value
    added: Value
    fed: Value
    is_trained: bool


def added_late(function: Function, project: Project) -> Iterator[Late]:
    """The tokens that a function, or one that it calls, adds after it has had a model resized."""
    growing = project.once(("leading to growth", function.module), lambda: _growing(function.module, project))
    if function.words.isdisjoint(GROWS) and function.words.isdisjoint(growing):
        return
    calls = list(function.flow.of(EventKind.CALL))
    grown = [
        (at, tokenizer)
        for at, event in enumerate(calls)
        for tokenizer in _grown_tokenizers(event, function, growing, project)
    ]
    resized = [at for at, event in enumerate(calls) if grown and _resizes(event.value, function, project)]
    for at, tokenizer in grown:
        before = next((other for other in reversed(resized) if other < at), None)
        if before is None or before != resized[-1] or not _is_sure(calls[before], calls[at]):
            continue
        if may_grow(calls[at]) and fills_room(calls[at], function, calls[before].value):
            continue
        if _is_of(tokenizer, calls[before].value):
            yield Late(calls[before].value, calls[at].value)


def unresized_models(function: Function, project: Project) -> Iterator[Unresized]:
    """The models of checkpoints that a function feeds with a tokenizer, after it or a callee has added tokens.

    Of a method, those that it alone keeps on the object, and that another method feeds.
    """
    growing = project.once(("leading to growth", function.module), lambda: _growing(function.module, project))
    words, makers = function.words, project.of(Vocabularies).makers(function.module)
    if ADDED not in words and all(words.isdisjoint(names) for names in (GROWS, growing, makers)):
        return
    functions = [function]
    origins = _Origins(function, project)
    if function.owner is not None and origins.keeps:
        functions += [method for method in function.owner.methods.values() if method is not function]
    events = [(one, event) for one in functions for event in one.flow.of(EventKind.CALL)]
    grown = {
        origin: event.value
        for event in function.flow.of(EventKind.CALL)
        if not (may_grow(event) and fills_room(event, function))
        for tokenizer in _grown_tokenizers(event, function, growing, project)
        for origin in origins.of(tokenizer)
    }
    loaded = [event.value for _, event in events if origins.loads(event.value)] if grown else []
    if not loaded or len(grown.keys() | loaded) < 2 or any(_may_resize(e.value, one, project) for one, e in events):
        return
    if len(functions) > 1 and function.owner is not None and _is_resized_elsewhere(function.owner, project):
        return
    calls = [event.value for _, event in events]
    for model in loaded:
        for call in calls if model not in grown else ():
            owners = origins.owners(call)
            is_model = model in owners and owners.isdisjoint(grown)
            is_taken = is_model or origins.is_handed_model(call, model)
            tokenizer = next((t for t in grown if is_taken and t in calls and origins.is_fed_by(call, t)), None)
            if tokenizer is None and is_model and _is_of_layers(call):
                tokenizer = next((t for t in grown if _is_same_checkpoint(model, t, function, project)), None)
            if tokenizer is not None:
                yield Unresized(model, grown[tokenizer], call, any(origins.trains(c, model) for c in calls))
                break


def _is_of_layers(call: Value) -> bool:
    """True if a call trains, evaluates or asks a layer for its parameters, as nobody does with anything else."""
    members = queries.layer_members("torch.nn.Module") or frozenset()
    return (
        call.callee.op is Op.ATTR and call.callee.data in members - _OF_OTHERS and not call.callee.data.startswith("_")
    )


def _is_same_checkpoint(model: Value, tokenizer: Value, function: Function, project: Project) -> bool:
    """True if a model and a tokenizer are loaded by one name, and no file around resizes any model."""
    names = [one.argument(0, "pretrained_model_name_or_path") for one in (model, tokenizer)]
    if names[0] is None or names[1] is None or called_name(tokenizer.callee) != _LOADS or not same(names[0], names[1]):
        return False
    return not any(True for _ in queries.files_mentioning(function.module, project, _RESIZES))


def _is_resized_elsewhere(owner: Class, project: Project) -> bool:
    """True if a file that mentions a class may resize the tables of models."""
    return any(queries.files_mentioning(owner.module, project, owner.name, _RESIZES))


class _Origins:
    """Traces a value of a function to the calls that produced it, through choices and pass-through functions."""

    def __init__(self, function: Function, project: Project) -> None:
        self._function = function
        self._project = project
        self._known: dict[Value, frozenset[Value]] = {}
        #: The values that the function keeps on its object, and no other method replaces, by attribute.
        self._kept: dict[str, Value] = {}
        others = (
            [] if function.owner is None else [one for one in function.owner.methods.values() if one is not function]
        )
        replaced = {name for one in others for name, value in _kept_attributes(one) if value.op is not Op.CONST}
        for name, value in _kept_attributes(function):
            if name not in replaced or function.name == "__init__":
                self._kept[name] = value

    @property
    def keeps(self) -> bool:
        """True if the function keeps values on its object that other methods read."""
        return bool(self._kept)

    def of(self, value: Value) -> frozenset[Value]:
        """The values that a value may come from; itself where it is followed no further."""
        if value not in self._known:
            self._known[value] = frozenset((value,))  # a loop, which adds nothing by itself
            self._known[value] = (
                frozenset().union(*map(self.of, more)) if (more := self._sources(value)) else frozenset((value,))
            )
        return self._known[value]

    def _sources(self, value: Value) -> list[Value]:
        """The operands of a choice, or the arguments that a called function of the project returns; else empty."""
        if value.op is Op.ATTR and len(value.args) > 1:
            return [value.args[1]]
        if (name := self_attribute(value)) in self._kept:
            return [self._kept[str(name)]]
        if value.op is Op.CHOICE:
            return list(value.args)
        if value.op is Op.INDEX and value.args[0].op in _HOLDING:
            return list(value.args[0].args)
        other = _callee(value, self._function, self._project) if value.op is Op.CALL else None
        if other is None:
            return []
        given = {str(one.value.data) for one in other.flow.of(EventKind.RETURN) if one.value.op is Op.PARAM}
        return [arg for name, arg in possible_arguments(other.open_parameters, value) if name in given]

    def loads(self, call: Value, depth: int = 0) -> bool:
        """True if a call loads a checkpoint, or is of a function that returns what it loads."""
        if called_name(call.callee) == _LOADS:
            return True
        other = _callee(call, self._function, self._project) if depth < _MAX_CALLS else None
        given = [] if other is None else [event.value for event in other.flow.of(EventKind.RETURN)]
        own = None if other is None else _Origins(other, self._project)
        return own is not None and bool(given) and all(v.op is Op.CALL and own.loads(v, depth + 1) for v in given)

    def owners(self, call: Value) -> frozenset[Value]:
        """The objects whose method is called, or the callee itself."""
        is_method = call.callee.op is Op.ATTR and self_attribute(call.callee) not in self._kept
        return self.of(call.callee.args[0] if is_method else call.callee)

    def is_fed_by(self, call: Value, tokenizer: Value) -> bool:
        """True if an argument of a call is computed by a tokenizer, or by a function of the project from it."""
        parts = (part for arg in call.args[1:] for part in arg.walk() if part.op is Op.CALL)
        is_class = self._is_class_of_library(call)
        if is_class and any(tokenizer in self.of(arg) for arg in call.args[1:]):
            return True
        return any(tokenizer in self.owners(part) or self._hands_on(part, tokenizer, is_class) for part in parts)

    def _hands_on(self, call: Value, tokenizer: Value, is_any: bool) -> bool:
        """True if a call gets a tokenizer: of a function of the project, or of any if `is_any`."""
        is_own = is_any or _callee(call, self._function, self._project) is not None
        return is_own and any(tokenizer in self.of(arg) for arg in call.args[1:])

    def is_handed_model(self, call: Value, model: Value) -> bool:
        """True if a class of a library gets a model, to run it: `Trainer(model=model, …)`."""
        given = call.argument(0, "model") if self._is_class_of_library(call) else None
        return given is not None and model in self.of(given)

    def _is_class_of_library(self, call: Value) -> bool:
        """True if the callee is a class of a library, as its name tells, other than one that gives a checkpoint."""
        definition = self._project.names.definition(self._function.module, call.callee)
        return isinstance(definition, External) and definition.name.rpartition(".")[2][:1].isupper()

    def trains(self, call: Value, model: Value) -> bool:
        """True if a call trains a model: it goes back through what is computed, or gets the model's parameters."""
        if any(_asks_for_parameters(part) and model in self.of(part.callee.args[0]) for part in _operands(call)):
            return True
        if call.callee.op is not Op.ATTR or call.callee.data not in ("backward", "train"):
            return False
        owner = self.of(call.callee.args[0])
        is_trainer = any(one.op is Op.CALL and self.is_handed_model(one, model) for one in owner)
        return call.callee.data == "backward" or is_trainer


def _kept_attributes(function: Function) -> Iterator[tuple[str, Value]]:
    """The attributes that a method sets on its object, each with the value."""
    for store in function.flow.of(EventKind.STORE):
        name = None if store.target is None else self_attribute(store.target)
        if name is not None:
            yield name, store.value


def _operands(call: Value) -> Iterator[Value]:
    return (part for arg in call.args[1:] for part in arg.walk())


def _asks_for_parameters(value: Value) -> bool:
    return value.op is Op.CALL and value.callee.op is Op.ATTR and value.callee.data == "parameters"


def _may_resize(call: Value, function: Function, project: Project) -> bool:
    """True if a call may make a table larger, as far as names and the functions of the project tell."""
    if "resize" in called_name(call.callee):
        return True
    other = _callee(call, function, project)
    return other is not None and any("resize" in word for word in other.words)


def _growing(module: ModuleFacts, project: Project) -> dict[str, Function]:
    """The functions by which a file may give a tokenizer more tokens, under their names there."""
    found = dict(project.of(Vocabularies).growing(module))
    own = {function.name: function for function in module.all_functions()}
    while more := {name: f for name, f in own.items() if name not in found and not f.words.isdisjoint(found)}:
        found |= more
    return found


def _grown_tokenizers(
    event: Event, function: Function, growing: dict[str, Function], project: Project, depth: int = 0
) -> Iterator[Value]:
    """The tokenizers that a call gives more tokens, as expressions in the function."""
    if may_grow(event):
        yield event.value.callee.args[0]
    if is_made_with_tokens(event) or project.of(Vocabularies).makes_grown(event.value, function.module):
        yield event.value
    other = growing.get(called_name(event.value.callee))
    if other is None or depth > _MAX_CALLS or _callee(event.value, function, project) is not other:
        return
    names = given_tokens(other, is_sure=False)
    if other.module is function.module and not _resizes(event.value, function, project):
        inner = other.flow.of(EventKind.CALL)
        given = [value for one in inner for value in _grown_tokenizers(one, other, growing, project, depth + 1)]
        names |= {str(value.data) for value in given if value.op is Op.PARAM}
    yield from (arg for name, arg in possible_arguments(other.open_parameters, event.value) if name in names)


def _resizes(call: Value, function: Function, project: Project, depth: int = 0) -> bool:
    """True if a call gives a model as many rows as a tokenizer has tokens, itself or in a function that it calls."""
    if called_name(call.callee) == _RESIZES:
        return True
    other = _callee(call, function, project) if depth < _MAX_CALLS else None
    if other is None or other is function:
        return False
    return project.once(
        ("resizes", other, depth),
        lambda: any(_resizes(event.value, other, project, depth + 1) for event in other.flow.of(EventKind.CALL)),
    )


def _callee(call: Value, function: Function, project: Project) -> Function | None:
    """The function of the project that a call runs, or the method of the same object; else None."""
    return queries.named_function(call.callee, function.module, function.owner, project)


def _is_sure(first: Event, second: Event) -> bool:
    """True if the first event has happened wherever the second one does."""
    return first.guard is None or (second.guard is not None and first.guard in tuple(second.guard.chain()))


def _is_of(tokenizer: Value, resized: Value) -> bool:
    """True if a tokenizer is the one that a model was resized for: an argument of the call, or part of its result."""
    if tokenizer.op in _HOLDING:
        return any(_is_of(part, resized) for part in tokenizer.args)
    known = stored_value(tokenizer)
    if any(stored_value(part) is known for arg in resized.args[1:] for part in arg.walk() if part.op is not Op.CONST):
        return True
    while known.op in _PARTS:
        known = stored_value(known.args[0])
    return known is resized
