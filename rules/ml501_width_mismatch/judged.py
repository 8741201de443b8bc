"""The severity of sizes that differ, or do not divide each other: for certain, by default, or if a setting changes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from modellint.finding import Severity
from modellint.graph.definitions import External
from modellint.graph.value import EventKind, Op, self_attribute
from modellint.link.calls.doubts import is_generator_source, is_tried_out
from modellint.link.classes.attributes import owners_set
from modellint.link.searched import mentioning
from modellint.link.values.members import Members

from .evaluator import Evaluator
from .sizes import Sizes
from .table import SIZED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from modellint.graph.python import ModuleFacts
    from modellint.graph.size import Size, Symbol
    from modellint.graph.value import Event, Value
    from modellint.rule import Project

    from .meetings import Misfit

_CATCHING = frozenset(("RuntimeError", "Exception", "BaseException"))
#: Names in conditions that ask how large something is, or what it is.
_ASKING = frozenset(("shape", "size", "ndim", "dim", "isinstance", "hasattr", "type", "len"))


def severity_of(misfit: Misfit, project: Project) -> Severity | None:
    """The severity of a misfit; None if it may be none."""
    severity = difference(misfit.given.size, misfit.taken, misfit.layer.made.frame.module)
    if severity is None and _is_made_again(misfit, project):
        severity = Severity.WARNING
    if severity is None or _is_replaced(misfit, project):
        return None
    if is_generator_source(project, misfit.call.frame.module):
        return None
    # A number that code reshapes to, and not a layer, is seldom meant to be the setting.
    if misfit.given.maker is None and misfit.given.size.number == misfit.taken.number:
        return None
    if severity is not Severity.ERROR and any(
        _is_computed(symbol, project) for symbol in (misfit.given.size - misfit.taken).symbols
    ):
        return None
    if misfit.is_one_side:
        return Severity.WARNING if severity is Severity.ERROR else None
    if any(not _CATCHING.isdisjoint(event.handled) for event in misfit.events):
        return None
    guards = [guard for event in misfit.events if event.guard is not None for guard in event.guard.chain()]
    tests = [guard.test for guard in guards if not guard.raised]
    if any(map(_asks_size, tests)):
        return None
    if tests:
        severity = Severity.WARNING if severity is Severity.ERROR else Severity.INFO
    function = misfit.call.frame.function
    made = () if misfit.around is None else (e for e in function.flow.of(EventKind.CALL) if e.value is misfit.around)
    if any(is_tried_out(project, function, event) for event in (*misfit.events, *made)):
        return Severity.INFO
    return severity


def is_same_mistake(misfit: Misfit, told: Iterable[Misfit]) -> bool:
    """True if a layer gets what calls that were told about return, and the same two widths do not fit again."""
    widths = {misfit.given.size, misfit.taken}
    first = [one for one in told if {one.given.size, one.taken} == widths]
    if misfit.around is not None:
        return any(one.around is misfit.around for one in first)
    pairs = (zip(one.events, misfit.events, strict=False) for one in first)
    parted = [next(((before, event) for before, event in pair if before is not event), None) for pair in pairs]
    for _, event in filter(None, parted):
        failing = {id(before.value) for before, other in filter(None, parted) if other is event}
        if any(_comes_from(part, failing, {}) for part in event.value.args):
            return True
    return False


def _comes_from(value: Value, failing: set[int], known: dict[int, bool]) -> bool:
    """True if a value is computed from the results of failing calls, whichever way conditions go."""
    pending, seen = [value], set[int]()
    for part in pending:
        if id(part) in failing:
            return True
        if part.op is Op.CHOICE and id(part) not in known:
            known[id(part)] = False
            # Before the first turn of a loop only its start is known.
            sides = part.args[:1] if part.data is None else part.args
            known[id(part)] = bool(sides) and all(_comes_from(side, failing, known) for side in sides)
        if known.get(id(part)):
            return True
        if part.op is not Op.CHOICE and id(part) not in seen:
            seen.add(id(part))
            pending += part.args[:1] if part.op is Op.BOOL else part.args
    return False


def _is_made_again(misfit: Misfit, project: Project) -> bool:
    """True if a layer follows another one that was made with the same sizes, from one parameter to another."""
    maker, made = misfit.given.maker, misfit.layer.made
    sized = SIZED.get(misfit.layer.name)
    if maker is None or sized is None or sized.takes is None or sized.gives is None or misfit.is_one_side:
        return False
    definition = project.names.definition(maker.frame.module, maker.value.callee)
    given, taken = misfit.given.size.only_symbol, misfit.taken.only_symbol
    if given is None or taken is None or given.owner != taken.owner or not _are_parameters({given.owner}):
        return False
    if not isinstance(definition, External) or definition.name != f"torch.nn.{misfit.layer.name}":
        return False
    size = Sizes(project.of(Evaluator)).size
    return all(
        (one := size(maker.value.argument(*end), maker.frame)) is not None
        and one == size(misfit.layer.argument(end), made.frame)
        for end in (sized.takes, sized.gives)
    )


def difference(given: Size, taken: Size, module: ModuleFacts) -> Severity | None:
    """The severity of a width that is given where another one is taken; None if nothing is known to differ."""
    apart = given - taken
    if apart.constant is not None:
        return Severity.ERROR if apart.constant else None
    if len(given.terms) == len(taken.terms) == 1 and given.terms[0][0] == taken.terms[0][0]:
        return Severity.ERROR
    owners = {symbol.owner for symbol in apart.symbols}
    if len(owners) != 1:
        return None
    if apart.number is None:
        return _of_settings(given, taken, module)
    if apart.number:
        return Severity.WARNING if _are_parameters(owners) else None
    return Severity.INFO if given.constant is None and taken.constant is None else Severity.WARNING


def _of_settings(given: Size, taken: Size, module: ModuleFacts) -> Severity | None:
    """The severity where a field of a configuration must equal a number or another field, and their values are unknown.

    None for a constructor's parameters, which are for its callers to choose.
    """
    sides = (given, taken)
    owners = {symbol.owner.rpartition(":")[2] for side in sides for symbol in side.symbols}
    functions = {function.name for function in module.all_functions()}
    if any("." in owner or owner in functions for owner in owners):
        return None
    if any(side.constant is None and side.only_symbol is None for side in sides):
        return None
    return Severity.WARNING if any(side.constant is not None for side in sides) else Severity.INFO


def _is_computed(symbol: Symbol, project: Project) -> bool:
    """True if a configuration computes a field itself, perhaps from the one that it has to equal."""
    path, _, name = symbol.owner.rpartition(":")
    module = project.python(Path(path))
    cls = None if module is None else module.classes.get(name)
    if cls is None:
        return False
    stores = (event.value for owner in project.of(Members).mro(cls) for _, event in owner.stores(symbol.name))
    return any(value.op is not Op.PARAM for value in stores) or any(
        symbol.name in owner.methods for owner in project.of(Members).mro(cls)
    )


def remainder(width: Size, parts: Size, event: Event) -> Severity | None:
    """The severity of a layer that divides a width into parts; None if the division may leave no remainder."""
    if width.constant is not None and parts.constant:
        return Severity.ERROR if width.constant % parts.constant else None
    if event.guard is not None:
        return None
    owners = {symbol.owner for symbol in width.symbols | parts.symbols}
    if len(owners) != 1 or width.number is None or not parts.number or not width.number % parts.number:
        return None
    return Severity.WARNING if _are_parameters(owners) else None


def _are_parameters(owners: set[str]) -> bool:
    """True if symbols are parameters of constructors, rather than fields of configurations."""
    return all(owner.endswith(".__init__") for owner in owners)


def _asks_size(test: Value) -> bool:
    """True if a condition asks for a size or a type, and so may make the widths fit."""
    return any(part.data in _ASKING for part in test.walk() if part.op in (Op.ATTR, Op.GLOBAL))


def _is_replaced(misfit: Misfit, project: Project) -> bool:
    """True if other objects store to the attribute that holds the layer."""
    call = misfit.call
    name = self_attribute(call.value.callee) if call.value.op is Op.CALL else None
    owner = call.frame.function.owner
    if name is None or owner is None:
        return False
    others = mentioning(project, call.frame.module, name, owner.name)
    return any(owners_set(module, name, project) for module in dict.fromkeys((call.frame.module, *others)))
