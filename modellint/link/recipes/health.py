"""Whether HyperPyYAML can load a recipe: what each rule about that reads."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from modellint.graph.immutable import dataclass
from modellint.graph.recipe import Entry, Node, Recipe, Scalar, TagKind, below
from modellint.graph.value import EventKind, Op
from modellint.link.recipes.evaluation import evaluate
from modellint.link.recipes.keys import text_of
from modellint.link.recipes.pairing import includers_of, including, is_inference, scripts_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from modellint.graph.python import ModuleFacts
    from modellint.link.project import Project
    from modellint.link.recipes.items import Problem, ProblemKind
    from modellint.source import Place

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
_DOCUMENTS = (".md", ".rst", ".txt")
_TEXTS = (*_DOCUMENTS, ".py", ".ipynb")
#: What gives a tag a constructor; the classes of the last name theirs as `yaml_tag`.
_REGISTERING = frozenset(("add_constructor", "add_multi_constructor", "register_class"))
_OWN_TAG = "yaml_tag"


@dataclass(frozen=True, slots=True)
class FoundProblem:
    """A problem of a recipe as a whole. `is_loaded`: it is known that a script or an interface loads it."""

    recipe: Recipe
    problem: Problem
    is_loaded: bool


def problems(recipe: Recipe, project: Project, kinds: Collection[ProblemKind]) -> Iterator[FoundProblem]:
    """The problems of some kinds that loading `recipe`, or what includes it, meets in `recipe` and what it includes."""
    for whole in including(recipe, project):
        is_loaded = bool(scripts_of(whole, project).scripts) or is_inference(whole)
        for problem in evaluate(whole, project).problems:
            if problem.kind in kinds and (whole is recipe or problem.place.path == recipe.path):
                yield FoundProblem(whole, problem, is_loaded)


@dataclass(frozen=True, slots=True)
class RepeatedKey:
    """A key that stands twice in one mapping (`owner`) of a recipe, or of a plain file that a recipe includes.

    `path` leads to the mapping, empty for that of the whole file.
    """

    recipe: Recipe
    owner: Node
    path: str
    first: Entry
    second: Entry


def repeated_keys(recipe: Recipe, project: Project) -> Iterator[RepeatedKey]:
    """The keys that stand twice in a recipe, and in what it includes that is no recipe of its own."""
    evaluation = evaluate(recipe, project)
    for part in evaluation.recipes:
        if part is recipe or project.recipe(part.file) is None:
            for node in part.nodes():
                for first, second in node.repeated():
                    item = evaluation.item(node)
                    yield RepeatedKey(part, node, "" if item is None else item.path, first, second)


@dataclass(frozen=True, slots=True)
class FoundTag:
    """A tag that nothing constructs, and the path of what has it; empty if that is not known.

    `is_sure`: the script that loads the recipe registers no tags of its own.
    """

    node: Node
    path: str
    is_sure: bool


def unknown_tags(recipe: Recipe, project: Project) -> Iterator[FoundTag]:
    """The tags of a recipe that HyperPyYAML has no constructor for."""
    nodes = [node for node in live_nodes(recipe, project) if _is_unknown(node)]
    if not nodes:
        return
    scripts = {script for whole in including(recipe, project) for script in scripts_of(whole, project).scripts}
    registered = _registered_in(scripts, project)
    if registered is None:
        return
    evaluation = evaluate(recipe, project)
    for node in nodes:
        if not node.tag.text.startswith(registered):
            item = evaluation.item(node)
            yield FoundTag(node, "" if item is None else item.path, bool(scripts))


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
    """The tags that a file gives constructors, None if any of them is made up."""
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
    texts = [text for tag in tags if (text := text_of(tag)) is not None]
    return texts if len(texts) == max(len(tags), calls) else None


def live_nodes(recipe: Recipe, project: Project) -> Iterator[Node]:
    """The nodes of a recipe but for those that whatever includes it puts something else in place of."""
    replaced = _replaced(recipe, project)
    live = [entry for entry in recipe.root.entries if entry.name not in replaced]
    return below(*(node for entry in live for node in (entry.key, entry.value)))


def _replaced(recipe: Recipe, project: Project) -> frozenset[Scalar]:
    """The top-level keys of a fragment that every recipe which includes it overrides."""
    found = (project.recipe(path) for path in includers_of(recipe, project))
    groups = [
        frozenset(node.items())
        for includer in found
        if includer is not None
        for node in includer.nodes()
        if node.tag.kind is TagKind.INCLUDE and includer.included(node) == recipe.file
    ]
    return frozenset.intersection(*groups) if groups else frozenset()


@dataclass(frozen=True, slots=True)
class LeftPlaceholder:
    """A `!PLACEHOLDER` that nothing beside the recipe speaks of: its key, and its path (`data[folder]`)."""

    place: Place
    path: str


def left_placeholders(recipe: Recipe, project: Project) -> Iterator[LeftPlaceholder]:
    """The placeholders of an inference recipe that neither a comment nor a file beside it says how to fill."""
    if not is_inference(recipe) or scripts_of(recipe, project).scripts:
        return
    evaluation = evaluate(recipe, project)
    for node in live_nodes(recipe, project):
        item = evaluation.item(node)
        if node.tag.kind is not TagKind.PLACEHOLDER or item is None or _has_comment(recipe, node):
            continue
        if not _is_explained(item.top, recipe, project):
            yield LeftPlaceholder(item.place, item.path)


def _is_explained(name: str, recipe: Recipe, project: Project) -> bool:
    """Whether a text beside a recipe mentions a key, or a document in a folder above shows it as an option."""
    if any(re.search(rf"\b{re.escape(name)}\b", text) for text in _texts_in(recipe.file.parent, _TEXTS, project)):
        return True
    root = project.options.root
    above = [folder for folder in recipe.file.parent.parents if folder == root or root in folder.parents]
    option = re.compile(rf"--{re.escape(name)}\b")
    return any(option.search(text) for folder in above for text in _texts_in(folder, _DOCUMENTS, project))


def _has_comment(recipe: Recipe, node: Node) -> bool:
    """Whether a comment stands behind a node or on the line above it."""
    lines = recipe.source.lines
    behind = lines[node.span.end_line - 1][node.span.end_column - 1 :]
    above = lines[node.span.line - 2] if node.span.line > 1 else ""
    return "#" in behind or above.lstrip().startswith("#")


def _texts_in(folder: Path, suffixes: tuple[str, ...], project: Project) -> tuple[str, ...]:
    """The texts in a folder, by the endings of their names."""

    def read_all() -> tuple[str, ...]:
        names = [name for name in project.files.listdir(folder) if name.endswith(suffixes)]
        return tuple((project.files.read(folder / name) or b"").decode("utf-8", "replace") for name in names)

    return project.once(("texts in", folder, suffixes), read_all)
