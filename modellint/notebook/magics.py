"""Remove IPython's additions to Python from a cell; all other characters keep their places.

Line and cell magics, shell commands and help requests (https://ipython.readthedocs.io, "Built-in magic commands" and
"IPython reference") are replaced by as many characters that mean nothing.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from modellint.frontends.syntax import tree_of

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Cell magics that run what is below them as the notebook's own code.
_RUN_HERE = frozenset({"time", "timeit", "capture", "prun", "debug"})
_WRITE = frozenset({"writefile", "file"})

_CELL_MAGIC = re.compile(r"\s*%%(\w*)[ \t]*([^\r\n]*)")
_FILE = re.compile(r"(-a\s+|--append\s+)?(\"[^\"]+\"|'[^']+'|\S+)\s*$")
#: Line magics and aliases that IPython has from the start and takes without `%` too, and `pip3`, which is meant so.
_WORDS = "|".join(
    """
    alias alias_magic autoawait autocall automagic autosave bookmark cat cd clear code_wrap colors conda config
    connect_info cp debug dhist dirs doctest_mode ed edit env gui hist history killbgscripts ldir less lf lk ll load
    load_ext loadpy logoff logon logstart logstate logstop ls lsmagic lx macro magic mamba man matplotlib micromamba
    mkdir more mv notebook page pastebin pdb pdef pdoc pfile pinfo pinfo2 pip pip3 popd pprint precision prun psearch
    psource pushd pwd pycat pylab qtconsole quickref recall rehashx reload_ext rep rerun reset reset_selective rm rmdir
    run save sc set_env store subshell sx system tb time timeit unalias unload_ext uv who who_ls whos xdel xmode
    """.split()
)
#: One of those words with something behind it that no Python begins with there.
_WORD = rf"[ \t]*(?:{_WORDS})[ \t]+(?=[^\s=()\[\],:;#.+@&|^<>%]|\.[./\w])(?!(?:and|as|else|for|if|in|is|not|or)\b)"
_AUTOMAGIC = re.compile(_WORD)
#: A cell without a match has no such syntax.
_SUSPECT = re.compile(rf"^[ \t]*[%!?,;/]|\?[ \t]*\r?$|=[ \t]*[%!]|^{_WORD}", re.MULTILINE)
_HELP = re.compile(r"[ \t]*%{0,2}[\w.*]+(?:\[[^\]#\r\n]*\])*[ \t]*\?{1,2}[ \t]*(?=[\r\n]|$)")
_ESCAPE = re.compile(r"[ \t]*[%!?,;/]")
_TIMED = re.compile(r"[ \t]*%?time[ \t]+")
_END = re.compile(r"\r\n?|\n|$")
_ELEMENT = re.compile(
    r"""
      (?P<comment> \#[^\r\n]* )
    | (?P<string> \"{3}(?:[^"\\]|\\.|"(?!""))*(?:\"{3}|$) | '{3}(?:[^'\\]|\\.|'(?!''))*(?:'{3}|$)
                | "(?:[^"\\\r\n]|\\(?:\r\n|.))*"? | '(?:[^'\\\r\n]|\\(?:\r\n|.))*'? )
    | (?P<open> [(\[{] )
    | (?P<close> [)\]}] )
    | (?P<joined> \\(?:\r\n?|\n) )
    | (?P<end> \r\n?|\n )
    | (?P<assign> (?<![=!<>:])=[ \t]*(?=[%!]) )
    | .
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A cell that writes its lines, from `first` (counted from 0) on, to the file `name`, or appends them to it."""

    name: str
    first: int
    appends: bool


@dataclass(frozen=True, slots=True)
class CellCode:
    """A cell's lines as Python, and the file that the cell writes, if it does."""

    lines: tuple[str, ...]
    writes: WrittenFile | None = None


def code_of(lines: Sequence[str]) -> CellCode:
    """The Python code of a cell: as many lines, of the same lengths, as `lines` (which have their ends)."""
    head = _first_statement(lines)
    match = None if head is None else _CELL_MAGIC.match(lines[head])
    if head is None or match is None:
        return CellCode(_without_magics(lines))
    if match[1] in _RUN_HERE and not match[0].rstrip().endswith("?"):
        return CellCode((*lines[:head], _blank(lines[head]), *_without_magics(lines[head + 1 :])))
    file = _FILE.fullmatch(match[2].strip()) if match[1] in _WRITE else None
    writes = None if file is None else WrittenFile(file[2].strip("\"'"), head + 1, file[1] is not None)
    return CellCode(tuple(map(_blank, lines)), writes)


def _first_statement(lines: Sequence[str]) -> int | None:
    """The first line that is neither blank nor a comment."""
    return next((n for n, line in enumerate(lines) if line.strip() and not line.lstrip().startswith("#")), None)


def _blank(text: str) -> str:
    """Spaces for everything but the ends of lines."""
    return re.sub(r"[^\r\n]", " ", text)


def _without_magics(lines: Sequence[str]) -> tuple[str, ...]:
    text = "".join(lines)
    if not _SUSPECT.search(text):
        return tuple(lines)
    parts: list[str] = []
    done = at = depth = 0
    at_start = True
    while at < len(text):
        end = at
        if at_start:
            replaced, end = _statement(text, at)
        elif depth == 0 and (match := _ELEMENT.match(text, at)) and match["assign"]:
            # An unknown name: the value is another program's output.
            at, end = match.end(), _magic_end(text, match.end())
            replaced = _pad("__" if end - at > 1 else "_", text[at:end])
        if end > at:
            parts += [text[done:at], replaced]
            done = at = end
            at_start = False
            continue
        match = _ELEMENT.match(text, at)
        assert match is not None
        depth = max(0, depth + (match.lastgroup == "open") - (match.lastgroup == "close"))
        at_start = depth == 0 and match.lastgroup == "end"
        at = match.end()
    result = "".join((*parts, text[done:]))
    offsets = accumulate(map(len, lines), initial=0)
    return tuple(result[start:end] for start, end in pairwise(offsets))


def _statement(text: str, at: int) -> tuple[str, int]:
    """The replacement of the magic, command or request at a line's start, and its end (`at` if there is none)."""
    if (match := _HELP.match(text, at)) is not None:
        return _nothing(text[at : match.end()]), match.end()
    is_word = _AUTOMAGIC.match(text, at) is not None
    if not is_word and _ESCAPE.match(text, at) is None:
        return "", at
    end = _magic_end(text, at)
    if is_word and (_is_python(text[at:end].strip()) or _is_open(text[at:end])):
        return "", at
    timed = _TIMED.match(text, at)
    if timed is not None and _is_statement(text[timed.end() : end]):
        indent = re.match(r"[ \t]*", text[at:])[0]  # type: ignore[index]
        prefix = f"{indent}0;"
        return prefix + " " * (timed.end() - at - len(prefix)) + text[timed.end() : end], end
    return _nothing(text[at:end]), end


def _magic_end(text: str, at: int) -> int:
    """The end of a line, those included that a backslash joins to it; without the line's own end."""
    while True:
        match = _END.search(text, at)
        assert match is not None
        if match.end() == len(text) or not text[at : match.start()].rstrip(" \t").endswith("\\"):
            return match.start()
        at = match.end()


def _is_statement(text: str) -> bool:
    return _is_python(text, ast.Expr, ast.Assign, ast.AnnAssign)


def _is_python(text: str, *kinds: type[ast.stmt]) -> bool:
    """True if a text is Python; with `kinds`, if its statements are of these kinds."""
    try:
        return all(isinstance(node, kinds or ast.stmt) for node in tree_of(text).body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def _is_open(text: str) -> bool:
    """True if brackets continue a statement behind its line."""
    return any(text.count(opening) > text.count(closing) for opening, closing in ("()", "[]", "{}"))


def _nothing(text: str) -> str:
    """A statement without effect, as long as `text`; at the left margin, where no block needs one, blanks."""
    body = text.lstrip(" \t")
    indent = text[: len(text) - len(body)]
    if not indent:
        return _blank(text)
    width = len(re.match(r"[^\r\n]*", body)[0])  # type: ignore[index]
    return indent + _pad("pass" if width >= len("pass") else "0", body)


def _pad(word: str, text: str) -> str:
    """`word` in place of the beginning of `text`, and spaces for the rest of it."""
    return word + _blank(text)[len(word) :]
