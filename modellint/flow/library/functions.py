"""Results of functions and classes of libraries: one table, by their dotted names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import knowledge
from modellint.flow import sizes
from modellint.flow.domain import (
    PLAIN,
    UNKNOWN,
    Arguments,
    ClassRef,
    Constant,
    Counter,
    FunctionRef,
    Outside,
    Plain,
    Prepared,
    SymbolicInput,
    Unknown,
    join,
    text,
)
from modellint.flow.heap import ExactShell, Shell, shells_in
from modellint.flow.library.constants import LONGEST, evaluate_pure, tried, value_of
from modellint.flow.library.containers import column, elements, holds, is_exact, merge, rows, unpacked
from modellint.flow.library.running import Call
from modellint.flow.theory import Escaped, Touched
from modellint.flow.truth import truth
from modellint.graph.size import Size
from modellint.graph.value import Op
from modellint.link.classes import calls

if TYPE_CHECKING:
    from collections.abc import Callable

    from modellint.flow.domain import Atom, Atoms
    from modellint.flow.frame import Frame
    from modellint.flow.library.running import Run
    from modellint.graph.value import Value

#: The most elements, of unknown number, that a container keeps one by one; more are joined.
_MOST_PARTS = 16
_DEFAULT_DICT = "collections.defaultdict"
DICTS = frozenset(("builtins.dict", "collections.OrderedDict", _DEFAULT_DICT))
#: Classes whose objects keep what they are given, and nothing else.
NAMESPACES = frozenset(("types.SimpleNamespace", "argparse.Namespace"))
#: Functions that bind some arguments of another one.
PARTIAL = frozenset(("functools.partial", "functools.partialmethod"))
#: The class that `namedtuple` returns, which is called with the values.
_ROW = "collections.namedtuple()"


def call(run: Run, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms:
    """The result of calling the function or class `name`, which cannot be read."""
    one = Call(run, name, arguments, frame, value)
    found = evaluate_pure(one)
    if found is None and name in FUNCTIONS:
        found = FUNCTIONS[name](one)
    if found is not None:
        return found
    first = arguments.positional[0] if arguments.positional else UNKNOWN
    if name in calls.COPIES:
        return _deepcopy(one, first)
    if name in calls.WRAPPERS:
        return first
    is_metric = name.startswith(knowledge.METRICS) and name.rpartition(".")[2][:1].isupper()
    if is_metric or calls.PRETRAINED.match(name):
        return (one.allocate("pretrained"),)
    known = run.asked.opaque(Outside(name), arguments, frame, value)
    return _opaque(run, name, arguments, value) if known is None else known


def _opaque(run: Run, name: str, arguments: Arguments, value: Value) -> Atoms:
    """The result of calling a name of which nothing is known."""
    top = name.partition(".")[0]
    if top == "builtins":
        return PLAIN
    run.asked.tell(Touched, shells_in(arguments.all()))
    is_class = top == "torch" and calls.is_torch_class(name)
    is_tool = calls.is_standard(top) or top == "numpy" or name.startswith(knowledge.TOOLS_ELSEWHERE)
    if is_tool or (top == "torch" and not is_class):
        return PLAIN
    run.asked.tell(Escaped, arguments, value)
    return (Unknown(tuple(dict.fromkeys(shells_in(arguments.all())))),)


# -- containers ----------------------------------------------------------------------------------------------------


def _collect(call: Call, kind: str, *, is_ordered: bool = True) -> Atoms:
    """`list(…)`, `tuple(…)` and the like."""
    made = call.allocate(kind)
    made.is_exact = made.is_exact and is_ordered
    if call.positional:
        parts = tuple(unpacked(call.positional[0]))
        if not is_exact(call.positional[0]):
            made.is_exact = False
            parts = parts if 0 < len(parts) <= _MOST_PARTS else (join(parts) or PLAIN,)
        made.fill(parts)
    return (made,)


def _reverse(call: Call) -> Atoms:
    known = elements(call.positional[0]) if call.positional else None
    return _collect(call, "generator") if known is None else call.sequence("generator", known[::-1])


def _dict(call: Call) -> Atoms:
    made = call.allocate("dict")
    if call.name != _DEFAULT_DICT:
        for atoms in call.positional:
            merge(made, atoms, ())
    elif call.positional:  # what is asked for and not there is made
        made.set("default_factory", call.positional[0])
    for key, atoms in call.arguments.keywords.items():
        made.put(atoms, (), key)
    made.is_exact = made.is_exact and call.arguments.is_complete
    return (made,)


def _length(call: Call) -> Atoms | None:
    atom = call.positional[0][0] if call.positional and len(call.positional[0]) == 1 else None
    if isinstance(atom, Constant) and isinstance(atom.value, str):
        return (Constant(len(atom.value)),)
    return (Constant(len(atom.entries)),) if call.run.counts and holds(atom) and atom.items is not None else None


def _range(call: Call) -> Atoms:
    bounds = [value_of(atoms) for atoms in call.positional] if call.run.counts else []
    numbers = tried(range, bounds) if bounds and all(type(bound) is int for bound in bounds) else None
    if isinstance(numbers, range) and len(numbers) <= LONGEST:
        return call.sequence("generator", [(Constant(number),) for number in numbers])
    made = call.allocate("generator")
    made.is_exact = False
    if len(bounds) == 1 and isinstance(bounds[0], Size) and isinstance(made, ExactShell):
        made.fill((PLAIN,))
        made.length = bounds[0]
        return (made,)
    made.put((Counter(sizes.whole(call.positional[0])),) if len(call.positional) == 1 else PLAIN, ())
    return (made,)


def _enumerate(call: Call) -> Atoms:
    over = column(call.run, call.positional[0] if call.positional else UNKNOWN)
    start = value_of(call.arguments.argument(1, "start") or (Constant(0),))
    numbers: list[Atoms] | Atoms = (Counter(),)
    if call.run.counts and isinstance(over, list) and type(start) is int:
        numbers = [(Constant(start + at),) for at in range(len(over))]
    return rows(call.run, [numbers, over], call.value, call.frame)


def _chain(call: Call) -> Atoms:
    """`itertools.chain`, and `sum` of lists."""
    is_sum = call.name == "builtins.sum"
    made = call.allocate("list" if is_sum else "generator")
    made.is_exact = False
    for number, atoms in enumerate(call.positional):
        is_nested = call.name != "itertools.chain" and number == 0
        parts = list(unpacked(atoms)) if is_nested else [atoms]
        if is_sum and not any(isinstance(a, Shell) and a.is_container for part in parts for a in part):
            return UNKNOWN if any(isinstance(a, SymbolicInput | Unknown) for a in atoms) else PLAIN
        for part in parts:
            merge(made, part, ())
    return (made,)


def _repeat(call: Call) -> Atoms | None:
    element, times = call.arguments.argument(0, "object"), value_of(call.arguments.argument(1, "times") or ())
    if element is None or type(times) is not int or times > LONGEST:
        return None
    return call.sequence("generator", [element] * times)


def _row_of(call: Call) -> Atoms:
    """A named tuple of values; the first argument has the names, or one text with blanks or commas between them."""
    known, rest = value_of(call.positional[0]), call.arguments.without_first()
    listed = known.replace(",", " ").split() if isinstance(known, str) else known
    names = [name for name in listed if isinstance(name, str)] if isinstance(listed, list | tuple) else []
    if not rest.is_complete or not names or names != [*listed]:  # type: ignore[misc]
        return call.run.calls.unknown(rest, call.value)
    fields = [rest.argument(number, name) or PLAIN for number, name in enumerate(names)]
    made = call.allocate("tuple")
    made.fill(tuple(fields))
    for name, field in zip(names, fields, strict=True):
        made.set(name, field)
    return (made,)


def _deepcopy(call: Call, atoms: Atoms) -> Atoms:
    """Deep copies of layers, parameters and entries of containers: one of each, however often it is held.

    A copy of a copy is told from others by its first original and the site of its last copy, so that there are no more
    copies than expressions that copy, however often these happen and whatever they copy along with it.
    """
    sources: dict[Shell, dict[Shell, None]] = {}
    pending: list[tuple[Shell, Shell]] = []

    def copy(atom: Atom) -> Atom:
        if not isinstance(atom, Shell):
            return atom
        first = atom.origin or atom
        made = call.allocate(atom.kind, ("copy", first, None if atom is first else id(atom.value)))
        made.origin = first
        known = sources.setdefault(made, {})
        if atom not in known:
            known[atom] = None
            pending.append((atom, made))
        return made

    found = join((copy(atom),) for atom in atoms)
    for shell, made in pending:
        call.run.steps += 1
        made.model, made.arguments = shell.model, shell.arguments
        made.is_exact = shell.is_exact and len(sources[made]) == 1
        made.fill(tuple(join((copy(atom),) for atom in entry.atoms) for entry in list(shell.entries)))
    return found


# -- what calls others ---------------------------------------------------------------------------------------------


def _map(call: Call) -> Atoms | None:
    """`map`, `filter`."""
    run, given = call.run, call.positional
    if len(given) < 2:
        return None
    columns = [elements(atoms) for atoms in given[1:]] if run.counts and call.name == "builtins.map" else [None]
    known = [one for one in columns if one is not None]
    if len(known) == len(columns):
        turns = list(zip(*known, strict=False))
        results = [_apply(call, given[0], Arguments(turns[at])) for at in call.frame.turns(len(turns))]
        return call.sequence("generator", results)
    made = call.allocate("generator")
    made.is_exact = False
    any_turn = tuple(_element(call, atoms) for atoms in given[1:])
    run.loops += 1
    if all(any_turn):
        result = _apply(call, given[0], Arguments(any_turn))
        if call.name == "builtins.filter":  # a known element may be one that is left out
            result = tuple(atom for atom in any_turn[0] if not isinstance(atom, Constant))
        made.put(result, ())
    run.loops -= 1
    return (made,)


def _reduce(call: Call) -> Atoms | None:
    """The fold of elements: the first value, or the result of one turn; another turn gives the same kind."""
    given = call.positional
    if len(given) < 2:
        return None
    each = _element(call, given[1])
    first = given[2] if len(given) > 2 else each
    return join([first, _apply(call, given[0], Arguments((first, each)))]) if first and each else first


def _element(call: Call, atoms: Atoms) -> Atoms:
    return join(call.run.objects.element(atom, call.frame, call.value) for atom in atoms)


def _apply(call: Call, functions: Atoms, arguments: Arguments) -> Atoms:
    return join(call.run.calls.apply(atom, arguments, call.frame, call.value) for atom in functions)


def _field(call: Call) -> Atoms:
    factory = call.arguments.keywords.get("default_factory")
    return UNKNOWN if factory is None else _apply(call, factory, Arguments())


def partial(first: Atoms, rest: Arguments) -> Atoms:
    """The callables of a value, with some of their arguments bound."""
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


# -- objects -------------------------------------------------------------------------------------------------------


def _attribute(call: Call) -> Atoms | None:
    """`getattr`, `hasattr`: only in a run that counts does an attribute certainly exist."""
    counts, is_asked = call.run.counts, call.name == "builtins.hasattr"
    name = text(call.positional[1]) if len(call.positional) > 1 else None
    if len(call.positional) < 2 or (is_asked and (name is None or not counts)):
        return None
    owner = call.positional[0] if name is not None else ()
    found = join(call.run.objects.attribute(atom, name, call.frame, call.value) for atom in owner if name is not None)
    is_object = counts and len(owner) == 1 and isinstance(owner[0], Shell)
    is_there = is_object and bool(found) and not any(isinstance(atom, Unknown) for atom in found)
    if is_asked:
        return (Constant(True),) if is_there else None
    return found if is_there else join([UNKNOWN if name is None else found, *call.positional[2:3]])


def _is_instance(call: Call) -> Atoms | None:
    is_written = call.value.op is Op.CALL
    outcome = truth(call.value, lambda inner: call.run.evaluate(inner, call.frame)) if is_written else None
    return None if outcome is None else (Constant(outcome),)


def _namespace(call: Call) -> Atoms:
    made = call.allocate("namespace")
    for key, atoms in call.arguments.keywords.items():
        made.set(key, atoms)
    return (made,)


def _device(call: Call) -> Atoms | None:
    named = call.arguments.argument(0, "device") or ()
    is_one = len(named) == 1 and len(list(call.arguments.all())) == 1 and call.arguments.is_complete
    known = named[0].value if is_one and isinstance(named[0], Constant) else None
    return (Plain(device=known),) if isinstance(known, str) else None


#: The evaluators of calls, by the dotted names of callees; they give None where the result is not known.
FUNCTIONS: dict[str, Callable[[Call], Atoms | None]] = {
    "builtins.list": lambda call: _collect(call, "list"),
    "builtins.sorted": lambda call: _collect(call, "list", is_ordered=False),
    "collections.deque": lambda call: _collect(call, "list"),
    "builtins.tuple": lambda call: _collect(call, "tuple"),
    "torch.Size": lambda call: _collect(call, "tuple"),
    "torch.device": _device,
    "builtins.set": lambda call: _collect(call, "set"),
    "builtins.frozenset": lambda call: _collect(call, "set"),
    "builtins.iter": lambda call: _collect(call, "generator"),
    "builtins.reversed": _reverse,
    **dict.fromkeys(DICTS, _dict),
    "collections.namedtuple": lambda call: (
        (Prepared(_ROW, Arguments(call.positional[1:2])),) if call.positional[1:] else None
    ),
    _ROW: _row_of,
    "builtins.len": _length,
    "builtins.range": _range,
    "builtins.enumerate": _enumerate,
    "builtins.zip": lambda call: rows(
        call.run, [column(call.run, atoms) for atoms in call.positional], call.value, call.frame
    ),
    "builtins.next": lambda call: _element(call, call.positional[0] if call.positional else UNKNOWN),
    "builtins.sum": _chain,
    "itertools.chain": _chain,
    "itertools.chain.from_iterable": _chain,
    "itertools.repeat": _repeat,
    "builtins.map": _map,
    "builtins.filter": _map,
    "functools.reduce": _reduce,
    "torch.utils.checkpoint.checkpoint": lambda call: (
        _apply(call, call.positional[0], call.arguments.without_first()) if call.positional else None
    ),
    "dataclasses.field": _field,
    **dict.fromkeys(
        PARTIAL,
        lambda call: partial(call.positional[0] if call.positional else UNKNOWN, call.arguments.without_first()),
    ),
    "builtins.getattr": _attribute,
    "builtins.hasattr": _attribute,
    "builtins.isinstance": _is_instance,
    **dict.fromkeys(NAMESPACES, _namespace),
}
