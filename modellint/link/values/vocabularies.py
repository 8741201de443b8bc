"""Sizes of vocabularies that must agree: of layers that share a weight, of tables and the tokenizers they are for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from modellint import knowledge, operators
from modellint.graph.size import excess, is_proved
from modellint.graph.value import EventKind, Op, same
from modellint.link.names import DefinedClass
from modellint.link.values.evaluator import Instance, Located

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.flow.lookups import Sided
    from modellint.graph.python import Class, Function
    from modellint.graph.size import Size
    from modellint.graph.value import Event, Value
    from modellint.link.project import Project
    from modellint.link.values.evaluator import Frame
    from modellint.link.values.tables import Table

#: Methods that add tokens to a tokenizer.
GROWS = ("add_tokens", "add_special_tokens")
#: What tells how large a layer is.
_MEASURES = operators.words("gives:size") | {"num_embeddings", "out_features", "weight"}
_MAX_NESTING = 3
#: Where a layer takes the width of its output.
_OUTPUT_WIDTH = operators.arguments("makes-width") | operators.arguments("makes-channels")


@dataclass(frozen=True, eq=False)
class Side:
    """One of two places that must agree: what is built `made`, for `rows` ids."""

    made: Located
    rows: Size


@dataclass(frozen=True, eq=False)
class Tie:
    """`tied` makes two layers share a weight though `smaller` has fewer rows than `larger`."""

    tied: Located
    smaller: Side
    larger: Side
    #: Whether the sizes differ whatever the defaults are.
    is_proved: bool


@dataclass(frozen=True, eq=False)
class Growth:
    """`table` has as many rows as `size` said, without the tokens that `event` adds to the tokenizer."""

    table: Table
    size: Located
    event: Event
    frame: Frame


class Vocabularies:
    """Finds sizes of vocabularies that disagree; one per project."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._evaluator = project.evaluator

    # -- tied weights -----------------------------------------------------------------------------------------------

    def ties(self, function: Function) -> Iterator[Tie]:
        """Where a function makes layers of different sizes share their weight (`head.weight = embed.weight`)."""
        frame = self._evaluator.root(function)
        for event, first, second in self._project.indexed.ties(function):
            tie = _disagreement(self._of(first), self._of(second), Located(event.value, frame))
            if tie is not None and (event.guard is None or (tie.is_proved and not _compares(event))):
                yield tie

    def _of(self, sided: Sided) -> Side:
        function = sided.made.function
        assert function is not None
        return Side(Located(sided.made.value, self._evaluator.root(function)), sided.rows)

    def declared(self, cls: Class) -> Iterator[Tie]:
        """Where a class declares that layers of different sizes share their weight; a setting may turn that off."""
        if knowledge.TIED_WEIGHTS not in cls.attributes:
            return
        value = cls.attributes[knowledge.TIED_WEIGHTS]
        place = Located(value, self._evaluator.top_level(cls.module))
        keys = value.data if value.op is Op.DICT else value.args
        for number, key in enumerate(keys if value.op in (Op.DICT, Op.LIST, Op.TUPLE) else ()):
            first = self._declared_side(key, cls)
            second = self._declared_side(value.args[number], cls) if value.op is Op.DICT else self._shared(cls)
            tie = None if first is None or second is None else _disagreement(first, second, place)
            if tie is not None and tie.is_proved:
                yield tie

    def _declared_side(self, key: Value | None, cls: Class) -> Side | None:
        """The layer whose weight a path (`model.embed_tokens.weight`) names."""
        if key is None or key.op is not Op.CONST or not isinstance(key.data, str):
            return None
        *path, last = key.data.split(".")
        if last != "weight" or not path:
            return None
        instance = Instance(cls=cls)
        for number, name in enumerate(path):
            stored = self._evaluator.stored(instance, name)
            if len(stored) != 1:
                return None
            if number == len(path) - 1:
                return self._side(stored[0].value, stored[0].frame)
            held = self._evaluator.instances(stored[0].value, stored[0].frame)
            if len(held) != 1:
                return None
            instance = held[0]
        return None

    def _shared(self, cls: Class) -> Side | None:
        """The table that a class says its heads share."""
        method = self._project.members.method(cls, knowledge.SHARED_TABLE)
        returned = [] if method is None else list(method.flow.of(EventKind.RETURN))
        if method is None or len(returned) != 1:
            return None
        return self._side(returned[0].value, self._evaluator.method_frame(method, Instance(cls=cls)))

    def _side(self, layer: Value, frame: Frame) -> Side | None:
        """How many ids a layer is for: the rows of a table, the outputs of a projection."""
        table = self._project.tables.of_value(layer, frame)
        if table is not None:
            rows = self._project.tables.rows(table)
            return None if rows is None else Side(Located(table.call, table.frame), rows)
        instances = self._evaluator.instances(layer, frame)
        if len(instances) != 1:
            return None
        call, inner = instances[0].call, instances[0].frame
        if call is None or inner is None or instances[0].external not in _OUTPUT_WIDTH:
            return None
        rows = self._evaluator.size(call.argument(*_OUTPUT_WIDTH[instances[0].external]), inner)
        return None if rows is None else Side(Located(call, inner), rows)

    # -- tokenizers -------------------------------------------------------------------------------------------------

    def growths(self, function: Function) -> Iterator[Growth]:
        """The tables that a function sizes by a tokenizer to which it adds tokens that the size does not count."""
        calls = list(function.flow.of(EventKind.CALL))
        frame = self._evaluator.root(function)
        for number, event in enumerate(calls):
            tokenizer = self._grown(event, frame)
            if tokenizer is None:
                continue
            for other, built in enumerate(calls):
                for table, size in self._tables(built.value, frame, 0):
                    if size.frame is frame and _counts(size.value, tokenizer, before=other < number):
                        yield Growth(table, size, event, frame)

    def _grown(self, event: Event, frame: Frame) -> Value | None:
        """The tokenizer that a call gives more tokens, which are not its own."""
        call = event.value
        if call.callee.op is not Op.ATTR or call.callee.data not in GROWS or not call.args[1:]:
            return None
        tokenizer = call.callee.args[0]
        if self._evaluator.target(call, frame).method is None:
            return None
        own = any(part is tokenizer for arg in call.args[1:] for part in arg.walk())
        return None if own or (call.args[1].op in (Op.LIST, Op.DICT) and not call.args[1].args) else tokenizer

    def _tables(self, call: Value, frame: Frame, depth: int) -> Iterator[tuple[Table, Located]]:
        """The tables that a call builds, itself or in constructors, each with where its number of rows comes from."""
        found = self._evaluator.definition(call.callee, frame.module)
        if found is None or depth > _MAX_NESTING:
            return
        instance = self._evaluator.constructed(call, frame)
        table = None if instance is None else self._project.tables.of_instance(instance)
        if table is not None:
            yield table, self._source(table.rows)
        elif isinstance(found, DefinedClass):
            constructor = self._project.members.method(found.cls, "__init__")
            if constructor is not None:
                inner = self._evaluator.method_frame(constructor, Instance(cls=found.cls, call=call, frame=frame))
                for event in constructor.flow.of(EventKind.CALL):
                    yield from self._tables(event.value, inner, depth + 1)

    def _source(self, located: Located) -> Located:
        """Where a number comes from: what a parameter is bound to, and what was kept of it."""
        for _ in range(2 * _MAX_NESTING):
            if located.value.op is not Op.PARAM:
                return located
            bound = self._evaluator.argument(located.value, located.frame)
            if bound is None:
                return located
            located = bound
        return located


def _disagreement(first: Side, second: Side, tied: Located) -> Tie | None:
    """The tie of two layers for different numbers of ids, None where they agree or are not known to differ."""
    more = excess(first.rows, second.rows)
    if not more:
        return None
    larger, smaller = (first, second) if more > 0 else (second, first)
    return Tie(tied, smaller, larger, is_proved(first.rows, second.rows))


def _compares(event: Event) -> bool:
    """Whether a condition looks at how large the layers are."""
    tests = [guard.test for guard in event.guard.chain()] if event.guard is not None else []
    return any(
        part.op is Op.COMPARE and any(inner.op is Op.ATTR and inner.data in _MEASURES for inner in part.walk())
        for test in tests
        for part in test.walk()
    )


def _counts(size: Value, tokenizer: Value, *, before: bool) -> bool:
    """Whether a size is that of a tokenizer: `vocab_size` never counts tokens that are added, `len` those so far."""
    if size.op is Op.ATTR and size.data == "vocab_size":
        return same(size.args[0], tokenizer)
    is_length = size.op is Op.CALL and size.callee.op is Op.GLOBAL and size.callee.data == "len" and before
    return is_length and len(size.positional) == 1 and same(size.positional[0], tokenizer)
