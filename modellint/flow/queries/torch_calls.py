"""Calls of torch whose arguments fit no overload, by the shipped signatures."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from modellint.flow.queries.values import Kind, Operand
from modellint.graph.definitions import External
from modellint.graph.immutable import dataclass
from modellint.graph.value import Op, dotted
from modellint.knowledge import signatures
from modellint.link.calls.doubts import is_shadowed
from modellint.link.calls.overloads import Unfit, refuses, unfit
from modellint.link.calls.reached import Reached
from modellint.link.requirements import required
from modellint.link.values.kinds import is_plain_layer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from modellint.flow.queries.calls import Call
    from modellint.graph.value import Parameter, Value
    from modellint.knowledge.signatures import Signature
    from modellint.link.project import Project

#: Functions that give neither a list nor a tuple, but something to go through.
_GENERATORS = frozenset(f"builtins.{name}" for name in ("map", "filter", "zip", "reversed", "iter", "range", "set"))
_DTYPES = frozenset(
    f"torch.{name}"
    for name in (
        *("float16", "float32", "float64", "half", "float", "double", "bfloat16", "complex64", "complex128"),
        *("int8", "int16", "int32", "int64", "uint8", "short", "int", "long", "bool"),
    )
)
_NO_TENSORS = (Op.CONST, Op.LIST, Op.DICT, Op.TUPLE, Op.SET, Op.STRING, Op.COMPREHENSION, Op.LAMBDA, Op.GLOBAL)
_MAX_PARTS = 20


@dataclass(frozen=True, slots=True)
class TorchMismatch:
    """A call of torch that fits no overload: the `signature` of what it calls, and what the nearest overload refuses.

    `target` is that overload, to ask `Call.is_certain`. `release` is the one that refuses the call where `others` take
    it, which the project excludes; empty if all described releases refuse it.
    """

    target: Reached
    signature: Signature
    unfit: Unfit
    name: str
    release: str = ""
    others: tuple[str, ...] = ()


def torch_signature(call: Call) -> tuple[str, Signature] | None:
    """The full name of what a call of torch calls, and what it takes; None for all other calls.

    Methods are those of values that are tensors on every path: `Tensor.view`.
    """
    found = _description(call)
    return found if found is not None and (_is_function(found[0]) or _has_tensor(call)) else None


def _description(call: Call) -> tuple[str, Signature] | None:
    """The name and signature of a function or class of torch, or of a method of tensors if its object may be one."""
    callee = call.value.callee
    definition = call.project.names.definition(call.module, callee)
    name = ""
    if definition is not None and is_shadowed(call.project, call.module, dotted(callee) or ""):
        return None
    if isinstance(definition, External) and definition.name.startswith("torch."):
        name = definition.name
        if name.startswith("torch.functional."):
            name = name.replace(".functional", "", 1)
    elif definition is None and callee.op is Op.ATTR and callee.args[0].op not in _NO_TENSORS:
        name = f"Tensor.{callee.data}"
    found = signatures.signature(name) if name else None
    return None if found is None else (name, found)


def _is_function(name: str) -> bool:
    return name.startswith("torch.")


def _has_tensor(call: Call) -> bool:
    """True if the object of a method is a tensor on every path."""
    return _is_tensor(Operand(call.value.callee.args[0], call.function, call.project))


def _is_tensor(operand: Operand) -> bool:
    """True if a value is a tensor on every path, also through functions, and of layers that functions make."""
    if operand.is_tensor:
        return True

    def are_tensors(leaves: Iterable[Operand]) -> bool | None:
        found = None  # a value that comes from nothing but itself is none
        for leaf in leaves:
            if leaf.kind() is not Kind.TENSOR and not _is_of_plain_layer(leaf):
                return None
            found = True
        return found

    return operand.conclude(are_tensors) is not None


def _is_of_plain_layer(leaf: Operand) -> bool:
    """True for a call of a layer of torch that gives one tensor."""
    value = leaf.value
    if value.op is not Op.CALL or leaf.part is not None or leaf.is_applied:
        return False
    if leaf.project.names.definition(leaf.function.module, value.callee) is not None:
        return False
    model = Operand(value.callee, leaf.function, leaf.project).object_class()
    return model is not None and model.cls is None and is_plain_layer(model.name)


def torch_mismatch(call: Call) -> TorchMismatch | None:
    """The arguments of a call of torch that fit no overload of what it calls; None if one overload may take them.

    A call that one release takes is none, if the project may use that release.
    """
    described = _description(call)
    if described is None:
        return None
    name, signature = described
    release: str = ""
    others: tuple[str, ...] = ()
    if not signatures.is_changed(name):
        found = _unfit(call, signature)
    else:
        used = torch_releases(call.project)
        there = {one: other for one in signatures.releases() if (other := signatures.signature(name, one)) is not None}
        unfits = {one: _unfit(call, there[one]) for one in used if one in there}
        found = unfits.get(used[0])
        if found is None or None in unfits.values():
            return None
        signature = there[used[0]]
        others = tuple(one for one in there if one not in used and _unfit(call, there[one]) is None)
        release = used[0] if others else ""
    if found is None or not (_is_function(name) or _has_tensor(call)):
        return None
    target = Reached(name.rpartition(".")[2], found.overload.parameters)
    return TorchMismatch(target, signature, found, name, release, others)


def _unfit(call: Call, signature: Signature) -> Unfit | None:
    """The overload that is nearest to a call that fits none of a signature; None if it may fit one."""
    value = call.value
    given = next((n for n, one in enumerate(value.positional) if one.op is Op.STARRED), len(value.positional))
    kinds = _kinds_refused(signature)
    letters = [_letters(one, call, kinds) for one in value.positional[:given]]
    keywords = {word: _letters(one, call, kinds) for word, one in value.keywords.items()}
    if letters and not letters[0] and _takes_list(signature):
        letters[0] = "T" if _is_tensor(Operand(value.positional[0], call.function, call.project)) else ""
    return unfit(signature, letters, keywords, is_final=not value.has_unpacking)


def torch_releases(project: Project) -> tuple[str, ...]:
    """The described releases of torch that a project may use, the newest first: all that it does not exclude.

    One that excludes all of them uses another one, which any of them may stand for.
    """

    def find() -> tuple[str, ...]:
        wanted = required("torch", project)
        if wanted is None or not wanted.is_particular:
            return signatures.releases()
        return tuple(one for one in signatures.releases() if wanted.admits_any((one,))) or signatures.releases()

    return project.once(("releases of torch",), find)


def newest_torch() -> str:
    """The newest release of torch that is described."""
    return signatures.release()


def may_use_newest_torch(project: Project) -> bool:
    """True if a project may use the newest release of torch that is described, for all that its requirements say."""
    wanted = required("torch", project)
    return wanted is None or wanted.specifiers is None or wanted.admits_any((newest_torch(),))


def _takes_list(signature: Signature) -> bool:
    """True if an overload takes a list of tensors first, and nothing else there."""
    firsts = ((overload, next(iter(overload.parameters), None)) for overload in signature.overloads)
    return any(first is not None and overload.kinds.get(first.name) == "L" for overload, first in firsts)


@cache
def _kinds_refused(signature: Signature) -> str:
    """The letters of the arguments that some parameter refuses, to look for these only; empty for a Python function."""
    taken = {kinds for overload in signature.overloads for kinds in overload.kinds.values()}
    return "".join(letter for letter in "TCGifnsNdY" if any(refuses(kinds, letter) for kinds in taken))


def _letters(value: Value, call: Call, wanted: str) -> str:
    """The kinds of an argument, as `modellint.link.calls.overloads` writes them; empty if one of them is unknown."""
    found: set[str] = set()
    for one in _parts(value) if wanted else ():
        letter = _letter(one, call, wanted)
        if not letter:
            return ""
        found.add(letter)
    return "".join(sorted(found))


def _parts(value: Value) -> Iterator[Value]:
    """The values that a value is on its paths."""
    pending, seen = [value], set[int]()
    for one in pending:
        if id(one) not in seen and len(seen) < _MAX_PARTS:
            seen.add(id(one))
            if one.op is Op.CHOICE and one.args:
                pending += one.args
            else:
                yield one


def _letter(value: Value, call: Call, wanted: str) -> str:
    op, operand = value.op, Operand(value, call.function, call.project)
    if op is Op.CONST:
        data = value.data
        return "N" if data is None else "s" if isinstance(data, str) else _of_number(data)
    if op in (Op.LIST, Op.TUPLE):
        return "C"
    if op is Op.COMPREHENSION:
        return "C" if value.data == "list" else "G"
    if op in (Op.DICT, Op.SET):
        return "G"
    if op is Op.STRING:
        return "s"
    if op is Op.LAMBDA:
        return "Y"
    if "T" in wanted and (operand.is_tensor or (op is Op.PARAM and value.data != "self" and operand.is_used_as_tensor)):
        return "T"
    if operand.is_number:
        is_quotient = op is Op.BIN and value.data == "/"
        return "f" if is_quotient else "n"
    name = _name(value, call)
    if name in _DTYPES:
        return "d"
    if op is Op.CALL:
        if _name(value.callee, call) in _GENERATORS:
            return "G"
        model = operand.made_class()
        return "Y" if model is not None and model.is_module else ""
    return ""


def _of_number(data: object) -> str:
    return "i" if type(data) is int else "f" if type(data) is float else ""


def _name(value: Value, call: Call) -> str:
    definition = call.project.names.definition(call.module, value)
    return definition.name if isinstance(definition, External) else ""


def torch_slots(call: Call) -> tuple[str, tuple[Parameter, ...]] | None:
    """The full name of the function, method or class of torch that is called, and its parameters.

    None for all other calls, and where overloads differ in the order of what they take.
    """
    described = torch_signature(call)
    if described is not None:
        name, found = described
        orders = [[one.name for one in overload.parameters] for overload in found.overloads]
        longest = max(orders, key=len)
        is_one = all(order == longest[: len(order)] or set(order) == set(longest) for order in orders)
        return (name, found.overloads[orders.index(longest)].parameters) if is_one else None
    target = call.target
    made = target is not None and target.is_made and target.function is None and target.owner is not None
    if target is None or target.owner is None or not made or not target.owner.name.startswith("torch."):
        return None
    return target.owner.name, target.parameters


def torch_parameters(call: Call) -> tuple[str, tuple[str, ...]] | None:
    """The full name of what is called of torch, and the names of its parameters; None as for `torch_slots`."""
    found = torch_slots(call)
    return None if found is None else (found[0], tuple(one.name for one in found[1]))
