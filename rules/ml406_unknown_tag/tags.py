"""Tags of a recipe that nothing constructs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from modellint.graph.immutable import dataclass
from modellint.graph.recipe import Node, Recipe, TagKind
from modellint.graph.value import EventKind, Op
from modellint.link.recipes import queries

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from modellint.graph.python import ModuleFacts
    from modellint.rule import Project

#: The tags that YAML itself defines and that the library's loader reads.
_YAML_TAGS = frozenset(
    f"!!{name}" for name in "null bool int float binary timestamp omap pairs set str seq map".split()
)
#: The tags that a colon and a name follow.
PREFIXES = frozenset(
    kind.value for kind in (TagKind.NEW, TagKind.NAME, TagKind.APPLY, TagKind.APPLYREF, TagKind.MODULE, TagKind.INCLUDE)
)
_PYTHON_TAG = re.compile(
    r"!!python/(?:none|bool|str|unicode|bytes|int|long|complex|float|list|tuple|dict|(?:name|module|object):.*"
    r"|object/(?:apply|new):.*)"
)
#: Functions that register a constructor for a tag; classes given to the last one have theirs as `yaml_tag`.
_REGISTERING = frozenset(("add_constructor", "add_multi_constructor", "register_class"))
_OWN_TAG = "yaml_tag"
#: The tags of objects that OmegaConf constructs. Source: omegaconf 2.3.1, `_utils.py`.
_PATHS = "!!python/object/apply:pathlib."


@dataclass(frozen=True, slots=True)
class FoundTag:
    """A tag that nothing constructs, and the path of its node; empty if that is not known.

    `is_sure`: the script that loads the recipe registers no tags of its own.
    """

    node: Node
    path: str
    is_sure: bool


def unknown_tags(recipe: Recipe, project: Project) -> Iterator[FoundTag]:
    """The tags of a recipe that its loader has no constructor for."""
    asked = queries.about(recipe, project)
    if asked.dialect.is_plain:
        yield from _unknown_to_loader(recipe, project)
        return
    nodes = [node for node in asked.live_nodes() if _is_unknown(node)]
    if not nodes:
        return
    scripts = {script for whole in asked.wholes() for script in whole.pairing.scripts}
    registered = _registered_in(scripts, project)
    if registered is None:
        return
    for node in nodes:
        if not node.tag.text.startswith(registered):
            item = asked.evaluation.item(node)
            yield FoundTag(node, "" if item is None else item.path, bool(scripts))


def _unknown_to_loader(recipe: Recipe, project: Project) -> Iterator[FoundTag]:
    """The tags of a configuration that a known program loads, and that neither its loader nor the project constructs.

    OmegaConf and jsonargparse read only what YAML itself defines.
    """
    asked = queries.about(recipe, project)
    nodes = [node for node in recipe.nodes() if node.tag.text.startswith("!") and _is_unsafe(node.tag.text)]
    if not nodes or not (asked.refuses_repeated or asked.loaders):
        return
    registered = _registered_in(list(asked.registering_files(_REGISTERING)), project)
    if registered is None:
        return
    for node in nodes:
        if not node.tag.text.startswith(registered):
            item = asked.evaluation.item(node)
            yield FoundTag(node, "" if item is None else item.path, is_sure=True)


def _is_unsafe(text: str) -> bool:
    return text != "!" and text not in _YAML_TAGS and not text.startswith(_PATHS)


def _is_unknown(node: Node) -> bool:
    text = node.tag.text
    if node.tag.kind is TagKind.OTHER:
        return text != "!"
    return text.startswith("!!") and text not in _YAML_TAGS and not _PYTHON_TAG.fullmatch(text)


def _registered_in(scripts: Collection[Path], project: Project) -> tuple[str, ...] | None:
    """The tags that scripts give constructors of their own, None if they cannot be read off the code."""
    found = [_registered_by(module) for module in map(project.python, scripts) if module is not None]
    return None if None in found else tuple(tag for tags in found if tags is not None for tag in tags)


def _registered_by(module: ModuleFacts) -> list[str] | None:
    """The tags that a file gives constructors; None if one of them is no constant."""
    tags = [cls.attributes[_OWN_TAG] for cls in module.classes.values() if _OWN_TAG in cls.attributes]
    calls = 0
    for function in (*module.all_functions(), module.body):
        for event in function.flow.of(EventKind.CALL):
            callee = event.value.callee
            if callee.op in (Op.ATTR, Op.GLOBAL) and callee.data in _REGISTERING:
                first = (
                    event.value.argument(0) or event.value.keywords.get("tag") or event.value.keywords.get("tag_prefix")
                )
                calls += 1
                if first is not None and callee.data != "register_class":
                    tags.append(first)
    texts = [tag.data for tag in tags if tag.op is Op.CONST and isinstance(tag.data, str)]
    return texts if len(texts) == max(len(tags), calls) else None
