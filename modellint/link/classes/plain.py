"""Where a file may keep layers or parameters in plain lists, tuples, sets and dicts, judged by its text alone.

Constructing an object on paper costs far more than reading, and correct code keeps few layers in plain containers. A
text tells which attributes are worth the cost.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from modellint.link.names import DefinedFunction

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.link.project import Project

_BUILDERS = r"(?:collections\.)?(?:dict|list|tuple|set|OrderedDict|defaultdict|deque)\("
#: An attribute that gets a container written out, a name, what a function gives, or one of those under a condition.
_GETS = re.compile(
    r"self\.(\w+)(?:: [^=\n]+)? ?= ?"
    r"(?:([\[({])|(self\.|collections\.)?([A-Za-z_]\w*)(\(|[ \t]*(?:#|\r?\n))|[^\n]*? (?:else|or) (?=[\[({]))"
)
_CONTAINERS = frozenset("dict list tuple set OrderedDict defaultdict deque".split())
_STORED = re.compile(r"[ \t]*self\.(\w+)(?:\s*:[^=\n]+)?\s*=[^=]")
_LOCAL = re.compile(rf"= ?(?=[\[({{]|{_BUILDERS})")
_ENDS_WITH_COMMA = re.compile(r"\),[ \t]*(?=#|\r?\n)")
_BRACKET = re.compile(r"[\[\](){}]")
_CALLED = re.compile(r"(?:^|[^\w.])((?:\w+\.)*\w+)\(")
_NAMED = re.compile(r"(?<![\w.\"'])[a-z_]\w*(?![\w(\"'.])")
_RETURNED = re.compile(r"return ([\[({]|\w+)")
#: What functions that make layers are called, where they cannot be looked at.
_MAKES_LAYERS = re.compile(
    r"layer|norm|conv|linear|proj|head|block|module|build|make|create|get|clone|stage", re.IGNORECASE
)
_CAPITAL = re.compile(r"_?[A-Z]")
_NO_LAYERS = ("Error", "Exception", "Warning", "Config")
_MODULES_OF_NUMBERS = ("math.", "np.", "numpy.", "os.", "re.", "itertools.", "random.")
_ADDERS = (".append(", ".extend(", ".insert(", ".update(", ".add(", ".setdefault(", " += [")
_CALL = re.compile(r"((?:\w+\.)*\w+)\(")


def suspects(module: ModuleFacts, project: Project) -> dict[Class, set[str]]:
    """The attributes of each class that its text may fill with a plain container of layers or parameters."""
    return _Text(module, project).suspects()


def closing(text: str, start: int) -> int:
    """Behind the bracket that closes the first one from `start` on."""
    depth = 0
    for match in _BRACKET.finditer(text, start, start + 4000):
        depth += 1 if match[0] in "[({" else -1
        if depth == 0:
            return match.end()
    return len(text)


class _Text:
    """One file's text, and what has been looked up in it."""

    def __init__(self, module: ModuleFacts, project: Project) -> None:
        self.module = module
        self.project = project
        self.text = module.source.text
        self.known: dict[str, bool] = {}

    def suspects(self) -> dict[Class, set[str]]:
        found = set(_with_comma(self.text))
        named: list[tuple[int, str, str]] = []
        made: list[tuple[int, str, str | None, str]] = []
        for match in _GETS.finditer(self.text):
            start, attribute, bracket, receiver, name, behind = match.start(), *match.groups()
            if bracket is not None or name is None or (name in _CONTAINERS and behind == "("):
                at = match.start(2) if bracket is not None else match.start(4) if name is not None else match.end()
                if self.may_hold_layers(at, attribute):
                    found.add((start, attribute))
            elif behind != "(" and receiver is None:
                named.append((start, attribute, name))
            elif behind == "(" and receiver != "collections." and not name[0].isupper():
                made.append((start, attribute, receiver, name))
        found.update(self.from_names(named))
        found.update(self.from_calls(made))
        by_class: dict[Class, set[str]] = {}
        for cls, name in self.owners(found):
            by_class.setdefault(cls, set()).add(name)
        return by_class

    def owners(self, names: set[tuple[int, str]]) -> Iterator[tuple[Class, str]]:
        """The class in whose text each position lies, the innermost."""
        if not names:
            return
        classes = sorted(self.module.classes.values(), key=lambda cls: cls.line)
        line, at = 1, 0
        for start, name in sorted(names):
            line += self.text.count("\n", at, start)
            at = start
            inside = [cls for cls in classes if cls.line <= line <= cls.end_line]
            if inside:
                yield inside[-1], name

    # -- containers ------------------------------------------------------------------------------------------------

    def may_hold_layers(self, start: int, name: str) -> bool:
        """Whether a container that begins at `start` may hold what is built there, or what is put into `name` later."""
        text = self.text
        end = closing(text, start)
        body = text[start:end]
        if text[start] == "(" and not _is_tuple(body, text[end : end + 80]):
            return False
        inside = body.partition(body[0] if body[0] in "[({" else "(")[2].rstrip("])} \n")
        return self.builds(inside) if inside else any(map(self.builds, self.fills(name)))

    def fills(self, name: str) -> Iterator[str]:
        """What is put into the containers of that name."""
        text = self.text
        for adder in _ADDERS:
            at = text.find(f"{name}{adder}")
            while at >= 0:
                start = at + len(name) + len(adder)
                yield text[start : closing(text, start - 1)]
                at = text.find(f"{name}{adder}", start)
        at = text.find(f"{name}[")
        while at >= 0:
            end = text.find("\n", at)
            _, is_set, value = text[at:end].partition("] = ")
            if is_set:
                yield value
            at = text.find(f"{name}[", at + 1)

    def builds(self, expression: str) -> bool:
        """Whether layers may be made in an expression, or stand in it under names that were given to them."""
        if any(map(self.is_builder, _CALLED.findall(expression))):
            return True
        return "self." not in expression and any(map(self.is_given_a_layer, dict.fromkeys(_NAMED.findall(expression))))

    def is_given_a_layer(self, name: str) -> bool:
        """Whether a local name gets what may be a layer."""
        at = self.text.find(f"{name} = ")
        while at >= 0:
            call = _CALL.match(self.text, at + len(name) + len(" = "))
            if call is not None and self.is_builder(call[1]):
                return True
            at = self.text.find(f"{name} = ", at + 1)
        return False

    def is_builder(self, called: str) -> bool:
        """Whether a called name may be a layer, or a function that makes one."""
        known = self.known.get(called)
        if known is None:
            known = self.known[called] = self._is_builder(called)
        return known

    def _is_builder(self, called: str) -> bool:
        receiver, _, last = called.rpartition(".")
        if last[:1].isupper() or last[1:2].isupper():
            return not last.endswith(_NO_LAYERS) and not called.startswith(_MODULES_OF_NUMBERS)
        if last == "deepcopy":
            return True
        if called in self.module.functions:
            return _makes_something(self.module.functions[called])
        return (receiver == "self" or called in self.module.imports) and _MAKES_LAYERS.search(last) is not None

    # -- ways into attributes --------------------------------------------------------------------------------------

    def from_names(self, stores: list[tuple[int, str, str]]) -> Iterator[tuple[int, str]]:
        """Attributes that get a local name which may stand for a container of layers."""
        wanted = {name for _, _, name in stores}
        found: set[str] = set()
        for match in _LOCAL.finditer(self.text) if wanted else ():
            line = self.text.rfind("\n", 0, match.start()) + 1
            name = self.text[line : match.start()].partition(":")[0].strip()
            if name in wanted and name not in found and self.may_hold_layers(match.end(), name):
                found.add(name)
        for start, attribute, local in stores:
            if local in found:
                yield start, attribute

    def from_calls(self, made: list[tuple[int, str, str | None, str]]) -> Iterator[tuple[int, str]]:
        """Attributes that a function may fill with a container of layers."""
        if not made:
            return
        own: dict[str, list[Function]] = {}
        for function in self.module.all_functions():
            own.setdefault(function.name, []).append(function)
        returning: dict[str, bool] = {}
        for start, attribute, receiver, name in made:
            if name in own and name not in returning:
                returning[name] = any(map(_returns_container, own[name]))
            is_container = returning.get(name)
            if is_container is None:
                is_container = any(map(_returns_container, self.elsewhere(start, attribute, receiver, name)))
            if is_container:
                yield start, attribute

    def elsewhere(self, start: int, attribute: str, receiver: str | None, name: str) -> Iterator[Function]:
        """A function that is imported, or a method of a base in another file."""
        if not _MAKES_LAYERS.search(name):
            return
        if receiver is None:
            target = self.module.imports.get(name)
            if target is not None and not target.startswith("torch"):
                found = self.project.names.resolve(self.module, name)
                if isinstance(found, DefinedFunction):
                    yield found.function
        else:
            for cls, _ in self.owners({(start, attribute)}):
                method = self.project.classes.model(cls).method(name)
                if method is not None:
                    yield method


def _makes_something(function: Function) -> bool:
    return any(
        _CAPITAL.match(called.rpartition(".")[2]) and not called.endswith(_NO_LAYERS)
        for called in _CALLED.findall(function.text)
    )


def _is_tuple(body: str, behind: str) -> bool:
    """Whether parentheses hold a tuple: a comma stands directly in them."""
    depth = 0
    for match in re.finditer(r"[\[\](){},]", body):
        if match[0] in "[({":
            depth += 1
        elif match[0] in "])}":
            depth -= 1
        elif depth == 1:
            return True
    return behind.lstrip(" \t").startswith(",")


def _with_comma(text: str) -> Iterator[tuple[int, str]]:
    """Attributes that get a call with a comma behind it: a tuple of one."""
    for match in _ENDS_WITH_COMMA.finditer(text):
        start = text.rfind("\n", 0, match.start()) + 1
        first = start
        if not text[start : match.start()].strip():
            first = _statement(text, start, match.start() - start)
        stored = _STORED.match(text, first)
        if stored is not None and _is_balanced(text[stored.end() - 1 : match.end() - 1]):
            yield stored.start(1), stored[1]


def _statement(text: str, end: int, indent: int) -> int:
    """The start of the nearest line above `end` that is not indented more deeply."""
    while end > 0:
        start = text.rfind("\n", 0, end - 1) + 1
        line = text[start : end - 1]
        if line.strip() and len(line) - len(line.lstrip()) <= indent:
            return start
        end = start
    return 0


def _is_balanced(text: str) -> bool:
    depth = 0
    for match in _BRACKET.finditer(text):
        depth += 1 if match[0] in "[({" else -1
        if depth < 0:
            return False
    return depth == 0


def _returns_container(function: Function) -> bool:
    """Whether a function may return a plain container of layers, or of what it calls."""
    text = function.text
    if "return" not in text or not _makes_something(function):
        return False
    for match in _RETURNED.finditer(text):
        returned = match[1]
        if returned in "[({":
            body = text[match.start(1) : closing(text, match.start(1))]
            if returned != "(" or _is_tuple(body, ""):
                return True
        elif re.search(rf"\b{returned}(?:: [^=\n]+)? ?= ?(?:[\[({{]|{_BUILDERS})", text):
            return True
    return False
