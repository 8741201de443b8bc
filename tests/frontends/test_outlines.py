"""What a file defines is the same from its outline, kept as JSON, as from its syntax tree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from effort import IS_WHOLE

from modellint.frontends import python
from modellint.graph.value import EventKind, Value
from modellint.source import UnreadableError, decode_python

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Class, Function, ModuleFacts

ROOT = Path(__file__).resolve().parents[2]
#: Places that are hard to parse by themselves.
ODD = '''"""A module."""
from __future__ import annotations; import a.b as c; x = 1; y = x, 2
from . import (d, e as f)
from .g import *
z = *x, *y
w = *x,
parts = {"a": [1,
    2], **z}; name = (
    "ä" "ö"
); after = "ü"
first, second = lambda q: q + 1, (r := 5)
if x: third = \\
    4
try:
    import h
except ImportError:
    h = None
    def fallback(u): return u
else: k: int = 3
with x as l:
    m = n = f"{x!r:>{y}} {z}"


class A(B, *[C], metaclass=get(x for x in y)):
    """A docstring,
    of two lines."""
    size: "int" = 3; other: Optional[str]
    a, b = 1, (2, 3)

    def one(self, a, /, b: "List[int]"=(1,
            2), *args: int, c=3, **kw) -> "Tensor": return a

    @property
    def two(self):
        # before the docstring
        """ä of two"""

    @two.setter
    def two(self, value):  # behind the head
        # before the body
        @c.d
        def inner(): pass
        self.x = inner

    if x:
        @c(1,
           2)
        async def three(self) -> None:
            "short"; await self.two

    class Inner(A.B if x else C): q = 1
    def one_line(self,
        b=1): "text"; return b

    def strange(
        self,
    ): return 1
@c
class A(object): pass
def continued(a, \\
        b=2): \\
    return a
class Tabs:
\t@c
\tdef tabbed(self,
\t  b: "c"):
\t\t"""with tabs"""
\t\treturn b
\tdef untold(self):
\t\tfor i in self: yield i
def last(a): "x"'''
TEXTS = [
    ODD,
    ODD.replace("\n", "\r\n"),
    ODD.replace("\n", "\r"),
    "\ufeff" + ODD,
    "",
    "x=(\n1)",
    "@a\ndef f(): pass",
    "def f(x: 'a b', y: '[') -> '': ...",
]


#: Heads and bodies whose ends lines do not tell alone.
LONG = "        y = [" + "1, " * 100 + "]\n"
BODIES = [
    f"class A:\n    def f(self):\n{LONG}        return self.x\n\n    # behind it\n\n    def g(self): return 1\n",
    f"class A:\n    def f(self):\n        # before it\n\n{LONG}    x = 1\n",
    f"class A:\n    def f(self) -> dict[str,\n            int]:  # a head\n{LONG}        return '''\nx\n# no'''\n",
    f"class A:\n    def f(self, a={{1: 2}}, b=lambda: ':\\n'):\n{LONG}    def g(self):\n        'a' + self\n{LONG}",
    f"def f():\n        '''of\ntwo lines'''  # behind it\n{LONG}        if x:\n            return (\n    1)",
    f"def f():\n        ('text')\n{LONG}        def g():\n            def h():\n        {LONG}            return h",
    f"def f():\n{LONG}        return x + \\\n1\nz = 2\n",
    f"def f():\n{LONG}'''\nx = '''\nz = '''\n'''\n",
    f"def f():\n{LONG}        x = '''\ny = 2\n'''\n'text'\n",
    f"if a:\n    def f():\n{LONG}else:\n    async def f():\n{LONG}        # the last\n    # line\n",
    f"for a in b:\n    x = 1\n    def f():\n{LONG}        x = 2\nmatch a:\n    case 1:\n        def f():\n    {LONG}",
    f"def f():\n{LONG}\f        y = 1\n",
    f"def f(x): return [\n{LONG[12:].strip()}]\ndef g():\n{LONG}",
    f"def f[T: int](x: T):\n{LONG}",
    f"def f():\n    @c\n    def g(): pass\n    y = '{LONG.strip()}'\n    @c\n    class A: pass\n",
]


@pytest.mark.parametrize("text", [*TEXTS, *BODIES])
def test_odd_places_are_parsed_alone(text: str) -> None:
    assert compare(Path("package/odd.py"), text.encode())


def test_the_bodies_of_a_sketch_are_parsed_when_somebody_asks() -> None:
    text = f"class A:\n    def f(self, x=1):\n{LONG}        return x\n\ndef g():\n{LONG}        return (\n\nz = 2\n"
    source = decode_python(Path("a.py"), text.encode())
    with pytest.raises(UnreadableError):
        python.outlined(source, "a", False)
    broken = python.facts(source, "a", False, *python.sketched(source, "a", False))
    assert not broken.is_whole
    assert broken.constants["z"].data == 2
    (returned,) = broken.classes["A"].methods["f"].flow.of(EventKind.RETURN)
    assert returned.value.data == "x"
    (returned,) = broken.functions["g"].flow.of(EventKind.RETURN)
    assert returned.value.callee.data == "exec"  # it may do anything


@pytest.mark.dear
@pytest.mark.parametrize("folder", ["modellint/frontends", "modellint/flow", "rules"])
def test_files_are_the_same_from_their_outlines(folder: str) -> None:
    files = sorted((ROOT / folder).rglob("*.py"))[: 200 : 1 if IS_WHOLE else 4]
    assert sum(compare(file, file.read_bytes()) for file in files) > (8 if IS_WHOLE else 2)


def compare(path: Path, data: bytes) -> bool:
    """Compare a file as its tree has it with its outline, and with itself once the tree is let go of; if it is one."""
    try:
        whole = python.read(decode_python(path, data), Path.exists)
    except UnreadableError:
        return False
    whole_again = python.read(decode_python(path, data), Path.exists)
    source = decode_python(path, data)
    known, _ = python.outlined(source, whole.name, whole.is_package)
    sketch, trees = python.sketched(source, whole.name, whole.is_package)
    assert {**sketch, "whole": True} == known, path
    kept = python.facts(source, whole.name, whole.is_package, json.loads(json.dumps(known)), {})
    expected = shape(whole)
    assert shape(kept) == expected, path
    assert shape(python.facts(source, whole.name, whole.is_package, sketch, trees)) == expected, path
    whole_again.release()
    assert shape(whole_again) == expected, path
    return True


def shape(module: ModuleFacts) -> list[Any]:
    """All that is known of a file, in lists, strings and numbers."""
    found: list[Any] = [
        module.name,
        module.imports,
        sorted(module.relative),
        module.star_imports,
        sorted(module.rebound),
    ]
    found += [module.definitions, values(module.constants), values(module.body.flow)]
    found += [of_class(cls) for cls in module.classes.values()]
    return found + [of_function(function) for function in module.functions.values()]


def of_class(cls: Class) -> list[Any]:
    functions = [of_function(function) for function in (*cls.methods.values(), *cls.hidden)]
    head = cls.head
    facts = [cls.name, cls.qualname, cls.line, cls.end_line, cls.offset, sorted(cls.rebound), cls.docstring]
    return [facts, functions, values([head.bases, head.keywords, head.decorators, cls.attributes, cls.annotations])]


def of_function(function: Function) -> list[Any]:
    head = function.signature
    facts = [function.qualname, function.line, function.end_line, function.offset, function.docstring, head.is_async]
    given = [(p.name, p.kind, p.default, p.annotation) for p in head.parameters]
    return [facts, values([given, head.returns, head.decorators]), values(function.flow)]


def values(root: object) -> list[Any]:
    """A graph of values and what is about them: for each part its fields, parts by their numbers."""
    numbers: dict[int, int] = {}
    held: list[object] = []

    def number(part: object) -> Any:
        if part is None or isinstance(part, str | int | float | complex | bytes) or part is ...:
            return repr(part)
        if id(part) not in numbers:
            numbers[id(part)] = len(held)
            held.append(part)
        return numbers[id(part)]

    number(root)
    return [[type(part).__name__, *map(number, fields(part))] for part in held]  # more of which come meanwhile


def fields(part: object) -> Iterator[object]:
    if isinstance(part, Value):
        yield from (repr(part.op), part.data, part.target, part.line, part.offset, part.end_line, part.end_offset)
        yield from part.args
    elif isinstance(part, list | tuple):
        yield from part
    elif hasattr(part, "items"):
        yield from (side for pair in part.items() for side in pair)
    elif hasattr(part, "__slots__") and hasattr(part, "__dataclass_fields__"):
        yield from (getattr(part, name) for name in part.__dataclass_fields__)
    else:
        yield repr(part)


OUTLINES = [
    {},
    [],
    None,
    {"imports": []},
    {"imports": {"a": 1}},
    {"constants": {"x": [1, 2, 3]}},
    {"constants": {"x": [1, 2, 3, -4]}},
    {"constants": {"x": [1, 2, 3, True]}},
    {"functions": [["f"]]},
    {"functions": [["f", [1, 2, "3"], [1, 1], None, []]]},
    {"functions": [[1, [1, 2, 3], [1, 1], None, []]]},
    {"functions": [["f", [1, 2, 3], [1, 1], [0], []]]},
    {"classes": [["A", [1, 2, 3], [[], [], [], None], {}, {}, [], []]]},
    {"classes": [["A", [1, 2, 3], [[], [["x", 3]], [], None], {}, {}, [], [], []]]},
    {"definitions": [[1, 2, 3]]},
    {"classes": [["A", [1, 2, 3], [{}, [], [], None], {}, {}, [], [], []]]},
    {"stars": "abc"},
]


@pytest.mark.parametrize("forged", OUTLINES, ids=map(str, OUTLINES))
def test_what_is_no_outline_is_none(forged: Any) -> None:
    source = decode_python(Path("a.py"), b"x = 1\ndef f(): pass\n")
    known, _ = python.outlined(source, "a", False)
    whole = {**known, **forged} if isinstance(forged, dict) and forged else forged
    with pytest.raises((TypeError, ValueError, KeyError)):
        python.facts(source, "a", False, whole, {})


@pytest.mark.parametrize("text", [b"", b"x = 1\n", b")\n" * 30, b"\xc3\xa4 = (\n" * 40, b"class A(" * 9])
def test_an_outline_of_another_file_knows_nothing(text: bytes) -> None:
    known, _ = python.outlined(decode_python(Path("a.py"), ODD.encode()), "a", False)
    source = decode_python(Path("a.py"), text + b"\n" * 80)
    assert len(shape(python.facts(source, "a", False, known, {}))) > 5
    with pytest.raises(ValueError, match="no lines"):
        python.facts(decode_python(Path("a.py"), text), "a", False, known, {})
