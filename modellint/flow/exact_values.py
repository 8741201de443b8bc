"""What operators, builtins and methods give of numbers, strings and containers that are known, in a run that counts.

A number is a constant or a sum of symbols; an operation that does not say what comes of those gives something plain.
Each answer is None where a question is not about such values at all.
"""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

from modellint import operators
from modellint.flow import library, sizes
from modellint.flow.copying import Copying
from modellint.flow.domain import (
    NONE,
    PLAIN,
    Arguments,
    Constant,
    Number,
    Site,
    SymbolicInput,
    Tensor,
    Unknown,
    constant,
    join,
    size_of,
    text,
)
from modellint.flow.heap import ExactShell, Shell
from modellint.flow.truth import truth
from modellint.graph.size import Size
from modellint.graph.value import Op
from modellint.knowledge import parameter_counts
from modellint.link.classes import calls

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from modellint.flow.domain import Atom, Atoms
    from modellint.flow.frame import Frame
    from modellint.flow.interp import Interpreter
    from modellint.flow.unrolled import UnrolledLoops
    from modellint.graph.value import Value

#: No number may be larger, and no text or container longer.
_LARGEST = 10**30
_LONGEST = 4096
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
_OF_SIZES = frozenset(("+", "-", "*"))
#: Builtins that give the same for the same values; those of `math` that do.
_PURE: dict[str, Callable[..., object]] = {
    f"builtins.{function.__name__}": function
    for function in (abs, all, any, bool, divmod, float, int, max, min, pow, round, sorted, str, sum)
} | {
    f"math.{name}": getattr(math, name)
    for name in "sqrt ceil floor trunc log2 log log10 exp prod gcd pow isqrt".split()
}
_OF_TEXT = frozenset("lower upper strip lstrip rstrip split startswith endswith title capitalize".split())
_ONLOOKERS = operators.functions("looks")
_REMOVING = frozenset().union(*(operators.methods(of, "removes") for of in ("list", "dict", "set")))
_WEIGHT_NORMS = operators.functions("weight-norm")


class _Open:
    """Stands for a value that is not known."""


_OPEN = _Open()


def value_of(atoms: Atoms) -> object:
    """The constant, size, or list or tuple of them that a value is; `_OPEN` for anything else."""
    if len(atoms) != 1:
        return _OPEN
    atom = atoms[0]
    if isinstance(atom, Constant):
        return atom.value
    if isinstance(atom, Shell):
        if atom.kind not in ("list", "tuple", "generator") or atom.items is None:
            return _OPEN
        inner = [value_of(entry.atoms) for entry in atom.items]
        return _OPEN if any(part is _OPEN for part in inner) else tuple(inner) if atom.kind == "tuple" else inner
    size = size_of(atoms)
    return _OPEN if size is None else size


def atoms_of(run: Interpreter, value: object, at: Value, frame: Frame, purpose: str = "value") -> Atoms:
    """What a calculated value is; anything plain where it is too large to be worth anything."""
    if isinstance(value, Size):
        return (sizes.number(value),)
    if isinstance(value, bool | float | None):
        return (Constant(value),)
    if isinstance(value, int):
        return (Constant(value),) if abs(value) < _LARGEST else PLAIN
    if isinstance(value, str):
        return (Constant(value),) if len(value) <= _LONGEST else PLAIN
    if isinstance(value, list | tuple) and len(value) <= _LONGEST:
        kind = "tuple" if isinstance(value, tuple) else "list"
        parts = [atoms_of(run, part, at, frame, f"{purpose} {number}") for number, part in enumerate(value)]
        return (run.sequence(kind, parts, at, frame, purpose),)
    return PLAIN


# -- operators -----------------------------------------------------------------------------------------------------


def binary(turns: UnrolledLoops, left: Atoms, right: Atoms, value: Value, frame: Frame) -> Atoms | None:
    """`left + right` and the like."""
    if any(isinstance(atom, Tensor) for atom in (*left, *right)):
        return turns.tensors.arithmetic(str(value.data), left, right, Site(value, frame.function))
    joined = _joined(turns.run, left, right, value, frame)
    if joined is not None:
        return joined
    if any(isinstance(atom, Shell | Unknown) for atom in (*left, *right)):
        return None
    first, second = value_of(left), value_of(right)
    return atoms_of(turns.run, _calculated(str(value.data), first, second), value, frame)


def _joined(run: Interpreter, left: Atoms, right: Atoms, value: Value, frame: Frame) -> Atoms | None:
    """`[…] + […]`, `n * […]` of what is known one by one."""
    shells = [s[0] if len(s) == 1 and isinstance(s[0], Shell) and s[0].is_container else None for s in (left, right)]
    first, second = (None if shell is None else shell.items for shell in shells)
    if value.data == "+" and first is not None and second is not None:
        entries, kind = [*first, *second], (shells[0] or shells[1]).kind  # type: ignore[union-attr]
    elif value.data == "*" and (first is None) is not (second is None):
        times = value_of(right if second is None else left)
        if type(times) is not int or times * len(first or second or ()) > _LONGEST:
            return None
        entries, kind = list(first or second or ()) * times, (shells[0] or shells[1]).kind  # type: ignore[union-attr]
    else:
        return None
    return (run.sequence(kind, [entry.atoms for entry in entries], value, frame),)


def _calculated(name: str, left: object, right: object) -> object:
    if left is _OPEN or right is _OPEN:
        return _OPEN
    if isinstance(left, Size) or isinstance(right, Size):
        first, second = _size(left), _size(right)
        if name == "//" and second == Size.of(1):
            return first
        return _OPERATORS[name](first, second) if name in _OF_SIZES and None not in (first, second) else _OPEN
    if not (_is_number(left) and _is_number(right)):
        return left + right if name == "+" and isinstance(left, str) and isinstance(right, str) else _OPEN
    if name in ("**", "<<") and (abs(right) > 64 or abs(left) > _LARGEST):  # type: ignore[arg-type]
        return _OPEN
    return _tried(_OPERATORS.get(name), (left, right))


def _tried(function: Callable[..., object] | None, given: Sequence[object]) -> object:
    try:
        return _OPEN if function is None else function(*given)
    except (TypeError, ValueError, ArithmeticError, IndexError):
        return _OPEN


def _size(value: object) -> Size | None:
    if isinstance(value, Size):
        return value
    return Size.of(value) if isinstance(value, int) and not isinstance(value, bool) else None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float)


def negative(operator_: str, atoms: Atoms) -> Atoms | None:
    """`-x` of a constant."""
    known = constant(atoms)
    if operator_ != "-" or known is None or not isinstance(known.value, float):
        return None
    return (Constant(-known.value),)


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
    return (Constant(found),) if len(found) <= _LONGEST else PLAIN


def sliced(run: Interpreter, owner: Atoms, value: Value, frame: Frame) -> Atoms:
    """`owner[a:b]`: of containers known one by one."""
    bounds: list[Any] = [value_of(run.evaluate(arg, frame)) for arg in value.args[1].args]
    return join(_slice(run, atom, bounds, value, frame) for atom in owner)


def _slice(run: Interpreter, atom: Atom, bounds: list[Any], value: Value, frame: Frame) -> Atoms:
    is_known = all(bound is None or type(bound) is int for bound in bounds)
    if isinstance(atom, Constant) and isinstance(atom.value, str):
        return (Constant(atom.value[slice(*bounds)]),) if is_known else PLAIN
    if not isinstance(atom, Shell) or not (atom.is_container or atom.is_module_container):
        return PLAIN if isinstance(atom, SymbolicInput | Number | Constant) else (atom,)
    found = run.shell(atom.kind, value, frame, str(id(atom)))
    found.model, found.is_built = atom.model, True
    kept = atom.items[slice(*bounds)] if is_known and atom.items is not None else atom.entries
    found.fill(tuple(entry.atoms for entry in kept))
    found.is_exact = is_known and atom.items is not None
    return (found,)


# -- functions -----------------------------------------------------------------------------------------------------


def call(turns: UnrolledLoops, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
    """What a function that cannot be read gives; None where the library knows, or nothing is known."""
    special = _FUNCTIONS.get(name)
    if special is not None:
        return special(turns, arguments, frame, value)
    if name in _WEIGHT_NORMS:
        return _with_norms(turns, arguments)
    if name in calls.COPIES and arguments.positional:
        is_deep = name.endswith("deepcopy")
        return Copying(turns, frame, value, is_deep=is_deep).copied(arguments.positional[0])
    if name in _PURE and not arguments.keywords and arguments.is_complete:
        given = [value_of(atoms) for atoms in arguments.positional]
        return atoms_of(turns.run, _pure(name, given), value, frame)
    made = turns.tensors.function(name, arguments, frame, value) if operators.row(name) is not None else None
    if made is not None and len(made) == 1 and isinstance(made[0], Tensor):
        return (_literal(arguments),) if made[0].sizes is None and "literal" in _facets(name) else made
    if "literal" in _facets(name):
        return (_literal(arguments),)
    if name not in _ONLOOKERS and not name.startswith("torch.nn.init."):
        turns.lose(arguments.all())
    return None


def _facets(name: str) -> Iterable[str]:
    row = operators.row(name)
    return () if row is None else row.facets


def _literal(arguments: Arguments) -> Tensor:
    """`torch.tensor(…)` of a number, or of a list of numbers that are known one by one."""
    known = value_of(arguments.argument(0, "data") or ())
    if _is_number(known) or isinstance(known, Size):
        return Tensor(sizes=())
    if isinstance(known, list | tuple) and all(map(_is_number, known)):
        return Tensor(sizes=(Size.of(len(known)),))
    return Tensor()


def _pure(name: str, given: list[object]) -> object:
    if any(part is _OPEN for part in given) or not given:
        return _OPEN
    if len(given) == 1 and isinstance(given[0], Size):
        return given[0] if name == "builtins.int" else _OPEN
    flat = [part for one in given for part in (one if isinstance(one, list | tuple) else (one,))]
    if any(isinstance(part, Size) for part in flat):
        return _sum(flat) if name == "builtins.sum" else _OPEN
    if name in ("builtins.pow", "math.pow"):
        return _calculated("**", *given) if len(given) == 2 else _OPEN
    return _tried(_PURE[name], given)


def _sum(parts: Iterable[object]) -> object:
    total = Size.of(0)
    for part in map(_size, parts):
        if part is None:
            return _OPEN
        total = total + part
    return total


def _range(turns: UnrolledLoops, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
    bounds = [value_of(atoms) for atoms in arguments.positional]
    if len(bounds) == 1 and isinstance(bounds[0], Size):
        made = turns.run.sequence("generator", [PLAIN], value, frame)
        made.is_exact, turns.lengths[made] = False, bounds[0]
        return (made,)
    if not bounds or any(type(bound) is not int for bound in bounds):
        return None
    known = _tried(range, bounds)
    if not isinstance(known, range) or len(known) > _LONGEST:
        return None
    return (turns.run.sequence("generator", [(Constant(number),) for number in known], value, frame),)


def _length(turns: UnrolledLoops, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
    given = arguments.positional[0] if arguments.positional else ()
    known = constant(given)
    if known is not None and isinstance(known.value, str):
        return (Constant(len(known.value)),)
    shell = given[0] if len(given) == 1 else None
    if not isinstance(shell, Shell) or not (shell.is_container or shell.is_module_container) or shell.items is None:
        return PLAIN
    return (Constant(len(shell.items)),)


def _enumerate(turns: UnrolledLoops, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
    elements = _elements(turns, arguments.positional[:1])
    start = value_of(arguments.argument(1, "start") or (Constant(0),))
    if elements is None or type(start) is not int:
        return None
    return _rows(turns.run, [[(Constant(start + at),) for at in range(len(elements[0]))], elements[0]], value, frame)


def _zip(turns: UnrolledLoops, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
    columns = _elements(turns, arguments.positional)
    return None if not columns else _rows(turns.run, columns, value, frame)


def _reversed(turns: UnrolledLoops, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
    elements = _elements(turns, arguments.positional[:1])
    return None if not elements else (turns.run.sequence("generator", elements[0][::-1], value, frame),)


def _repeat(turns: UnrolledLoops, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
    element, times = arguments.argument(0, "object"), value_of(arguments.argument(1, "times") or ())
    if element is None or type(times) is not int or times > _LONGEST:
        return None
    return (turns.run.sequence("generator", [element] * times, value, frame),)


def _map(turns: UnrolledLoops, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
    columns = _elements(turns, arguments.positional[1:])
    if not columns:
        return None
    rows = list(zip(*columns, strict=False))
    results = [
        join(turns.run.calls.apply(atom, Arguments(tuple(rows[at])), frame, value) for atom in arguments.positional[0])
        for at in turns.each(len(rows), frame)
    ]
    return (turns.run.sequence("generator", results, value, frame),)


def _elements(turns: UnrolledLoops, values: Sequence[Atoms]) -> list[list[Atoms]] | None:
    columns = [turns.elements(atoms) for atoms in values]
    known = [column for column in columns if column is not None]
    return known if len(known) == len(columns) else None


def _rows(run: Interpreter, columns: Sequence[Sequence[Atoms]], value: Value, frame: Frame) -> Atoms:
    rows = [
        (run.sequence("tuple", row, value, frame, f"row {number}"),)
        for number, row in enumerate(zip(*columns, strict=False))
    ]
    return (run.sequence("generator", rows, value, frame, "rows"),)


def _getattr(turns: UnrolledLoops, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
    """`getattr(x, name, default)` of an object whose attribute is known to be there."""
    name = text(arguments.argument(1, "name"))
    owner = arguments.positional[0] if arguments.positional else ()
    shell = owner[0] if len(owner) == 1 else None
    if name is None or not isinstance(shell, Shell):
        return None
    found = turns.run.objects.attribute(shell, name, frame, value)
    is_there = bool(found) and not any(isinstance(atom, Unknown) for atom in found)
    return found if is_there else None


def _hasattr(turns: UnrolledLoops, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
    return (Constant(True),) if _getattr(turns, arguments, frame, value) is not None else PLAIN


def _is_instance(turns: UnrolledLoops, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
    outcome = truth(value, lambda inner: turns.run.evaluate(inner, frame)) if value.op is Op.CALL else None
    return PLAIN if outcome is None else (Constant(outcome),)


_FUNCTIONS: dict[str, Callable[[UnrolledLoops, Arguments, Frame, Value], Atoms | None]] = {
    "builtins.isinstance": _is_instance,
    "builtins.range": _range,
    "builtins.len": _length,
    "builtins.enumerate": _enumerate,
    "builtins.zip": _zip,
    "builtins.reversed": _reversed,
    "builtins.map": _map,
    "builtins.getattr": _getattr,
    "builtins.hasattr": _hasattr,
    "itertools.repeat": _repeat,
}


# -- methods -------------------------------------------------------------------------------------------------------


def method(
    turns: UnrolledLoops, atom: Atom, name: str, arguments: Arguments, frame: Frame, value: Value
) -> Atoms | None:
    """`atom.name(…)` of a text, a tensor or a container."""
    if isinstance(atom, Tensor):
        return turns.tensors.method(atom, name, arguments, frame, value) or (Tensor(),)
    if isinstance(atom, Constant) and isinstance(atom.value, str) and name in _OF_TEXT:
        given = [value_of(atoms) for atoms in arguments.positional]
        if any(part is _OPEN for part in given):
            return PLAIN
        return atoms_of(turns.run, _tried(getattr(atom.value, name), given), value, frame)
    if isinstance(atom, Shell) and (atom.is_container or atom.is_module_container):
        return _of_container(turns.run, atom, name, arguments, frame, value)
    return None


def _of_container(
    run: Interpreter, owner: Shell, name: str, arguments: Arguments, frame: Frame, value: Value
) -> Atoms | None:
    """What a container whose elements are known gives or becomes; None where the library says it."""
    if owner.is_module_container and owner.model is not None and owner.model.has_own_adder(name):
        return None
    given = arguments.positional
    if name == "insert" and len(given) == 2:
        at = value_of(given[0])
        if owner.items is not None and type(at) is int and not run.path and not run.loops:
            owner.insert(at, given[1])
            return NONE
    if name in _REMOVING and name != "pop":
        if name == "clear" and not run.path and not run.loops:
            owner.fill(())
        elif isinstance(owner, ExactShell):
            owner.lose()
        return PLAIN
    if owner.items is None:
        return None if name != "pop" else _popped(owner, given, is_dict=owner.kind == "dict")
    is_dict = owner.kind == "dict" or any(entry.key is not None for entry in owner.items)
    if name == "pop":
        return _popped(owner, given, is_dict=is_dict, is_sure=not run.path)
    if name == "reverse" and not run.path:
        owner.reverse()
        return NONE
    if name == "copy":
        copied = run.shell(owner.kind, value, frame)
        library.merge(copied, (owner,), ())
        return (copied,)
    keys: list[Atoms] = [(Constant(entry.key),) for entry in owner.items]
    values = [entry.atoms for entry in owner.items]
    if name == "items" and is_dict:
        return _rows(run, [keys, values], value, frame)
    if name in ("keys", "values", "children"):
        return (run.sequence("generator", keys if name == "keys" else values, value, frame),)
    if name == "get" and is_dict and given:
        return _got(owner, value_of(given[0]), given[1:])
    if name == "index" and given:
        return (Constant(values.index(given[0])),) if given[0] in values else PLAIN
    return None


def _popped(owner: Shell, given: Sequence[Atoms], *, is_dict: bool, is_sure: bool = False) -> Atoms | None:
    """The entry that `pop` removes; None where it is not known which one that is."""
    if not is_sure and isinstance(owner, ExactShell):
        owner.lose()
        return None
    at = value_of(given[0]) if given else -1
    places = [entry.key for entry in owner.entries] if is_dict else range(len(owner.entries))
    if at in places or (not is_dict and type(at) is int and len(owner.entries) + at in places):
        return owner.pop(places.index(at) if is_dict else at)  # type: ignore[arg-type]
    if is_dict and at is not _OPEN and len(given) > 1:
        return given[1]
    if isinstance(owner, ExactShell):
        owner.lose()
    return None


def _got(owner: Shell, key: object, default: Sequence[Atoms]) -> Atoms | None:
    if key is _OPEN:
        return None
    found = next((entry.atoms for entry in owner.entries if entry.key == key), None)
    return found if found is not None else default[0] if default else NONE


# -- layers --------------------------------------------------------------------------------------------------------


def described(shell: Shell) -> str | None:
    """The class whose parameters are known by its arguments that an object is of, or derives from."""
    if shell.model is None or shell.kind != "instance":
        return None
    return next((model.name for model in shell.model.mro() if parameter_counts.describes(model.name)), None)


def arguments_of(shell: Shell, name: str) -> dict[str, Atoms]:
    """What a described layer was given, by name."""
    passed = shell.arguments if shell.passed is None else shell.passed
    bound = parameter_counts.arguments_of(name, passed.positional, passed.keywords)
    return {key: value if isinstance(value, tuple) else (Constant(value),) for key, value in bound.items()}


def own_parameters(turns: UnrolledLoops, shell: Shell, name: str) -> Size | None:
    """How many parameters a described layer has."""
    if shell in turns.open or not (shell.arguments if shell.passed is None else shell.passed).is_complete:
        return None
    known = {key: _argument(atoms) for key, atoms in arguments_of(shell, name).items()}
    own = parameter_counts.count(name, known)
    added = turns.added.get(shell, Size.of(0))
    return None if own is None or added is None else own + added


def _argument(atoms: Atoms) -> object:
    found = value_of(atoms)
    return Unknown() if found is _OPEN else found


def _with_norms(turns: UnrolledLoops, arguments: Arguments) -> Atoms | None:
    """A layer whose weight is split into a direction and a length for each of its first dimension."""
    layers = arguments.argument(0, "module") or ()
    for layer in layers:
        if not isinstance(layer, Shell):
            continue
        name = described(layer)
        known = {} if name is None else arguments_of(layer, name)
        side = "in_channels" if name is not None and "Transpose" in name else "out_channels"
        size = size_of(known.get(side) or known.get("out_features"))
        is_plain = len(layers) == len(arguments.positional) + len(arguments.keywords) == 1
        turns.added[layer] = size if is_plain and layer not in turns.added else None
    return layers
