"""Configurations of OpenMMLab in the editor: names in registries, the arguments of what they name, inherited files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from modellint.dialects.openmmlab import composition_of, config_in, has_readers, path_of
from modellint.dialects.openmmlab_places import spot_at
from modellint.dialects.registries import definition_named, registries
from modellint.frontends.openmmlab import looks_like_openmmlab
from modellint.frontends.openmmlab_values import BASE
from modellint.graph.definitions import DefinedClass, DefinedFunction
from modellint.graph.immutable import dataclass
from modellint.graph.recipe import NO_TAG, Dialect, NodeKind, TagKind
from modellint.server.configs.callables import callable_for
from modellint.server.configs.cursor import cursor_in
from modellint.server.configs.inherited import file_offers, inherited_offers, inherited_subject
from modellint.server.configs.offers import Offer, OfferKind
from modellint.server.configs.subjects import ArgumentSubject, FileSubject, NameSubject

if TYPE_CHECKING:
    from collections.abc import Callable as Function
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from modellint.frontends.openmmlab import ConfigFile
    from modellint.graph.recipe import Node
    from modellint.link.project import Project
    from modellint.server.configs.callables import Callable
    from modellint.server.configs.subjects import Subject
    from modellint.source import Span

_TYPE = "type"
#: The beginning of a name in a registry, and of an argument, at the end of a text.
_NAME_BEGUN = re.compile(r"""(?:\btype\s*=|["']type["']\s*:)\s*["']([\w.]*)\Z""")
_ARGUMENT_BEGUN = re.compile(r"(?:\(|,)\s*(\w*)\Z")
#: The key in front of a dictionary, at the end of a text.
_HOLDER = re.compile(r"(\w+)\s*=\s*dict\s*\Z")
_GIVEN = re.compile(r"""\btype\s*=\s*["']([\w.]+)["']""")
_KEY = re.compile(r"(\w+)\s*=(?!=)")
_DEEPEST = 12


def may_be_registered_config(data: bytes) -> bool:
    """True if a Python file is a configuration of OpenMMLab by its looks; it is one in a project that reads such."""
    return looks_like_openmmlab(data)


# -- what stands at a place ----------------------------------------------------------------------------------------


def registered_subject_at(path: Path, line: int, column: int, project: Project) -> Subject | None:
    """The subject of a place in a configuration, line and column from 1; None if nothing is known of it."""
    data = project.files.read(path)
    file = None if data is None else config_in(path, data, project)
    if file is None:
        return None
    for base in file.bases:
        named = path_of(base, file.recipe, project) if _holds(base.span, line, column) else None
        if named is not None and project.files.exists(named):
            return FileSubject(base.span, named)
    return inherited_subject(file, line, column, project) or _subject_in(file, line, column, project)


def _subject_in(file: ConfigFile, line: int, column: int, project: Project) -> Subject | None:
    whole = composition_of(file.recipe.file, project)
    pending: list[tuple[Node, str]] = [(file.recipe.root, "")]
    for node, path in pending:
        pending.extend((one, f"{path}.{number}".lstrip(".")) for number, one in enumerate(node.elements))
        for entry in node.entries:
            key, value = entry.key, entry.value
            below = f"{path}.{key.text}".lstrip(".")
            pending.append((value, below))
            if value.kind is NodeKind.SCALAR and key.text == _TYPE and _holds(value.span, line, column):
                return NameSubject(value.span, value.text, _callable(value.text, file.recipe.file, project))
            if path and key.text != _TYPE and _holds(key.span, line, column):
                spot = None if whole is None else spot_at(whole.root, path)
                tag = node.tag if spot is None or node.tag.kind is TagKind.TARGET else spot.node.tag
                known = _callable(tag.target, file.recipe.file, project) if tag is not NO_TAG else None
                argument = None if known is None else known.argument(key.text)
                if known is not None and argument is not None:
                    return ArgumentSubject(key.span, argument, known, None)
    return None


def _holds(span: Span, line: int, column: int) -> bool:
    return (span.line, span.column) <= (line, column) <= (span.end_line, span.end_column)


def _callable(name: str, asker: Path, project: Project) -> Callable | None:
    definition = definition_named(name, asker, project) if name else None
    return None if definition is None else callable_for(definition, name, project)


# -- completions -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Around:
    """The dictionary around a place: its keys from the top, the keys that it has, and the name of its type."""

    path: tuple[str, ...]
    keys: frozenset[str]
    target: str


def registered_completions(path: Path, text: str, offset: int, project: Project) -> list[Offer]:
    """The completions at an offset of a configuration in Python, which need not be valid: names, or arguments."""
    if not has_readers(project):
        return []
    inherited = inherited_offers(path, text, offset, project)
    if inherited is not None:
        return sorted(inherited, key=lambda offer: offer.rank)
    before = text[:offset]
    begun = _NAME_BEGUN.search(before)
    if begun is not None:
        return sorted(_names(begun[1], project), key=lambda offer: offer.rank)
    begun = _ARGUMENT_BEGUN.search(before)
    around = None if begun is None else _dictionary_at(text, begun.start() + (before[begun.start()] == "("))
    if begun is None or around is None:
        return []
    target = around.target or _inherited_type(around.path, path, project)
    return list(_arguments(target, around.keys, len(begun[1]), "=", "=", path, project))


def data_completions(path: Path, text: str, line: int, column: int, beside: Function[[str], Project]) -> list[Offer]:
    """The completions in a configuration in YAML, line and column from 0: names, arguments, inherited values and files.

    `beside` gives the project in which the file has another text.
    """
    lines = text.splitlines(keepends=True)
    inherited = inherited_offers(path, text, sum(map(len, lines[:line])) + column, beside(text))
    cursor = cursor_in(path, text.splitlines(), line, column, Dialect.OMEGACONF) if inherited is None else None
    found: Iterable[Offer] = inherited or ()
    project = beside("" if cursor is None else cursor.neutral)
    if cursor is not None and config_in(path, cursor.neutral.encode("utf-8", "surrogatepass"), project) is not None:
        typed = cursor.typed_text
        if cursor.is_key and cursor.holder is not None:
            given = cursor.holder.get(_TYPE)
            keys = tuple(map(str, cursor.path))
            target = given.value.text if given is not None else _inherited_type(keys, path, project)
            others = frozenset(str(one.name) for one in cursor.holder.entries if one.key is not cursor.node)
            found = _arguments(target, others, len(typed), "", "" if cursor.marked.had_colon else ": ", path, project)
        elif cursor.key == _TYPE:
            found = _names(typed, project)
        elif cursor.path[:1] == (BASE,):
            found = file_offers(path, typed, project)
    return sorted(found, key=lambda offer: offer.rank)


def _arguments(
    target: str, given: frozenset[str], typed: int, shown: str, end: str, path: Path, project: Project
) -> Iterator[Offer]:
    """The arguments that a type takes besides those that it is given, shown and written with an end."""
    known = _callable(target, path, project)
    for number, one in enumerate(known.arguments or () if known is not None else ()):
        if one.is_named and one.name not in given:
            text = f"{one.name}{end}"
            yield Offer(f"{one.name}{shown}", OfferKind.ARGUMENT, typed, text, one.words, order=f"{number:03}")


def _names(typed: str, project: Project) -> Iterator[Offer]:
    for name, definitions in registries(project).names.items():
        first = definitions[0] if definitions else None
        match first:
            case DefinedClass(cls):
                home, kind = f"{cls.module.name}.{cls.qualname}", OfferKind.CLASS
            case DefinedFunction(function):
                home, kind = f"{function.module.name}.{function.qualname}", OfferKind.FUNCTION
            case _:
                home, kind = "", OfferKind.VALUE
        yield Offer(name, kind, len(typed), detail=home, order=name.lower(), of=home)


def _dictionary_at(text: str, offset: int) -> _Around | None:
    """The `dict(…)` around an offset, where that is between its arguments; None for another place."""
    path: list[str] = []
    first = _opening(text, offset)
    start = first
    while start is not None and len(path) < _DEEPEST:
        holder = _HOLDER.search(text, max(0, start - 200), start)
        if holder is None:
            if start == first:
                return None
            break
        path.insert(0, holder[1])
        start = _opening(text, start)
    if first is None:
        return None
    own = _own_text(text, first + 1)
    given = _GIVEN.search(own)
    return _Around(tuple(path), frozenset(_KEY.findall(own)), "" if given is None else given[1])


def _opening(text: str, offset: int) -> int | None:
    """The bracket before an offset that is not closed before it; None if there is none."""
    depth = 0
    for at in range(offset - 1, max(-1, offset - 20_000), -1):
        if text[at] in ")]}":
            depth += 1
        elif text[at] in "([{":
            depth -= 1
            if depth < 0:
                return at if text[at] == "(" else None
    return None


def _own_text(text: str, start: int) -> str:
    """The text between two brackets, without the text in inner ones."""
    depth, found = 0, []
    for character in text[start : start + 20_000]:
        depth += (character in "([{") - (character in ")]}")
        if depth < 0:
            break
        found.append(character if depth == 0 else " ")
    return "".join(found)


def _inherited_type(keys: tuple[str, ...], path: Path, project: Project) -> str:
    """The `type` of a dictionary that the file inherits, by its keys; empty if it has none."""
    whole = composition_of(path, project)
    spot = None if whole is None else spot_at(whole.root, ".".join(keys))
    return "" if spot is None else spot.node.tag.target
