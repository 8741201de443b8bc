"""ML516: one layer that stands in a container several times, where several were meant."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from modellint import claims
from modellint.finding import Applicability, Confidence, Edit, Finding, Fix, Related, Severity
from modellint.flow import queries
from modellint.graph.value import EventKind, Op, self_attribute
from modellint.rule import Rule, called_probe

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from modellint.finding import Place
    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.value import Event, Loop, Value
    from modellint.rule import Project

_CONTAINERS = ("torch.nn.ModuleList", "torch.nn.Sequential")
_ADDING = frozenset(("append", "insert", "add_module", "extend"))
#: Words of code and comments by which authors say that layers are shared.
_SHARING = re.compile(
    r"shar(?:e|ing)|\bt(?:ie|ied|ying)\b|_t(?:ie|ied)\b|\btied?_|reus|\bsame\b(?!\()|recurren|recursiv|universal", re.I
)
#: Lines above a statement whose comments speak of it.
_ABOVE = 3
_DEPTH = 6


class RepeatedLayer(Rule):
    """One layer is in a container several times

    ## What it does
    Reports a layer with parameters that is built once and then repeated in an `nn.ModuleList` or `nn.Sequential`:
    `[layer] * n`, a comprehension or a loop that adds the same object in each turn.

    ## Why is this bad
    All entries are the same object, so they share their weights. The model has fewer parameters than its depth
    suggests, and nothing fails.

    ## How to fix
    Build a layer in each turn, as `--unsafe-fixes` does where the layer is built inside of the list, or copy it with
    `copy.deepcopy`:

    ```python
    self.layers = nn.ModuleList([nn.Linear(width, width) for _ in range(depth)])
    ```

    ## What it cannot see
    Layers that come from outside of the project. It takes a word such as `shared`, `tied` or `same` in the code or in
    a comment beside it as a sign that the weights are shared on purpose.

    ```python
    self.layers = nn.ModuleList([block] * depth)  # ALBERT shares its weights
    ```

    ## Confirming
    modellint builds the container and compares its layers by identity.

    ## References
    - [torch.nn.ModuleList](https://pytorch.org/docs/stable/generated/torch.nn.ModuleList.html)
    """

    code = "ML516"
    name = "repeated-layer"
    severity = Severity.WARNING
    requires = ("callers", "calls", "constructions", "state")
    about = _CONTAINERS
    probe = staticmethod(called_probe)

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        told: set[int] = set()
        flow = queries.flow(module, project)
        found = [(call, one) for call in flow.constructions(*_CONTAINERS) for one in _repeated(call)]
        if any(name.rpartition(".")[2] in module.code for name in _CONTAINERS):
            for call in flow.calls():
                found += [(call, one) for one in _added_to_container(call)]
        repeated = {id(call.value) for call, _ in found}
        for call, one in found:
            if id(one.where) not in told and not _is_alternative(call, repeated):
                told.add(id(one.where))
                yield from self._judge(one, call)

    def _judge(self, one: _Repeated, call: queries.Call) -> Iterator[Finding]:
        layer, where = one.layer, one.where
        module, function = layer.function.module, layer.function
        made = queries.made_objects(layer)
        if not made or not all(map(_has_parameters, made)) or _is_on_purpose(one, call):
            return
        place, first = module.place(where), made[0]
        name = layer.text if len(layer.text) < 40 else layer.text.partition("(")[0]
        is_elsewhere = first.place.path != place.path or not (
            place.span.line <= first.place.span.line <= place.span.end_line
        )
        yield self.finding(
            place,
            f"`{name}` is one layer, which is repeated: all entries share its weights",
            symbol=f"{function.qualname}.{name}",
            confidence=Confidence.HIGH,
            severity=Severity.INFO if call.is_tried_out else None,
            evidence=("the layer is built once, and has parameters",),
            related=(Related(first.place, "the layer is built here"),) if is_elsewhere else (),
            help="build a layer in each turn, or copy it with `copy.deepcopy`",
            fix=_fix(one),
            claim=claims.Repeated(one.container),
        )


# -- what is repeated ------------------------------------------------------------------------------------------------


class _Repeated:
    """A `layer` that is repeated by the code `where`, for the container that is made at a place."""

    def __init__(self, layer: queries.Operand, where: Value, container: Place) -> None:
        self.layer, self.where, self.container = layer, where, container


def _repeated(call: queries.Call) -> Iterator[_Repeated]:
    """The values that the elements of a container repeat, followed through functions of the same file."""
    seen: set[int] = set()
    pending = [queries.Operand(value, call.function, call.project) for value in call.value.args[1:]]
    while pending:
        at = pending.pop()
        value = at.value
        if id(value) in seen:
            continue
        seen.add(id(value))
        parts: Iterable[Value] = ()
        if value.op in (Op.STARRED, Op.CHOICE, Op.LIST, Op.TUPLE) or (value.op is Op.BIN and value.data == "+"):
            parts = [part for part in value.args if value.op is not Op.LIST or part.op is not Op.CALL]
        elif value.op is Op.BIN and value.data == "*":
            for part in _multiplied(value):
                yield _Repeated(_operand(part, at), value, call.place)
        elif value.op is Op.COMPREHENSION and value.data in ("list", "generator"):
            loop = next((loop for loop in at.function.flow.loops if loop.result is value), None)
            if loop is not None and _is_fixed(value.args[0], loop, at.function):
                yield _Repeated(_operand(value.args[0], at), value, call.place)
        elif value.op is Op.UPDATE and value.data in _ADDING:
            parts = value.args
            for layer, where in _added(value, at):
                yield _Repeated(layer, where, call.place)
        elif value.op in (Op.CALL, Op.PARAM, Op.ATTR):
            leaves = at.origins(through_operators=False)
            pending += [leaf for leaf in leaves if leaf.part is None and leaf.function.module is call.module]
        pending += [_operand(part, at) for part in parts]


def _operand(value: Value, beside: queries.Operand) -> queries.Operand:
    return queries.Operand(value, beside.function, beside.project)


def _multiplied(value: Value) -> tuple[Value, ...]:
    """The elements of a list that is multiplied by a number other than 0 and 1."""
    shown = next((part for part in value.args if part.op in (Op.LIST, Op.TUPLE)), None)
    number = next((part for part in value.args if part is not shown), None)
    is_one = number is None or (number.op is Op.CONST and number.data in (0, 1))
    return () if shown is None or is_one else tuple(part for part in shown.args if part.op is not Op.STARRED)


def _is_fixed(value: Value, loop: Loop, function: Function, depth: int = 0) -> bool:
    """True if a value is the same object in each turn of a loop: nothing of it is made or stored there."""
    inside = function.flow.events[loop.first : loop.last]
    if value.op is Op.CALL:
        is_made = any(event.value is value for event in function.flow.of(EventKind.CALL))
        return is_made and all(event.value is not value for event in inside)
    name = self_attribute(value)
    if name is not None:
        stores = [event.target for event in inside if event.kind is EventKind.STORE and event.target is not None]
        return all(self_attribute(target) != name for target in stores)
    if value.op is Op.PARAM:
        return bool(value.data != "self")
    if value.op is Op.CONST:
        return True
    is_carried = value.op is Op.CHOICE and (value in loop.carried or value.data is None)
    if is_carried or value.op not in (Op.CHOICE, Op.INDEX, Op.LIST, Op.TUPLE, Op.DICT) or depth > _DEPTH:
        return False
    return bool(value.args) and all(_is_fixed(part, loop, function, depth + 1) for part in value.args)


def _added(update: Value, at: queries.Operand) -> Iterator[tuple[queries.Operand, Value]]:
    """The layer that a method of a local list adds in a loop."""
    for number, event in _adding(at.function):
        call = event.value
        if call.callee.data == update.data and call.line == update.line and call.args[1:] == update.args[1:]:
            yield from _in_loop(number, event, at)


def _added_to_container(call: queries.Call) -> Iterator[_Repeated]:
    """The layer that a call adds in a loop to an `nn.ModuleList` or `nn.Sequential`."""
    event = call.event
    callee = event.value.callee
    if not event.loops or callee.op is not Op.ATTR or callee.data not in _ADDING:
        return
    number = call.function.flow.events.index(event)
    found = list(_in_loop(number, event, call.result))
    made = queries.made_objects(queries.Operand(callee.args[0], call.function, call.project)) if found else None
    models = [one.made_class() for one in made or ()]
    if made and all(model is not None and model.name in _CONTAINERS for model in models):
        yield from (_Repeated(layer, where, made[0].place) for layer, where in found)


def _adding(function: Function) -> Iterator[tuple[int, Event]]:
    """The calls of methods that add elements in loops, by their numbers among the events."""
    for number, event in enumerate(function.flow.events):
        is_call = event.kind is EventKind.CALL and event.loops and event.value.callee.op is Op.ATTR
        if is_call and event.value.callee.data in _ADDING:
            yield number, event


def _in_loop(number: int, event: Event, at: queries.Operand) -> Iterator[tuple[queries.Operand, Value]]:
    """The argument of a call that is the same object in each turn of a loop around the call."""
    given = event.value.args[1:]
    layer = given[-1] if given else None
    if layer is None:
        return
    added = layer.args if layer.op in (Op.LIST, Op.TUPLE) else (layer,)
    for loop in at.function.flow.loops:
        if loop.first <= number < loop.last and not loop.is_left:
            for one in added:
                if _is_fixed(one, loop, at.function):
                    yield _operand(one, at), event.value


# -- doubts ----------------------------------------------------------------------------------------------------------


def _has_parameters(made: queries.Operand) -> bool:
    """True if the layer that a call constructs certainly has parameters."""
    model = made.made_class()
    if model is None or not model.is_module:
        return False
    flow = queries.flow(made.function.module, made.project)
    if model.name in _CONTAINERS:
        parts = queries.elements(made) or ()
        objects = (queries.made_objects(part) for part in parts)
        return any(all(map(_has_parameters, found)) for found in objects if found)
    known = flow.state(model, trained=True)
    is_affine = model.cls is None and not any(name is None or "affine" in name for name in made.value.data)
    return known is True or (known is None and is_affine)


def _is_alternative(call: queries.Call, repeated: Collection[int]) -> bool:
    """True if the other branch of a condition around the container stores layers of their own under the same name."""
    stores = [event for event in call.function.flow.of(EventKind.STORE) if event.target is not None]
    own = next((event for event in stores if any(part is call.value for part in event.value.walk())), None)
    if own is None or own.target is None or own.guard is None:
        return False
    name = self_attribute(own.target)
    sides = [(link.test, link.truthy) for link in own.guard.chain() if not link.early]
    return any(
        (link.test, not link.truthy) in sides
        for event in stores
        if event.target is not None and name is not None and self_attribute(event.target) == name
        if event.guard is not None and not any(id(part) in repeated for part in event.value.walk())
        for link in event.guard.chain()
    )


def _is_on_purpose(one: _Repeated, call: queries.Call) -> bool:
    """True if the code, a name or a comment says that layers are shared."""
    function, module = one.layer.function, one.layer.function.module
    lines = [module.span(one.where)]
    if call.function is function:
        lines.append(call.place.span)
    if one.layer.value.op is not Op.PARAM:
        lines.append(module.span(one.layer.value))
    first, last = min(span.line for span in lines), max(span.end_line for span in lines)
    written = module.as_written(max(first - _ABOVE, function.line, 1), last)
    spoken = [function, *queries.flow(module, call.project).callers(function)]
    texts = [*written, *(text for one in spoken for text in _says(one, call.project))]
    return any(map(_SHARING.search, (*texts, *(one.text for one in spoken[1:]))))


def _says(function: Function, project: Project) -> Iterator[str]:
    """The names and docstrings of a function, of its class, and of the classes that derive from it."""
    yield from (function.name, function.docstring or "")
    owner = function.owner
    for cls in () if owner is None else (owner, *queries.subclasses(owner, project)):
        yield from (cls.name, cls.docstring or "")


# -- the fix ---------------------------------------------------------------------------------------------------------


def _fix(one: _Repeated) -> Fix | None:
    """A comprehension that builds the layer in each turn, where the repeated list is written around it."""
    layer, where, module = one.layer, one.where, one.layer.function.module
    if where.op is not Op.BIN or layer.value.op is not Op.CALL or len(where.args) != 2:
        return None
    shown, number = where.args
    is_inside = shown.op is Op.LIST and len(shown.args) == 1 and shown.at and shown.offset <= layer.value.offset
    if not is_inside or layer.value.line != where.line or layer.value.end_line != where.end_line:
        return None
    built, times = layer.text, module.text_of(number)
    if not module.text_of(shown).startswith("[") or built not in module.text_of(shown):
        return None
    edit = Edit(module.place(where), f"[{built} for _ in range({times})]")
    return Fix("Build a layer in each turn", Applicability.UNSAFE, (edit,))
