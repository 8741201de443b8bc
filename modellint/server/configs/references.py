"""References that are being typed: `${a.b` of OmegaConf, `<a[b` of HyperPyYAML."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from modellint.dialects.hydra_nodes import HYDRA, nodes_below
from modellint.graph.recipe import Dialect, TagKind
from modellint.graph.value import EventKind, Op
from modellint.server.configs.offers import Offer, OfferKind
from modellint.server.configs.options import keys_below_options

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.recipe import Node, Recipe, Scalar
    from modellint.link.project import Project
    from modellint.server.configs.cursor import Cursor
    from modellint.server.configs.trees import Tree

#: Resolvers that OmegaConf and Hydra bring, with what they give.
_RESOLVERS = {
    "oc.env": "a variable of the environment",
    "oc.select": "a key, or else a default",
    "oc.decode": "the value that a text is",
    "oc.create": "a mapping or list of its own",
    "oc.deprecated": "a key, with a warning",
    "oc.dict.keys": "the keys of a mapping",
    "oc.dict.values": "the values of a mapping",
    "hydra": "a key of Hydra's own configuration",
    "now": "the time at the start, by a format",
}
_REGISTER = ("register_new_resolver", "register_resolver")
#: What stands in a reference before the cursor: the dots, the keys before the last one, and the last one.
_STARTED = re.compile(r"(\.*)((?:[^.\[\]{}$:]+(?:\.|\[|\]\.|\]\[))*)([^.\[\]{}$:]*)\Z")
_KEYS = re.compile(r"[^.\[\]]+")


def is_open(typed: str, dialect: Dialect, node: Node) -> bool:
    """True if a text ends in a reference that is not closed."""
    if dialect is Dialect.HYPERPYYAML:
        is_reference = node.tag.kind in (TagKind.REF, TagKind.COPY) or "<" in typed
        return is_reference and typed.rfind("<") > typed.rfind(">")
    return _opening(typed) is not None


def reference_offers(cursor: Cursor, recipe: Recipe, tree: Tree, project: Project) -> Iterator[Offer]:
    """The keys that the reference at the cursor may lead to next."""
    if recipe.dialect is Dialect.HYPERPYYAML:
        yield from _in_angles(cursor, tree)
    else:
        yield from _in_braces(cursor, tree, project)


def _in_angles(cursor: Cursor, tree: Tree) -> Iterator[Offer]:
    started = cursor.typed_text[cursor.typed_text.rfind("<") + 1 :]
    owner, _, last = started.rpartition("[")
    path = tuple(_KEYS.findall(owner))
    closes = cursor.after.lstrip().startswith(("]", ">"))
    for key in tree.below(path):
        if path or key.path != cursor.path:
            end = "" if closes else "]>" if path else ">"
            yield _offer(key.name, key.value, last, key.has_keys, end, is_object=key.is_object)


def _opening(typed: str) -> int | None:
    """Where the innermost `${` that is not closed begins; None if there is none."""
    stack: list[int] = []
    at = 0
    while at < len(typed):
        if typed.startswith("${", at):
            slashes = len(typed[:at]) - len(typed[:at].rstrip("\\"))
            if slashes % 2 == 0:
                stack.append(at)
            at += 2
            continue
        if typed[at] == "}" and stack:
            stack.pop()
        at += 1
    return stack[-1] if stack else None


def _in_braces(cursor: Cursor, tree: Tree, project: Project) -> Iterator[Offer]:
    at = _opening(cursor.typed_text)
    started = cursor.typed_text[at + 2 :] if at is not None else ""
    match = _STARTED.fullmatch(started.lstrip())
    if match is None:
        return
    dots, keys, last = match[1], tuple(_KEYS.findall(match[2])), match[3]
    path = tree.path_in(cursor.path)
    if len(dots) > len(path):
        return
    holder: tuple[Scalar, ...] = (*(path[: len(path) - len(dots)] if dots else ()), *keys)
    is_bracket = match[2].endswith("[")
    closes = cursor.after.lstrip().startswith(("}", ".", "[", "]"))
    end = "" if closes else "]}" if is_bracket else "}"
    own = tree.below(holder) or keys_below_options(holder, cursor.recipe, project)
    for key in own:
        if key.path != path:
            yield _offer(key.name, key.value, last, key.has_keys, end, is_object=key.is_object)
    for name in nodes_below(holder) or {}:
        if all(key.name != name for key in own):
            has_keys = bool(nodes_below((*holder, name)))
            yield _offer(name, "of Hydra itself", last, has_keys, end, is_object=False)
    if not dots and not keys and cursor.recipe.dialect is Dialect.OMEGACONF and all(one.name != HYDRA for one in own):
        yield Offer(HYDRA, OfferKind.KEY, len(last), detail="Hydra's own configuration", order="4")
    if not dots and not is_bracket:
        inside = started.lstrip()
        for name, text in {**_RESOLVERS, **_registered_resolvers(project)}.items():
            if name.startswith(inside) or not inside:
                yield Offer(name, OfferKind.FUNCTION, len(inside), f"{name}:", text, order="5")


def _offer(name: str, value: str, last: str, has_keys: bool, end: str, *, is_object: bool) -> Offer:
    """The offer of a key; one with keys below it that is no object is seldom meant itself, so nothing is closed."""
    text = name if has_keys and not is_object else f"{name}{end}"
    return Offer(name, OfferKind.KEY, len(last), text, value, order="4" if name.startswith("_") else "0")


def _registered_resolvers(project: Project) -> dict[str, str]:
    """The resolvers that the project registers by a constant name."""

    def find() -> dict[str, str]:
        found: dict[str, str] = {}
        for word in _REGISTER:
            for path in project.files.mentioning(project.options.root, word):
                module = project.python(path)
                for function in (*module.all_functions(), module.body) if module is not None else ():
                    if function is not getattr(module, "body", None) and word not in function.words:
                        continue
                    for event in function.flow.of(EventKind.CALL):
                        call = event.value
                        name = call.argument(0, "name") if call.callee.data == word else None
                        if name is not None and name.op is Op.CONST and isinstance(name.data, str):
                            found[name.data] = f"a resolver of {path.name}"
        return found

    return project.once(("registered resolvers",), find)
