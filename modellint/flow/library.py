"""What cannot be read does all the same: Python's containers and builtins, torch's containers, pretrained models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import knowledge, operators
from modellint.flow import sizes
from modellint.flow.domain import (
    ANY_ARGUMENTS,
    NEVER,
    NONE,
    PLAIN,
    UNKNOWN,
    Arguments,
    ClassRef,
    Constant,
    Counter,
    Derived,
    FunctionRef,
    Length,
    Plain,
    Prepared,
    Shape,
    SymbolicInput,
    Tensor,
    Unknown,
    constant,
    join,
    text,
)
from modellint.flow.heap import Shell, shells_in
from modellint.graph.value import Op, same
from modellint.link.classes import calls

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from modellint.flow.domain import Atom, Atoms
    from modellint.flow.frame import Frame
    from modellint.flow.heap import Path
    from modellint.flow.interp import Interpreter
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
_ARITHMETIC = frozenset("+ - * / @ **".split())
#: Methods by which a container grows; a deque does at either end.
ADDERS = frozenset(("appendleft", "extendleft")).union(
    *(operators.methods(kind, "adds", "extends") for kind in ("list", "set", "dict"))
)
#: Methods by which a module is told of a part.
REGISTRARS = operators.methods("Module", "registers")
_MANY = frozenset(("extend", "extendleft", "update"))
#: Methods of containers that give what is in them.
_ELEMENTS = frozenset(("pop", "popleft", "get", "popitem", "setdefault"))
_COPIED = frozenset(("copy", "values", "children", "modules", "parameters"))
_SEQUENCES = {
    "builtins.list": "list",
    "builtins.tuple": "tuple",
    "builtins.set": "set",
    "builtins.frozenset": "set",
    "builtins.sorted": "list",
    "builtins.reversed": "generator",
    "builtins.iter": "generator",
    "torch.Size": "tuple",
    "collections.deque": "list",
}
#: Of more elements than these that may be in a container, nobody needs to know them one by one.
_MOST_PARTS = 16
DICTS = frozenset(("builtins.dict", "collections.OrderedDict", "collections.defaultdict"))
#: Calls a function, and once more when gradients are computed.
_CHECKPOINT = "torch.utils.checkpoint.checkpoint"
#: What gives a function some of its arguments.
PARTIAL = frozenset(("functools.partial", "functools.partialmethod"))
_NAMED_TUPLE = "collections.namedtuple"
#: What that gives, which takes the values.
_ROW = f"{_NAMED_TUPLE}()"
_NAMESPACES = frozenset(("types.SimpleNamespace", "argparse.Namespace"))


def is_exact(atoms: Atoms) -> bool:
    """Whether a value is one container whose entries are known one by one."""
    return len(atoms) == 1 and isinstance(atoms[0], Shell) and atoms[0].is_exact and not _is_grown(atoms[0])


def _is_grown(shell: Shell) -> bool:
    return any(entry.path for entry in shell.entries)


def unpacked(atoms: Atoms) -> Iterator[Atoms]:
    """The entries of a container, one by one where they are known, else all of them as one value."""
    for atom in atoms:
        if isinstance(atom, Shell) and (atom.is_container or atom.is_module_container):
            for entry in atom.entries:
                yield entry.atoms if atom.kind != "dict" else PLAIN if entry.key is None else (Constant(entry.key),)
        elif isinstance(atom, Shape):
            yield sizes.element(atom)
        elif not isinstance(atom, Constant | Plain | Length):
            yield (atom,) if isinstance(atom, SymbolicInput | Tensor) else UNKNOWN


def unpacked_items(atoms: Atoms) -> Iterator[tuple[str | None, Atoms]]:
    """The keys and values of what dicts hold."""
    for atom in atoms:
        if isinstance(atom, Shell) and (atom.is_container or atom.is_module_container):
            for entry in atom.entries:
                yield (entry.key if isinstance(entry.key, str) else None), entry.atoms


def merge(into: Shell, atoms: Atoms, path: Path) -> None:
    """Put what a container holds into another one: `extend`, `update`."""
    for atom in atoms:
        if isinstance(atom, Shell) and (atom.is_container or atom.is_module_container):
            into.take(atom)
            for entry in list(atom.entries):
                key = entry.key if into.kind == "dict" or into.is_module_container else None
                inner = _pair(entry.atoms) if into.kind == "dict" and atom.kind != "dict" else None
                if inner is None:
                    into.put(entry.atoms, _joined(path, entry.path), key)
                else:
                    into.put(inner[1], _joined(path, entry.path), inner[0])
        elif isinstance(atom, Shape):
            into.is_exact = False
            into.put(sizes.element(atom), path)
        elif not isinstance(atom, Constant | Plain | Length):
            into.is_exact = False
            into.put((atom,) if isinstance(atom, SymbolicInput | Tensor) else UNKNOWN, path)
        else:
            into.is_exact = False


def _pair(atoms: Atoms) -> tuple[str | None, Atoms] | None:
    """The key and the value of a pair."""
    pair = atoms[0] if len(atoms) == 1 else None
    if isinstance(pair, Shell) and pair.kind == "tuple" and len(pair.entries) == 2:
        return text(pair.entries[0].atoms), pair.entries[1].atoms
    return None


def _joined(path: Path, more: Path) -> Path:
    return path + tuple(step for step in more if step not in path)


# -- tensors -------------------------------------------------------------------------------------------------------


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


def binary(run: Interpreter, side: Atoms, left: Atoms, right: Atoms, frame: Frame, value: Value) -> Atoms:
    """What one side of an operator has in the result."""
    name = value.data
    found: list[Atoms] = []
    for atom in side:
        if isinstance(atom, Shell) and atom.is_container and name in ("+", "*", "|"):
            made = run.shell(atom.kind, value, frame)
            made.is_exact = made.is_exact and name == "+" and made is not atom  # grown in a loop
            other = right if side is left else left
            made.is_exact = made.is_exact and all(isinstance(o, Shell) and o.is_container for o in other)
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
        elif isinstance(atom, Shell | Derived) and name in _ARITHMETIC and not getattr(atom, "is_container", False):
            other = right if side is left else left
            is_single = not any(isinstance(o, Derived) or getattr(o, "kind", "") == "parameter" for o in other)
            found.append(changed(atom, f"`{name}`", value) if is_single else PLAIN)
        elif isinstance(atom, SymbolicInput | Unknown) and name == "+":
            found.append((atom,))
        else:
            known = _calculated(name, left, right) if side is left else NEVER
            found.append(known if known or side is right else PLAIN)
    return join(found)


def _calculated(name: str, left: Atoms, right: Atoms) -> Atoms:
    """The sum or the like of constants."""
    a, b = constant(left), constant(right)
    if a is None or b is None:
        return NEVER
    try:
        if name == "+" and isinstance(a.value, int | str) and type(a.value) is type(b.value):
            return (Constant(a.value + b.value),)  # type: ignore[operator]
        if name == "-" and isinstance(a.value, int) and isinstance(b.value, int):
            return (Constant(a.value - b.value),)
    except (TypeError, OverflowError, MemoryError):
        pass
    return NEVER


# -- containers ----------------------------------------------------------------------------------------------------


def container_method(
    run: Interpreter, owner: Shell, name: str, arguments: Arguments, frame: Frame, value: Value
) -> Atoms:
    """A method of a plain container, or what torch's containers share with it."""
    path = run.path
    if name in ADDERS and arguments.positional + tuple(arguments.keywords.values()):
        owner.is_exact = owner.is_exact and not run.loops and not path
        added = arguments.positional[-1] if arguments.positional else NEVER
        if name in _MANY:
            is_sequence = owner.kind != "dict" and not owner.is_module_container
            for atom in added:
                if is_sequence and isinstance(atom, Shell) and atom.kind == "dict":
                    owner.put(_keys(atom), path)
                else:
                    merge(owner, (atom,), path)
            for key, atoms in arguments.keywords.items():
                owner.put(atoms, path, key)
        elif name == "insert":
            owner.is_exact = False
            owner.put(added, path)
        elif name == "setdefault":
            owner.put(added, path, text(arguments.positional[0]))
        else:
            owner.put(added, path)
        return added if name == "setdefault" else (owner,) if owner.is_module_container else NONE
    if name in _ELEMENTS:
        is_keyed = name == "get" or (name == "pop" and owner.kind == "dict")
        if is_keyed and arguments.positional:
            known, at = owner.part(arguments.positional[0]), constant(arguments.positional[0])
            if at is not None and owner.is_exact and any(e.key == at.value and not e.path for e in owner.entries):
                return known
            return join([known, *arguments.positional[1:], *(() if known else (NONE,))])
        return owner.element()
    if name == "items" or name == "named_children" or name == "named_modules":
        return (_rows(run, [_keys(owner), owner], value, frame),)
    if name in _COPIED:
        copied = run.shell("list", value, frame)
        merge(copied, (owner,), ())
        copied.is_exact = False
        return (copied,)
    return PLAIN


def _keys(owner: Shell) -> Atoms:
    keys = [(Constant(entry.key),) for entry in owner.entries if entry.key is not None]
    return join(keys) if len(keys) == len(owner.entries) and keys else PLAIN


def _rows(run: Interpreter, columns: Iterable[Shell | Atoms], value: Value, frame: Frame) -> Shell:
    """Tuples of one element of each column at a time: slot by slot where these are known, else any of each."""
    listed = list(columns)
    rows = run.shell("generator", value, frame, "rows")
    known = [c for c in listed if isinstance(c, Shell)]
    exact = [c for c in known if c.is_exact and not _is_grown(c)]
    if known and len(exact) == len(known):
        for number in range(min(len(c.entries) for c in known)):
            row = run.shell("tuple", value, frame, f"row {number}")
            row.fill(tuple(c.entries[number].atoms if isinstance(c, Shell) else c for c in listed))
            rows.put((row,), ())
        return rows
    row = run.shell("tuple", value, frame, "row")
    row.fill(tuple(c.element() if isinstance(c, Shell) else c for c in listed))
    rows.is_exact = False
    rows.put((row,), ())
    return rows


def _column(atoms: Atoms) -> Shell | Atoms:
    """A value as a column of `zip`."""
    first = atoms[0] if len(atoms) == 1 else None
    if isinstance(first, Shell) and first.kind != "dict" and (first.is_container or first.is_module_container):
        return first
    found: list[Atoms] = []
    for atom in atoms:
        if isinstance(atom, Shell) and atom.kind == "dict":
            found.append(_keys(atom))
        elif isinstance(atom, Shell) and (atom.is_container or atom.is_module_container):
            found.append(atom.element())
        else:
            found.append((atom,) if isinstance(atom, SymbolicInput | Unknown | Tensor) else PLAIN)
    return join(found)


# -- functions -----------------------------------------------------------------------------------------------------


def call(run: Interpreter, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms:
    """What calling the function or class `name`, which cannot be read, gives."""
    given = arguments.positional
    first = given[0] if given else UNKNOWN
    if name in calls.COPIES:
        return copied(run, first, frame, value)
    if name in calls.WRAPPERS:
        return first
    if name in _SEQUENCES:
        made = run.shell(_SEQUENCES[name], value, frame)
        if given:
            parts = tuple(unpacked(first))
            if not is_exact(first):
                made.is_exact = False
                parts = parts if 0 < len(parts) <= _MOST_PARTS else (join(parts) or PLAIN,)
            made.fill(parts)
        return (made,)
    if name == "builtins.next":
        return join(run.objects.element(atom, frame, value) for atom in first)
    if name == "builtins.enumerate":
        return (_rows(run, [(Counter(),), _column(first)], value, frame),)
    if name == "builtins.range":
        made = run.shell("generator", value, frame)
        made.is_exact = False
        made.put((Counter(_end(first)),) if len(given) == 1 else PLAIN, ())
        return (made,)
    if name == "builtins.zip":
        return (_rows(run, [_column(atoms) for atoms in given], value, frame),)
    if name in ("builtins.map", "builtins.filter") and len(given) > 1:
        return _mapped(run, name, given, frame, value)
    if name == "functools.reduce" and len(given) > 1:
        return _reduced(run, given, frame, value)
    if name in ("itertools.chain", "itertools.chain.from_iterable", "builtins.sum"):
        return _chained(run, name, given, frame, value)
    if name in DICTS:
        return _dict(run, name, arguments, frame, value)
    if name == "builtins.getattr" and len(given) > 1:
        return _getattr(run, given, frame, value)
    if name in PARTIAL:
        return partial(first, arguments.without_first())
    if name == _NAMED_TUPLE and len(given) > 1:
        return (Prepared(_ROW, Arguments((given[1],))),)
    if name == _ROW:
        return _named_row(run, arguments, frame, value)
    if name in _NAMESPACES:
        made = run.shell("namespace", value, frame)
        for key, atoms in arguments.keywords.items():
            made.set(key, atoms)
        return (made,)
    if name == "dataclasses.field":
        factory = arguments.keywords.get("default_factory")
        return UNKNOWN if factory is None else join(run.calls.apply(a, Arguments(), frame, value) for a in factory)
    is_metric = name.startswith(knowledge.METRICS) and name.rpartition(".")[2][:1].isupper()
    if is_metric or calls.PRETRAINED.match(name):
        return (run.shell("pretrained", value, frame),)
    if name == _CHECKPOINT and given:
        return join(run.calls.apply(atom, arguments.without_first(), frame, value) for atom in first)
    for theory in run.asked.outside:
        known = theory.outside(name, arguments, frame, value)
        if known is not None:
            return known
    return _opaque(run, name, arguments, value)


def _named_row(run: Interpreter, arguments: Arguments, frame: Frame, value: Value) -> Atoms:
    """A named tuple of values, of which the names are the first argument."""
    names = _names_in(arguments.positional[0])
    rest = arguments.without_first()
    fields = [rest.argument(number, name) for number, name in enumerate(names)]
    if not rest.is_complete or not names:
        return run.calls.unknown(rest, value)
    made = run.shell("tuple", value, frame)
    made.fill(tuple(field or PLAIN for field in fields))
    for name, field in zip(names, fields, strict=True):
        made.set(name, field or PLAIN)
    return (made,)


def _names_in(atoms: Atoms) -> list[str]:
    """The names of fields: a list of them, or one text with blanks or commas between; none if not all are known."""
    known = constant(atoms)
    if known is not None and isinstance(known.value, str):
        return known.value.replace(",", " ").split()
    names = [text(part) for part in unpacked(atoms)] if is_exact(atoms) else []
    return [name for name in names if name is not None] if None not in names else []


def _end(atoms: Atoms) -> int | None:
    """The number that a range counts to."""
    known = constant(atoms)
    return known.value if known is not None and type(known.value) is int else None


def _opaque(run: Interpreter, name: str, arguments: Arguments, value: Value) -> Atoms:
    """The result of calling a name that nothing is known of."""
    top = name.partition(".")[0]
    if top == "builtins":
        return PLAIN
    for theory in run.asked.touch:
        theory.touch(shells_in(arguments.all()))
    is_class = top == "torch" and calls.is_torch_class(name)
    is_tool = calls.is_standard(top) or top == "numpy" or name.startswith(knowledge.TOOLS_ELSEWHERE)
    if is_tool or (top == "torch" and not is_class):
        return PLAIN
    for theory in run.asked.hand:
        theory.hand(arguments, value)
    return (Unknown(tuple(dict.fromkeys(shells_in(arguments.all())))),)


def copied(
    run: Interpreter, atoms: Atoms, frame: Frame, value: Value, purpose: str = "copy", within: tuple[Shell, ...] = ()
) -> Atoms:
    """A copy: layers and parameters of their own."""
    found: list[Atoms] = []
    for number, atom in enumerate(atoms):
        if not isinstance(atom, Shell) or atom in within:  # what holds itself
            found.append((atom,))
            continue
        made = run.shell(atom.kind, value, frame, f"{purpose} {number}")
        made.model, made.arguments = atom.model, atom.arguments
        made.fill(
            tuple(
                copied(run, entry.atoms, frame, value, f"{purpose} {number} {n}", (*within, atom))
                for n, entry in enumerate(atom.entries)
            )
        )
        made.is_exact = atom.is_exact
        found.append((made,))
    return join(found)


def _mapped(run: Interpreter, name: str, given: tuple[Atoms, ...], frame: Frame, value: Value) -> Atoms:
    made = run.shell("generator", value, frame)
    made.is_exact = False
    elements = tuple(join(run.objects.element(atom, frame, value) for atom in atoms) for atoms in given[1:])
    run.loops += 1
    if all(elements):
        results = [run.calls.apply(atom, Arguments(elements), frame, value) for atom in given[0]]
        made.put(elements[0] if name == "builtins.filter" else join(results), ())
    run.loops -= 1
    return (made,)


def _reduced(run: Interpreter, given: tuple[Atoms, ...], frame: Frame, value: Value) -> Atoms:
    """What is made of elements one after the other; another turn makes something of the same kind."""
    each = join(run.objects.element(atom, frame, value) for atom in given[1])
    first = given[2] if len(given) > 2 else each
    made = [run.calls.apply(atom, Arguments((first, each)), frame, value) for atom in given[0] if first and each]
    return join([first, *made])


def _chained(run: Interpreter, name: str, given: tuple[Atoms, ...], frame: Frame, value: Value) -> Atoms:
    made = run.shell("list" if name == "builtins.sum" else "generator", value, frame)
    made.is_exact = False
    for number, atoms in enumerate(given):
        is_nested = name != "itertools.chain" and number == 0
        parts = list(unpacked(atoms)) if is_nested else [atoms]
        if name == "builtins.sum" and not any(isinstance(a, Shell) and a.is_container for part in parts for a in part):
            return UNKNOWN if any(isinstance(a, SymbolicInput | Unknown) for a in atoms) else PLAIN
        for part in parts:
            merge(made, part, ())
    return (made,)


def _dict(run: Interpreter, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms:
    made = run.shell("dict", value, frame)
    if name != "collections.defaultdict":
        for atoms in arguments.positional:
            merge(made, atoms, ())
    elif arguments.positional:  # what is asked for and not there is made
        made.set("default_factory", arguments.positional[0])
    for key, atoms in arguments.keywords.items():
        made.put(atoms, (), key)
    made.is_exact = made.is_exact and arguments.is_complete
    return (made,)


def _getattr(run: Interpreter, given: tuple[Atoms, ...], frame: Frame, value: Value) -> Atoms:
    name = text(given[1])
    if name is None:
        return join([UNKNOWN, *given[2:3]])
    found = join(run.objects.attribute(atom, name, frame, value) for atom in given[0])
    return join([found, *given[2:3]])


def partial(first: Atoms, rest: Arguments) -> Atoms:
    """Something to call, with arguments that it is given already."""
    found: list[Atom] = []
    for atom in first:
        if isinstance(atom, ClassRef):
            found.append(ClassRef(atom.model, atom.arguments.then(rest)))
        elif isinstance(atom, FunctionRef):
            given = atom.arguments.then(rest)
            found.append(FunctionRef(atom.code, atom.frame, atom.receiver, atom.above, given))
        else:
            found.append(Unknown(tuple(shells_in(rest.all()))))
    return tuple(found)
