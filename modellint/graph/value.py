"""The value graph of a function: expressions with local names resolved, in the manner of SSA.

A frontend lowers a function body to a graph in which every use of a local variable points at the value that was
assigned to it. A name never has to be looked up again, an `if` that assigns on both sides is a `CHOICE` (a φ), and
`x.append(y)` makes a new version of `x`. The linker and the rules follow `args` to learn where a value comes from.
"""

from __future__ import annotations

import re
from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

from modellint.graph.immutable import dataclass
from modellint.operators import spellings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


M = TypeVar("M", bound="_Member")
T = TypeVar("T")
#: The most parts of a value that `walk` yields; parts that are farther away seldom matter, and may be many.
_MAX_PARTS = 2_000


class _Member:
    """A member of an enumeration, compared by identity."""

    __slots__ = ("value",)

    def __init__(self, value: str) -> None:
        self.value = value

    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self.value.upper()}"


def _with_members(cls: type[M]) -> type[M]:
    """Class decorator: make a member for each annotation.

    Access to a member of an `Enum` takes seven times as long (CPython 3.10 and 3.11), which was a tenth of a run.
    """
    for name in cls.__annotations__:
        setattr(cls, name, cls(name.lower()))
    return cls


@_with_members
class Op(_Member):
    """The operation that makes a value. The comments give its `data` and `args`."""

    CONST: ClassVar[Op]  # data: the Python constant
    PARAM: ClassVar[Op]  # data: the parameter's name
    INNER: ClassVar[Op]  # a parameter of a function inside of the function; data: its name
    GLOBAL: ClassVar[Op]  # data: the name as written; not a local variable of the function
    ATTR: ClassVar[Op]  # data: the attribute; args: the object, then what this body stored there before, if known
    CALL: ClassVar[Op]  # data: keyword names (None for `**`), aligned to the end; args: callee, arguments, keywords'
    BIN: ClassVar[Op]  # data: "+", "//", …, an `InPlace` one for `+=`; args: left, right
    UNARY: ClassVar[Op]  # data: "-", "not", "~", "+"; args: operand
    COMPARE: ClassVar[Op]  # data: "<", "is not", "in", …; args: left, right (chains become BOOL "and")
    BOOL: ClassVar[Op]  # data: "and" | "or"; args: operands
    INDEX: ClassVar[Op]  # args: object, subscript
    SLICE: ClassVar[Op]  # args: lower, upper, step (CONST None where absent)
    CHOICE: ClassVar[Op]  # one of args; data: the test that picks the first of two, None for a loop's variables
    TUPLE: ClassVar[Op]  # args: elements (STARRED where unpacked)
    LIST: ClassVar[Op]
    SET: ClassVar[Op]
    DICT: ClassVar[Op]  # data: the keys as values (None for `**`); args: values
    STARRED: ClassVar[Op]  # args: the iterable
    COMPREHENSION: ClassVar[Op]  # data: "list" | "set" | "dict" | "generator"; args: the element, or key, value
    ITEM: ClassVar[Op]  # args: the iterable; one element of it, as a loop or comprehension variable
    UNPACK: ClassVar[Op]  # data: the index in a tuple assignment (-1 for a starred target); args: the sequence
    UPDATE: ClassVar[Op]  # data: the method or "[]="; args: the old value, then arguments: `x.append(y)`, `x[i] = y`
    STRING: ClassVar[Op]  # an f-string; args: its values
    LAMBDA: ClassVar[Op]  # a function inside of a function; data: Nested; args: what it returns
    UNKNOWN: ClassVar[Op]  # anything else


class InPlace(str):
    """The operator of an augmented assignment, which changes a list rather than making another one: `x += […]`."""

    __slots__ = ()


#: The number of bits of a position that hold a column.
_COLUMN = 24
_MASK = (1 << _COLUMN) - 1


class Positioned(Protocol):
    """A syntax node, of which a value keeps nothing but the position."""

    lineno: int
    col_offset: int
    end_lineno: int | None
    end_col_offset: int | None


def _position(node: Positioned) -> int:
    line, end = node.lineno, node.end_lineno or node.lineno
    end_offset = node.end_col_offset or node.col_offset
    return ((line << _COLUMN | node.col_offset & _MASK) << _COLUMN | end - line) << _COLUMN | end_offset & _MASK


class Value:
    """A node of a function's value graph. Compared by identity; `args` of a loop's CHOICE may lead back to it.

    Positions are as `ast` reports them (1-based line, 0-based UTF-8 byte offset); `ModuleFacts.span` converts.
    """

    __slots__ = ("args", "at", "data", "guard", "op", "target")

    def __init__(self, op: Op, args: tuple[Value, ...], data: Any, node: Positioned | None) -> None:
        self.op = op
        self.args = args
        self.data = data
        #: Lines and columns as one number, for a syntax tree is far larger; 0 for a value that stands in no file.
        self.at = 0 if node is None else _position(node)
        #: The local variable this value was last assigned to, or the name of a function inside of one, for messages.
        self.target: str | None = None
        #: The filters of a COMPREHENSION (`if` clauses), the condition under which an UPDATE happens.
        self.guard: PathCondition | None = None

    @property
    def line(self) -> int:
        return self.at >> 3 * _COLUMN

    @property
    def offset(self) -> int:
        return self.at >> 2 * _COLUMN & _MASK

    @property
    def end_line(self) -> int:
        return self.line + (self.at >> _COLUMN & _MASK)

    @property
    def end_offset(self) -> int:
        return self.at & _MASK

    def __repr__(self) -> str:
        return f"<{self.op.value} {self.data!r} at {self.line}:{self.offset}>"

    @property
    def callee(self) -> Value:
        """The function that a CALL calls."""
        return self.args[0]

    @property
    def positional(self) -> tuple[Value, ...]:
        """The positional arguments of a CALL (STARRED ones included)."""
        return self.args[1 : len(self.args) - len(self.data)]

    @property
    def keywords(self) -> dict[str, Value]:
        """The named keyword arguments of a CALL."""
        start = len(self.args) - len(self.data)
        return {name: self.args[start + i] for i, name in enumerate(self.data) if name is not None}

    @property
    def has_unpacking(self) -> bool:
        """True if a CALL passes `*args` or `**kwargs`, so that its arguments are not all known."""
        return None in self.data or any(arg.op is Op.STARRED for arg in self.positional)

    def argument(self, position: int, name: str | None = None) -> Value | None:
        """The argument of a CALL at `position` (from 0), or called `name` in any of torch's spellings; else None."""
        if name is not None and self.data:
            keywords = self.keywords
            for spelt in spellings(name):
                if spelt in keywords:
                    return keywords[spelt]
        positional = self.positional
        if any(arg.op is Op.STARRED for arg in positional[: position + 1]):
            return None
        return positional[position] if position < len(positional) else None

    def walk(self) -> Iterator[Value]:
        """This value and its transitive `args`, each once, nearest first, up to a limit."""
        seen: set[int] = set()
        queue = [self]
        for value in queue:
            if id(value) in seen:
                continue
            seen.add(id(value))
            if len(seen) > _MAX_PARTS:
                return
            yield value
            queue.extend(value.args)


#: A value that stands in no code: the call by which a function is run from outside.
NOWHERE = Value(Op.UNKNOWN, (), None, None)


def walk_all(values: Iterable[Value]) -> Iterator[Value]:
    """The values and their transitive `args`, each once."""
    seen: set[int] = set()
    pending = list(values)
    while pending:
        value = pending.pop()
        if id(value) not in seen:
            seen.add(id(value))
            yield value
            pending.extend(value.args)


def dotted(value: Value) -> str | None:
    """`a.b.c` of a chain of attributes on a global or a parameter, None for anything else."""
    name = ""
    while value.op is Op.ATTR:
        name = f".{value.data}{name}"
        value = value.args[0]
    if value.op is not Op.GLOBAL and value.op is not Op.PARAM:
        return None
    return f"{value.data}{name}" if name else str(value.data)


def text_pattern(value: Value) -> tuple[str | type, ...] | None:
    """The texts that a string is put together of, with `int` and `str` for what varies; None for other values.

    ("scale_", int) of `f"scale_{i}"` in a loop over a range, `"scale_" + str(i)`, `"scale_%d" % i`.
    """
    if value.op is Op.CONST:
        return (value.data,) if isinstance(value.data, str) else None
    if value.op is Op.STRING:
        varying = iter(value.args)
        return None if value.data is None else tuple(one or _kind_of_text(next(varying)) for one in value.data)
    if value.op is Op.BIN and value.data == "+":
        known = [text_pattern(part) for part in value.args]
        sides = [part or (_kind_of_text(arg),) for part, arg in zip(known, value.args, strict=True)]
        return (*sides[0], *sides[1]) if any(known) else None
    is_format = value.op is Op.CALL and value.callee.op is Op.ATTR and value.callee.data == "format"
    if not is_format and not (value.op is Op.BIN and value.data == "%"):
        return None
    form = (value.callee if is_format else value).args[0]
    if form.op is not Op.CONST or not isinstance(form.data, str):
        return None
    varying = iter(value.args[1:])
    parts = re.split(r"(\{[^{}]*\})" if is_format else r"(%\w)", form.data)
    return tuple(_kind_of_text(next(varying, value)) if at % 2 else text for at, text in enumerate(parts) if text)


def _kind_of_text(value: Value) -> type:
    """`int` for the number of a turn of a loop, also as a text; else `str`."""
    if value.op is Op.CALL and called_name(value.callee) == "str" and len(value.positional) == 1:
        value = value.positional[0]
    counted = "range"
    if value.op is Op.UNPACK and value.data == 0:
        value, counted = value.args[0], "enumerate"
    iterated = value.args[0] if value.op is Op.ITEM else value
    return int if iterated.op is Op.CALL and called_name(iterated.callee) == counted else str


def may_spell(value: Value, text: str) -> bool:
    """True if a string may be `text`."""
    pattern = text_pattern(value)
    if pattern is None:
        return True
    parts = [re.escape(part) if isinstance(part, str) else r"-?\d+" if part is int else ".*" for part in pattern]
    return re.fullmatch("".join(parts), text) is not None


def self_attribute(value: Value) -> str | None:
    """`x` of `self.x`, None for anything else. (The frontend names the first parameter of a method `self`.)"""
    if value.op is Op.ATTR and value.args[0].op is Op.PARAM and value.args[0].data == "self":
        return str(value.data)
    return None


@dataclass(eq=False, slots=True)
class PathCondition:
    """A condition under which code runs: `test` is truthy (or falsy), and so is everything in `outer`.

    `early` marks a condition that holds because the other branch left the function or the loop, or because it was
    asserted; `raised` that the only way out is an error: it holds wherever the run goes on.
    """

    test: Value
    truthy: bool
    outer: PathCondition | None = None
    early: bool = False
    raised: bool = False

    def chain(self) -> Iterator[PathCondition]:
        guard: PathCondition | None = self
        while guard is not None:
            yield guard
            guard = guard.outer


@_with_members
class EventKind(_Member):
    """The kinds of events in a function body."""

    CALL: ClassVar[EventKind]  # value: the CALL
    INDEX: ClassVar[EventKind]  # value: the INDEX, read
    STORE: ClassVar[EventKind]  # value: what is stored; target: ATTR or INDEX that it is stored to
    COMPARE: ClassVar[EventKind]  # value: the COMPARE
    RETURN: ClassVar[EventKind]  # value: what is returned
    RAISE: ClassVar[EventKind]  # value: what is raised
    YIELD: ClassVar[EventKind]  # value: what is yielded, STARRED for `yield from`
    DELETE: ClassVar[EventKind]  # target: what is deleted
    AUGMENT: ClassVar[EventKind]  # value: the BIN of an augmented assignment to a name
    READ: ClassVar[EventKind]  # value: the ATTR of the receiver that is read; kept apart from the others
    UNPACK: ClassVar[EventKind]  # value: what is unpacked; target: a TUPLE of its parts; kept apart, too


@dataclass(eq=False, slots=True)
class Event:
    """One event of a function body, with the path condition under which it happens."""

    kind: EventKind
    value: Value
    target: Value | None = None
    guard: PathCondition | None = None
    #: The number of loops and comprehensions around it.
    loops: int = 0
    #: Contexts of enclosing `with` statements (`torch.no_grad()`), outermost first.
    contexts: tuple[Value, ...] = ()
    #: Names of the errors that handlers around it catch (`TypeError`; `BaseException` for a bare `except`).
    handled: tuple[str, ...] = ()


@dataclass(eq=False, slots=True)
class Loop:
    """A `for` or `while` loop, or a comprehension, which makes `result`.

    `first` to `last` (exclusive) are its events. `turns` are what it runs over: each ITEM and what it is an element
    of, outermost first; a `while` loop has none. `carried` are the CHOICEs of what its body changes. `is_left` tells
    that it may end early, by `break`. `guard` is the condition under which a comprehension is reached.
    """

    first: int
    last: int
    turns: tuple[tuple[Value, Value], ...] = ()
    result: Value | None = None
    carried: tuple[Value, ...] = ()
    is_left: bool = False
    guard: PathCondition | None = None


@dataclass(eq=False, slots=True)
class Parameter:
    """A parameter; `kind` is "positional" | "var-positional" | "keyword" | "var-keyword"."""

    name: str
    kind: str
    default: Value | None
    annotation: Value | None


@dataclass(eq=False, slots=True)
class Nested:
    """A function inside of a function. Its events stand among the outer ones, `first` to `last` (exclusive).

    `parameters` are the values that stand for its parameters in the body, by name; `head` has their kinds and defaults.
    `loops` are those of the body. One that stands in no function has a `flow`. `decorators` have no arguments here.
    """

    first: int
    last: int = 0
    parameters: dict[str, Value] = field(default_factory=dict)
    head: tuple[Parameter, ...] = ()
    returns: tuple[Value, ...] = ()
    loops: tuple[Loop, ...] = ()
    flow: Flow | None = None
    decorators: tuple[Value, ...] = ()


@dataclass(eq=False, slots=True)
class Flow:
    """A function body as a list of events. `carried` are the CHOICEs of its loops, which lead back to themselves.

    `loops` stand in the order in which they begin, an outer one before those inside of it, and so do the functions
    in it, `nested`. `unpackings` are the tuple assignments that do not name the parts of a display one by one, `reads`
    the attributes of the receiver that are read, whatever becomes of them, `dropped` the calls (among the events) that
    are statements of their own, `imported` the names that are imported from the file's own package, which stay
    global, and `computed` the results of binary operators.
    """

    events: tuple[Event, ...]
    carried: tuple[Value, ...] = ()
    loops: tuple[Loop, ...] = ()
    nested: tuple[Nested, ...] = ()
    unpackings: tuple[Event, ...] = ()
    reads: tuple[Event, ...] = ()
    dropped: tuple[Event, ...] = ()
    imported: tuple[str, ...] = ()
    computed: tuple[Event, ...] = ()
    _known: dict[tuple[object, ...], Any] = field(default_factory=dict)

    def once(self, question: Callable[..., T], *about: object) -> T:
        """The result of `question(self, *about)`, cached with the body; it must depend on the body alone."""
        key = question, *about
        known = self._known
        if key not in known:
            known[key] = question(self, *about)
        answer: T = known[key]
        return answer

    def release(self) -> None:
        """Break the cycles, so that the graph is freed without a garbage collection. It is of no use afterwards."""
        self._known.clear()
        for choice in self.carried:
            choice.args = ()

    @property
    def values(self) -> Iterator[Value]:
        """The values and the targets of all events."""
        return (value for event in self.events for value in (event.value, event.target) if value is not None)

    def of(self, kind: EventKind) -> Iterator[Event]:
        return (event for event in self.events if event.kind is kind)

    def evaluated(self) -> Iterator[Value]:
        """The values that the body evaluates: of its events, their conditions and contexts, and the iterables of loops.

        Assignment targets are left out, but not the object whose attribute or element a target is.
        """
        for event in (*self.events, *self.unpackings):
            if event.kind is not EventKind.DELETE:
                yield event.value
            if event.target is not None and event.kind is not EventKind.UNPACK:
                yield from event.target.args
            yield from event.contexts
            if event.guard is not None:
                yield from (guard.test for guard in event.guard.chain())
        for loop in self.loops:
            yield from (iterable for _, iterable in loop.turns)
        for function in self.nested:
            yield from function.returns

    def circumstances(self, value: Value) -> Event | None:
        """The event that evaluates a call, a subscript, a binary operator or what is unpacked; None if none does."""
        return self.once(_evaluating).get(id(value))

    @property
    def stores(self) -> dict[str, list[Event]]:
        """The assignments `self.name = …`, in order, by name."""
        return self.once(_stores)


def _evaluating(flow: Flow) -> dict[int, Event]:
    found: dict[int, Event] = {}
    for event in (*flow.events, *flow.computed, *flow.unpackings):
        if event.kind in (EventKind.CALL, EventKind.INDEX, EventKind.READ, EventKind.UNPACK):
            found.setdefault(id(event.value), event)
    return found


def _stores(flow: Flow) -> dict[str, list[Event]]:
    found: dict[str, list[Event]] = {}
    for event in flow.events:
        name = self_attribute(event.target) if event.kind is EventKind.STORE and event.target is not None else None
        if name is not None:
            found.setdefault(name, []).append(event)
    return found


def subscripts(index: Value) -> tuple[Value, ...]:
    """The subscripts of an INDEX, one for each comma-separated part: two for `x[:, -1]`."""
    subscript = index.args[1]
    return subscript.args if subscript.op is Op.TUPLE else (subscript,)


def picks_rows(index: Value) -> Value | None:
    """The subscript of an INDEX that applies to dimension 0: `i` of `x[i, :n]`; None if it is `...` or missing."""
    parts = (part for part in subscripts(index) if part.op is not Op.CONST or part.data is not None)
    first = next(parts, None)
    return None if first is None or (first.op is Op.CONST and first.data is Ellipsis) else first


def called_name(callee: Value) -> str:
    """The last part of the name of a callee; empty if it has no name."""
    return str(callee.data).rpartition(".")[2] if callee.op is Op.ATTR or callee.op is Op.GLOBAL else ""


def is_self(value: Value) -> bool:
    """True if a value is the receiver of the method that it stands in."""
    return value.op is Op.PARAM and value.data == "self"


def is_argument(value: Value) -> bool:
    """True if a value is a parameter of the function, or of one nested in it; `self` doesn't count."""
    return value.op is Op.INNER or (value.op is Op.PARAM and value.data != "self")


def same(value: Value, other: Value, depth: int = 12) -> bool:
    """True if two values have the same structure, down to identical leaves; calls only equal themselves."""
    if value is other:
        return True
    if depth == 0 or value.op is not other.op or len(value.args) != len(other.args):
        return False
    if value.op in (Op.CALL, Op.INNER, Op.UNKNOWN, Op.LAMBDA, Op.CHOICE) or not _same_data(value.data, other.data):
        return False
    return all(same(a, b, depth - 1) for a, b in zip(value.args, other.args, strict=True))


def _same_data(data: object, other: object) -> bool:
    if isinstance(data, Value) or isinstance(other, Value):
        return data is other
    return type(data) is type(other) and data == other


def is_super(value: Value) -> bool:
    return value.op is Op.CALL and value.callee.op is Op.GLOBAL and value.callee.data == "super"


def compare_constants(operator: str, left: object, right: object) -> bool | None:
    """The outcome of comparing two constants; None for an ordering of anything but numbers."""
    if operator in ("==", "is"):
        return left == right
    if operator in ("!=", "is not"):
        return left != right
    if isinstance(left, int | float) and isinstance(right, int | float):
        return {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}.get(operator)
    return None
