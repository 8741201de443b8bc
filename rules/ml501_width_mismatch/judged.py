"""The severity of sizes that differ, or do not divide each other: for certain, by default, or if a setting changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.finding import Severity
from modellint.flow import queries
from modellint.graph.definitions import External
from modellint.graph.size import Quotient
from modellint.graph.value import EventKind, Op, Value, self_attribute

from .ends import input_width, output_width

if TYPE_CHECKING:
    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.size import Size
    from modellint.graph.value import Event
    from modellint.rule import Project


def severity_of(refused: queries.RefusedOperation, project: Project) -> Severity | None:
    """The severity of a misfit; None if it may be none."""
    given, taken = refused.given, refused.taken
    if given is None or taken is None:
        return None
    if refused.kind == "division":
        severity = _remainder(given, taken, is_open=refused.is_open)
    elif refused.doubt == "sizes":
        severity = _of_doubt(refused, given, taken, project)
    elif refused.doubt == "side":
        severity = Severity.WARNING if _is_chosen(refused, project) or _is_layer_chosen(refused) else None
    else:
        severity = Severity.ERROR
    if severity is None:
        return None
    if refused.is_open and refused.kind != "division":
        severity = Severity.WARNING if severity is Severity.ERROR else Severity.INFO
    return Severity.INFO if refused.is_tried else severity


def _of_doubt(refused: queries.RefusedOperation, given: Size, taken: Size, project: Project) -> Severity | None:
    """The severity of two sizes that symbols may make equal."""
    home = refused.site if refused.layer is None else refused.layer
    severity = _difference(given, taken, home.module)
    if severity is None:
        return Severity.WARNING if _is_made_again(refused, project) else None
    if refused.layer is not None and (given - taken).symbols and not _is_made_by_default(refused.layer):
        return None
    maker = _maker(refused, project)
    if maker is None and given.number == taken.number:
        return None  # a number that code reshapes to, and not a layer, is seldom meant to be the setting
    if any(queries.is_computed_setting(symbol, project) for symbol in (given - taken).symbols):
        return None
    return severity


def _is_made_by_default(layer: queries.Site) -> bool:
    """True if the defaults of a constructor may make a layer; False if they choose another one, by a key or a test."""
    call, function = layer.value, layer.function
    if call.op is not Op.CALL or call.callee.op in (Op.INDEX, Op.CALL):
        return False
    parameters = () if function is None else function.parameters
    defaults = {
        one.name: one.default.data for one in parameters if one.default is not None and one.default.op is Op.CONST
    }
    events = () if function is None else function.flow.of(EventKind.CALL)
    guards = [event.guard for event in events if event.value is call and event.guard is not None]
    links = [link for guard in guards for link in guard.chain()]
    return all(queries.outcome(link.test, defaults) in (None, link.truthy) for link in links)


def _maker(refused: queries.RefusedOperation, project: Project) -> queries.Site | None:
    """The call of the constructor whose layer decides the width that is given; None if something else does."""
    for site in (one.site for one in refused.made if one.is_left and str(refused.given) in one.sizes):
        made = project.names.definition(site.module, site.value.callee) if site.value.op is Op.CALL else None
        if isinstance(made, External) and made.name.startswith("torch.nn.") and output_width(site) is not None:
            return site
    return None


def _is_made_again(refused: queries.RefusedOperation, project: Project) -> bool:
    """True if a layer follows another one that was made with the same sizes, from one parameter to another."""
    maker, made = _maker(refused, project), refused.layer
    given, taken = refused.given, refused.taken
    assert given is not None
    assert taken is not None
    one, other = given.only_symbol, taken.only_symbol
    if maker is None or made is None or one is None or other is None or one.owner != other.owner:
        return False
    if maker.value is made.value or maker.name != made.name or not _are_parameters({one.owner}):
        return False
    ends = [(end(maker), end(made)) for end in (input_width, output_width)]
    return all(a is not None and b is not None and _is_same(a, b) for a, b in ends)


def _is_same(one: Value, other: Value) -> bool:
    """True if two values are the same parameter, or the same attribute."""
    if one is other:
        return True
    is_alike = one.op is other.op and one.data == other.data and len(one.args) == len(other.args)
    return is_alike and all(map(_is_same, one.args, other.args))


def _is_chosen(refused: queries.RefusedOperation, project: Project) -> bool:
    """True if a condition within one of the two constructors chooses a width that the other side fits."""
    maker, made = _maker(refused, project), refused.layer
    widths = () if maker is None or made is None else (output_width(maker), input_width(made))
    choices = [one for one in widths if one is not None and one.op is Op.CHOICE and isinstance(one.data, Value)]
    return len(widths) == 2 and None not in widths and len(choices) == 1


def _is_layer_chosen(refused: queries.RefusedOperation) -> bool:
    """True if the layer before is one of two that a condition in the constructor chooses; the refusing one is fixed."""
    call = refused.site.value
    owner = None if refused.site.function is None else refused.site.function.owner
    before = call.positional[0] if call.op is Op.CALL and call.positional else None
    if owner is None or refused.is_open or before is None or before.op is not Op.CALL:
        return False
    names = [self_attribute(one.callee) for one in (call, before)]
    own, chosen = ([] if name is None else _kept(owner, name) for name in names)
    if len(own) != 1 or len(chosen) != 2:
        return False
    (function, one), (other_function, other) = chosen
    if function is not other_function or one.guard is None or other.guard is None:
        return False
    return one.guard.test is other.guard.test and one.guard.truthy != other.guard.truthy


def _kept(owner: Class, name: str) -> list[tuple[Function, Event]]:
    """The stores of an attribute, but for those of None, which others replace."""
    stores = owner.stores(name)
    return [
        (method, event) for method, event in stores if event.value.op is not Op.CONST or event.value.data is not None
    ]


def _difference(given: Size, taken: Size, module: ModuleFacts) -> Severity | None:
    """The severity of a width that is given where another one is taken; None if nothing is known to differ."""
    apart = given - taken
    if apart.constant is not None:
        return Severity.ERROR if apart.constant else None
    if apart.number == 0 and any(isinstance(symbol, Quotient) for symbol in apart.symbols):
        return None  # `width // heads * heads`
    if len(given.terms) == len(taken.terms) == 1 and given.terms[0][0] == taken.terms[0][0]:
        return Severity.ERROR
    owners = {symbol.owner for symbol in apart.symbols}
    if len(owners) != 1:
        return None
    if apart.number is None:
        rest = apart.by_default
        if _are_parameters(owners) and len(rest.terms) == 1 and rest != apart:
            return Severity.WARNING  # `n * mult` and `n`, where `mult` is 4 by default
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


def _remainder(width: Size, parts: Size, *, is_open: bool) -> Severity | None:
    """The severity of a layer that divides a width into parts; None if the division may leave no remainder."""
    if width.constant is not None and parts.constant:
        return Severity.ERROR if width.constant % parts.constant else None
    owners = {symbol.owner for symbol in width.symbols | parts.symbols}
    if is_open or len(owners) != 1 or width.number is None or not parts.number or not width.number % parts.number:
        return None
    return Severity.WARNING if _are_parameters(owners) else None


def _are_parameters(owners: set[str]) -> bool:
    """True if symbols are parameters of constructors, rather than fields of configurations."""
    return all(owner.endswith(".__init__") for owner in owners)
