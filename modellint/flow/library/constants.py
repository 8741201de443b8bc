"""Known numbers and strings, on which Python itself computes.

A number is a constant or a sum of symbols; an operation that is not defined on these gives something plain.
"""

from __future__ import annotations

import builtins
import math
import operator
from functools import reduce
from typing import TYPE_CHECKING

from modellint.flow import sizes
from modellint.flow.domain import PLAIN, Constant, constant, size_of
from modellint.flow.heap import LONGEST as LONGEST
from modellint.flow.heap import Shell
from modellint.graph.size import Size
from modellint.graph.value import Op

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from modellint.flow.domain import Atoms
    from modellint.flow.frame import Frame
    from modellint.flow.library.running import Call, Run
    from modellint.graph.value import Value

#: The largest number that is kept. Texts and containers have a maximal length, too.
_LARGEST = 10**30
#: The largest argument of a function whose result grows faster than it.
_MOST = 64
_OPERATORS: dict[str, Callable[[object, object], object]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "/": operator.truediv,
    "%": operator.mod,
    "**": operator.pow,
    "<<": operator.lshift,
    ">>": operator.rshift,
    "|": operator.or_,
    "&": operator.and_,
    "^": operator.xor,
}
#: Builtins whose result depends on their arguments alone; all functions of `math` are such.
_PURE = frozenset("abs all any bool divmod float int max min pow round sorted str sum".split())
_GROWING = frozenset("math.comb math.factorial math.perm".split())
_OF_TEXT = frozenset("lower upper strip lstrip rstrip split startswith endswith title capitalize".split())


class _Open:
    """Stands for a value that is not known."""


OPEN = _Open()


def value_of(atoms: Atoms) -> object:
    """The constant, size, or list or tuple of them that a value is; `OPEN` for anything else."""
    if len(atoms) != 1:
        return OPEN
    atom = atoms[0]
    if isinstance(atom, Constant):
        return atom.value
    if isinstance(atom, Shell):
        if atom.kind not in ("list", "tuple", "generator") or atom.items is None:
            return OPEN
        inner = [value_of(entry.atoms) for entry in atom.items]
        return OPEN if any(part is OPEN for part in inner) else tuple(inner) if atom.kind == "tuple" else inner
    size = size_of(atoms)
    return OPEN if size is None else size


def atoms_of(run: Run, value: object, at: Value, frame: Frame, purpose: str = "value") -> Atoms:
    """The atoms of a calculated value; something plain where it is too large to be kept."""
    if isinstance(value, Size):
        return (sizes.number(value),)
    if isinstance(value, bool | float | None):
        return (Constant(value),) if value == value else PLAIN
    if isinstance(value, int):
        return (Constant(value),) if abs(value) < _LARGEST else PLAIN
    if isinstance(value, str):
        return (Constant(value),) if len(value) <= LONGEST else PLAIN
    if isinstance(value, list | tuple) and len(value) <= LONGEST:
        kind = "tuple" if isinstance(value, tuple) else "list"
        parts = [atoms_of(run, part, at, frame, f"{purpose} {number}") for number, part in enumerate(value)]
        return (run.sequence(kind, parts, at, frame, purpose),)
    return PLAIN


def calculated(name: str, left: object, right: object) -> object:
    """The result of an operator on two values; `OPEN` if it is not known."""
    if left is OPEN or right is OPEN:
        return OPEN
    if isinstance(left, Size) or isinstance(right, Size):
        first, second = _size(left), _size(right)
        found = None if first is None or second is None else first.calculated(name, second)
        return OPEN if found is None else found
    if not (isinstance(left, int | float) and isinstance(right, int | float)):
        return left + right if name == "+" and isinstance(left, str) and isinstance(right, str) else OPEN
    if name in ("**", "<<") and (abs(right) > _MOST or abs(left) > _LARGEST):
        return OPEN
    return tried(_OPERATORS.get(name), (left, right))


def evaluate_pure(call: Call) -> Atoms | None:
    """The result of a function of constants; None for another function, or where arguments are unknown."""
    arguments = call.arguments
    function = pure(call.name) if call.positional and not arguments.keywords and arguments.is_complete else None
    if function is None or not (call.run.counts or all(map(constant, call.positional))):
        return None
    given = [value_of(atoms) for atoms in call.positional]
    found = OPEN if any(part is OPEN for part in given) else _call(call.name, function, given)
    return PLAIN if found is OPEN else atoms_of(call.run, found, call.value, call.frame)


def pure(name: str) -> Callable[..., object] | None:
    """The function of Python by a dotted name, if its result depends on its arguments alone."""
    module, _, last = name.partition(".")
    if module == "builtins":
        return getattr(builtins, last) if last in _PURE else None
    found = getattr(math, last, None) if module == "math" else None
    return found if callable(found) else None


def _call(name: str, function: Callable[..., object], given: Sequence[object]) -> object:
    flat = [part for one in given for part in (one if isinstance(one, list | tuple) else (one,))]
    if any(isinstance(part, Size) for part in flat):
        is_sum = name == "builtins.sum" or (name == "builtins.int" and len(given) == 1)
        return reduce(lambda total, part: calculated("+", total, part), flat) if is_sum else OPEN
    if name == "builtins.pow":
        return calculated("**", *given) if len(given) == 2 else OPEN
    if name in _GROWING and not all(isinstance(part, int) and part <= _MOST for part in given):
        return OPEN
    return tried(function, given)


def tried(function: Callable[..., object] | None, given: Sequence[object]) -> object:
    """The result of a function; `OPEN` where it raises."""
    try:
        return OPEN if function is None else function(*given)
    except (TypeError, ValueError, ArithmeticError, LookupError):
        return OPEN


def _size(value: object) -> Size | None:
    if isinstance(value, Size):
        return value
    return Size.of(value) if isinstance(value, int) and not isinstance(value, bool) else None


# -- text ----------------------------------------------------------------------------------------------------------


def formatted(value: Value, parts: Sequence[Atoms]) -> Atoms:
    """`f"…{x}…"`."""
    if value.op is not Op.STRING or value.data is None:
        return PLAIN
    known, found = iter(parts), ""
    for literal in value.data:
        part = literal if literal is not None else value_of(next(known))
        if not isinstance(part, str | int | float | bool):
            return PLAIN
        found += str(part)
    return (Constant(found),) if len(found) <= LONGEST else PLAIN


def text_method(run: Run, text: str, name: str, given: Sequence[Atoms], frame: Frame, value: Value) -> Atoms:
    """`text.name(…)`."""
    values = [value_of(atoms) for atoms in given]
    if name not in _OF_TEXT or any(part is OPEN for part in values):
        return PLAIN
    return atoms_of(run, tried(getattr(text, name), values), value, frame)
