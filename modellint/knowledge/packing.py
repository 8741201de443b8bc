"""Facts in the form that is shipped: nodes that are used most first, methods as texts, classes by module."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from modellint.knowledge import facts as form

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def renumbered(data: dict[str, Any], table: list[Any]) -> dict[str, Any]:
    """The same facts with the nodes that are used most numbered first, and unused ones left out."""
    counts: dict[int, int] = {}

    def count(number: int) -> int:
        counts[number] = counts.get(number, 0) + 1
        if counts[number] == 1:
            _map_node(table[number], count)
        return number

    _map_facts(data, count)
    order = sorted(counts, key=lambda number: (-counts[number], number))
    numbers = {old: new for new, old in enumerate(order)}
    facts: dict[str, Any] = _map_facts(data, numbers.__getitem__)
    return {
        **_packed_facts(facts),
        "nodes": [_packed_node(_map_node(table[old], numbers.__getitem__)) for old in order],
    }


def _map_node(node: Any, number: Callable[[int], int]) -> Any:
    if isinstance(node, str) or node[0] == "c":
        return node
    code, data, operands = node
    if code == "d":
        data = [key if key < 0 else number(key) for key in data]
    elif code == "ch" and data >= 0:
        data = number(data)
    return [code, data, [number(operand) for operand in operands]]


def _map_facts(data: dict[str, Any], number: Callable[[int], int]) -> dict[str, Any]:
    classes = {name: _map_class(found, number) for name, found in data["classes"].items()}
    older = {
        release: {name: _map_class(found, number) for name, found in classes.items()}
        for release, classes in data["older"].items()
    }
    functions = {name: _map_method(found, number) for name, found in data["functions"].items()}
    return {**data, "classes": classes, "older": older, "functions": functions}


def _packed_facts(data: dict[str, Any]) -> dict[str, Any]:
    """The facts with methods as texts and classes by module."""
    older = {release: _packed_classes(classes) for release, classes in data["older"].items()}
    functions = {name: _packed_method(method) for name, method in data["functions"].items()}
    aliases: dict[str, list[str]] = {}
    for alias, target in data["aliases"].items():
        aliases.setdefault(alias.rpartition(".")[0], []).append(target)
    return {
        **data,
        "classes": _packed_classes(data["classes"]),
        "aliases": {package: _text(targets) for package, targets in aliases.items()},
        "older": older,
        "functions": functions,
    }


def _packed_classes(classes: dict[str, Any]) -> dict[str, Any]:
    modules: dict[str, dict[str, Any]] = {}
    for name, found in classes.items():
        module, _, last = name.rpartition(".")
        methods = {method: _packed_method(row) for method, row in found.get("m", {}).items()}
        modules.setdefault(module, {})[last] = {**found, "m": methods} if methods else found
    return modules


def _packed_method(method: list[Any]) -> str:
    parameters, receiver, events = method
    return f"{_text(parameters)}|{receiver}|{';'.join(_text(event) for event in events)}"


def _packed_node(node: Any) -> Any:
    if isinstance(node, str):
        for mark, start in form.PREFIXES.items():
            if start and node.startswith(f"@{start}"):
                return mark + node.removeprefix(f"@{start}")
        return node
    if node[0] == "c":
        return f"'{node[1]}" if isinstance(node[1], str) else node[1]
    code, data, operands = node
    if isinstance(data, list):
        data = _text(data)
    return f"?{data}" if code == "?" else f"{code} {'' if data is None else data};{_text(operands)}"


def _text(parts: Iterable[Any]) -> str:
    return " ".join(map(str, parts))


def _map_class(data: dict[str, Any], number: Callable[[int], int]) -> dict[str, Any]:
    mapped = dict(data)
    if "b" in data:
        mapped["b"] = [number(base) for base in data["b"]]
    if "m" in data:
        mapped["m"] = {name: _map_method(method, number) for name, method in data["m"].items()}
    if "a" in data:
        mapped["a"] = {name: number(value) for name, value in data["a"].items()}
    if "f" in data:
        mapped["f"] = [number(row) for row in data["f"]]
    return mapped


def _map_method(method: list[Any], number: Callable[[int], int]) -> list[Any]:
    parameters, receiver, events = method
    return [[number(row) for row in parameters], receiver, [_map_event(event, number) for event in events]]


def _map_event(event: list[Any], number: Callable[[int], int]) -> list[Any]:
    if len(event) < 3:
        return [number(value) for value in event]
    return [event[0], *(value if value < 0 else number(value) for value in event[1:])]
