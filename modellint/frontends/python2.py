"""Recognise Python 2 by the place and the reason of a syntax error."""

from __future__ import annotations

import ast
import builtins
import re

from modellint.frontends.formatted import Scan
from modellint.frontends.levelling import masked
from modellint.source import split_lines, unified

#: Signs by the reason that the interpreter gives.
_REASONS = (
    (re.compile(r"Missing parentheses in call to '(?:print|exec)'"), "the statement `{0}`"),
    (re.compile(r"leading zeros in decimal integer literals"), "an octal number without `0o`"),
    (re.compile(r"parameters cannot be parenthesized"), "a tuple among the parameters"),
)
#: Signs by the text before and at the place of the error.
_PLACES = (
    (re.compile(r""), re.compile(r"`"), "backticks"),
    (re.compile(r""), re.compile(r"<>"), "the operator `<>`"),
    (re.compile(r"\braise\b[^#]*$"), re.compile(r"\s*,"), "`raise` with a comma"),
    (re.compile(r"\b(?:def\s+\w+\s*\(|lambda\b)[^:]*$"), re.compile(r"\("), "a tuple among the parameters"),
    (re.compile(r"\b[uU][rR]$"), re.compile(r"[\"']"), "a string with `ur`"),
    (re.compile(r""), re.compile(r"[0-9a-fA-F]*[lL]\b"), "a number with `L`"),
)
#: Syntax that Python 2 does not have, besides formatted strings.
_ONLY_3 = re.compile(
    r"""
      ^[ \t\f]*(?:async\s+def|nonlocal)\b
    | \)\s*->
    | \byield\s+from\b
    | \bsuper\(\)
    | \bfrom\s+__future__\s+import\s+annotations\b
    """,
    re.VERBOSE | re.MULTILINE,
)
#: Syntax that only Python 2 has, for files that Python 3 refuses for a reason that says little.
_ONLY_2 = re.compile(
    r"""
      ^[ \t\f]*(?:print|exec)\s+["'\w]
    | \bexcept\s+[\w.()]+\s*,\s*\w+\s*:
    | ^[ \t\f]*raise\s+[\w.]+\s*,
    | \b(?:xrange|raw_input|unicode|basestring)\s*\(
    | \.(?:iteritems|itervalues|iterkeys|has_key)\s*\(
    | ^[ \t\f]*import\s+(?:cPickle|urllib2|ConfigParser|StringIO|Queue)\b
    """,
    re.VERBOSE | re.MULTILINE,
)


def sign_in(text: str, error: SyntaxError) -> str | None:
    """The sign of Python 2 at a syntax error; None if there is none, or if the text has syntax of Python 3 as well."""
    sign = _sign_at(text, error)
    return None if sign is None or _is_python3(text) else sign


def _sign_at(text: str, error: SyntaxError) -> str | None:
    """The possible sign of Python 2 at a syntax error."""
    lines = split_lines(text)
    if error.lineno is None or not 1 <= error.lineno <= len(lines):
        return None
    line, offset = lines[error.lineno - 1], max(error.offset or 1, 1) - 1
    for reason, name in _REASONS:
        if reason.search(error.msg):
            return name.format(line[offset:].split(None, 1)[0] if line[offset:].strip() else "print")
    if isinstance(error, TabError):
        return "tabs and spaces mixed" if _ONLY_2.search(unified(text)) else None
    for before, behind, name in _PLACES:
        if behind.match(line, offset) and before.search(line[:offset]):
            return name
    return None


def handler_in(text: str, tree: ast.Module) -> ast.ExceptHandler | None:
    """A handler that gives the exception a name after a comma.

    Since Python 3.14 (PEP 758) `except A, b:` names two types; in Python 2 the second is new, so nothing else binds it.
    """
    if _is_python3(text):
        return None
    found, bound, has_star = [], set(dir(builtins)), False
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler):
            found.append(node)
            bound.add(node.name or "")
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.add(node.id)
        elif isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            bound.add(node.name)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names = {alias.asname or alias.name.partition(".")[0] for alias in node.names}
            bound |= names
            has_star |= "*" in names
    for handler in found:
        name = _second(handler)
        if name is not None and name not in bound and not (has_star and name[:1].isupper()):
            return handler
    return None


def _second(handler: ast.ExceptHandler) -> str | None:
    """The name behind the comma of `except A, b:`."""
    types = handler.type
    if not isinstance(types, ast.Tuple) or len(types.elts) != 2 or handler.name is not None:
        return None
    second = types.elts[1]
    has_parentheses = (types.end_lineno, types.end_col_offset) != (second.end_lineno, second.end_col_offset)
    return second.id if isinstance(second, ast.Name) and not has_parentheses else None


def _is_python3(text: str) -> bool:
    """True if a text has syntax that Python 2 does not have."""
    text = unified(text)
    try:
        scan = Scan(text)
    except SyntaxError:
        return True
    return bool(scan.joined) or _ONLY_3.search(masked(text, scan)) is not None
