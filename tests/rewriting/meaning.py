"""What recipes mean to the library that loads them, so that a rewriting cannot say something else unnoticed."""

from __future__ import annotations

import inspect
import pydoc
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import hyperpyyaml
import yaml

from rewriting.marks import MARK

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rewriting.marks import Files

#: Something that is equal for recipes that are loaded as the same; of a mapping the entries are sorted.
Meaning: TypeAlias = "tuple[Any, ...]"

_STANDARD = "tag:yaml.org,2002:"
_PLACEHOLDER = "!PLACEHOLDER"
SUFFIXES = (".yaml", ".yml")


def written(text: str) -> Meaning:
    """The nodes of a YAML file as they stand, whatever their style and order."""
    try:
        return _canonical(yaml.compose(text, Loader=yaml.CSafeLoader))
    except yaml.YAMLError as error:
        return ("error", type(error).__name__)


def loaded(files: Files, path: str) -> dict[str, Meaning]:
    """What HyperPyYAML makes of a recipe, by its top-level keys: references, includes and arithmetic are resolved."""
    read = ((name, text) for name, text in sorted(files.items()) if not name.endswith((".md", ".py")))
    return _loaded(tuple((name, MARK.sub("", text)) for name, text in read), path)


def is_loaded_alike(before: Files, after: Files, path: str) -> bool:
    """Whether a recipe is loaded as it was, but for keys that it has more."""
    expected, found = loaded(before, path), loaded(after, path)
    return {name: found.get(name) for name in expected} == expected


@lru_cache(maxsize=4096)
def _loaded(files: tuple[tuple[str, str], ...], path: str) -> dict[str, Meaning]:
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files:
            file = Path(folder, name)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        try:
            with Path(folder, path).open(encoding="utf-8-sig") as stream:
                resolved = hyperpyyaml.resolve_references(stream, _filled(dict(files)[path]))
            root = yaml.compose(resolved, Loader=yaml.CSafeLoader)
        except Exception as error:
            return {"error": (type(error).__name__,)}
    seen: dict[int, str] = {}
    return {key.value: _canonical(value, key.value, seen) for key, value in _sorted(root)}


def _filled(text: str) -> dict[str, Any] | None:
    """Values for the placeholders of a recipe, as somebody has to give them on the command line."""
    return _values_for(yaml.compose(text, Loader=yaml.CSafeLoader)) or None


def _values_for(node: yaml.Node) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, value in node.value if isinstance(node, yaml.MappingNode) else ():
        if value.tag == _PLACEHOLDER:
            values[key.value] = f"the {key.value}"
        elif inner := _values_for(value) if isinstance(value, yaml.MappingNode) and value is not node else {}:
            values[key.value] = inner
    return values


def _canonical(node: yaml.Node, path: str = "", seen: dict[int, str] | None = None) -> Meaning:
    """A node with what it is made of; with `seen`, an object that stands somewhere else too is that very object."""
    if seen is not None and not (isinstance(node, yaml.ScalarNode) and node.tag.startswith(_STANDARD)):
        if id(node) in seen:
            return ("same as", seen[id(node)])
        seen[id(node)] = path
    if isinstance(node, yaml.ScalarNode):
        return (node.tag, _constant(node)) if node.value or not node.tag.startswith("!new:") else (node.tag,)
    if isinstance(node, yaml.SequenceNode):
        names = parameters_of(node.tag) or ()
        if 0 < len(node.value) <= len(names):
            given = sorted(zip(names, node.value, strict=False))
            return (node.tag, *((_text(name), _canonical(item, f"{path}[{name}]", seen)) for name, item in given))
        return (node.tag, *(_canonical(item, f"{path}[{i}]", seen) for i, item in enumerate(node.value)))
    entries = [(_canonical(key), _canonical(value, f"{path}[{key.value}]", seen)) for key, value in _sorted(node)]
    return (node.tag, *entries)


def _text(value: str) -> Meaning:
    return (f"{_STANDARD}str", repr(value))


def _constant(node: yaml.ScalarNode) -> str:
    """A scalar as the value that it stands for, an untagged one by PyYAML's rules."""
    try:
        value = yaml.SafeLoader("").construct_object(node) if node.tag.startswith(_STANDARD) else node.value
    except yaml.YAMLError:
        value = node.value
    return repr(value)


def parameters_of(tag: str) -> tuple[str, ...] | None:
    """The parameters that a class of torch takes by position, if it takes these only."""
    if not tag.startswith("!new:torch.nn."):
        return None
    located = pydoc.locate(tag.removeprefix("!new:"))
    if not inspect.isclass(located):
        return None
    parameters = inspect.signature(located).parameters.values()
    if any(parameter.kind is not inspect.Parameter.POSITIONAL_OR_KEYWORD for parameter in parameters):
        return None
    return tuple(parameter.name for parameter in parameters)


def _sorted(node: yaml.Node) -> Iterator[tuple[yaml.Node, yaml.Node]]:
    return iter(sorted(node.value, key=lambda entry: str(entry[0].value)))
