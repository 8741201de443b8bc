"""Answers about files from earlier runs, each valid while all its dependencies are unchanged.

Stored are answers to questions about a function, a class or a file: names and numbers, and definitions,
which are found again by their places. An answer is stored beside the outline of its file, with the
fingerprints of its dependencies. One whose fingerprints or definitions no longer fit is computed anew.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from modellint.graph.immutable import dataclass
from modellint.graph.python import Class, Function, ModuleFacts
from modellint.reading.mentioning import MENTIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable

    from modellint.link.portable import Anchors, Shelf, Shelves
    from modellint.reading.files import Files, Trace

_PLAIN = (str, int, bool, type(None))
_SEVERAL = {"frozenset": frozenset, "set": set, "tuple": tuple, "list": list}


@dataclass(frozen=True, slots=True)
class Form:
    """The type of an answer, the types of its elements, and those of a dictionary's values."""

    kind: type
    parts: tuple[type, ...] = ()
    values: tuple[type, ...] = ()

    def fits(self, answer: object) -> bool:
        if type(answer) is not self.kind:
            return False
        if isinstance(answer, dict) and not all(isinstance(value, self.values) for value in answer.values()):
            return False
        return not self.parts or all(isinstance(part, self.parts) for part in cast("Iterable[object]", answer))


FLAG, NAMES, FUNCTIONS = Form(bool), Form(frozenset, (str,)), Form(tuple, (Function,))


class _UnkeptError(Exception):
    """A value that cannot be stored, or that is no stored answer."""


class RememberedAnswers:
    """The stored answers about the files of a project."""

    def __init__(self, files: Files, shelves: Shelves, python: Callable[[Path], ModuleFacts | None]) -> None:
        """`python` reads a file; `shelves` have what is kept about it."""
        self._files = files
        self._shelves = shelves
        self._python = python
        #: Types that answers may contain, by their names.
        self._types: dict[str, type] = {}
        self._known: dict[ModuleFacts, _Answers] = {}
        self._new: dict[ModuleFacts, dict[Hashable, tuple[Any, Trace]]] = {}
        #: The files with new answers since the last `save`.
        self._unsaved: set[ModuleFacts] = set()
        self._holds: dict[tuple[str, str], bool] = {}
        self._missing: set[Hashable] = set()
        self._fingerprints: dict[str, str | None] = {}

    def speaks_of(self, types: Iterable[type]) -> None:
        """Register types that answers may contain, with instances of those that are dataclasses."""
        self._types.update((each.__name__, each) for each in types)

    def get(self, key: Hashable, form: Form) -> tuple[Any, Trace] | None:
        """The answer to a question, and its dependencies; None if none is stored, or a dependency has changed."""
        if key in self._missing:
            return None
        found = None
        with suppress(_UnkeptError, TypeError, ValueError, KeyError, IndexError, AttributeError):
            home, words = self._question(key)
            new = self._new.get(home, {}).get(key)
            if new is not None:
                return new
            answers = self._known.get(home)
            if answers is None:
                answers = self._known[home] = self._read(home)
            found = answers.get(words, self)
        if found is None or not form.fits(found[0]):
            self._missing.add(key)
            return None
        return found

    def put(self, key: Hashable, answer: tuple[Any, Trace]) -> None:
        """Store an answer with its dependencies."""
        try:
            home, _ = self._question(key)
        except _UnkeptError:
            return
        self._new.setdefault(home, {})[key] = answer
        self._unsaved.add(home)

    def save(self) -> None:
        """Write the new answers."""
        self._fingerprints.clear()
        for home in self._unsaved:
            new, shelf = self._new.get(home), self._shelves.of(home.file)
            if new and shelf.index.is_on_disk and not self._files.is_overlaid(home.file):
                answers = self._read(home)  # to which another process may have added
                answers.add(((self._question(key)[1], answer, trace) for key, (answer, trace) in new.items()), self)
                name, *about = self._about(home, shelf)
                shelf.index.put("answers", name, answers.as_json(), *about)
        self._unsaved.clear()

    def keep(self, keys: set[str]) -> None:
        """Forget the answers that depend on anything but `keys`."""
        self._new = {
            home: {key: answer for key, answer in new.items() if keys.issuperset(answer[1])}
            for home, new in self._new.items()
            if f"file:{home.path}" in keys
        }
        self._known = {home: known for home, known in self._known.items() if f"file:{home.path}" in keys}

    def forget(self, keys: set[str]) -> None:
        """Forget the answers that depend on any of `keys`, and check the others' dependencies again."""
        self._known = {home: known for home, known in self._known.items() if f"file:{home.path}" not in keys}
        for known in self._known.values():
            known.forget()
        self._new = {
            home: {key: answer for key, answer in new.items() if keys.isdisjoint(answer[1])}
            for home, new in self._new.items()
            if f"file:{home.path}" not in keys
        }
        self._unsaved &= self._new.keys()
        self._holds = {pair: holds for pair, holds in self._holds.items() if pair[0] not in keys}
        self._missing.clear()

    def _about(self, home: ModuleFacts, shelf: Shelf) -> tuple[str, str, str]:
        return shelf.anchors.name(home.path), self._files.fingerprint(f"file:{home.path}"), shelf.circumstances

    def _read(self, home: ModuleFacts) -> _Answers:
        shelf = self._shelves.of(home.file)
        answers = _Answers(shelf)
        known = shelf.index.get("answers", *self._about(home, shelf))
        if known is not None:
            with suppress(TypeError, ValueError):
                answers.read(known)
        return answers

    def holds(self, pair: tuple[str, str]) -> bool:
        """True if the (key, fingerprint) of a dependency still holds."""
        found = self._holds.get(pair)
        if found is None:
            found = self._holds[pair] = self._files.holds(*pair)
        return found

    def fingerprint(self, key: str) -> str:
        """The current fingerprint of a dependency. Raises _UnkeptError if it takes long, or is not on disk."""
        if key not in self._fingerprints:
            kind, _, name = key.partition(":")
            is_long = key.startswith(MENTIONS) or kind == "is-searched"
            is_told = is_long or self._files.is_overlaid(Path(name))
            self._fingerprints[key] = None if is_told else self._files.fingerprint(key)
        found = self._fingerprints[key]
        if found is None:
            raise _UnkeptError
        return found

    # -- questions and answers as plain data -------------------------------------------------------------------------

    def _question(self, key: Hashable) -> tuple[ModuleFacts, str]:
        """The file that a question is about, and the question as text. Raises _UnkeptError."""
        homes: list[ModuleFacts] = []
        words = _question_text(key, homes)
        if not homes or any(home is not homes[0] for home in homes):
            raise _UnkeptError
        return homes[0], words

    def encoded(self, value: Any, anchors: Anchors) -> Any:
        """Plain data for a part of an answer, with files named by `anchors`. Raises _UnkeptError."""
        if isinstance(value, _PLAIN):
            return value
        if isinstance(value, ModuleFacts):
            return ["module", anchors.name(value.path)]
        if isinstance(value, Class) and value.module.classes.get(value.qualname) is value:
            return ["class", anchors.name(value.module.path), value.qualname]
        if isinstance(value, Function) and value.module.placed.get((value.line, value.offset)) is value:
            return ["function", anchors.name(value.module.path), value.line, value.offset]
        kind = type(value).__name__
        if isinstance(value, dict):
            return [kind, *([self.encoded(key, anchors), self.encoded(part, anchors)] for key, part in value.items())]
        if kind in _SEVERAL:
            return [kind, *(self.encoded(part, anchors) for part in value)]
        if isinstance(value, type) and self._types.get(value.__name__) is value:
            return ["type", value.__name__]
        if self._types.get(kind) is type(value) and is_dataclass(value):
            return ["instance", kind, *(self.encoded(getattr(value, field.name), anchors) for field in fields(value))]
        raise _UnkeptError

    def decoded(self, data: Any, anchors: Anchors) -> Any:
        """The value that `encoded` turned into `data`. Raises _UnkeptError, or other errors for foreign data."""
        if isinstance(data, _PLAIN):
            return data
        kind, *rest = data
        if kind in _SEVERAL:
            return _SEVERAL[kind](self.decoded(part, anchors) for part in rest)
        if kind == "dict":
            return {self.decoded(key, anchors): self.decoded(part, anchors) for key, part in rest}
        if kind == "type":
            return self._types[rest[0]]
        if kind == "instance":
            return _instance(self._types[rest[0]], [self.decoded(part, anchors) for part in rest[1:]])
        module = self._python(Path(anchors.path(rest[0])))
        if module is None:
            raise _UnkeptError
        if kind == "module":
            return module
        if kind == "class":
            return module.classes[rest[1]]
        if kind == "function":
            return module.placed[rest[1], rest[2]]
        raise _UnkeptError


def _instance(cls: type, values: list[Any]) -> Any:
    """An instance of a dataclass. Raises ValueError for fields that it does not have."""
    for field, value in zip(fields(cls), values, strict=True):
        names = str(field.type).split(" | ")
        if type(value).__name__ not in names and not ("type" in names and isinstance(value, type)):
            raise ValueError(f"no {field.type}: {value!r}")
    return cls(*values)


class _Answers:
    """The stored answers of one file: fingerprints, dependencies as lists of their numbers, and answers."""

    def __init__(self, shelf: Shelf) -> None:
        self._anchors = shelf.anchors
        #: The dependencies of each answer that are not written: they are those of the anchors.
        self._given = shelf.given
        #: The dependencies, by portable key, with their fingerprints.
        self._pairs: list[tuple[str, str]] = []
        self._traces: list[tuple[int, ...]] = []
        #: By the text of the question: the number of its trace, and the answer as plain data.
        self._answers: dict[str, tuple[int, Any]] = {}
        #: The dependencies by number of the trace; None if one has changed.
        self._resting: dict[int, Trace | None] = {}

    def read(self, known: Any) -> None:
        """Load data of `as_json`. Raises TypeError or ValueError for any other data."""
        pairs, traces, answers = known
        pairs = [(_text(key), _text(value)) for key, value in pairs]
        traces = [tuple(_number(number, len(pairs)) for number in numbers) for numbers in traces]
        found = {words: (_number(number, len(traces)), data) for words, (number, data) in _items(answers)}
        self._pairs, self._traces, self._answers = pairs, traces, found

    def get(self, words: str, kept: RememberedAnswers) -> tuple[Any, Trace] | None:
        found = self._answers.get(words)
        if found is None:
            return None
        number, data = found
        trace = self._trace(number, kept)
        return None if trace is None else (kept.decoded(data, self._anchors), trace)

    def _trace(self, number: int, kept: RememberedAnswers) -> Trace | None:
        if number not in self._resting:
            self._resting[number] = self._find_trace(number, kept)
        return self._resting[number]

    def _find_trace(self, number: int, kept: RememberedAnswers) -> Trace | None:
        """The dependencies of a number; None if one has changed, or is a file that has another name in this project."""
        found = [self._pairs[at] for at in self._traces[number]]
        try:
            pairs = [(self._anchors.dependency(key), fingerprint) for key, fingerprint in found]
        except ValueError:
            return None
        keys = dict.fromkeys((*(key for key, _ in pairs), *self._given))
        return tuple(keys) if all(map(kept.holds, pairs)) else None

    def forget(self) -> None:
        """Check the dependencies again at the next question."""
        self._resting.clear()

    def add(self, new: Iterable[tuple[str, Any, Trace]], kept: RememberedAnswers) -> None:
        """Add answers, each with question and dependencies, and drop those whose dependencies have changed."""
        answers = {words: found for words, found in self._answers.items() if self._trace(found[0], kept) is not None}
        pairs = {pair: at for at, pair in enumerate(self._pairs)}
        traces = {numbers: at for at, numbers in enumerate(self._traces)}
        known: dict[int, int] = {}
        given = frozenset(self._given)
        for words, answer, trace in new:
            with suppress(_UnkeptError):
                data = kept.encoded(answer, self._anchors)
                if id(trace) not in known:
                    written = (key for key in trace if key not in given)
                    prints = [(self._anchors.key(key), kept.fingerprint(key)) for key in written]
                    numbers = tuple(sorted(pairs.setdefault(pair, len(pairs)) for pair in prints))
                    known[id(trace)] = traces.setdefault(numbers, len(traces))
                answers[words] = known[id(trace)], data
        self._pairs, self._traces, self._answers = list(pairs), list(traces), answers

    def as_json(self) -> list[Any]:
        """The stored answers as plain data."""
        return [self._pairs, self._traces, self._answers]


def _text(value: Any) -> str:
    if type(value) is not str:
        raise TypeError(f"expected a string, not {value!r}")
    return value


def _number(value: Any, end: int) -> int:
    if type(value) is not int or not 0 <= value < end:
        raise TypeError(f"expected a number below {end}, not {value!r}")
    return value


def _items(value: Any) -> Iterable[tuple[str, Any]]:
    if type(value) is not dict:
        raise TypeError(f"expected a dictionary, not {value!r}")
    return value.items()


def _question_text(part: Any, homes: list[ModuleFacts]) -> str:
    """The text of a part of a question; the files that it is about are added to `homes`."""
    if isinstance(part, _PLAIN):
        return repr(part)
    if isinstance(part, tuple):
        return f"({', '.join([_question_text(one, homes) for one in part])})"
    if isinstance(part, frozenset):
        return f"any of {sorted(map(str, part))}"
    if isinstance(part, ModuleFacts):
        homes.append(part)
        return "file"
    if isinstance(part, Function):
        homes.append(part.module)
        return f"function {part.line}:{part.offset}"
    if isinstance(part, Class):
        homes.append(part.module)
        return f"class {part.qualname} {part.line}"
    if callable(part):
        return f"asking {part.__name__}"
    raise _UnkeptError
