"""The parameters that may get the arguments of a call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.graph.value import Op

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Function
    from modellint.graph.value import Value


def possible_arguments(function: Function, call: Value) -> Iterator[tuple[str, Value]]:
    """The arguments of a call, each with the name of a parameter of `function` that may get it.

    Behind `*args`, that is each positional parameter; `Function.bind` has only those that are certain.
    """
    names = function.argument_names
    keywords = [parameter.name for parameter in function.parameters]
    catching = [parameter.name for parameter in function.parameters if parameter.kind.startswith("var")]
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
