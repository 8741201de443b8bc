"""The subject of a place in a configuration: a name, an argument, a reference, an entry of a defaults list, a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.graph import interpolation
from modellint.graph.immutable import dataclass
from modellint.graph.interpolation import Interpolation
from modellint.graph.recipe import Dialect, NodeKind, TagKind, split_reference
from modellint.server.configs.callables import callable_of
from modellint.server.configs.cursor import CALLING, TARGETS, node_at
from modellint.server.configs.entries import is_in_defaults
from modellint.server.configs.groups import entry_at, files_of, groups_of
from modellint.server.configs.names import near
from modellint.server.configs.options import keys_in_options
from modellint.server.configs.takers import taker_at
from modellint.server.configs.trees import is_plain, tree_of
from modellint.source import Place, Span

if TYPE_CHECKING:
    from pathlib import Path

    from modellint.dialects.defaults import Choice
    from modellint.graph.recipe import Recipe, Scalar
    from modellint.link.project import Project
    from modellint.server.configs.callables import Argument, Callable
    from modellint.server.configs.cursor import Cursor
    from modellint.server.configs.groups import Groups
    from modellint.server.configs.trees import Key, Tree

_SUFFIXES = (".yaml", ".yml", ".py", ".ipynb", ".json", ".toml")
_START = Span(1, 1, 1, 1)


@dataclass(frozen=True, slots=True)
class NameSubject:
    """A dotted name up to the part at the place, and the definition that it has."""

    span: Span
    name: str
    known: Callable | None


@dataclass(frozen=True, slots=True)
class ArgumentSubject:
    """The key of an argument, with the parameter that it is of what is called."""

    span: Span
    argument: Argument
    callee: Callable
    key: Key | None


@dataclass(frozen=True, slots=True)
class ReferenceSubject:
    """A reference up to the key at the place, and the key that it leads to; None if there is none.

    `others` are the keys that it leads to where other files are chosen. `is_missing`: certainly none is there.
    """

    span: Span
    text: str
    key: Key | None
    others: tuple[Key, ...] = ()
    is_missing: bool = False


@dataclass(frozen=True, slots=True)
class KeySubject:
    """A key of the configuration, and the value that is written at the place; empty for one that is only read."""

    span: Span
    key: Key
    written: str = ""


@dataclass(frozen=True, slots=True)
class EntrySubject:
    """An entry of a defaults list, with its files, and the names that it could have."""

    span: Span
    choice: Choice
    files: tuple[tuple[str, Path], ...]
    groups: Groups
    options: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FileSubject:
    """The name of a file that is there."""

    span: Span
    file: Path


Subject = NameSubject | ArgumentSubject | ReferenceSubject | KeySubject | EntrySubject | FileSubject


def subject_at(recipe: Recipe, line: int, column: int, project: Project) -> Subject | None:
    """The subject of a place in a configuration, line and column from 1; None if nothing is known of it."""
    cursor = node_at(recipe, line, column)
    if cursor is None:
        return None
    if cursor.is_tag:
        return _of_tag(cursor, line, column, project)
    if recipe.dialect is Dialect.OMEGACONF and is_in_defaults(cursor):
        return _of_entry(cursor, project)
    tree = tree_of(recipe, project)
    if cursor.is_key:
        return _of_key(cursor, tree, project)
    reference = _of_reference(cursor, tree, line, column, project)
    if reference is not None:
        return reference
    if cursor.key in TARGETS and cursor.call is not None:
        return _of_name(cursor.node.text, cursor.node.span, cursor, line, column, project)
    return _of_value(cursor, project)


def _of_tag(cursor: Cursor, line: int, column: int, project: Project) -> Subject | None:
    tag = cursor.node.tag
    if tag.kind is TagKind.INCLUDE:
        file = cursor.recipe.included(cursor.node)
        return FileSubject(tag.span, file) if project.files.exists(file) else None
    if tag.kind in CALLING or tag.kind is TagKind.MODULE:
        return _of_name(tag.target, tag.span, cursor, line, column, project)
    return None


def _of_name(text: str, span: Span, cursor: Cursor, line: int, column: int, project: Project) -> NameSubject | None:
    """The name up to the part of it at the place."""
    source = cursor.recipe.source
    written = source.text_of(span) if span.line == span.end_line else ""
    start = written.find(text)
    if start < 0 or not text or line != span.line:
        end = len(text)
        part = span
    else:
        inside = max(column - span.column - start, 0)
        end = text.find(".", inside)
        end = len(text) if end < 0 else end
        begin = text.rfind(".", 0, inside) + 1
        first = span.column + start
        part = Span(span.line, first + begin, span.line, first + end)
    name = text[:end]
    return NameSubject(part, name, callable_of(name, near(cursor.recipe, project), project))


def _of_key(cursor: Cursor, tree: Tree, project: Project) -> Subject | None:
    name = cursor.node.scalar
    key = tree.key((*tree.path_in(cursor.path), name))
    is_beside = cursor.call is not None and cursor.call.is_shell
    known = None if is_beside else taker_at(cursor, tree, near(cursor.recipe, project), project)
    argument = known.argument(str(name)) if known is not None else None
    if known is not None and argument is not None:
        return ArgumentSubject(cursor.node.span, argument, known, key)
    entries = cursor.holder.entries if cursor.holder is not None else ()
    written = next((entry.value.text for entry in entries if entry.key is cursor.node), "")
    return None if key is None else KeySubject(cursor.node.span, key, written)


def _of_entry(cursor: Cursor, project: Project) -> EntrySubject | None:
    choice = entry_at(cursor.recipe, cursor.node)
    if choice is None or choice.is_self:
        return None
    groups = groups_of(cursor.recipe.file, project)
    group = choice.group if choice.group is not None else choice.name.rpartition("/")[0]
    slash = "/" if choice.group is None and choice.name.startswith("/") and not group else ""
    options = groups.options(slash or group, project)
    found = list(files_of(choice, groups, project))
    own = [one for one in found if one[0] == cursor.node.text] or found
    return EntrySubject(cursor.node.span, choice, tuple(own), groups, options)


def _of_reference(cursor: Cursor, tree: Tree, line: int, column: int, project: Project) -> ReferenceSubject | None:
    for reference in cursor.node.references:
        span = reference.span
        if (span.line, span.column) <= (line, column) < (span.end_line, span.end_column):
            is_one_line = span.line == span.end_line
            inside = column - span.column if is_one_line else None
            if is_plain(cursor.recipe):
                return _of_interpolation(reference.text, span, inside, cursor, tree, project)
            return _of_angles(reference.text, span, inside, cursor, tree)
    return None


def _of_angles(text: str, span: Span, inside: int | None, cursor: Cursor, tree: Tree) -> ReferenceSubject:
    """`<a[b].c>` up to the key at a place inside of it."""
    keys, _ = split_reference(text)
    end, wanted = 1, len(keys)
    for number, key in enumerate(keys):
        end += len(key) + 1
        if inside is not None and inside < end:
            wanted = number + 1
            break
    found = tree.key(keys[:wanted])
    return ReferenceSubject(span, text, found, (), found is None and tree.lacks(cursor.node))


def _of_interpolation(
    text: str, span: Span, inside: int | None, cursor: Cursor, tree: Tree, project: Project
) -> ReferenceSubject | None:
    """`${a.b}` up to the key at a place inside of it; an inner one if the place is in that."""
    whole = f"{interpolation.OPEN}{text}}}"
    pieces = interpolation.parse(whole)
    piece = pieces[0] if pieces and isinstance(pieces[0], Interpolation) else None
    at = inside
    while piece is not None and at is not None:
        inner = [*piece.arguments, *(key for key in piece.keys if isinstance(key, Interpolation))]
        within = next((one for one in inner if one.start <= at < one.end), None)
        if within is None:
            break
        piece = within
    if piece is None or piece.is_resolver:
        return None
    path = tree.path_in(cursor.path)
    own = whole[piece.start : piece.end]
    keys = piece.keys
    if at is not None:
        keys = keys[: _keys_before(own, at - piece.start)]
    shortened = Interpolation(piece.start, piece.end, piece.dots, keys or piece.keys)
    led: tuple[Scalar, ...] | None = tree.lead(shortened, path)
    key = None if led is None else tree.key(led)
    others = () if key is not None or led is None else tuple(keys_in_options(led, tree.composed, project))
    is_missing = key is None and not others and tree.lacks(cursor.node)
    return ReferenceSubject(span, own[2:-1].strip(), key, others, is_missing)


def _keys_before(text: str, at: int) -> int:
    """The number of keys of an interpolation up to the one at a place in it, with that one."""
    depth, count, is_in_key = 0, 0, False
    for number, character in enumerate(text[2:-1], 2):
        if text.startswith(interpolation.OPEN, number):
            depth += 1
        is_key = depth > 0 or character not in ".[] "
        if is_key and not is_in_key:
            if number > at and count:
                break
            count += 1
        is_in_key = is_key
        if character == "}":
            depth -= 1
    return max(count, 1)


def _of_value(cursor: Cursor, project: Project) -> FileSubject | None:
    """The file that a value names, from the file's folder, or from the project's."""
    text = cursor.node.text.strip()
    file = file_named(text, cursor.recipe.file.parent, project) if cursor.node.kind is NodeKind.SCALAR else None
    return None if file is None else FileSubject(cursor.node.span, file)


def file_named(text: str, folder: Path, project: Project) -> Path | None:
    """The file that a text names, from a folder or from the project's; None if there is none."""
    if not text.endswith(_SUFFIXES) or "\n" in text or "\0" in text or len(text) > 1_000:
        return None
    for base in (folder, project.options.root):
        if project.files.exists(base / text):
            return base / text
    return None


def start_of(file: Path) -> Place:
    """The beginning of a file."""
    return Place(file.as_posix(), _START)
