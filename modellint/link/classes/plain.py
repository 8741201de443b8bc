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
#: A container that is written out behind an attribute, or chosen there.
_WRITTEN = re.compile(rf"self\.(\w+)(?:: [^=\n]+)? ?= ?(?:[^\n\[({{]*(?:else|or) )?(?=[\[({{]|{_BUILDERS})")
_LOCAL = re.compile(rf"= ?(?=[\[({{]|{_BUILDERS})")
_BEFORE_LOCAL = re.compile(r"(?:^|[=,]\s*)\s*(\w+)(?:\s*:[^=\n]+)?\s*(?:=\s*\w+\s*)*$")
_FROM_NAME = re.compile(r"self\.(\w+)(?:: [^=\n]+)? ?= ?([a-z_]\w*)[ \t]*(?:#[^\n]*)?\n")
_FROM_CALL = re.compile(r"self\.(\w+)(?:: [^=\n]+)? ?= ?(self\.)?([a-z_]\w*)\(")
_ENDS_WITH_COMMA = re.compile(r"\),[ \t]*(?=#|\n)")
_STORED = re.compile(r"[ \t]*self\.(\w+)(?:\s*:[^=\n]+)?\s*=[^=]")
_BRACKET = re.compile(r"[\[\](){}]")
_CALLED = re.compile(r"(?:^|[^\w.])((?:\w+\.)*\w+)\(")
_NAMED = re.compile(r"(?<![\w.\"'])(?:self\.)?[A-Za-z_]\w*(?![\w(\"'])")
_RETURNED = re.compile(r"return ([\[({]|\w+)")
#: What is called in containers of numbers, names and tensors.
_NUMBERS = frozenset(
    """int float str bool len range max min zip enumerate tuple list dict set sum isinstance getattr hasattr round abs
    sorted reversed type print map filter any all super repr format""".split()
)
_MODULES_OF_NUMBERS = ("math.", "np.", "numpy.", "os.", "re.", "itertools.", "random.", "torch.")
_KEYWORDS = frozenset("for in if else not and or is None True False lambda self await".split())


def suspects(module: ModuleFacts, project: Project) -> dict[Class, set[str]]:
    """The attributes of each class that its text may fill with a plain container of layers or parameters."""
    text = module.source.text
    found: dict[Class, set[str]] = {}
    names = {(match.start(), match[1]) for match in _WRITTEN.finditer(text) if _may_hold_layers(text, match)}
    names.update(_with_comma(text))
    lists = _local_lists(text)
    if lists:
        names.update((match.start(), match[1]) for match in _FROM_NAME.finditer(text) if match[2] in lists)
    made = {(match.start(), match[1]): (match[2], match[3]) for match in _FROM_CALL.finditer(text)}
    if made:
        makers = _list_makers(module)
        names.update(key for key, (_, name) in made.items() if name in makers)
        names.update(_made_elsewhere(module, project, made))
    for cls, name in _owners(module, names):
        found.setdefault(cls, set()).add(name)
    return found


def _owners(module: ModuleFacts, names: set[tuple[int, str]]) -> Iterator[tuple[Class, str]]:
    """The class in whose text each position lies, the innermost."""
    classes = sorted(module.classes.values(), key=lambda cls: cls.line)
    text, line, at = module.source.text, 1, 0
    for start, name in sorted(names):
        line += text.count("\n", at, start)
        at = start
        inside = [cls for cls in classes if cls.line <= line <= cls.end_line]
        if inside:
            yield inside[-1], name


def _may_hold_layers(text: str, match: re.Match[str]) -> bool:
    """Whether the container behind a match may hold what is built there, or what is put into it later."""
    start = match.end()
    end = closing(text, start)
    body = text[start:end]
    if text[start] == "(" and not _is_tuple(body, text[end : end + 80]):
        return False
    inside = body.partition(body[0] if body[0] in "[({" else "(")[2]
    if not inside.strip("])} \n"):
        name = re.escape(match[1])
        return (
            re.search(rf"\.{name}(?:\.(?:append|extend|insert|update|add|setdefault)\(|\[[^\n]*\] ?=|\s*\+=)", text)
            is not None
        )
    return any(is_builder(called) for called in _CALLED.findall(inside)) or _is_of_names(inside)


def is_builder(called: str) -> bool:
    """Whether a called name may be a layer, or a function that makes one."""
    if called in _NUMBERS or called.startswith(_MODULES_OF_NUMBERS):
        return called.startswith("torch.nn.") or called.rpartition(".")[2][:1].isupper()
    last = called.rpartition(".")[2]
    return (
        last[:1].isupper()
        or last.lstrip("_")[:1].isupper()
        or "." not in called
        or called.startswith(("self.", "copy."))
    )


def _is_of_names(inside: str) -> bool:
    """Whether a container is written with nothing but names, which may stand for layers: `[first, second]`."""
    return (
        "self." not in inside
        and " for " not in inside
        and any(name not in _KEYWORDS for name in _NAMED.findall(inside))
        and "(" not in inside
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


def closing(text: str, start: int) -> int:
    """Behind the bracket that closes the first one from `start` on."""
    depth = 0
    for match in _BRACKET.finditer(text, start, start + 4000):
        depth += 1 if match[0] in "[({" else -1
        if depth == 0:
            return match.end()
    return len(text)


def _with_comma(text: str) -> Iterator[tuple[int, str]]:
    """Attributes that get a call with a comma behind it: a tuple of one."""
    for match in _ENDS_WITH_COMMA.finditer(text):
        start = text.rfind("\n", 0, match.start()) + 1
        indent = len(text[start:].split("\n", 1)[0]) - len(text[start:].split("\n", 1)[0].lstrip())
        first = start
        if text[start : match.start()].strip() == "":
            first = _statement(text, start, indent)
        stored = _STORED.match(text, first)
        if stored is not None and _is_balanced(text[stored.end() - 1 : match.end() - 1]):
            yield stored.start(1), stored[1]


def _statement(text: str, end: int, indent: int) -> int:
    """The start of the line above `end` that is indented like the one at `end`, deeper lines left out."""
    while end > 0:
        start = text.rfind("\n", 0, end - 1) + 1
        line = text[start : end - 1]
        depth = len(line) - len(line.lstrip())
        if line.strip() and depth <= indent:
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


def _local_lists(text: str) -> set[str]:
    """Local names that get a container which may hold layers."""
    found = set()
    for match in _LOCAL.finditer(text):
        line = text.rfind("\n", 0, match.start()) + 1
        name = _BEFORE_LOCAL.match(text[line : match.start()])
        if name is not None:
            found.add(name[1])
    return found


def _list_makers(module: ModuleFacts) -> set[str]:
    """Functions and methods of a file that may return a plain container of layers, by name."""
    return {
        function.name for function in module.all_functions() if "return" in function.text and _returns_list(function)
    }


def _made_elsewhere(
    module: ModuleFacts, project: Project, made: dict[tuple[int, str], tuple[str | None, str]]
) -> Iterator[tuple[int, str]]:
    """Attributes that a function of another file, or a method of a base in one, may fill with a container of layers."""
    own = {function.name for function in module.all_functions()}
    for key, (receiver, name) in made.items():
        if name in own:
            continue
        function: Function | None = None
        if receiver is None:
            target = module.imports.get(name)
            if target is not None and not target.startswith("torch"):
                found = project.names.resolve(module, name)
                function = found.function if isinstance(found, DefinedFunction) else None
        else:
            for cls, _ in _owners(module, {key}):
                function = project.classes.model(cls).method(name)
        if function is not None and "return" in function.text and _returns_list(function):
            yield key


def _returns_list(function: Function) -> bool:
    text = function.text
    for match in _RETURNED.finditer(text):
        returned = match[1]
        if returned in "[({":
            body = text[match.start(1) : closing(text, match.start(1))]
            if (returned != "(" or _is_tuple(body, "")) and any(map(is_builder, _CALLED.findall(body[1:]))):
                return True
        elif returned in _local_lists(text):
            return True
    return False
