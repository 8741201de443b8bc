"""What methods and operators make of a parameter: a tensor, which is no parameter any more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow.domain import PLAIN, UNKNOWN, Derived, SymbolicInput, Unknown
from modellint.flow.heap import Shell
from modellint.graph.value import Op, same

if TYPE_CHECKING:
    from modellint.flow.domain import Arguments, Atom, Atoms
    from modellint.graph.value import Value

#: Methods that give a parameter itself where there is nothing to convert …
CONVERSIONS = frozenset("to cuda cpu half float double bfloat16 type type_as".split())
#: … which is the rule for these: parameters are made on the CPU, of 32-bit numbers.
_SELDOM = frozenset(("cpu", "float"))
_DEFAULT_DTYPE = ("torch.float", "torch.float32")
#: Methods that always give another tensor.
OPERATIONS = frozenset(
    """clone view reshape transpose t permute unsqueeze squeeze repeat expand flatten mul div add sub pow sqrt exp log
    abs neg sigmoid tanh softmax""".split()
)


def changed(atom: Atom, operation: str, value: Value, *, is_rare: bool = False) -> Atoms:
    """What an operation makes of something: a tensor of a parameter, or nothing of interest."""
    if isinstance(atom, Derived):
        return (Derived(atom.parameter, operation, value, atom.is_rare and is_rare),)
    if isinstance(atom, Shell) and atom.kind == "parameter":
        return (Derived(atom, operation, value, is_rare),)
    return UNKNOWN if isinstance(atom, Unknown | SymbolicInput) else PLAIN


def tensor_method(atom: Shell | Derived, name: str, arguments: Arguments, value: Value) -> Atoms:
    """The result of a method of a parameter, or of a tensor that was made of one."""
    if name.endswith("_") and not name.endswith("__"):
        return (atom,)  # changed in place
    if name not in CONVERSIONS and name not in OPERATIONS:
        return PLAIN
    if name == "to" and _is_there(atom, value):
        return (atom,)
    given = [other for atoms in arguments.positional for other in atoms]
    is_default = name == "to" and len(given) == 1 and getattr(given[0], "name", "") in _DEFAULT_DTYPE
    return changed(atom, f"`.{name}()`", value, is_rare=name in _SELDOM or is_default)


def _is_there(atom: Shell | Derived, moving: Value) -> bool:
    """Whether a new parameter is moved to where its data has been moved, or made: that gives the parameter itself."""
    made = atom.value if isinstance(atom, Shell) else None
    device = moving.argument(0, "device")
    if made is None or moving.callee.op is not Op.ATTR or moving.callee.args[0] is not made or device is None:
        return False
    data = made.argument(0, "data") if made.op is Op.CALL else None
    if data is None or data.op is not Op.CALL or len(moving.args) > 2:
        return False
    is_moved = data.callee.op is Op.ATTR and data.callee.data == "to"
    before = data.argument(0, "device") if is_moved else data.keywords.get("device")
    return before is not None and same(before, device)
