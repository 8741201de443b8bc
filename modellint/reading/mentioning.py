"""Search for the Python files below a folder that mention words: uses of a name by other files depend on this alone.

A few words are searched for in the contents. For many words an index of all words costs less.
"""

from __future__ import annotations

import re
from array import array
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from modellint.graph.mentions import APART
from modellint.reading.digest import digest

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence


#: The prefix of the key of a dependency on an answer; the folder and the words follow.
MENTIONS = "mentions:"
#: Projects with more files than this are not searched.
MAX_FILES = 4_000
#: The number of searches that take as long as an index.
_MAX_SEARCHES = 64
#: An assignment to `self`, or to a name that ends like it.
_REBOUND = re.compile(rb"self\s*=(?!=)")
#: Two patterns rather than one: each begins with a literal, for which the search is fast.
_DEFINED = [(word, re.compile(word + rb"[ \t]+([\w\x80-\xff]+)")) for word in (b"class", b"def")]
#: The name of a class whose bases stand in parentheses, and what comes before these.
_DERIVED = re.compile(rb"class[ \t]+[\w\x80-\xff]+\s*(?:\[[^\n(]*\]\s*)?\(")
#: A base of a class, without what it stands in.
_BASE_NAME = re.compile(rb"([\w\x80-\xff]+)\s*(?=[,\[#]|$)")
#: What follows a name that an assignment binds.
_ASSIGNED = re.compile(rb"[ \t]*(?::[^=\n()]*)?=(?!=)")
_PARENTHESIS = re.compile(rb"[()]")
#: The most characters that are searched for the end of the bases of a class.
_MAX_BASES = 2_000
#: Prefixes of words: an attribute of another object than `self`, a quoted text, and a base of a class.
_OF, _QUOTED, _BASE = b". ", b"' ", b"base "
#: The word of files with a class whose bases may be any class that they mention.
_ANY_BASE = b"base ?"
#: Folders of installed code.
_OF_OTHERS = frozenset(("node_modules", "site-packages", "__pycache__"))


class SearchedFiles(Protocol):
    """The files that words are looked for in: `Files`, as far as that takes it."""

    def fingerprint(self, key: str) -> str: ...

    def is_dir(self, path: Path) -> bool: ...

    def listdir(self, path: Path) -> list[str]: ...

    def peek(self, path: Path) -> bytes | None: ...


class Mentions:
    """The files below a folder that mention a word.

    `class Name` and `def name` are words, too, for who defines them, `base Name` for who may derive a class from it,
    `. name` for who speaks of the attribute of anything but `self`, and `' name` for who has it in quotes.
    """

    def __init__(self, files: SearchedFiles, root: Path) -> None:
        self._files = files
        self._root = root
        self._answers: dict[tuple[str, ...], tuple[Path, ...]] = {}
        self._begin()

    def _begin(self) -> None:
        paths = found_below(self._files, self._root, (".py",))
        #: True if there are few enough files to search.
        self.is_whole = len(paths) <= MAX_FILES
        self._paths = tuple(paths) if self.is_whole else ()
        #: The contents of files, until there is an index.
        self._contents: dict[Path, bytes] = {}
        #: By name: the files whose contents have it anywhere.
        self._holding: dict[bytes, list[Path]] = {}
        #: By word: the numbers of the files that mention it.
        self._index: dict[bytes, array[int]] = {}
        #: The number of files that were searched.
        self._searches = 0
        self._state = ""

    @property
    def state(self) -> str:
        """A hash of the contents of all files: while it is the same, all answers are."""
        if not self._state:
            keys = [f"file:{path.as_posix()}" for path in self._paths]
            prints = (part for key in keys for part in (key, self._files.fingerprint(key)))
            self._state = digest("\0".join(prints).encode("utf-8", "surrogatepass"))
        return self._state

    def of(self, words: tuple[str, ...]) -> tuple[Path, ...]:
        """The files that mention all of some words."""
        found = self._answers.get(words)
        if found is None:
            found = self._answers[words] = tuple(self._find([word.encode() for word in words]))
        return found

    def update(self, path: Path) -> set[tuple[str, ...]]:
        """Look at a file or folder again; gives the words whose answer has changed."""
        if self._root not in path.parents or not (path.suffix == ".py" or self._is_folder(path)):
            return set()
        content, before = self._files.peek(path), self._answers
        if content is not None and path in self._paths:
            changed = {words for words, paths in before.items() if (path in paths) is not mentions(content, words)}
            self._answers = {words: paths for words, paths in before.items() if words not in changed}
            self._contents, self._holding, self._index, self._searches, self._state = {}, {}, {}, 0, ""
            return changed
        if content is None and path.suffix == ".py" and path not in self._paths:
            return set()
        self._answers = {}
        self._begin()
        return {words for words, paths in before.items() if self.of(words) != paths}

    def _is_folder(self, path: Path) -> bool:
        """True if a path is a folder that has, or had, files to search."""
        start = f"{path.as_posix()}/"
        return any(known.as_posix().startswith(start) for known in self._paths) or self._files.is_dir(path)

    def _find(self, words: list[bytes]) -> Iterable[Path]:
        if not self._index:
            self._contents = self._contents or {path: self._files.peek(path) or b"" for path in self._paths}
            if self._searches < _MAX_SEARCHES * len(self._paths):
                holding = self._holders(words[0].rpartition(b" ")[2]) if words else self._paths
                self._searches += len(holding)
                return [path for path in holding if all(_has(self._contents[path], word) for word in words)]
            self._index, self._contents, self._holding = _build_index(self._contents.values()), {}, {}
        first, *rest = sorted(map(self._indexed, words), key=len)
        paths = [self._paths[number] for number in sorted(set(first).intersection(*rest))]
        looked_for = [word for word in words if word.startswith((_OF, _QUOTED))]
        if not looked_for:
            return paths
        contents = ((path, self._files.peek(path) or b"") for path in paths)
        return [path for path, content in contents if all(_has(content, word) for word in looked_for)]

    def _indexed(self, word: bytes) -> Collection[int]:
        """The numbers of the files that mention a word; for an attribute or a quoted text, of those with its name."""
        if not word.startswith(_BASE):
            return self._index.get(word.removeprefix(_OF).removeprefix(_QUOTED), ())
        named = set(self._index.get(word.removeprefix(_BASE), ()))
        return named.intersection([*self._index.get(word, ()), *self._index.get(_ANY_BASE, ())])

    def _holders(self, name: bytes) -> Sequence[Path]:
        """The files whose contents have a name anywhere, narrowed by an earlier search for a part of it."""
        found = self._holding.get(name)
        if found is None:
            wider = [paths for part, paths in self._holding.items() if part in name]
            files = min(wider, key=len, default=self._paths)
            self._searches += len(files)
            found = self._holding[name] = [path for path in files if name in self._contents[path]]
        return found


def key_of(root: Path, words: Iterable[str]) -> str:
    """The key of a dependency on which files below a folder mention words."""
    return "\0".join((f"{MENTIONS}{root.as_posix()}", *words))


def asked_by(key: str) -> tuple[Path, tuple[str, ...]]:
    """The folder and the words of such a key."""
    root, *words = key.removeprefix(MENTIONS).split("\0")
    return Path(root), tuple(words)


class Changed:
    """Files that have changed; `contents` gives the content of each before and now."""

    def __init__(self, contents: Callable[[], Mapping[Path, tuple[bytes, bytes]]]) -> None:
        self._contents = contents
        self._known: dict[str, bool] = {}

    def concerns(self, key: str) -> bool:
        """True if the answer of a key differs because of these changes."""
        if not key.startswith(MENTIONS):
            return False
        if key not in self._known:
            root, words = asked_by(key)
            self._known[key] = any(
                mentions(before, words) is not mentions(now, words)
                for path, (before, now) in self._contents().items()
                if root in path.parents and path.suffix == ".py"
            )
        return self._known[key]


def mentions(content: bytes, words: Iterable[str]) -> bool:
    """True if a content mentions all words."""
    return all(_has(content, word.encode()) for word in words)


def _has(content: bytes, word: bytes) -> bool:
    before, _, name = word.rpartition(b" ")
    if before and name not in content:
        return False
    if word.startswith(_QUOTED):
        return any(quote + name + quote in content for quote in (b"'", b'"'))
    if word.startswith(_OF):
        is_own = False
        for dot in _dots(content, name):
            if not _is_self(content, dot):
                return True
            is_own = True
        return is_own and any(_begins(content, found.start()) for found in _REBOUND.finditer(content))
    if before and word.startswith(_BASE):
        return not {word, _ANY_BASE}.isdisjoint(_bases(content)) and next(_places(content, name), None) is not None
    if before:
        return any(_is_defined(content, before, at) for at in _places(content, name))
    return next(_places(content, word), None) is not None


def _places(content: bytes, name: bytes) -> Iterator[int]:
    """Where a word begins."""
    at = content.find(name)
    while at >= 0:
        around = content[max(at - 1, 0) : at] + content[at + len(name) : at + len(name) + 1]
        if not around.translate(APART).strip():
            yield at
        at = content.find(name, at + 1)


def _is_defined(content: bytes, keyword: bytes, at: int) -> bool:
    """True if `class` or `def` precedes a name."""
    end = at
    while content[end - 1 : end] in (b" ", b"\t"):
        end -= 1
    start = end - len(keyword)
    is_keyword = end < at and start >= 0 and content[start:end] == keyword
    return is_keyword and _begins(content, start)


def _begins(content: bytes, at: int) -> bool:
    """True if a word begins at a position, rather than continues."""
    return not content[max(at - 1, 0) : at].translate(APART).strip()


def _dots(content: bytes, name: bytes) -> Iterator[int]:
    """Where the dots before the attributes of a name are."""
    for at in _places(content, name):
        while at > 0 and content[at - 1 : at].isspace():
            at -= 1
        if content[at - 1 : at] == b".":
            yield at - 1


def _is_self(content: bytes, dot: int) -> bool:
    """True if a dot follows `self`."""
    return content[max(dot - 4, 0) : dot] == b"self" and _begins(content, dot - 4)


def _build_index(contents: Iterable[bytes]) -> dict[bytes, array[int]]:
    index: dict[bytes, array[int]] = {}
    for number, content in enumerate(contents):
        for word in {*content.translate(APART).split(), *_definitions(content), *_bases(content)}:
            numbers = index.get(word)
            if numbers is None:
                index[word] = array("H", (number,))
            else:
                numbers.append(number)
    return index


def _definitions(content: bytes) -> Iterator[bytes]:
    """`class Name` and `def name` for what is defined."""
    for word, pattern in _DEFINED:
        for found in pattern.finditer(content):
            if _begins(content, found.start()):
                yield b"%b %b" % (word, found[1])


def _bases(content: bytes) -> Iterator[bytes]:
    """`base Name` for the bases of classes; `base ?` where one is made by a call, or bound to another name here."""
    seen: set[bytes] = set()
    for found in _DERIVED.finditer(content):
        if not _begins(content, found.start()):
            continue
        bases = _in_parentheses(content, found.end())
        names = [] if bases is None else _BASE_NAME.findall(bases)
        if bases is None or b"(" in bases or any(_is_bound(content, name) for name in names if name not in seen):
            yield _ANY_BASE
        yield from (_BASE + name for name in names)
        seen.update(names)


def _is_bound(content: bytes, name: bytes) -> bool:
    """True if an import or an assignment binds a name to something of another name."""
    places = _places(content, name)
    return any(content.endswith(b" as ", 0, at) or _ASSIGNED.match(content, at + len(name)) for at in places)


def _in_parentheses(content: bytes, start: int) -> bytes | None:
    """The text from a position to the parenthesis that closes the one before it; None if it is too far away."""
    depth = 1
    for found in _PARENTHESIS.finditer(content, start, start + _MAX_BASES):
        depth += 1 if found[0] == b"(" else -1
        if not depth:
            return content[start : found.start()]
    return None


def found_below(files: SearchedFiles, root: Path, suffixes: tuple[str, ...]) -> list[Path]:
    """The files below a folder, environments and hidden folders left out; if there are too many, not all of them."""
    found: list[Path] = []
    folders = [root]
    for folder in folders:
        names = files.listdir(folder)
        if "pyvenv.cfg" in names:
            continue
        found += [folder / name for name in names if name.endswith(suffixes)]
        if len(found) > MAX_FILES:
            return found
        rest = (name for name in names if not name.startswith(".") and not name.endswith(".py"))
        folders += [folder / name for name in rest if name not in _OF_OTHERS and files.is_dir(folder / name)]
    return found
