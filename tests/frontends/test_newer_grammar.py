"""What only a newer Python reads is read all the same, and means the same as in a newer Python."""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from effort import drawn, has_its_turn
from hypothesis import given, settings
from hypothesis import strategies as st

from modellint.frontends import newer
from modellint.frontends.python import parse
from modellint.results.suppressions import in_python
from modellint.source import SourceFile, UnreadableError, decode_python

if TYPE_CHECKING:
    from conftest import Workspace

#: Before 3.12 the parts of a formatted string all have its own place, or a wrong one.
HAS_PLACES_IN_STRINGS = sys.version_info >= (3, 12)
PLACE = ("lineno", "col_offset", "end_lineno", "end_col_offset")


def written(tree: ast.AST) -> str:
    """A tree with its places, without type parameters; without places in formatted strings where those are wrong."""
    for node in ast.walk(tree):
        if hasattr(node, "type_params"):
            node.type_params = []
        if isinstance(node, ast.JoinedStr) and not HAS_PLACES_IN_STRINGS:
            for part in ast.walk(node):
                for name in PLACE if part is not node and hasattr(part, "lineno") else ():
                    setattr(part, name, 0)
    return ast.dump(tree, include_attributes=True)


LIBRARY = sorted(
    path
    for path in Path(ast.__file__).parent.glob("*.py")
    if path.stat().st_size < 50_000 and has_its_turn(path.name, 3)
)


@pytest.mark.dear
@pytest.mark.parametrize("start", range(5))
def test_the_standard_library_reads_as_the_interpreter_reads_it(start: int) -> None:
    for path in LIBRARY[start::5]:
        text = decode_python(path, path.read_bytes()).text
        assert written(newer.parse(text)) == written(ast.parse(text)), path


NEW = {
    "the same quotes": 'x = f"{d["a"]} {d["b"]!r:>{w["c"]}}" "e" f"{d["f"] = }"\n',
    "a backslash": 'x = f"{"\\n".join(a)}"\n',
    "a comment": 'x = f"""{\n  a  # }\n  + 1\n}"""\n',
    "line breaks": 'x = f"{\n    a,\n    b\n}"\n',
    "deeper than quotes go": 'x = f"{f"{f"{f"{f"{1 + 1}"}"}"}"}"\n',
    "other alphabets": 'x = f"é{d["ü"]}ß", d["日"]\n',
    "a class with parameters": "class A[T: (int, str), *Ts, **P](B): pass\n",
    "a class without bases": "class A[\n    T,  # one\n\n    U\n]: pass\n",
    "functions": 'def f[T](x: T) -> f"{T}": pass\nasync def g[\n  T\n](x): pass\n',
    "a name for a type": "type X = int\nif a: type Y[T] = list[T]; type Z[\n  T\n] = (\n  int)\n",
    "a type that is none": "type = 1\ntype (x)\ntype in x, type[0], type.x\n",
}
if sys.version_info >= (3, 13):
    NEW["defaults of parameters"] = "class A[T = int, *Ts = *tuple[int], **P = [int]]: pass\n"
if sys.version_info >= (3, 11):
    NEW |= {
        "groups of exceptions": "try: pass\nexcept* E as e: pass\n",
        "stars": "a[*b]\na[b, *c] = a[*d]\ndef f(*args: *Ts): pass\n",
    }


@pytest.mark.parametrize("text", NEW.values(), ids=NEW)
def test_new_grammar_reads_as_an_interpreter_that_has_it_reads_it(text: str) -> None:
    tree = newer.parse(text)
    if HAS_PLACES_IN_STRINGS:
        assert written(tree) == written(ast.parse(text))


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ('x = f"{d["a"]} {d["b"]!r:>{w["c"]}}"', "x = f\"{d['a']} {d['b']!r:>{w['c']}}\""),
        ("x = f'{a:{'b'}}' 'c'", "x = f'{a:{\"b\"}}' 'c'"),
        ("class A[T: int](B): pass", "class A        (B): pass"),
        ("class A[T = int]: pass", "class A(       ): pass"),
        ("def f[*Ts](x): return x", "def f     (x): return x"),
        ("try: pass\nexcept* E: pass", "try: pass\nexcept  E: pass"),
    ],
)
def test_new_grammar_reads_as_its_older_equal(new: str, old: str) -> None:
    tree = newer.parse(new)
    if "except*" in new and sys.version_info >= (3, 11):
        return
    assert written(tree) == written(newer.parse(old))


def test_exceptions_without_parentheses_are_a_tuple() -> None:
    tree: Any = newer.parse("try: pass\nexcept A, b.C : pass\nexcept D(),: pass\n")
    one, other = (handler.type for handler in tree.body[0].handlers)
    assert [ast.unparse(one), ast.unparse(other)] == ["(A, b.C)", "(D(),)"]
    assert [getattr(one, name) for name in PLACE] == [2, 7, 2, 13]
    assert [getattr(other, name) for name in PLACE] == [3, 7, 3, 11]


def test_a_template_string_is_none_of_the_strings_that_there_were() -> None:
    tree: Any = newer.parse('x = t"a {b["c"]!r:>{d}}"\n')
    template = tree.body[0].value
    assert type(template).__name__ == "TemplateStr"
    text, field = template.values
    assert (text.value, field.str, field.conversion) == ("a ", 'b["c"]', ord("r"))
    assert ast.unparse(field.value) == "b['c']"
    assert [getattr(field.value, name) for name in PLACE] == [1, 9, 1, 15]


@pytest.mark.parametrize(
    "text",
    [
        *('f"{a"', 'f"{}"', 'f"{a}" = 1', 'f"{a!}"', "f'{'", 'f"a}"', "f'a\n'", 'f"{a}" b""', '"""'),
        *("class A[T: pass", "type X[] = 1", "def f[T]: pass", "for f'{a}' in b: pass"),
        "try: pass\nexcept A if b else c, D: pass",
    ],
)
def test_what_is_no_python_is_none_here_either(text: str) -> None:
    with pytest.raises(SyntaxError):
        newer.parse(text)


@pytest.mark.parametrize("text", ['f"{' * 5000, "f'{(" * 5000, "[" * 5000 + 'f"{a["b"]}"', 'f"{a:' * 200 + "1"])
def test_no_depth_is_too_deep(text: str) -> None:
    with pytest.raises(UnreadableError):
        parse(SourceFile(Path("a.py"), f'x = f"{{d["a"]}}"\ntype X = {text}\n'))


# -- strings that are put together, with the values that they have ----------------------------------------------------

_TEXTS = {
    "a": "a",
    "é": "é",
    "{{": "{",
    "}}": "}",
    "\\n": "\n",
    "\\\\": "\\",
    "\\x41": "A",
    "\\N{BULLET}": "•",
    " ": " ",
}
_Pair = tuple[str, object]
_atoms: st.SearchStrategy[_Pair] = st.sampled_from(
    [("1", 1), ("'b'", "b"), ('"b"', "b"), ('{"k": 2}["k"]', 2), ('"""c\nd"""', "c\nd"), ("(3, 4)[ # }\n 1]", 4)]
)


@st.composite
def _formatted(draw: st.DrawFn, inner: st.SearchStrategy[_Pair]) -> _Pair:
    text, value = "", ""
    for piece in draw(st.lists(st.one_of(st.sampled_from(sorted(_TEXTS)), inner), max_size=4)):
        if isinstance(piece, str):
            text, value = text + piece, value + _TEXTS[piece]
        else:
            conversion, spec = draw(st.sampled_from(["", "!r", "!s"])), draw(st.sampled_from(["", ":>{6}", ":{'<'}9"]))
            shown = repr(piece[1]) if conversion == "!r" else str(piece[1])
            if spec and not conversion and not isinstance(piece[1], str):
                conversion = "!s"
            width = {"": "", ":>{6}": ">6", ":{'<'}9": "<9"}[spec]
            text += f"{{ {piece[0]}\n{conversion}{spec}}}"
            value += format(shown, width)
    quote = draw(st.sampled_from(['"', "'", '"""', "'''"]))
    behind, more = draw(st.sampled_from([("", ""), (' "z"', "z"), ("\\\n 'y'", "y")]))
    return f"f{quote}{text}{quote}{behind}", value + more


@settings(max_examples=drawn(300))
@given(st.recursive(_atoms, _formatted, max_leaves=8))
def test_formatted_strings_have_the_values_that_they_should(pair: _Pair) -> None:
    text, value = pair
    tree: Any = newer.parse(text, "eval")
    assert eval(compile(tree, "<text>", "eval")) == value


# -- what it comes to --------------------------------------------------------------------------------------------------

MODEL = """\
from torch import nn


class Encoder{parameters}(nn.Module):
    def __init__{parameters}(self, names, n_mels=80, vocab_size=500):
        super().__init__()
        self.title = {title}
        self.layers = [nn.Linear(4, 4) for _ in names]
        self.embedding = nn.Embedding(n_mels, 8)
        self.proj = nn.Linear(n_mels, 8)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.embedding(x.long()) + self.proj(x)
"""
TITLE = '{0}"é{1}names[{2}a{2}]{3} {1}names{3}".strip(), f"{1}names{3}"'
NEWER = MODEL.format(parameters="[T: (int, str) = int]", title=TITLE.format("f", "{", '"', "}"))
OLDER = MODEL.format(parameters=" " * 21, title=TITLE.format("f", "{", "'", "}"))
FIXED = "nn.ModuleList([nn.Linear(4, 4) for _ in names])"


def _findings(workspace: Workspace, *names: str) -> list[tuple[Any, ...]]:
    found = workspace.run("check", "--output-format", "json", "--no-cache", *names).json["findings"]
    return [tuple(f[key] for key in ("code", "line", "column", "end_line", "end_column", "message")) for f in found]


def _notebook(text: str) -> str:
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": text}
    return json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def test_findings_stand_where_they_would_without_new_grammar(workspace: Workspace) -> None:
    workspace.write({"newer.py": NEWER, "older.py": OLDER})
    found = _findings(workspace, "newer.py")
    assert found == _findings(workspace, "older.py")
    assert {code for code, *_ in found} >= {"ML204"}


def test_findings_in_notebooks_stand_where_they_would_without_new_grammar(workspace: Workspace) -> None:
    workspace.write({"newer.ipynb": _notebook(NEWER), "older.ipynb": _notebook(OLDER)})
    found = _findings(workspace, "newer.ipynb")
    assert found == _findings(workspace, "older.ipynb") != []


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_fixes_apply_in_new_grammar_and_change_nothing_else(workspace: Workspace, end: str) -> None:
    workspace.write({"a.py": NEWER.replace("\n", end)})
    result = workspace.run("check", "--fix", "--select", "ML204", "a.py")
    assert (result.code, result.err) == (0, "")
    changed = NEWER.replace("[nn.Linear(4, 4) for _ in names]", FIXED).replace("\n", end)
    assert (workspace.root / "a.py").read_bytes().decode() == changed


def test_names_are_found_in_files_in_new_grammar(workspace: Workspace) -> None:
    base = 'from torch import nn\n\n\nclass Base[T](nn.Module):\n    name = f"{names["a"]}"\n'
    use = OLDER.replace("nn.Module", "Base").replace("\n\n\n", "\nfrom base import Base\n\n\n", 1)
    workspace.write({"base.py": base, "a.py": use})
    assert {code for _, _, code in workspace.places("a.py")} >= {"ML101", "ML204"}


def test_comments_are_found_behind_and_within_new_strings() -> None:
    text = (
        "a = f'{b['\"']}'  # modellint: ignore[ML101]\n"
        'c = f"é{d["# modellint: ignore[ML102]"]}"  # modellint: ignore[ML103]\n'
        'e = f"""{\n    f  # modellint: ignore[ML104]\n}  # modellint: ignore[ML105]"""\n'
        "class A[T: '#']: pass  # modellint: ignore[ML106]\n"
    )
    found = [(s.codes, s.span.line, s.span.column) for s in in_python(SourceFile(Path("a.py"), text))]
    assert found == [(("ML101",), 1, 18), (("ML103",), 2, 44), (("ML104",), 4, 8), (("ML106",), 6, 24)]


@pytest.mark.parametrize(
    ("text", "line", "column", "reason"),
    [
        ('a = f"{b["c"]}"\nd = = 1\n', 2, 5, "invalid syntax"),
        ("class A[T]: pass\n\n\nclass B(:\n    pass\n", 4, 9, "invalid syntax"),
        (
            'a = f"{b["c"]}"\nif a:\nb\n',
            3,
            1,
            "syntax error: expected an indented block after 'if' statement on line 2",
        ),
    ],
)
def test_what_is_wrong_behind_new_grammar_is_told_where_it_is(text: str, line: int, column: int, reason: str) -> None:
    with pytest.raises(UnreadableError) as caught:
        parse(SourceFile(Path("a.py"), text))
    span = caught.value.span
    assert (span.line, span.column, caught.value.reason) == (line, column, reason)


def test_what_no_grammar_reads_tells_which_were_tried(workspace: Workspace) -> None:
    workspace.write({"a.py": "x = (\n", "b.ipynb": _notebook("x = ("), "c.py": b"# caf\xe9\n"})
    found = workspace.run("check", "--output-format", "json").json["findings"]
    version = ".".join(map(str, sys.version_info[:2]))
    tried = f"tried the grammar of Python {version}, which runs modellint"
    tried += "" if sys.version_info >= (3, 14) else ", and of Python 3.14"
    assert {f["path"]: f["evidence"] for f in found} == {"a.py": [tried], "b.ipynb": [tried], "c.py": []}
