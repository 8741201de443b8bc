"""The binding of a call's arguments to parameters, as Python does it: by position, then by name, then the rest.

`bind` takes arguments of any type, `bind_call` those that a call is written with. What does not fit is an answer
(`Bound.misfits`), not an error: surplus arguments, unknown keywords, parameters given twice, and missing ones.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Generic, TypeVar

from modellint.graph.immutable import dataclass
from modellint.graph.value import Op

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from modellint.graph.value import Parameter, Value

T = TypeVar("T")
#: The kinds of parameters that can be given by name.
_NAMED = ("positional", "keyword")


@dataclass(frozen=True, slots=True)
class Misfit:
    """One reason why arguments do not fit.

    There is an `unknown` name, a `missing` one, one given by position and `doubled` by name, or more positional ones
    than `most`.
    """

    unknown: str = ""
    missing: tuple[str, ...] = ()
    most: int = -1
    doubled: str = ""


@dataclass(eq=False, slots=True)
class Bound(Generic[T]):
    """The arguments of a call, by the parameters that get them.

    `given` are the arguments by the names of their parameters; parameters that take the rest, and those that get
    nothing, are absent. `by_position` are the names of those that are filled by position. `rest` are the positional
    arguments behind these, which `*args` takes, and `options` the keyword arguments that name no parameter, which
    `**kwargs` takes: they do not fit where there is no such parameter. `doubled` are parameters given twice.
    """

    parameters: Sequence[Parameter]
    given: dict[str, T]
    by_position: list[str]
    rest: Sequence[T]
    options: dict[str, T]
    doubled: list[str]
    more: int
    is_final: bool

    @property
    def has_surplus(self) -> bool:
        """True if more arguments are passed by position than the parameters take."""
        return bool(self.rest or self.more) and self.most < len(self.by_position) + len(self.rest) + self.more

    @property
    def most(self) -> int | float:
        """The number of arguments that can be passed by position."""
        is_open = any(one.kind == "var-positional" for one in self.parameters)
        return inf if is_open else sum(one.kind == "positional" for one in self.parameters)

    @property
    def certain(self) -> dict[str, T]:
        """All that is `given`; nothing where there are too many arguments: another function is called, or none."""
        return {} if self.has_surplus else self.given

    @property
    def misfits(self) -> list[Misfit]:
        """The reasons for which Python would refuse the call."""
        found = [Misfit(most=int(self.most))] if self.has_surplus else []
        if all(one.kind != "var-keyword" for one in self.parameters):
            found += (Misfit(unknown=name) for name in self.options)
        found += (Misfit(doubled=name) for name in self.doubled)
        needed = (one for one in self.parameters if one.kind in _NAMED and one.default is None)
        missing = tuple(one.name for one in needed if one.name not in self.given) if self.is_final else ()
        return [*found, Misfit(missing=missing)] if missing else found


def bind(
    parameters: Sequence[Parameter],
    positional: Sequence[T],
    keywords: Mapping[str, T],
    *,
    is_final: bool = True,
    more: int = 0,
) -> Bound[T]:
    """Bind arguments to parameters, the receiver left out of both.

    Not `is_final`: arguments that nobody knows may follow, by position (`*args`) or by name (`**kwargs`), so no
    parameter counts as missing. At least `more` arguments follow by position, as `b` does in `f(*args, b)`.
    """
    given: dict[str, T] = {}
    options = dict(keywords)
    by_position: list[str] = []
    doubled: list[str] = []
    for parameter in parameters:
        name = parameter.name
        if parameter.kind == "positional" and len(by_position) < len(positional):
            given[name] = positional[len(by_position)]
            by_position.append(name)
            if name in options:
                del options[name]
                doubled.append(name)
        elif name in options and parameter.kind in _NAMED:
            given[name] = options.pop(name)
    return Bound(parameters, given, by_position, positional[len(by_position) :], options, doubled, more, is_final)


def bind_call(parameters: Sequence[Parameter], call: Value) -> Bound[Value]:
    """Bind the arguments of a CALL; those behind `*args`, whose parameters are not certain, are left out."""
    positional = call.positional
    known = next((n for n, value in enumerate(positional) if value.op is Op.STARRED), len(positional))
    more = sum(value.op is not Op.STARRED for value in positional[known:])
    return bind(parameters, positional[:known], call.keywords, is_final=not call.has_unpacking, more=more)


def possible_arguments(parameters: Sequence[Parameter], call: Value) -> Iterator[tuple[str, Value]]:
    """The arguments of a CALL, each with the name of a parameter that may get it.

    Behind `*args`, that is each positional parameter; `bind_call` has only those that are certain.
    """
    names = [parameter.name for parameter in parameters if parameter.kind == "positional"]
    keywords = [parameter.name for parameter in parameters]
    catching = [parameter.name for parameter in parameters if parameter.kind.startswith("var")]
    is_starred = False
    for at, arg in enumerate(call.positional):
        is_starred = is_starred or arg.op is Op.STARRED
        for name in (*names, *catching) if is_starred else names[at : at + 1] or catching:
            yield name, arg
    start = len(call.args) - len(call.data)
    for number, keyword in enumerate(call.data):
        given = call.args[start + number]
        entries = [(keyword, given)] if keyword is not None else _entries(given)
        if entries is None:
            yield from ((name, given) for name in keywords)
        else:
            yield from ((name, arg) for key, arg in entries for name in ([key] if key in keywords else catching))


def _is_string(value: Value) -> bool:
    return value.op is Op.CONST and isinstance(value.data, str)


def _entries(mapping: Value) -> list[tuple[str, Value]] | None:
    """The entries of a dictionary that is written out, by their keys; None if it may hold more."""
    found: list[tuple[str, Value]] = []
    pending, seen = [mapping], {id(mapping)}
    for part in pending:
        parts: tuple[Value, ...] = ()
        if part.op is Op.DICT and all(key is None or _is_string(key) for key in part.data):
            found += [(key.data, arg) for key, arg in zip(part.data, part.args, strict=True) if key is not None]
            parts = tuple(arg for key, arg in zip(part.data, part.args, strict=True) if key is None)
        elif part.op is Op.UPDATE and part.data == "[]=" and _is_string(part.args[1]):
            found.append((part.args[1].data, part.args[2]))
            parts = part.args[:1]
        elif part.op is Op.CHOICE:
            parts = part.args
        else:
            return None
        pending.extend(one for one in parts if id(one) not in seen)
        seen.update(map(id, parts))
    return found
