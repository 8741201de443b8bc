"""Names that a file defines without statements of their own: in `__all__`, lazy import tables, or by `exec`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from modellint.graph.value import EventKind, Op, dotted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.value import Value

#: Methods of `globals()` that only read names.
_LOOKING = frozenset(("keys", "values", "items", "get", "copy"))
_QUOTED = re.compile(r"""["'](\w+)["']""")


def makes_names(function: Function) -> bool:
    """True if code calls `exec` or a lazy module, indexes `sys.modules`, or changes or passes on `globals()`."""
    for event in function.flow.events:
        owners = [value.args[0] for value in (event.target, event.value) if value is not None and value.op is Op.INDEX]
        if any(dotted(owner) == "sys.modules" for owner in owners):
            return True
        if event.kind is EventKind.STORE and any(map(_is_globals, owners)):
            return True
        if event.kind is EventKind.CALL and _call_makes_names(event.value):
            return True
    return False


def sets_computed_names(function: Function) -> bool:
    """True if code gives a module attributes by computed names: `setattr(sys.modules[__name__], name, …)`."""
    for event in function.flow.of(EventKind.CALL):
        call = event.value
        if call.callee.op is Op.GLOBAL and call.callee.data == "setattr" and len(call.positional) == 3:
            owner, name, _ = call.positional
            is_module = owner.op is Op.INDEX and dotted(owner.args[0]) == "sys.modules"
            if is_module and name.op is not Op.CONST:
                return True
    return False


def _call_makes_names(call: Value) -> bool:
    callee = call.callee
    name = str(callee.data) if callee.op in (Op.ATTR, Op.GLOBAL) else ""
    if name.endswith("LazyModule") or (name == "exec" and callee.op is Op.GLOBAL):
        return True
    is_changed = callee.op is Op.ATTR and _is_globals(callee.args[0]) and name not in _LOOKING
    return is_changed or any(map(_is_globals, call.args[1:]))


def _is_globals(value: Value) -> bool:
    while value.op is Op.UPDATE:
        value = value.args[0]
    return value.op is Op.CALL and value.callee.op is Op.GLOBAL and value.callee.data == "globals"


def _strings(value: Value) -> Iterator[str]:
    """The string constants in a list, tuple or sum of those, or the string itself."""
    pending = [value]
    while pending:
        part = pending.pop()
        if part.op is Op.CONST and isinstance(part.data, str):
            yield part.data
        elif part.op in (Op.LIST, Op.TUPLE, Op.SET, Op.STARRED) or (part.op is Op.BIN and part.data == "+"):
            pending.extend(part.args)


def all_names(module: ModuleFacts) -> frozenset[str] | None:
    names = set(_strings(module.constants["__all__"]))
    text = module.code
    for match in re.finditer(r"^__all__(?:\s*\+=\s*|\.(?:extend|append)\()(.)", text, re.MULTILINE):
        if match[1] not in "[('\"":
            return None  # more names, that another module lists
        end = re.compile(r"[\])]|$").search(text, match.end())
        names.update(_QUOTED.findall(text[match.start() : end.start() if end else None]))
    return frozenset(names) or None


def lazy_table(module: ModuleFacts) -> dict[str, str]:
    """Names to the dotted names they are loaded from, as `_import_structure` and its like state it.

    A table maps a submodule to a list of names ({"encoder": ["Encoder"]}) or a name to its submodule
    ({"Encoder": ".encoder"}); it counts only where the module hands out attributes lazily.
    """
    text = module.text
    if "_LazyModule" not in text and "LazyModule" not in text and "__getattr__" not in text:
        return {}
    package = module.name if module.is_package else module.name.rpartition(".")[0]
    table: dict[str, str] = {}
    for value in module.constants.values():
        if value.op is Op.DICT:
            for key, entry in zip(value.data, value.args, strict=True):
                if key is not None and key.op is Op.CONST and isinstance(key.data, str):
                    _add_lazy(table, package, key.data, entry)
    for event in module.body.flow.of(EventKind.STORE):
        target = event.target
        if target is not None and target.op is Op.INDEX and target.args[1].op is Op.CONST:
            key_text = target.args[1].data
            if isinstance(key_text, str):
                _add_lazy(table, package, key_text, event.value)
    return table


def _add_lazy(table: dict[str, str], package: str, key: str, entry: Value) -> None:
    if entry.op in (Op.LIST, Op.TUPLE):
        for name in _strings(entry):
            table.setdefault(name, f"{_inside(package, key)}.{name}")
    elif entry.op is Op.CONST and isinstance(entry.data, str) and entry.data.startswith("."):
        table.setdefault(key, f"{_inside(package, entry.data)}.{key}")


def redirects(package: ModuleFacts) -> dict[str, str]:
    """The moved names inside of the package, old to new, from dicts at module level and `redirect` calls."""
    inside = f"{package.name}."
    table: dict[str, str] = {}

    def add(old: Value | None, new: Value | None) -> None:
        names = [v.data for v in (old, new) if v is not None and v.op is Op.CONST and isinstance(v.data, str)]
        if len(names) == 2 and all(name.startswith(inside) and " " not in name for name in names):
            table[names[0]] = names[1]

    for value in package.constants.values():
        if value.op is Op.DICT:
            for key, entry in zip(value.data, value.args, strict=True):
                add(key, entry)
    for function in (package.body, *package.functions.values()):
        if "redirect" in function.text:
            for event in function.flow.of(EventKind.CALL):
                if "redirect" in (dotted(event.value.callee) or ""):
                    add(event.value.argument(0), event.value.argument(1))
    return table


def _inside(package: str, module: str) -> str:
    return f"{package}.{module.lstrip('.')}" if package else module.lstrip(".")
