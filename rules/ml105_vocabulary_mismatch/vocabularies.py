"""Sizes of vocabularies that must agree: of layers that share a weight, of tables and the tokenizers they are for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import operators
from modellint.flow import queries
from modellint.graph.arguments import possible_arguments
from modellint.graph.definitions import DefinedFunction, External
from modellint.graph.immutable import dataclass
from modellint.graph.size import excess, is_proved
from modellint.graph.value import EventKind, Op, called_name, dotted, is_self, same, self_attribute, walk_all

from .room import fills_room

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Event, Value
    from modellint.rule import Project

    _Run = queries.Run[queries.TableReads]

#: Methods that add tokens to a tokenizer.
GROWS = ("add_tokens", "add_special_tokens")
#: The argument by which a tokenizer gets more tokens when it is made.
ADDED = "additional_special_tokens"
#: The method that loads a published tokenizer.
_LOADS = "from_pretrained"
#: Names of operators and attributes that measure a layer.
_MEASURES = operators.words("gives:size") | {"num_embeddings", "out_features", "weight"}
#: Names of functions and methods that store an attribute under a name that is given.
_SETS = frozenset(("setattr", "__setattr__"))
#: Names that many functions share, and the number of functions of a file that are run.
_UNNAMED = frozenset(("__init__", "forward", "__call__"))
_MAX_SHARING = 24
#: Operations that read a part of their operand.
_PARTS = frozenset((Op.ATTR, Op.INDEX, Op.ITEM, Op.UNPACK))
#: Operations whose value is no parameter of a layer.
_COMPUTED = frozenset((Op.BIN, Op.UNARY, Op.COMPARE, Op.CONST, Op.STRING, Op.LIST, Op.TUPLE, Op.DICT, Op.SET))
#: The number of a tokenizer's tokens without those that were added.
_SIZE = "vocab_size"


@dataclass(frozen=True, eq=False)
class Tie:
    """`tied` makes two layers share a weight though `smaller` has fewer rows than `larger`."""

    tied: queries.Site
    smaller: queries.IdLayer
    larger: queries.IdLayer
    #: True if the sizes differ whatever the defaults are.
    is_proved: bool
    #: The class whose objects share the weight, None where no method makes them do so; and the place in its file that
    #: leads there.
    owner: Class | None
    at: queries.Site


@dataclass(frozen=True, eq=False)
class Growth:
    """The table made at `table` has `size` rows, without the tokens that `event` adds to `tokenizer`.

    `event` is a call of another method of the object where that keeps the tokenizer.
    """

    table: queries.Site
    size: queries.Site
    event: Event
    tokenizer: Value


class Vocabularies:
    """Finds sizes of vocabularies that disagree; one per project."""

    def __init__(self, project: Project) -> None:
        self._project = project

    # -- tied weights -----------------------------------------------------------------------------------------------

    def ties(self, module: ModuleFacts) -> Iterator[Tie]:
        """The places where functions of a file make layers of different sizes share their weight.

        However they do it: `head.weight = embed.weight`, `setattr`, a function that gets the layers.
        """
        told: set[tuple[queries.Site, queries.Site, queries.Site]] = set()
        for first, second, store, function in self._pairs_in(module):
            assert store.value is not None
            assert store.function is not None
            tied = queries.Site(store.value, store.function)
            tie = _disagreement(first, second, tied, function.owner, _leading(tied, function))
            if tie is None or (store.path and (not tie.is_proved or _compares(store, function))):
                continue
            key = tie.tied, tie.smaller.made, tie.larger.made
            if key not in told:
                told.add(key)
                yield tie

    def pairs_in(self, cls: Class) -> Iterator[tuple[queries.IdLayer, queries.IdLayer, queries.Site]]:
        """The pairs of layers that methods of a class always make share a weight, and the place where they do."""
        for first, second, store, function in self._pairs_in(cls.module):
            if function.owner is cls and not store.path and store.value is not None and store.function is not None:
                yield first, second, queries.Site(store.value, store.function)

    def _pairs_in(
        self, module: ModuleFacts
    ) -> Iterator[tuple[queries.IdLayer, queries.IdLayer, queries.Store, Function]]:
        """The pairs of layers that share a weight by a store while a function of a file runs."""
        functions = _Sharing(module, self._project).functions
        if not functions:
            return
        seen: set[queries.Store] = set()
        with queries.run(self._project, queries.TableReads) as run:
            for function in functions:
                _work(function, run)
                owners = _weights(run)
                for shell, store in _weight_stores(run):
                    if store in seen or store.function is None or store.value is None:
                        continue
                    seen.add(store)
                    first, second = run.id_layer((shell,)), run.id_layer(_owners(store.atoms, owners))
                    if first is not None and second is not None:
                        yield first, second, store, function

    def declared(self, cls: Class) -> Iterator[Tie]:
        """The ties of layers of different sizes that a class declares; a setting may turn them off."""
        value = cls.attributes.get(queries.TIED_WEIGHTS)
        if value is None or value.op not in (Op.DICT, Op.LIST, Op.TUPLE):
            return
        place = queries.Site(value, cls.module.body)
        for number, key in enumerate(value.data if value.op is Op.DICT else value.args):
            first = self._declared_side(key, cls)
            if first is None:
                continue
            second = self._declared_side(value.args[number], cls) if value.op is Op.DICT else self._shared_table(cls)
            tie = None if second is None else _disagreement(first, second, place, cls, place)
            if tie is not None and tie.is_proved:
                yield tie

    def _declared_side(self, key: Value | None, cls: Class) -> queries.IdLayer | None:
        """The layer whose weight a path (`model.embed_tokens.weight`) names; None if it names none."""
        if key is None or key.op is not Op.CONST or not isinstance(key.data, str):
            return None
        *path, last = key.data.split(".")
        return queries.flow(cls.module, self._project).id_layer(cls, path) if last == "weight" and path else None

    def _shared_table(self, cls: Class) -> queries.IdLayer | None:
        """The table that a class says its heads share."""
        method = self._project.classes.model(cls).method(queries.SHARED_TABLE)
        return None if method is None else queries.flow(cls.module, self._project).id_layer_returned(cls, method)

    # -- tokenizers -------------------------------------------------------------------------------------------------

    def growths(self, function: Function) -> Iterator[Growth]:
        """The tables that a function sizes by a tokenizer to which it adds tokens that the size does not count."""
        grown = [*self._growth_events(function), *self._grown_before(function)]
        if not grown:
            return
        sizes = dict.fromkeys(_plain_tables(function))
        with queries.run(self._project, queries.TableReads) as run:
            for receiver in run.receivers(function):
                body = run.body(function, receiver)
                grown = [one for one in grown if not _is_own(one[2], body, run)]
                sizes.update(dict.fromkeys(_sizes(function, receiver, run)))
        for number, event, tokenizer in grown:
            for table, size in sizes:
                measured = next((at for at, other in enumerate(function.flow.events) if other.value is size), number)
                if _counts(size, tokenizer, before=measured < number):
                    yield Growth(table, queries.Site(size, function), event, tokenizer)

    def _grown_before(self, function: Function) -> Iterator[tuple[int, Event, Value]]:
        """The events by which the constructor gives a tokenizer of the object more tokens, before a method runs."""
        constructor = None if function.owner is None else function.owner.methods.get("__init__")
        if constructor is None or constructor is function or _SIZE not in function.words:
            return
        for _, event, tokenizer in self._growth_events(constructor):
            if self_attribute(tokenizer) is not None:
                yield -1, event, tokenizer
            for store in constructor.flow.of(EventKind.STORE) if tokenizer.op is Op.CALL else ():
                if store.value is tokenizer and store.target is not None and self_attribute(store.target) is not None:
                    yield -1, event, store.target

    def _growth_events(self, function: Function) -> Iterator[tuple[int, Event, Value]]:
        """The events by which a function gives a tokenizer more tokens, itself or by another function."""
        growing = self.growing(function.module)
        words = function.words
        makers = self.makers(function.module)
        is_growing = ADDED in words or any(not words.isdisjoint(names) for names in (GROWS, growing, makers))
        if not is_growing or any("resize" in word for word in words):
            return
        for number, event in enumerate(function.flow.events):
            if may_grow(event):
                if not fills_room(event, function):
                    yield number, event, event.value.callee.args[0]
            elif is_made_with_tokens(event) or (
                event.kind is EventKind.CALL and makers and self.makes_grown(event.value, function.module)
            ):
                yield number, event, event.value
            elif event.kind is EventKind.CALL and (other := growing.get(called_name(event.value.callee))) is not None:
                definition = self._project.names.definition(function.module, event.value.callee)
                if isinstance(definition, DefinedFunction) and definition.function is other:
                    names = given_tokens(other, is_sure=True)
                    pairs = possible_arguments(other.open_parameters, event.value)
                    yield from ((number, event, arg) for name, arg in pairs if name in names)

    def open_sizes(self, function: Function) -> Iterator[queries.Site]:
        """The sizes of plain tensors that leave out the added tokens that a published tokenizer may have.

        Which tokenizer it is must be open, as of one that a function gets the name of.
        """
        if _LOADS not in function.words:
            return
        for _, size in _plain_tables(function):
            made = stored_value(size.args[0])
            name = made.argument(0, "pretrained_model_name_or_path") if _loads(made) else None
            if name is not None and name.op is not Op.CONST:
                definition = self._project.names.definition(function.module, made.callee.args[0])
                if isinstance(definition, External) and "Tokenizer" in definition.name.rpartition(".")[2]:
                    yield queries.Site(size, function)

    def growing(self, module: ModuleFacts) -> dict[str, Function]:
        """The functions, defined or mentioned in a file, that may give a tokenizer more tokens, by their names."""

        def find() -> dict[str, Function]:
            return {name: one for name, one in self._functions(module).items() if given_tokens(one, is_sure=False)}

        return self._project.once(("growing", module), find)

    def makers(self, module: ModuleFacts) -> dict[str, Function]:
        """The functions, defined or mentioned in a file, that return a tokenizer to which they have added tokens."""

        def find() -> dict[str, Function]:
            return {name: one for name, one in self._functions(module).items() if _returns_grown(one)}

        return self._project.once(("making grown tokenizers", module), find)

    def _functions(self, module: ModuleFacts) -> dict[str, Function]:
        """The functions that a file defines or mentions, by their names there."""

        def find() -> dict[str, Function]:
            mentioned = {
                word: definition.function
                for word, definition in queries.flow(module, self._project).imported()
                if isinstance(definition, DefinedFunction)
            }
            return {f.name: f for f in module.functions.values()} | mentioned

        return self._project.once(("functions of vocabularies", module), find)

    def makes_grown(self, call: Value, module: ModuleFacts) -> bool:
        """True if a call returns a tokenizer to which the called function has added tokens."""
        other = self.makers(module).get(called_name(call.callee))
        if other is None:
            return False
        definition = self._project.names.definition(module, call.callee)
        return isinstance(definition, DefinedFunction) and definition.function is other


def _loads(value: Value) -> bool:
    """True if a call loads a published tokenizer."""
    return value.op is Op.CALL and value.callee.op is Op.ATTR and value.callee.data == _LOADS


def _returns_grown(function: Function) -> bool:
    """True if all that a function returns is a tokenizer to which it has added tokens."""
    words = function.words
    if (words.isdisjoint(GROWS) and ADDED not in words) or any("resize" in word for word in words):
        return False
    grown = {
        id(event.value.callee.args[0] if may_grow(event) else event.value)
        for event in function.flow.of(EventKind.CALL)
        if (may_grow(event) and not fills_room(event, function)) or is_made_with_tokens(event)
    }
    returned = [event.value for event in function.flow.of(EventKind.RETURN)]
    return bool(returned) and all(value.op is Op.CALL and id(value) in grown for value in returned)


def may_grow(event: Event) -> bool:
    """True if a call gives a tokenizer more tokens, other than its own."""
    call = event.value
    is_named = event.kind is EventKind.CALL and call.callee.op is Op.ATTR and call.callee.data in GROWS
    if not is_named or not call.args[1:]:
        return False
    own = any(part is call.callee.args[0] for arg in call.args[1:] for part in arg.walk())
    return not own and not (call.args[1].op in (Op.LIST, Op.DICT) and not call.args[1].args)


def is_made_with_tokens(event: Event) -> bool:
    """True if a call makes a tokenizer with more tokens than it was published with."""
    if event.kind is not EventKind.CALL or ADDED not in event.value.keywords:
        return False
    tokens = event.value.keywords[ADDED]
    return not (tokens.op in (Op.LIST, Op.TUPLE) and not tokens.args) and not (
        tokens.op is Op.CONST and tokens.data is None
    )


def stored_value(value: Value) -> Value:
    """The value that an attribute was last set to; the attribute itself where that is not known."""
    while value.op is Op.ATTR and len(value.args) > 1:
        value = value.args[1]
    return value


def given_tokens(function: Function, *, is_sure: bool) -> set[str]:
    """The parameters to which a function adds tokens, as to tokenizers: in each call if `is_sure`, else in some."""
    if function.words.isdisjoint(GROWS):
        return set()
    if any("resize" in called_name(event.value.callee) for event in function.flow.of(EventKind.CALL)):
        return set()
    events = (event for event in function.flow.events if event.guard is None or not is_sure)
    grows = (event for event in events if may_grow(event) and not fills_room(event, function))
    given = (event.value.callee.args[0] for event in grows)
    return {str(value.data) for value in given if value.op is Op.PARAM and not is_self(value)}


def _is_own(tokenizer: Value, body: queries.Frame, run: _Run) -> bool:
    """True if the tokenizer is an object of the project's, which may do anything with new tokens."""
    owners = run.evaluate(tokenizer, body)
    shells = [atom for atom in owners if isinstance(atom, queries.Shell) and atom.kind == "instance"]
    return any(run.method(shell, name) is not None for shell in shells for name in GROWS)


def _sizes(function: Function, receiver: queries.Shell | None, run: _Run) -> Iterator[tuple[queries.Site, Value]]:
    """The tables that a function leads to, each with the value of the function that is its number of rows."""
    run.call(function, receiver)
    run.construct_layers()
    for shell in run.objects():
        rows = run.argument(shell, 0, "num_embeddings") if run.is_table(shell) else None
        size = _measure(rows[0], function) if rows is not None and len(rows) == 1 else None
        if size is None and rows is not None and shell.site is not None and shell.site.function is function:
            size = _measure_of_rows(shell.site.value.argument(0, "num_embeddings"))
        if size is not None and shell.site is not None:
            yield shell.site, size


def _measure(atom: queries.Atom, function: Function) -> Value | None:
    """The value of a function that an atom stands for: a length measured there, or an argument's `vocab_size`."""
    if isinstance(atom, queries.Length):
        return atom.origin.value if atom.origin.function is function and not atom.is_made else None
    name = atom.name if isinstance(atom, queries.SymbolicInput) else ""
    values = walk_all(event.value for event in function.flow.events) if name.endswith(f".{_SIZE}") else ()
    return next((value for value in values if value.op is Op.ATTR and dotted(value) == name), None)


def _measure_of_rows(value: Value | None) -> Value | None:
    """A number of rows that is written as `tokenizer.vocab_size` or `len(tokenizer)`; None for others."""
    is_size = value is not None and value.op is Op.ATTR and value.data == _SIZE
    is_length = value is not None and value.op is Op.CALL and called_name(value.callee) == "len"
    return value if is_size or is_length else None


def _plain_tables(function: Function) -> Iterator[tuple[queries.Site, Value]]:
    """The tensors that a function makes for the tokens of a tokenizer, and that ids pick elements of, with their size.

    The ids may pick them in another method of the object.
    """
    if _SIZE not in function.words:
        return
    methods = (function,) if function.owner is None else function.owner.methods.values()
    for event in function.flow.of(EventKind.CALL):
        call, size = event.value, _first_size(event.value)
        if size is None:
            continue
        names = {
            self_attribute(store.target)
            for store in function.flow.of(EventKind.STORE)
            if store.target is not None and any(part is call for part in store.value.walk())
        }
        if any(_picks_elements(value, call, names) for method in methods for value in method.flow.values):
            yield queries.Site(call, function), size


def _first_size(call: Value) -> Value | None:
    """The size of a tokenizer that a call gives a tensor as its number of rows; None if it makes no such tensor."""
    if not any("sized" in row.facets for row in operators.called(called_name(call.callee))):
        return None
    first = call.argument(0, "size")
    while first is not None and first.op in (Op.LIST, Op.TUPLE) and first.args:
        first = first.args[0]
    return first if first is not None and first.op is Op.ATTR and first.data == _SIZE else None


def _picks_elements(value: Value, table: Value, names: set[str | None]) -> bool:
    """True if a value is an element, or several, of a tensor, or of an attribute that holds it."""
    if value.op is not Op.INDEX or value.args[1].op in (Op.CONST, Op.SLICE, Op.TUPLE, Op.UNARY):
        return False
    owner = value.args[0]
    name = self_attribute(owner)
    while owner.op is Op.UPDATE or (owner.op is Op.ATTR and len(owner.args) > 1):
        owner = owner.args[-1 if owner.op is Op.ATTR else 0]
    return owner is table or (name is not None and name in names)


def _leading(tied: queries.Site, function: Function) -> queries.Site:
    """The place in a function's file that leads to where a weight is stored: that itself, or a call."""
    calls = [event.value for event in function.flow.of(EventKind.CALL)] if tied.module is not function.module else []
    named = (c for c in calls if tied.function is not None and called_name(c.callee) == tied.function.name)
    call = next(named, calls[0] if calls else None)
    return tied if call is None else queries.Site(call, function)


def _disagreement(
    first: queries.IdLayer, second: queries.IdLayer, tied: queries.Site, owner: Class | None, at: queries.Site
) -> Tie | None:
    """The tie of two layers for different numbers of ids, None where they agree or are not known to differ."""
    more = excess(first.rows, second.rows)
    if not more:
        return None
    larger, smaller = (first, second) if more > 0 else (second, first)
    return Tie(tied, smaller, larger, is_proved(first.rows, second.rows), owner, at)


def _compares(store: queries.Store, function: Function) -> bool:
    """True if a condition compares the sizes of the layers: around a store, or around a call that leads there."""
    assert store.function is not None
    guards = [event.guard for event in store.function.flow.events if store.value is event.value]
    if store.function is not function:
        guards += [event.guard for event in function.flow.of(EventKind.CALL)]
    tests = (link.test for guard in guards if guard is not None for link in guard.chain())
    return any(
        part.op is Op.COMPARE and any(inner.op is Op.ATTR and inner.data in _MEASURES for inner in part.walk())
        for test in tests
        for part in test.walk()
    )


# -- weights that are stored -------------------------------------------------------------------------------------------


class _Sharing:
    """The functions of a file that may give a layer the weight of another one, or have another function do so."""

    def __init__(self, module: ModuleFacts, project: Project) -> None:
        own = [*module.all_functions(), module.body]
        found = {function: _stores_weight(function, project) for function in own}
        #: The names of the functions that store a weight in their arguments.
        asked = {f.name for f, stores in found.items() if any(stores or ()) and f.name not in _UNNAMED}
        asked |= {
            word
            for word, definition in queries.flow(module, project).imported()
            if isinstance(definition, DefinedFunction) and any(_stores_weight(definition.function, project) or ())
        }
        self.functions = [function for function, stores in found.items() if stores is not None]
        while asked:
            more = [f for f in own if f not in self.functions and not f.words.isdisjoint(asked)]
            self.functions += more
            asked = {f.name for f in more if f.name not in _UNNAMED} if len(self.functions) < _MAX_SHARING else set()


def _stores_weight(function: Function, project: Project) -> list[bool] | None:
    """For each store of a weight in another object, whether an argument is on either side; None if there is none."""
    if "weight" not in function.words:
        return None
    found = []
    for event in function.flow.events:
        target = event.target if event.kind is EventKind.STORE else None
        sides: tuple[Value, ...] = ()
        if target is not None and target.op is Op.ATTR and target.data == "weight":
            sides = target.args[0], event.value
        elif event.kind is EventKind.CALL and _sets(called_name(event.value.callee)) and event.value.args[1:]:
            callee = event.value.callee
            sides = (callee.args[0] if callee.op is Op.ATTR else event.value.args[1]), event.value.args[-1]
        if sides and not is_self(sides[0]) and _may_be_weight(sides[1], function, project):
            found.append(any(map(_is_given, sides)))
    return found or None


def _may_be_weight(value: Value, function: Function, project: Project) -> bool:
    """False for a value that torch computes, as `batch.weight = errors.mean(1)`: that is no layer's parameter."""
    if value.op is not Op.CALL:
        return value.op not in _COMPUTED
    callee = value.callee
    definition = project.names.definition(function.module, callee)
    if definition is None and callee.op is Op.ATTR:
        row = operators.row(f"Tensor.{callee.data}")
    else:
        row = operators.row(definition.name) if isinstance(definition, External) else None
    return row is None or "reduces" not in row.facets


def _sets(name: str) -> bool:
    return name in _SETS or name in queries.REGISTRARS


def _is_given(value: Value) -> bool:
    """True if a value is an argument, or a part of one."""
    while value.op in _PARTS:
        value = value.args[0]
    return value.op is Op.PARAM and not is_self(value)


def _work(function: Function, run: _Run) -> None:
    """Run a function with unknown arguments, on an object that has been constructed."""
    for receiver in run.receivers(function):
        if receiver is not None and function.name != "__init__":
            run.construct(receiver)
            receiver.settle()
        run.call(function, receiver)


def _weight_stores(run: _Run) -> Iterator[tuple[queries.Shell, queries.Store]]:
    """The stores to the attribute `weight` of layers."""
    for shell in list(run.objects()):
        yield from ((shell, store) for store in list(shell.stores) if shell.is_layer and store.name == "weight")


def _weights(run: _Run) -> dict[queries.Shell, queries.Shell]:
    """The parameters that layers have made as their weight, each with its layer."""
    layers = [shell for shell in list(run.objects()) if shell.is_layer and "weight" in shell.history]
    made = [(atom, layer) for layer in layers for atom in layer.get("weight") or () if isinstance(atom, queries.Shell)]
    return {weight: layer for weight, layer in made if weight.trail[: len(layer.trail)] == layer.trail}


def _owners(weight: queries.Atoms, made: Mapping[queries.Shell, queries.Shell]) -> queries.Atoms:
    """The layers whose weight a value is, wrapped in a new parameter perhaps."""
    found: list[queries.Atom] = []
    for atom in weight:
        data: queries.Atoms = (atom,)
        if isinstance(atom, queries.Shell) and atom not in made and atom.kind == "parameter":
            data = atom.arguments.argument(0, "data") or ()
        for inner in data:
            if isinstance(inner, queries.Shell) and inner in made:
                found.append(made[inner])
            elif isinstance(inner, queries.Bound) and inner.name == "weight":
                found.append(inner.owner)
    return tuple(found)


# -- tokenizers --------------------------------------------------------------------------------------------------------


def _counts(size: Value, tokenizer: Value, *, before: bool) -> bool:
    """True if a size is that of a tokenizer: `vocab_size` never counts added tokens, `len` those added so far."""
    known = stored_value(tokenizer)
    if size.op is Op.ATTR and size.data == _SIZE:
        return same(size.args[0], tokenizer) or same(stored_value(size.args[0]), known) or _is_kept_as(size, tokenizer)
    is_length = size.op is Op.CALL and size.callee.op is Op.GLOBAL and size.callee.data == "len" and before
    measured = size.positional[0] if is_length and len(size.positional) == 1 else None
    return measured is not None and (same(measured, tokenizer) or same(stored_value(measured), known))


def _is_kept_as(size: Value, tokenizer: Value) -> bool:
    """True if `self.tokenizer.vocab_size` is read of an attribute in which another method stores the tokenizer."""
    name = self_attribute(size.args[0])
    return name is not None and len(size.args[0].args) == 1 and self_attribute(tokenizer) == name
