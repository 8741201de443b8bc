"""Lists and dicts that are filled in another way."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst
from libcst import matchers as m

from rewriting.code import Additions, Function, Store, is_portable, stores, text_of
from rewriting.rewriting import Kind, Rewriting

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Filled:
    """A list or dict that a store makes, and how the code around it reads with a name in its place."""

    store: Store
    node: cst.BaseExpression
    around: Callable[[str], str]

    @property
    def function(self) -> Function:
        return self.store.function

    def code(self, before: str, name: str) -> str:
        """Statements that fill it, then the store of it by its name."""
        return f"{before}\n{self.store.target} = {self.around(name)}"

    @property
    def elements(self) -> list[str] | None:
        """The elements of a list that is written out."""
        if not isinstance(self.node, (cst.List, cst.Tuple)) or not self.node.elements:
            return None
        if any(isinstance(element, cst.StarredElement) for element in self.node.elements):
            return None
        return [text_of(element.value) for element in self.node.elements]

    @property
    def entries(self) -> list[tuple[str, str]] | None:
        """The entries of a dict that is written out."""
        if not isinstance(self.node, cst.Dict) or not self.node.elements:
            return None
        if any(isinstance(element, cst.StarredDictElement) for element in self.node.elements):
            return None
        return [(text_of(element.key), text_of(element.value)) for element in self.node.elements]  # type: ignore[union-attr]

    @property
    def loop(self) -> tuple[str, str, str] | None:
        """Target, iterable and element of a comprehension with one loop and no condition."""
        comprehensions = (cst.ListComp, cst.GeneratorExp)
        if not isinstance(self.node, comprehensions) or self.node.for_in.ifs or self.node.for_in.inner_for_in:
            return None
        if self.node.for_in.asynchronous:
            return None
        loop = self.node.for_in
        names = {node.id for node in ast.walk(ast.parse(text_of(loop.target))) if isinstance(node, ast.Name)}
        if names & self._otherwise_bound():
            return None
        return text_of(loop.target), text_of(loop.iter), text_of(self.node.elt)

    def _otherwise_bound(self) -> set[str]:
        """What the function binds outside of this container: a loop's target would replace it."""
        tree = ast.parse(text_of(self.function.node).replace(text_of(self.node), "None"))
        return {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)} | {
            node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id != "_"
        }


def _filled(store: Store) -> Filled | None:
    """The container that a store makes, itself or as the only argument of a call."""
    value = store.value
    if isinstance(value, (cst.List, cst.ListComp, cst.Dict)):
        return Filled(store, value, lambda name: name)
    if not isinstance(value, cst.Call) or len(value.args) != 1 or value.args[0].star or value.args[0].keyword:
        return None
    inner = value.args[0].value
    called = text_of(value.func)
    if isinstance(inner, (cst.List, cst.ListComp, cst.Dict, cst.GeneratorExp)) and m.matches(
        value.func, m.Name() | m.Attribute()
    ):
        return Filled(store, inner, lambda name: f"{called}({name})")
    return None


def _filling(fill: Callable[[Filled, str], str | None]) -> Callable[[Store, Additions], str | None]:
    """A store whose container is filled by other statements, under a local name."""

    def restore(store: Store, added: Additions) -> str | None:
        filled = _filled(store)
        if filled is None or not is_portable(store.code):
            return None
        name = store.function.fresh(store.name)
        before = fill(filled, name)
        return None if before is None else filled.code(before, name)

    return restore


def _each(filled: Filled, name: str, add: str) -> str | None:
    """A list to which elements are added, by statements with `{}` for the element."""
    if filled.loop is not None:
        target, iterable, element = filled.loop
        return f"{name} = []\nfor {target} in {iterable}:\n    {name}{add.format(element)}"
    if filled.elements is not None:
        return "\n".join([f"{name} = []", *(f"{name}{add.format(element)}" for element in filled.elements)])
    return None


def _append(filled: Filled, name: str) -> str | None:
    return _each(filled, name, ".append({})")


def _plus(filled: Filled, name: str) -> str | None:
    return _each(filled, name, " += [{}]")


def _extend(filled: Filled, name: str) -> str | None:
    return _each(filled, name, ".extend([{}])")


def _insert(filled: Filled, name: str) -> str | None:
    return _each(filled, name, f".insert(len({name}), {{}})")


def _sum(filled: Filled, name: str) -> str | None:
    if filled.loop is not None:
        target, iterable, element = filled.loop
        return f"{name} = []\nfor {target} in {iterable}:\n    {name} = {name} + [{element}]"
    if filled.elements is not None:
        return f"{name} = " + " + ".join(f"[{element}]" for element in filled.elements)
    return None


def _comprehended(filled: Filled, name: str) -> str | None:
    """What is appended in a loop, or made by a generator, as a list comprehension; a list by a comprehension of it."""
    if filled.loop is not None:
        target, iterable, element = filled.loop
        return f"{name} = list({element} for {target} in {iterable})"
    if filled.elements is not None:
        return f"{name} = [each for each in ({', '.join(filled.elements)},)]"
    return None


def _map(filled: Filled, name: str) -> str | None:
    if filled.loop is None:
        return None
    target, iterable, element = filled.loop
    if not target.isidentifier():
        return None
    return f"{name} = list(map(lambda {target}: {element}, {iterable}))"


def _zip(filled: Filled, name: str) -> str | None:
    if filled.loop is None:
        return None
    target, iterable, element = filled.loop
    return f"numbered_ = list({iterable})\n{name} = [{element} for {target}, same_ in zip(numbered_, numbered_)]"


def _enumerated(filled: Filled, name: str) -> str | None:
    if filled.loop is None:
        return None
    target, iterable, element = filled.loop
    return f"{name} = [{element} for number_, {target} in enumerate({iterable})]" if target.isidentifier() else None


def _starred(filled: Filled, name: str) -> str | None:
    if filled.loop is not None:
        target, iterable, element = filled.loop
        return f"{name} = [*({element} for {target} in {iterable})]"
    if filled.elements is not None:
        return f"{name} = [*[{', '.join(filled.elements)}]]"
    return None


def _by_index(filled: Filled, name: str) -> str | None:
    if filled.elements is not None:
        places = [f"{name}[{number}] = {element}" for number, element in enumerate(filled.elements)]
        return "\n".join([f"{name} = [None] * {len(places)}", *places])
    if filled.loop is None:
        return None
    target, iterable, element = filled.loop
    if not iterable.startswith("range(") or "," in iterable or not target.isidentifier():
        return None
    return (
        f"{name} = [None] * {iterable.removeprefix('range(').removesuffix(')')}\n"
        f"for {target} in {iterable}:\n    {name}[{target}] = {element}"
    )


def _by_while(filled: Filled, name: str) -> str | None:
    if filled.loop is None:
        return None
    target, iterable, element = filled.loop
    if not iterable.startswith("range(") or "," in iterable or not target.isidentifier():
        return None
    end = iterable.removeprefix("range(").removesuffix(")")
    return f"{name} = []\n{target} = 0\nwhile {target} < {end}:\n    {name}.append({element})\n    {target} += 1"


def _update(filled: Filled, name: str) -> str | None:
    return _each_entry(filled, name, ".update({{{}: {}}})")


def _union(filled: Filled, name: str) -> str | None:
    return _each_entry(filled, name, " |= {{{}: {}}}")


def _items(filled: Filled, name: str) -> str | None:
    return _each_entry(filled, name, "[{}] = {}")


def _setdefault(filled: Filled, name: str) -> str | None:
    return _each_entry(filled, name, ".setdefault({}, {})")


def _each_entry(filled: Filled, name: str, add: str) -> str | None:
    entries = filled.entries
    return entries and "\n".join([f"{name} = {{}}", *(f"{name}{add.format(*entry)}" for entry in entries)])


def _dict_of_pairs(filled: Filled, name: str) -> str | None:
    entries = filled.entries
    return entries and f"{name} = dict([{', '.join(f'({key}, {value})' for key, value in entries)}])"


def _dict_of_keywords(filled: Filled, name: str) -> str | None:
    entries = filled.entries
    if not entries or not all(key[1:-1].isidentifier() and key[0] in "\"'" for key, _ in entries):
        return None
    return f"{name} = dict({', '.join(f'{key[1:-1]}={value}' for key, value in entries)})"


def _dict_of_zip(filled: Filled, name: str) -> str | None:
    entries = filled.entries
    if not entries:
        return None
    keys, values = zip(*entries, strict=True)
    return f"{name} = dict(zip([{', '.join(keys)}], [{', '.join(values)}]))"


def _on_self(store: Store, added: Additions) -> str | None:
    """An attribute that is empty at first, and to which layers are added."""
    filled = _filled(store)
    if filled is None or not store.is_attribute or not is_portable(store.code):
        return None
    if filled.store.value is filled.node and isinstance(filled.node, cst.Dict):
        entries = filled.entries
        lines = [f"{store.target}[{key}] = {value}" for key, value in entries or ()]
        return "\n".join([f"{store.target} = {{}}", *lines]) if entries else None
    kind = "" if filled.store.value is filled.node else filled.around("")
    if kind and not kind.startswith("nn.ModuleList"):
        return None
    before = _append(filled, "HERE")
    if before is None:
        return None
    return before.replace("HERE = []", f"{store.target} = {kind or '[]'}").replace("HERE", store.target)


def _returned(store: Store, added: Additions) -> str | None:
    """A function that appends in a loop and returns the list."""
    filled = _filled(store)
    if filled is None or store.function.is_inner or not is_portable(store.code):
        return None
    before = _append(filled, "made")
    if before is None:
        return None
    name, free = f"fill_{store.function.name.strip('_')}_{store.name.strip('_')}", store.free()
    if any(f"def {name}(" in definition for definition in added.module):
        return None
    # It reads nothing that is bound in the function by then, since the container is the whole value.
    end = f"  {store.mark}" if store.mark else ""
    lines = [f"    {line}{end}" for line in f"{before}\nreturn made".splitlines()]
    added.module.append(f"def {name}({', '.join(free)}):\n" + "\n".join(lines) + "\n")
    return f"{store.target} = {filled.around(f'{name}({chr(44).join(free)})')}"


def _move(name: str, fill: Callable[[Filled, str], str | None]) -> Rewriting:
    return Rewriting(name, Kind.MOVE, stores(_filling(fill)))


REWRITINGS = (
    _move("a list that is appended to", _append),
    _move("a list by `+=`", _plus),
    _move("a list by `extend`", _extend),
    _move("a list by `insert`", _insert),
    _move("a list as a sum of lists", _sum),
    _move("a list by a comprehension of another kind", _comprehended),
    _move("a list by `map`", _map),
    _move("a list over `zip`", _zip),
    _move("a list over `enumerate`", _enumerated),
    _move("a starred list", _starred),
    _move("`[None] * n` that is filled by index", _by_index),
    _move("a list in a while loop", _by_while),
    _move("a dict by item", _items),
    _move("a dict by `update`", _update),
    _move("a dict by `|=`", _union),
    _move("a dict by `setdefault`", _setdefault),
    _move("a dict of pairs", _dict_of_pairs),
    _move("a dict of keywords", _dict_of_keywords),
    _move("a dict of `zip`", _dict_of_zip),
    Rewriting("a container of `self` that is filled", Kind.MOVE, stores(_on_self, attributes_only=True)),
    Rewriting("a list that a function appends to and returns", Kind.MOVE, stores(_returned)),
)
