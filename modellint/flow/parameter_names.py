"""Parameters of a layer that are picked by name: `[p for n, p in net.named_parameters() if "head" in n]`.

The names are those that torch gives; each condition on a name is evaluated for each of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow.domain import Constant, Plain
from modellint.flow.heap import Shell, opened
from modellint.graph.immutable import dataclass
from modellint.graph.value import Op, called_name

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from modellint.flow.frame import Frame
    from modellint.flow.heap import Path
    from modellint.flow.interp import Interpreter
    from modellint.graph.value import PathCondition, Value

#: How deeply layers within each other are opened.
_MAX_DEPTH = 8
#: How deeply conditions may be nested.
_MAX_NESTING = 40
#: Methods of strings that are evaluated.
_METHODS = frozenset(("startswith", "endswith", "split", "lower", "strip", "removeprefix", "count", "find"))
#: Stands for the unknown rest of a name, and for an unknown number in it.
_REST = "\0"


@dataclass(frozen=True, slots=True)
class ParameterName(Plain):
    """The name of a parameter of a layer."""

    owner: Shell


class UnsureError(Exception):
    """A condition on a name cannot be worked out."""


@dataclass(frozen=True, slots=True)
class _NameTest:
    """A condition on the names of the parameters of some layers, and the frame that it stands in."""

    value: Value
    frame: Frame
    owners: frozenset[Shell]

    def constants(self) -> Iterator[object]:
        """The constants that the condition compares names with."""
        for part in self.value.walk():
            for atom in opened(self.frame.known(id(part)) or ()):
                if isinstance(atom, Constant):
                    yield atom.value


class Picks:
    """The conditions on names of parameters that one run met."""

    def __init__(self, run: Interpreter) -> None:
        self._run = run
        #: The conditions by the keys that paths have for them.
        self._tests: dict[Hashable, _NameTest] = {}

    def note(self, key: Hashable, test: Value, frame: Frame) -> None:
        """Remember an open condition, if it is one on names."""
        if key not in self._tests:
            atoms = (atom for part in test.walk() for atom in frame.known(id(part)) or ())
            owners = frozenset(atom.owner for atom in atoms if isinstance(atom, ParameterName))
            if owners:
                self._tests[key] = _NameTest(test, frame, owners)

    def filters(self, guard: PathCondition | None, frame: Frame) -> Path:
        """The conditions on names under which a comprehension takes an element."""
        steps = () if guard is None else self._run.conditions(guard, frame) or ()
        return tuple(step for step in steps if step[0] in self._tests)

    def is_asked(self, layer: Shell, paths: list[Path]) -> bool:
        """True if paths depend on the names of a layer's parameters."""
        return any(self._asks(step[0], layer) for path in paths for step in path)

    def children(self, layer: Shell, paths: list[Path]) -> dict[Shell, list[Path]]:
        """The children of a layer whose parameters pass the conditions of some paths on names, with these paths.

        A child has no path if only some of its parameters pass, or if it is left out on purpose: by name, or because
        all paths take the same children. Raises UnsureError where a condition cannot be evaluated.
        """
        self._run.objects.construct(layer)
        found: dict[Shell, list[Path]] = {}
        rest: dict[Shell, str] = {}
        taken: list[set[Shell]] = [set() for _ in paths]
        names: list[set[str]] = [set() for _ in paths]
        for name, child in _parts(layer):
            whole = list(self._names(name, child, 0))
            given = [self._remaining_paths(layer, one, paths) for one in whole]
            if not given:
                continue
            for number, left in enumerate(zip(*given, strict=True)):
                taken[number].update({child} if any(one is not None for one in left) else ())
                names[number].update(one for one, path in zip(whole, left, strict=True) if path is not None)
            if any(child in children for children in taken):
                known = [path for path in given[0] if path is not None]
                are_all = all(any(path is not None for path in left) for left in given)
                found.setdefault(child, []).extend(known if are_all else ())
            else:
                rest[child] = name
        is_one_group = len({frozenset(children) for children in taken if children}) < 2
        # Groups that share the parameters of all other children out among them leave out what has another name.
        are_shared_out = len({frozenset(one) for one in names if one}) > 1 and all(found.values())
        for child, name in rest.items():
            is_chosen = is_one_group and not (are_shared_out and child.kind == "parameter")
            if is_chosen or self._is_mentioned(layer, name, paths):
                found.setdefault(child, [])
        return found

    def _asks(self, key: Hashable, layer: Shell) -> bool:
        return key in self._tests and layer in self._tests[key].owners

    def _remaining_paths(self, layer: Shell, name: str, paths: list[Path]) -> list[Path | None]:
        """For each path on which a parameter passes the conditions on names, the rest of the path; None for another."""
        left: list[Path | None] = []
        for path in paths:
            own = [step for step in path if self._asks(step[0], layer)]
            is_given = all(self._holds(step[0], name) is step[1] for step in own)
            left.append(tuple(step for step in path if step not in own) if is_given else None)
        return left

    def _holds(self, key: Hashable, name: str) -> bool:
        test = self._tests[key]
        return bool(_NameEvaluator(self._run, test.frame, name).value(test.value))

    def _is_mentioned(self, layer: Shell, name: str, paths: list[Path]) -> bool:
        """True if a condition mentions a child by its name, so that it is left out on purpose."""
        keys = {step[0] for path in paths for step in path if self._asks(step[0], layer)}
        texts = {one.strip(".") for key in keys for one in self._tests[key].constants() if isinstance(one, str)}
        return any(text and text in name for text in texts)

    # -- names -----------------------------------------------------------------------------------------------------

    def _names(self, name: str, shell: Shell, depth: int) -> Iterator[str]:
        """The names of the parameters of a part of a layer."""
        from modellint.flow.built import has_state

        if shell.kind == "parameter":
            yield name
            return
        self._run.objects.construct(shell)
        parts = list(_parts(shell))
        if depth > _MAX_DEPTH or (not parts and (shell.model is None or has_state(shell.model))):
            yield f"{name}.{_REST}"
        for inner, part in parts:
            yield from self._names(f"{name}.{inner}", part, depth + 1)


def _parts(layer: Shell) -> Iterator[tuple[str, Shell]]:
    """The layers and parameters in a layer, by the names that torch gives them; a number may be unknown."""
    held = [(store.name or _REST, store.atoms) for store in layer.stores if store.registers]
    for number, entry in enumerate(layer.entries if layer.is_module_container else ()):
        name = entry.key if isinstance(entry.key, str) else str(number) if layer.is_exact else _REST
        held.append((name, entry.atoms))
    for name, atoms in held:
        for atom in atoms:
            if isinstance(atom, Shell) and (atom.is_layer or atom.kind == "parameter"):
                yield name, atom


class _NameEvaluator:
    """Evaluates a condition for one name."""

    def __init__(self, run: Interpreter, frame: Frame, name: str) -> None:
        self._run = run
        self._frame = frame
        self._name = name
        self._depth = 0
        #: The values of comprehension variables, by identity.
        self._items: dict[int, object] = {}

    def value(self, value: Value) -> object:
        """The constant that an expression of the condition is for the name."""
        if self._depth > _MAX_NESTING:
            raise UnsureError
        self._depth += 1
        found = self._value(value)
        self._depth -= 1
        return found

    def _value(self, value: Value) -> object:
        if id(value) in self._items:
            return self._items[id(value)]
        if value.op is Op.UNARY and value.data == "not":
            return not self.value(value.args[0])
        if value.op is Op.BOOL:
            return self._bool(value)
        if value.op is Op.COMPARE:
            return self._compare(value.data, *map(self.value, value.args))
        if value.op is Op.CALL and called_name(value.callee) in ("any", "all") and len(value.positional) == 1:
            outcomes = self._each(value.positional[0])
            return any(outcomes) if called_name(value.callee) == "any" else all(outcomes)
        if value.op is Op.CALL and value.callee.op is Op.ATTR and value.callee.data in _METHODS and not value.keywords:
            owner = self.value(value.callee.args[0])
            return self._call_method(owner, str(value.callee.data), [self.value(arg) for arg in value.positional])
        if value.op is Op.INDEX:
            owner, index = self.value(value.args[0]), self.value(value.args[1])
            if isinstance(owner, list) and isinstance(index, int) and -len(owner) <= index < len(owner):
                return owner[index]
            raise UnsureError
        return self._constant(value)

    def _constant(self, value: Value) -> object:
        atoms = self._frame.known(id(value)) or self._run.evaluate(value, self._frame)
        if len(atoms) != 1:
            raise UnsureError
        atom = atoms[0]
        if isinstance(atom, ParameterName):
            return self._name
        if isinstance(atom, Constant):
            return atom.value
        if isinstance(atom, Shell) and atom.is_container and atom.is_exact and atom.kind != "dict":
            held = [entry.atoms[0] for entry in atom.entries if len(entry.atoms) == 1 and not entry.path]
            if len(held) == len(atom.entries) and all(isinstance(one, Constant) for one in held):
                return [one.value for one in held if isinstance(one, Constant)]
        raise UnsureError

    def _bool(self, value: Value) -> bool:
        decisive = value.data == "or"
        outcomes = [self._outcome(arg) for arg in value.args]
        if decisive not in outcomes and None in outcomes:
            raise UnsureError
        return decisive if decisive in outcomes else not decisive

    def _outcome(self, value: Value) -> bool | None:
        depth = self._depth
        try:
            return bool(self.value(value))
        except UnsureError:
            self._depth = depth
            return None

    def _each(self, made: Value) -> list[bool]:
        """The outcomes of a comprehension, item by item."""
        if made.op is not Op.COMPREHENSION or made.guard is not None:
            raise UnsureError
        element = made.args[-1]
        items = {id(item): item for item in self._turning(element)}
        if len(items) != 1:
            raise UnsureError
        item = next(iter(items.values()))
        values = self.value(item.args[0])
        if not isinstance(values, list):
            raise UnsureError
        outcomes: list[bool] = []
        for one in values:
            self._items[id(item)] = one
            outcomes.append(bool(self.value(element)))
        return outcomes

    def _turning(self, value: Value) -> Iterator[Value]:
        """The comprehension variables in a value, outside the parts that hold the name."""
        seen: set[int] = set()
        pending = [value]
        while pending:
            part = pending.pop()
            if id(part) in seen or any(isinstance(atom, ParameterName) for atom in self._frame.known(id(part)) or ()):
                continue
            seen.add(id(part))
            if part.op is Op.ITEM:
                yield part
            else:
                pending.extend(part.args)

    def _call_method(self, owner: object, name: str, given: list[object]) -> object:
        if not isinstance(owner, str):
            raise UnsureError
        arguments = [tuple(one) if isinstance(one, list) else one for one in given]
        known, rest, _ = owner.partition(_REST)
        if rest and (name != "startswith" or not self._is_decided(known, arguments)):
            raise UnsureError
        try:
            return getattr(known if rest else owner, name)(*arguments)
        except (TypeError, ValueError):
            raise UnsureError from None

    @staticmethod
    def _is_decided(known: str, arguments: list[object]) -> bool:
        """True if the known beginning of a name decides whether it starts with the argument."""
        wanted = arguments[0] if len(arguments) == 1 else None
        texts = [one for one in (wanted if isinstance(wanted, tuple) else (wanted,)) if isinstance(one, str)]
        return bool(texts) and not any(one.startswith(known) and one != known for one in texts)

    def _compare(self, operator: str, left: object, right: object) -> bool:
        if operator in ("in", "not in"):
            if isinstance(right, str) and isinstance(left, str):
                known, rest, _ = right.partition(_REST)
                if rest and left not in known:
                    raise UnsureError
                return (left in right) is (operator == "in")
            if isinstance(right, list) and not (isinstance(left, str) and _REST in left):
                return (left in right) is (operator == "in")
            raise UnsureError
        if any(isinstance(side, str) and _REST in side for side in (left, right)):
            raise UnsureError
        from modellint.graph.value import compare_constants

        outcome = compare_constants(operator, left, right)
        if outcome is None:
            raise UnsureError
        return outcome
