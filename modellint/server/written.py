"""Configurations for the editor: completion, definitions, references and hover texts, in the terms of the protocol."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from lsprotocol import types

from modellint.graph.recipe import NodeKind
from modellint.server.configs.about import places_of, text_about, text_of
from modellint.server.configs.callables import callable_of
from modellint.server.configs.completion import completions
from modellint.server.configs.kinds import dialect_of, recipe_in, valid_text
from modellint.server.configs.offers import OfferKind
from modellint.server.configs.outline import files_named, keys_of
from modellint.server.configs.registered import (
    data_completions,
    may_be_registered_config,
    registered_completions,
    registered_subject_at,
)
from modellint.server.configs.scripts import reads_of, subject_in_script
from modellint.server.configs.subjects import ArgumentSubject, KeySubject, ReferenceSubject, subject_at
from modellint.server.configs.trees import tree_of
from modellint.server.configs.values import values_of
from modellint.source import PYTHON, YAML, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from modellint.graph.recipe import Recipe
    from modellint.link.project import Project
    from modellint.server.configs.offers import Offer
    from modellint.server.configs.outline import OutlinedKey
    from modellint.server.configs.subjects import Subject
    from modellint.server.protocol import Converter
    from modellint.server.session import Session
    from modellint.server.shown import Text
    from modellint.source import Place, Span

T = TypeVar("T")
#: Characters after which editors ask for completions by themselves.
TRIGGERS = (".", ":", " ", "<", "{", "[", "/", "@", "!")
_KINDS = {
    OfferKind.MODULE: types.CompletionItemKind.Module,
    OfferKind.CLASS: types.CompletionItemKind.Class,
    OfferKind.FUNCTION: types.CompletionItemKind.Function,
    OfferKind.VALUE: types.CompletionItemKind.Value,
    OfferKind.ARGUMENT: types.CompletionItemKind.Field,
    OfferKind.KEY: types.CompletionItemKind.Property,
    OfferKind.REFERENCE: types.CompletionItemKind.Reference,
    OfferKind.KEYWORD: types.CompletionItemKind.Keyword,
    OfferKind.FILE: types.CompletionItemKind.File,
    OfferKind.FOLDER: types.CompletionItemKind.Folder,
}


_SYMBOLS = {
    NodeKind.MAPPING: types.SymbolKind.Object,
    NodeKind.SEQUENCE: types.SymbolKind.Array,
    NodeKind.SCALAR: types.SymbolKind.Property,
}


class Written:
    """One document of the editor, and the project that it belongs to."""

    def __init__(self, session: Session, text: Text, converter: Converter) -> None:
        self._session = session
        self._source = text.source
        self._path = Path(text.file)
        self._converter = converter

    @property
    def _lines(self) -> list[str]:
        """The lines without their ends; one more if the text ends with an end of line."""
        lines = [line.rstrip("\r\n") for line in self._source.lines]
        return [*lines, ""] if not lines or self._source.text.endswith(("\n", "\r")) else lines

    def complete(self, position: types.Position) -> list[types.CompletionItem]:
        """The completions at a position of a configuration; none elsewhere."""
        data = self._source.text.encode("utf-8", "surrogatepass")
        if kind_of(self._path.name) == PYTHON:
            return self._complete_registered(data, position)
        if kind_of(self._path.name) != YAML:
            return []
        dialect = self._session.ask(lambda project: dialect_of(self._path, data, project))
        line, column = self._converter.column(self._path.as_posix(), position)

        def project_with(text: str) -> Project:
            return self._session.beside(self._path, text.encode("utf-8", "surrogatepass"))

        def beside(text: str) -> tuple[Recipe, Project] | None:
            project = project_with(text)
            recipe = None if dialect is None else recipe_in(self._path, dialect, project)
            return None if recipe is None else (recipe, project)

        if dialect is None:
            found = data_completions(self._path, self._source.text, line, column, project_with)
        else:
            found = completions(self._path, self._lines, line, column, dialect, beside)
        return [self._item(number, offer, line, column) for number, offer in enumerate(found)]

    def _complete_registered(self, data: bytes, position: types.Position) -> list[types.CompletionItem]:
        """The completions in a configuration of OpenMMLab; none in other Python files, about which nothing is asked."""
        if not may_be_registered_config(data):
            return []
        line, column = self._converter.column(self._path.as_posix(), position)
        lines = self._source.text.splitlines(keepends=True)
        offset = sum(map(len, lines[:line])) + column

        text = self._source.text
        found = self._session.ask(lambda project: registered_completions(self._path, text, offset, project))
        return [self._item(number, offer, line, column) for number, offer in enumerate(found)]

    def _item(self, number: int, offer: Offer, line: int, column: int) -> types.CompletionItem:
        path = self._path.as_posix()
        place = self._converter.span(path, line, column - offer.typed, column + offer.after)
        return types.CompletionItem(
            offer.label,
            kind=_KINDS[offer.kind],
            detail=offer.detail or None,
            sort_text=f"{number:04}",
            filter_text=offer.label,
            text_edit=types.TextEdit(place, offer.new_text),
            data={"of": offer.of, "in": path} if offer.of else None,
        )

    def resolve(self, name: str) -> str | None:
        """The text about a class or function that is offered."""
        return self._ask(lambda project: self._text_of(name, project))

    def _text_of(self, name: str, project: Project) -> str | None:
        known = callable_of(name, (self._path,), project)
        return None if known is None else text_of(known, project)

    def definition(self, position: types.Position) -> list[types.Location]:
        """The places at which what is at a position is defined."""

        def find(project: Project) -> list[Place]:
            subject = self._subject(position, project)
            return [] if subject is None else list(places_of(subject))

        return self._locations(self._ask(find))

    def references(self, position: types.Position, *, with_definition: bool) -> list[types.Location]:
        """The places that refer to the key at a position: references, and reads in scripts."""

        def find(project: Project) -> list[Place]:
            subject = self._subject(position, project)
            if not isinstance(subject, KeySubject | ReferenceSubject | ArgumentSubject) or subject.key is None:
                return []
            key, file = subject.key, self._path
            recipe = self._recipe(project)
            if recipe is None:
                file = Path(key.place.path)
                dialect = dialect_of(file, project.files.read(file) or b"", project)
                recipe = None if dialect is None else recipe_in(file, dialect, project)
            own = [key.place] if with_definition else []
            found = [] if recipe is None else list(tree_of(recipe, project).leading_to(key.path))
            return [*own, *found, *reads_of(file, key.path, project)]

        return self._locations(self._ask(find))

    def symbols(self) -> list[types.DocumentSymbol]:
        """The keys of a configuration; none of other files."""

        def find(project: Project) -> list[types.DocumentSymbol]:
            recipe = self._recipe(project)
            return [] if recipe is None else list(map(self._symbol, keys_of(recipe)))

        return self._ask(find)

    def _symbol(self, key: OutlinedKey) -> types.DocumentSymbol:
        path = self._path.as_posix()
        kind = types.SymbolKind.Class if key.target else _SYMBOLS[key.kind]
        return types.DocumentSymbol(
            key.name,
            kind,
            self._converter.range_of(path, key.whole),
            self._converter.range_of(path, key.span),
            detail=key.target or None,
            children=list(map(self._symbol, key.below)),
        )

    def links(self) -> list[types.DocumentLink]:
        """The places of a configuration that name files; none of other files."""

        def find(project: Project) -> list[types.DocumentLink]:
            recipe = self._recipe(project)
            found = [] if recipe is None else files_named(recipe, project)
            path, converter = self._path.as_posix(), self._converter
            return [types.DocumentLink(converter.range_of(path, span), converter.uri(file)) for span, file in found]

        return self._ask(find)

    def values(self) -> list[tuple[Span, str]]:
        """The references of a configuration, each with its value; none of other files."""

        def find(project: Project) -> list[tuple[Span, str]]:
            recipe = self._recipe(project)
            return [] if recipe is None else values_of(recipe, project)

        return self._ask(find)

    def hints(self, wanted: types.Range) -> list[types.InlayHint]:
        """The values of the references in a range, each behind its reference."""
        path, first, last = self._path.as_posix(), wanted.start.line, wanted.end.line
        found = [one for one in self.values() if first <= one[0].end_line - 1 <= last]
        ends = ((self._converter.range_of(path, span).end, words) for span, words in found)
        return [types.InlayHint(end, f"= {words}", padding_left=True) for end, words in ends]

    def hover(self, position: types.Position) -> tuple[str, types.Range] | None:
        """The text about what is at a position, and its range; None if there is none."""

        def find(project: Project) -> tuple[str, types.Range] | None:
            subject = self._subject(position, project)
            text = None if subject is None else text_about(subject, project)
            if subject is None or text is None:
                return None
            return text, self._converter.range_of(self._path.as_posix(), subject.span)

        return self._ask(find)

    def _ask(self, question: Callable[[Project], T]) -> T:
        """The answer of the project, with a valid text of the document if it has none now."""
        if kind_of(self._path.name) == YAML:
            valid = self._valid
            if valid is not None:
                project = self._session.beside(self._path, valid.encode("utf-8", "surrogatepass"))
                return question(project)
        return self._session.ask(question)

    @property
    def _valid(self) -> str | None:
        """The text with the lines emptied that are no YAML; None if it is valid as it is, or nothing helps."""
        lines = self._lines
        valid = valid_text(lines)
        return None if valid == "\n".join(lines) else valid

    def _recipe(self, project: Project) -> Recipe | None:
        if kind_of(self._path.name) != YAML:
            return None
        data = project.files.read(self._path)
        dialect = None if data is None else dialect_of(self._path, data, project)
        return None if dialect is None else recipe_in(self._path, dialect, project)

    def _subject(self, position: types.Position, project: Project) -> Subject | None:
        line, column = self._converter.column(self._path.as_posix(), position)
        kind = kind_of(self._path.name)
        if kind == PYTHON:
            found = subject_in_script(self._path, line + 1, column + 1, project)
            return found or registered_subject_at(self._path, line + 1, column + 1, project)
        recipe = self._recipe(project)
        if recipe is None:
            return registered_subject_at(self._path, line + 1, column + 1, project)
        return subject_at(recipe, line + 1, column + 1, project)

    def _locations(self, places: list[Place]) -> list[types.Location]:
        return list(self._unique(self._converter.location(place) for place in places))

    @staticmethod
    def _unique(locations: Iterator[types.Location]) -> Iterator[types.Location]:
        seen: set[str] = set()
        for one in locations:
            if repr(one) not in seen:
                seen.add(repr(one))
                yield one
