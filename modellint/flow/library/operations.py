"""Transfer functions of operators, and of methods of parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import operators
from modellint.flow.domain import (
    ANY_ARGUMENTS,
    NEVER,
    PLAIN,
    UNKNOWN,
    Constant,
    Derived,
    Plain,
    SymbolicInput,
    Unknown,
    constant,
    join,
)
from modellint.flow.heap import Shell
from modellint.flow.library.constants import LONGEST, OPEN, atoms_of, calculated, value_of
from modellint.flow.library.containers import merge
from modellint.graph.immutable import replace
from modellint.graph.value import Op, Value, dotted, same

if TYPE_CHECKING:
    from modellint.flow.domain import Arguments, Atom, Atoms
    from modellint.flow.frame import Frame
    from modellint.flow.library.running import Run

#: Methods that return a parameter itself where there is nothing to convert …
CONVERSIONS = frozenset("to cuda cpu half float double bfloat16 type type_as".split())
#: Parameters are made of 32-bit numbers …
_DEFAULT_DTYPE = ("torch.float", "torch.float32")
#: Methods that always return another tensor.
OPERATIONS = frozenset(
    """clone view reshape transpose t permute unsqueeze squeeze repeat expand flatten mul div add sub pow sqrt exp log
    abs neg sigmoid tanh softmax""".split()
)
_OF_TENSORS = frozenset("+ - * / @ **".split())
_TYPES = operators.attributes("torch", "type")
_CUDA = "cuda"
#: … on the CPU, where nothing else is said.
_HOST = "cpu"
#: Operations whose value is on the device of the first operand.
_MADE_OF_FIRST = frozenset((Op.UNARY, Op.INDEX, Op.LIST, Op.TUPLE, Op.COMPREHENSION, Op.UPDATE, Op.UNPACK, Op.ITEM))
#: How many operations are traced from a parameter back to the tensor that names a device.
_MAX_DEPTH = 12
#: From so many entries on, those of a sum of tuples are not kept apart.
_MANY = 16


def unary(run: Run, atoms: Atoms, value: Value, frame: Frame) -> Atoms:
    """`-x`, `~x`."""
    is_known = value.data == "-" and (run.counts or constant(atoms) is not None)
    found = calculated("-", 0, value_of(atoms)) if is_known else OPEN
    if found is OPEN:
        return join(changed(atom, f"`{value.data}`", value) for atom in atoms)
    return atoms_of(run, found, value, frame)


def binary(run: Run, left: Atoms, right: Atoms, value: Value, frame: Frame) -> Atoms:
    """`left + right` and the like."""
    known = _evaluate(run, left, right, value, frame)
    if known is not None:
        return known
    found = join(_of_side(run, side, left, right, value, frame) for side in (left, right))
    if not found and left and right:
        return PLAIN
    return tuple(atom for atom in found if not isinstance(atom, Plain)) or found


def augmented(run: Run, atom: Atom, right: Atoms, value: Value, frame: Frame) -> Atoms:
    """The result of `x += right` for an `atom` that is not changed in place."""
    if isinstance(atom, Shell):
        return binary(run, (atom,), right, value, frame)
    known = _evaluate(run, (atom,), right, value, frame)
    if known is not None or not right:
        return known or NEVER
    if isinstance(atom, Unknown | SymbolicInput) and any(isinstance(a, Shell) and a.is_container for a in right):
        return binary(run, (atom,), right, value, frame)  # a list that grows
    return _of_side(run, (atom,), (atom,), right, value, frame) or PLAIN


def _evaluate(run: Run, left: Atoms, right: Atoms, value: Value, frame: Frame) -> Atoms | None:
    """The result for known numbers and strings; in a run that counts, for sums of symbols and containers, too."""
    if not run.counts:
        if value.data == "+" and _are_short_tuples(left, right):
            return _concatenate(run, left, right, value, frame)
        if constant(left) is None or constant(right) is None:
            return None
    elif any(isinstance(atom, Shell | Unknown) for atom in (*left, *right)):
        return _concatenate(run, left, right, value, frame)
    return atoms_of(run, calculated(str(value.data), value_of(left), value_of(right)), value, frame)


def _are_short_tuples(left: Atoms, right: Atoms) -> bool:
    """True for two tuples of few entries, each known: their sum, too, has an entry for each place."""
    sides = [side[0] for side in (left, right) if len(side) == 1]
    items = [side.items for side in sides if isinstance(side, Shell) and side.kind == "tuple"]
    return len(items) == 2 and sum(_MANY if one is None else len(one) for one in items) < _MANY


def _concatenate(run: Run, left: Atoms, right: Atoms, value: Value, frame: Frame) -> Atoms | None:
    """`[…] + […]`, `n * […]` of containers whose entries are known one by one."""
    shells = [s[0] if len(s) == 1 and isinstance(s[0], Shell) and s[0].is_container else None for s in (left, right)]
    first, second = (None if shell is None else shell.items for shell in shells)
    if value.data == "+" and first is not None and second is not None:
        entries = [*first, *second]
    elif value.data == "*" and (first is None) is not (second is None):
        times = value_of(right if second is None else left)
        if type(times) is not int or times * len(first or second or ()) > LONGEST:
            return None
        entries = list(first or second or ()) * times
    else:
        return None
    kind = next(shell.kind for shell in shells if shell is not None)
    return (run.sequence(kind, [entry.atoms for entry in entries], value, frame),)


def _of_side(run: Run, side: Atoms, left: Atoms, right: Atoms, value: Value, frame: Frame) -> Atoms:
    """The contribution of one operand to an operator's result."""
    name = value.data
    found: list[Atoms] = []
    for atom in side:
        if isinstance(atom, Shell) and atom.is_container and name in ("+", "*", "|"):
            made = run.shell(atom.kind, value, frame)
            made.is_exact = made.is_exact and name == "+" and made is not atom  # grown in a loop
            other = right if side is left else left
            made.is_exact = made.is_exact and all(isinstance(o, Shell) and o.is_container for o in other)
            made.is_exact = made.is_exact and not _has_equal_entries(left, right)
            if not (side is right and atom in left):
                run.steps += len(atom.entries)
                merge(made, (atom,), ())
            found.append((made,))
        elif isinstance(atom, Shell) and atom.is_module_container and name == "+" and side is left:
            made = run.shell("instance", value, frame, str(id(atom)))
            made.model, made.arguments = atom.model, ANY_ARGUMENTS
            merge(made, (atom,), ())
            merge(made, right, ())
            found.append((made,))
        elif isinstance(atom, Shell | Derived) and name in _OF_TENSORS and not getattr(atom, "is_container", False):
            other = right if side is left else left
            is_single = not any(isinstance(o, Derived) or getattr(o, "kind", "") == "parameter" for o in other)
            found.append(changed(atom, f"`{name}`", value) if is_single else PLAIN)
        elif isinstance(atom, SymbolicInput | Unknown) and name == "+":
            found.append((replace(atom, symbol=None) if isinstance(atom, SymbolicInput) else atom,))
        else:
            found.append(PLAIN if side is left else NEVER)
    return join(found)


def _has_equal_entries(left: Atoms, right: Atoms) -> bool:
    """True if containers have equal entries, which a container holds once."""
    entries = [entry.atoms for atom in (*left, *right) if isinstance(atom, Shell) for entry in atom.entries]
    return len(set(entries)) < len(entries)


# -- parameters ----------------------------------------------------------------------------------------------------


def changed(atom: Atom, operation: str, value: Value, *, is_rare: bool = False, moved_to: Atoms = ()) -> Atoms:
    """The result of an operation on an atom: a tensor derived from a parameter, or nothing of interest."""
    told = moved_to[0] if len(moved_to) == 1 and isinstance(moved_to[0], SymbolicInput) else None
    if isinstance(atom, Derived):
        return (Derived(atom.parameter, operation, value, atom.is_rare and is_rare, told if atom.is_rare else None),)
    if isinstance(atom, Shell) and atom.kind == "parameter":
        return (Derived(atom, operation, value, is_rare, told),)
    return UNKNOWN if isinstance(atom, Unknown | SymbolicInput) else PLAIN


def tensor_method(atom: Shell | Derived, name: str, arguments: Arguments, value: Value) -> Atoms:
    """The result of a method of a parameter, or of a tensor that was made of one."""
    if name.endswith("_") and not name.endswith("__"):
        return (atom,)  # changed in place
    if name not in CONVERSIONS and name not in OPERATIONS:
        return PLAIN
    if name in ("to", "cuda") and _is_there(atom, value):
        return (atom,)
    given = [other for atoms in arguments.positional for other in atoms]
    is_default = name == "to" and len(given) == 1 and getattr(given[0], "name", "") in _DEFAULT_DTYPE
    there = _target_device(name, arguments) if _is_made_on_host(atom) else ()
    is_rare = name == "float" or is_default or are_host(there)
    return changed(atom, f"`.{name}()`", value, is_rare=is_rare, moved_to=there)


def _target_device(name: str, arguments: Arguments) -> Atoms:
    """The device that `to` or `cpu` moves to; empty where it may be asked for more than that."""
    if len(arguments.positional) > 1 or not arguments.keywords.keys() <= {"device", "non_blocking"}:
        return ()
    there = arguments.argument(0, "device") if arguments.is_complete else ()
    return (Plain(device=_HOST),) if name == _HOST and there is None else there or () if name == "to" else ()


def are_host(devices: Atoms) -> bool:
    """True if a device certainly is the CPU."""
    return bool(devices) and all(atom in (Constant(_HOST), Plain(device=_HOST)) for atom in devices)


def _is_made_on_host(atom: Shell | Derived) -> bool:
    """True if no code says that the data of a parameter is elsewhere than on the CPU."""
    made = (atom.parameter if isinstance(atom, Derived) else atom).value
    if made is None or not any(map(_speaks_of_device, made.walk())):
        return made is not None
    data = made.argument(0, "data") if made.op is Op.CALL else None
    return data is not None and _device_of(data) == _HOST


def _speaks_of_device(part: Value) -> bool:
    if part.op is Op.ATTR:
        return part.data in ("to", "cuda")
    return part.data == "device" if part.op is Op.CONST else part.op is Op.CALL and "device" in part.keywords


def _is_there(atom: Shell | Derived, moving: Value) -> bool:
    """True if a new parameter is moved to the device of its data: that gives the parameter itself."""
    made = atom.value if isinstance(atom, Shell) else None
    if made is None or made.op is not Op.CALL or moving.op is not Op.CALL or moving.callee.op is not Op.ATTR:
        return False
    data, there = made.argument(0, "data"), _destination(moving)
    before = None if data is None or there is None else _device_of(data)
    if before is None or there is None:
        return False
    maker = moving.callee.args[0]
    if isinstance(before, Value) and before.op is Op.PARAM and maker.op is Op.CALL and maker is not made:
        return any(_are_same(_device(given), there) for given in maker.args[1:])  # what a helper was told
    return _are_same(before, there)


def _are_same(device: Value | str, other: Value | str) -> bool:
    return device == other if isinstance(device, str) or isinstance(other, str) else same(device, other)


def _destination(moving: Value) -> Value | str | None:
    """The device that `.to(…)` or `.cuda(…)` moves to; None if it names none, or asks for more than that."""
    if len(moving.positional) > 1 or not moving.keywords.keys() <= {"device", "non_blocking"}:
        return None
    device = moving.argument(0, "device")
    if device is None:
        return _CUDA if moving.callee.data == "cuda" else None
    return None if device.op is Op.ATTR and device.data in _TYPES else _device(device)


def _device(named: Value) -> Value | str:
    """The name of a device that is a literal, else the value; the first of CUDA's has the name without a number."""
    if named.op is Op.CALL and named.callee.data == "device" and len(named.args) == 2:
        return _device(named.args[1])
    name = named.data if named.op is Op.CONST else None
    if name == f"{_CUDA}:0" or (name == 0 and name is not False):
        return _CUDA
    return name if isinstance(name, str) else named


def _device_of(tensor: Value, depth: int = 0) -> Value | str | None:
    """The device that code names for a tensor or its operands; an operation leaves its result there."""
    if depth > _MAX_DEPTH:
        return None
    if tensor.op is Op.CALL:
        device = tensor.keywords.get("device")
        if device is not None and tensor.callee.data != "to":
            return _device(device)
        owner = tensor.callee.args[0] if tensor.callee.op is Op.ATTR else None
        if tensor.callee.data == _HOST:
            return _HOST
        if tensor.callee.op is Op.ATTR and tensor.callee.data in ("to", "cuda"):
            there = _destination(tensor)
            if there is not None:
                return there
        is_function = owner is None or dotted(owner) is not None  # `nn.init.ones_(x)`, while `x.ones_()` is a method
        parts = tensor.args[1:2] if is_function else tensor.callee.args
    elif tensor.op is Op.BIN:
        parts = tensor.args
    else:
        parts = tensor.args[:1] if tensor.op in _MADE_OF_FIRST else ()
    return next((there for part in parts if (there := _device_of(part, depth + 1)) is not None), None)
