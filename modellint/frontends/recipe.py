"""Reads HyperPyYAML files, and plain ones that name classes to build, into nodes.

The parser's events become nodes directly: nothing is ever constructed, an alias costs nothing however often it is
used, and the depth of the stack does not follow the depth of the file.
"""

from __future__ import annotations

import bisect
import re
from dataclasses import field
from typing import TYPE_CHECKING, Any

from modellint.graph import interpolation
from modellint.graph.immutable import dataclass
from modellint.graph.recipe import (
    CLASS_PATH,
    MERGE,
    NO_TAG,
    REFERENCE,
    Dialect,
    Entry,
    Node,
    NodeKind,
    Recipe,
    Reference,
    Tag,
    TagKind,
    below,
)
from modellint.source import TEMPLATE, SourceFile, Span, UnreadableError, decode_yaml

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

#: Deeper files overflow HyperPyYAML's own stack as well.
MAX_DEPTH = 100
#: Entries of all mappings that merge others, those that are merged included.
MOST_MERGED = 200_000

#: A file must match this to have a tag of HyperPyYAML, however it is written: letters by their numbers (`%6E`)
#: and handles (`%TAG`) included.
_CAN_BE = re.compile(
    rb"!(?:new|name|apply|applyref|module|include):|!(?:ref|copy|PLACEHOLDER)|!\S*%[0-9A-Fa-f]{2}|%TAG"
)
_CAN_INCLUDE = re.compile(rb"!include:|!\S*%[0-9A-Fa-f]{2}|%TAG")
#: The marks of a broken recipe: other invalid YAML is not taken for one.
_MARKS = re.compile(
    rb"!(?:new|name|apply|applyref|module|include):[A-Za-z_./<]"
    rb"|!(?:ref|copy)[ \t]+[^\n]*<"
    rb"|!PLACEHOLDER\b"
)
#: The dialects of plain files that show themselves by the key of a target.
_SHOWN = (Dialect.OMEGACONF, Dialect.TORCHTUNE)
#: The marks of a template.
_TEMPLATE = re.compile(r"\{\{|\{%")
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_PROPERTIES = re.compile(r"(?:(?:&[^\s\[\]{},]+|#[^\n]*)\s*)*")
_TAG = re.compile(r"!<[^>\s]*>|![^\s\[\]{},]*")
_STANDARD = "tag:yaml.org,2002:"
_PREFIXED = {
    kind.value: kind
    for kind in (
        TagKind.NEW,
        TagKind.NAME,
        TagKind.APPLY,
        TagKind.APPLYREF,
        TagKind.MODULE,
        TagKind.INCLUDE,
    )
}
#: The beginning of the name that follows such a tag.
_NAME = re.compile(r"[A-Za-z_./<]")
_WHOLE = {kind.value: kind for kind in (TagKind.REF, TagKind.COPY, TagKind.TUPLE, TagKind.PLACEHOLDER)}


def looks_like_recipe(data: bytes) -> bool:
    """True if a YAML file may have tags of HyperPyYAML, by its bytes alone; never wrong when it is False."""
    return _CAN_BE.search(_narrow_bytes(data)) is not None


def can_include(data: bytes) -> bool:
    """True if a YAML file may include others, by its bytes alone."""
    return _CAN_INCLUDE.search(_narrow_bytes(data)) is not None


def read(path: Path, data: bytes, *, included: bool = False) -> Recipe | None:
    """The recipe in a YAML file, None if it is plain YAML; what a recipe includes may be plain.

    Raises UnreadableError where a file that is a recipe by its looks is not valid YAML.
    """
    if not included and not looks_like_recipe(data):
        return None
    source = decode_yaml(path, data)
    try:
        root = _Reader(source).read()
    except UnreadableError as error:
        if included or _MARKS.search(_narrow_bytes(data)):
            raise _as_template(source, error) from None
        return None
    if root is None or root.kind is not NodeKind.MAPPING:
        return None
    recipe = Recipe(source, root)
    return recipe if included or any(map(_is_of_library, recipe.nodes())) else None


def _as_template(source: SourceFile, error: UnreadableError) -> UnreadableError:
    """The error of a recipe; if it is valid once its tags are filled in, the error that it is a template."""
    from modellint.frontends import templates

    def parses(text: str) -> bool:
        try:
            _Reader(SourceFile(source.path, text)).read()
        except UnreadableError:
            return False
        return True

    stop = source.starts[error.span.line - 1] + error.span.column - 1
    tag = templates.tag_in(source.text, stop, parses, is_python=False)
    where = "" if tag is not None else " in its path"
    tag = tag or templates.tag_in_path(source.path)
    reason = f"`{tag}`{where} is filled in before it is YAML"
    return error if tag is None else UnreadableError(reason, error.span, other=TEMPLATE)


def _is_of_library(node: Node) -> bool:
    """True if only HyperPyYAML has a node's tag; other libraries have a `!ref` of their own."""
    kind = node.tag.kind
    if kind in (TagKind.REF, TagKind.COPY):
        return "<" in node.text
    return kind is TagKind.PLACEHOLDER or (kind.value in _PREFIXED and _NAME.match(node.tag.target) is not None)


def looks_like_config(data: bytes) -> bool:
    """True if a YAML file may name a class by `_target_:` or `_component_:`, by its bytes alone."""
    narrow = _narrow_bytes(data)
    return any(dialect.writing.target.encode() in narrow for dialect in _SHOWN)


def names_target(data: bytes, dialect: Dialect) -> bool:
    """True if a YAML file has the key by which a dialect names a class, by its bytes alone."""
    return _count_targets(data, dialect) > 0


def _count_targets(data: bytes, dialect: Dialect) -> int:
    key = re.escape(dialect.writing.target.encode())
    return len(re.findall(rb"""(?<![\w.-])["']?%s["']?\s*(?:#[^\r\n]*[\r\n]\s*)*:""" % key, _narrow_bytes(data)))


def read_config(path: Path, data: bytes, dialects: tuple[Dialect, ...] = _SHOWN) -> Recipe | None:
    """The configuration in a plain YAML file, None if nothing in it names a class as one of the dialects does.

    Raises UnreadableError where such a file is not valid YAML, and is no template that becomes so.
    """
    if not any(dialect.writing.target.encode() in _narrow_bytes(data) for dialect in dialects):
        return None
    source = decode_yaml(path, data)
    for dialect in sorted(dialects, key=lambda one: -_count_targets(data, one)):
        if names_target(data, dialect):
            recipe = _read_plain(source, dialect)
            if recipe is not None and any(node.get(dialect.writing.target) is not None for node in recipe.nodes()):
                return recipe
    return None


def read_plain(source: SourceFile, dialect: Dialect, text: str | None = None) -> Recipe | None:
    """The mapping in a YAML file of a dialect, with `text` of the same layout in place of its own; else None.

    Raises UnreadableError where the file is not valid YAML.
    """
    root = _Reader(source, dialect, text).read()
    return None if root is None or root.kind is not NodeKind.MAPPING else Recipe(source, root, dialect)


def _read_plain(source: SourceFile, dialect: Dialect) -> Recipe | None:
    """The mapping in a plain YAML file; None for other content, and for a template. Raises UnreadableError."""
    try:
        root = _Reader(source, dialect).read()
    except UnreadableError:
        if _TEMPLATE.search(source.text) or source.text.count("\n---") > 1:
            return None
        raise
    return None if root is None or root.kind is not NodeKind.MAPPING else Recipe(source, root, dialect)


def read_omegaconf(path: Path, data: bytes) -> Recipe:
    """The configuration in a YAML file that OmegaConf reads; one without content is an empty mapping.

    Raises UnreadableError where the file is not valid YAML.
    """
    source = decode_yaml(path, data)
    root = _Reader(source, Dialect.OMEGACONF).read()
    return Recipe(source, root or Node(NodeKind.MAPPING, NO_TAG, Span(1, 1, 1, 1)), Dialect.OMEGACONF)


def names_class_path(data: bytes) -> bool:
    """True if a YAML file may name a class by `class_path:`, by its bytes alone."""
    return CLASS_PATH.encode() in _narrow_bytes(data)


def read_cli(path: Path, data: bytes) -> Recipe | None:
    """The configuration in a YAML file that jsonargparse reads; None if it is no mapping.

    Raises UnreadableError where the file is not valid YAML, and is no template that becomes so.
    """
    return _read_plain(decode_yaml(path, data), Dialect.LIGHTNING_CLI)


def _narrow_bytes(data: bytes) -> bytes:
    """A file's bytes, with one byte for each letter of a tag also in UTF-16."""
    return data.replace(b"\0", b"") if data.startswith(_UTF16) else data


@dataclass(slots=True)
class _Open:
    """A sequence or mapping whose end has not been seen yet; a mapping's children are keys and values."""

    kind: NodeKind
    anchor: str | None
    tag: Tag
    start: int
    flow: bool
    children: list[Node] = field(default_factory=list)
    #: The places of children that are aliases, by their number.
    aliases: dict[int, Span] = field(default_factory=dict)
    end: int = 0


class _Reader:
    """Turns the events of one file into nodes."""

    def __init__(self, source: SourceFile, dialect: Dialect = Dialect.HYPERPYYAML, text: str | None = None) -> None:
        self.source = source
        self.dialect = dialect
        self._target = dialect.writing.target
        self.text = source.text if text is None else text
        self._starts = [0]
        for line in source.lines:
            self._starts.append(self._starts[-1] + len(line))
        self._anchors: dict[str, Node] = {}
        self._ends: dict[int, int] = {}
        self._stack: list[_Open] = []
        self._root: Node | None = None
        #: The line of the last place.
        self._line = 1

    def read(self) -> Node | None:
        import yaml

        takers: dict[type, Callable[[Any], None]] = {
            yaml.ScalarEvent: self._scalar,
            yaml.AliasEvent: self._alias,
            yaml.MappingStartEvent: self._open,
            yaml.SequenceStartEvent: self._open,
            yaml.MappingEndEvent: self._close,
            yaml.SequenceEndEvent: self._close,
            yaml.DocumentStartEvent: self._begin,
        }
        try:
            for event in _events(self.text):
                if (take := takers.get(type(event))) is not None:
                    take(event)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            index = mark.index if mark is not None else 0
            reason = error.problem or error.context or "not valid YAML"
            raise UnreadableError(f"{reason}; expected valid YAML", self._span(index, index + 1)) from None
        except yaml.reader.ReaderError as error:
            index = error.position if isinstance(error.position, int) else 0
            reason = f"{error.reason}; expected valid YAML"
            raise UnreadableError(reason, self._span(index, index + 1)) from None
        except yaml.YAMLError as error:
            raise UnreadableError(f"{error}; expected valid YAML") from None
        self._check_merges()
        return self._root

    def _check_merges(self) -> None:
        """Refuse mappings that grow by merging one another, as loaders copy all that a merge adds."""
        added = 0
        for node in below(self._root) if self._root is not None and MERGE in self.text else ():
            if any(entry.key.plain and entry.key.text == MERGE for entry in node.entries):
                added += len(node.items())
            if added > MOST_MERGED:
                raise UnreadableError(f"merges (`<<`) add more than {MOST_MERGED} entries; expected fewer", node.span)

    def _begin(self, event: Any) -> None:
        if self._root is not None:
            index = event.start_mark.index
            reason = "found a second document; expected one document in a recipe"
            raise UnreadableError(reason, self._span(index, index + 3))

    def _open(self, event: Any) -> None:
        start = event.start_mark.index
        if len(self._stack) >= MAX_DEPTH:
            reason = f"nested more than {MAX_DEPTH} levels deep; expected fewer"
            raise UnreadableError(reason, self._span(start, start + 1))
        tag = NO_TAG if event.tag is None else self._tag(event.tag, start)[0]
        kind = NodeKind.MAPPING if event.__class__.__name__ == "MappingStartEvent" else NodeKind.SEQUENCE
        self._stack.append(_Open(kind, event.anchor, tag, start, bool(event.flow_style), end=event.end_mark.index))

    def _close(self, event: Any) -> None:
        top = self._stack.pop()
        end = event.end_mark.index if top.flow else top.end
        span = self._span(top.start, end)
        if top.kind is NodeKind.SEQUENCE:
            node = Node(top.kind, top.tag, span, flow=top.flow, elements=tuple(top.children))
        else:
            nodes, aliases = iter(top.children), map(top.aliases.get, range(1, len(top.children), 2))
            entries = tuple(map(Entry, nodes, nodes, aliases))
            tag = _target_of(entries, self._target, top.tag) if self._target else top.tag
            node = Node(top.kind, tag, span, flow=top.flow, entries=entries)
        self._add(node, top.anchor, end)

    def _alias(self, event: Any) -> None:
        node = self._anchors.get(event.anchor)
        if node is None:
            start, end = event.start_mark.index, event.end_mark.index
            inside = any(item.anchor == event.anchor for item in self._stack)
            problem = "stands for the node that contains it" if inside else "stands for nothing"
            reason = f"the alias `*{event.anchor}` {problem}; expected an anchor that stands before it"
            raise UnreadableError(reason, self._span(start, end))
        if self._stack:
            top = self._stack[-1]
            top.aliases[len(top.children)] = self._span(event.start_mark.index, event.end_mark.index)
        self._add(node, None, event.end_mark.index)

    def _add(self, node: Node, anchor: str | None, end: int) -> None:
        if anchor is not None:
            self._anchors[anchor] = node
        if self._stack:
            top = self._stack[-1]
            top.children.append(node)
            top.end = max(top.end, end)
        else:
            self._root = node

    def _scalar(self, event: Any) -> None:
        start, stop = event.start_mark.index, event.end_mark.index
        has_properties = event.tag is not None or event.anchor is not None
        tag, content = self._tag(event.tag, start) if has_properties else (NO_TAG, start)
        style = event.style
        end = content + len(self.text[content:stop].rstrip()) if style in ("|", ">") else stop
        value: str = event.value
        references: tuple[Reference, ...] = ()
        if self.dialect is Dialect.HYPERPYYAML:
            references = tuple(self._references(value, content, end)) if "<" in value else ()
        elif interpolation.OPEN in value:
            references = tuple(self._interpolations(value, content, end))
        node = Node(NodeKind.SCALAR, tag, self._span(start, end), value, not style, False, references)
        self._add(node, event.anchor, stop)

    def _references(self, value: str, start: int, end: int) -> Iterator[Reference]:
        """The references of a scalar, each at the next place where it stands in the source.

        A folded or escaped reference has no such place; the whole scalar stands for it.
        """
        position = start
        for match in REFERENCE.finditer(value):
            found = self.text.find(match[0], position, end)
            if found < 0:
                yield Reference(match[0][1:-1], self._span(start, end))
            else:
                position = found + len(match[0])
                yield Reference(match[0][1:-1], self._span(found, position))

    def _interpolations(self, value: str, start: int, end: int) -> Iterator[Reference]:
        """The interpolations of a scalar, outermost ones only, each where it stands in the source."""
        position = start
        for piece in interpolation.parse(value) or ():
            if not isinstance(piece, str):
                text = value[piece.start : piece.end]
                found = self.text.find(text, position, end)
                position = found + len(text) if found >= 0 else position
                span = self._span(found, position) if found >= 0 else self._span(start, end)
                yield Reference(text[len(interpolation.OPEN) : -1], span)

    def _tag(self, name: str | None, start: int) -> tuple[Tag, int]:
        """The tag of a node whose properties begin at `start`, and where its content can begin."""
        begin = start + len(_PROPERTIES.match(self.text, start)[0])  # type: ignore[index]
        written = _TAG.match(self.text, begin)
        if name is None or written is None:
            return NO_TAG, begin
        kind, target = _kind(name)
        return Tag(kind, target, _usual_spelling(name), self._span(begin, written.end())), written.end()

    def _span(self, start: int, end: int) -> Span:
        starts, line = self._starts, self._line
        if not (line < len(starts) and starts[line - 1] <= start <= end < starts[line]):  # on one line, mostly the same
            line, column = self._position(start)
            self._line = line
            return Span(line, column, *self._position(end))
        first = starts[line - 1] - 1
        return Span(line, start - first, line, end - first)

    def _position(self, index: int) -> tuple[int, int]:
        line = max(bisect.bisect_right(self._starts, index), 1)
        if line == len(self._starts) and line > 1 and not self.text.endswith(("\n", "\r")):
            line -= 1
        return line, index - self._starts[line - 1] + 1


def _target_of(entries: tuple[Entry, ...], key: str, tag: Tag) -> Tag:
    """The tag of a mapping whose entry under a key names a class; without such an entry, the tag that it has."""
    for entry in entries:
        value = entry.value
        if entry.key.text == key and value.kind is NodeKind.SCALAR and isinstance(value.scalar, str):
            text = value.text.strip()
            if text and text != interpolation.MISSING and interpolation.OPEN not in text:
                return Tag(TagKind.TARGET, text, key, value.span)
    return tag


def _usual_spelling(name: str) -> str:
    """A tag in its usual spelling, independent of handles, escapes and brackets."""
    if name.startswith(_STANDARD):
        return f"!!{name.removeprefix(_STANDARD)}"
    return name if name.startswith("!") else f"!<{name}>"


def _kind(tag: str) -> tuple[TagKind, str]:
    if tag.startswith(_STANDARD):
        return TagKind.NONE, ""
    prefix, colon, target = tag.partition(":")
    if colon and prefix in _PREFIXED:
        return _PREFIXED[prefix], target
    return _WHOLE.get(tag, TagKind.OTHER), ""


def _events(text: str) -> Iterator[Any]:
    """The parser's events; libyaml's when PyYAML was built with it."""
    import yaml

    loader: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return iter(loader(text).get_event, None)
