"""ML517: a layer whose name gets another value, and a name that is taken already."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import claims
from modellint.finding import Confidence, Finding, Place, Related, Severity
from modellint.flow import queries
from modellint.graph.value import EventKind, Op, self_attribute
from modellint.rule import Rule, called_probe, file_probe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Event, PathCondition, Value
    from modellint.rule import Probe, Project

#: Methods that register something under a name, with the word for it.
_REGISTERING = {
    "register_buffer": "buffer",
    "register_parameter": "parameter",
    "add_module": "layer",
    "register_module": "layer",
}
#: Kinds of values that become plain attributes of a layer.
_PLAIN = frozenset(("tensor", "number", "text", "None", "several values", "container", "function"))
#: Methods that change how attributes are set and found.
_OWN_WAYS = ("__setattr__", "__getattr__", "__getattribute__", "__delattr__", *_REGISTERING)
_CATCHING = frozenset(("Exception", "BaseException"))
_ASKING = frozenset(("hasattr", "isinstance", "callable", "getattr"))


class LayerOverwritten(Rule):
    """A layer is overwritten, or its name is taken already

    ## What it does
    Reports code that gives one name to two things, if one of them is a layer, a buffer or a parameter:

    - `register_buffer`, `register_parameter` or `add_module` with the name of an attribute that exists.
    - The result of a layer that takes the layer's place: `self.loss = self.loss(x)`, or `loss = loss(x, y)` in a loop.
    - A loop whose variable is a class at first and an object of it later, and which is called as a class each time.
    - Two different layers that a constructor stores in one attribute, without a use of the first one. This is an info.

    ## Why is this bad
    Registering raises `KeyError: "attribute 'start' already exists"`. A tensor in place of a layer raises
    `TypeError: cannot assign 'torch.FloatTensor' as child module 'loss'` in an `nn.Module`, and
    `TypeError: 'Tensor' object is not callable` in the next round of a loop. Of two layers, the first one is lost.

    ## How to fix
    Use another name for the second thing, or do not set the first one:

    ```python
    self.register_buffer("start", torch.zeros(width))
    value = self.loss(output, target)
    ```

    ## What it cannot see
    Names that are computed, branches that exclude each other, and results of layers that it cannot follow.

    ```python
    setattr(self, f"norm_{side}", nn.LayerNorm(width))
    ```

    ## Confirming
    modellint builds the layer, or imports the file, and calls the function. Python's error is the verdict. A run does
    not show that the first of two layers is missing.

    ## References
    - [torch.nn.Module.register_buffer](https://pytorch.org/docs/stable/generated/torch.nn.Module.html)
    """

    code = "ML517"
    name = "layer-overwritten"
    severity = Severity.ERROR
    requires = ("calls",)
    about = ("torch.nn.Module",)

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        if any(name in module.code for name in _REGISTERING):
            yield from self._registered_over(module, project)
        yield from self._replaced_by_results(module, project)
        yield from self._called_again(module, project)
        for cls in module.classes.values():
            if "__init__" in cls.methods and project.classes.model(cls).is_module:
                yield from self._stored_twice(cls, project)

    def probe(self, claim: claims.Refused, project: Project) -> Probe | None:
        return file_probe(claim, claim.within) if claim.within else called_probe(claim, project)

    # -- names that are taken ----------------------------------------------------------------------------------------

    def _registered_over(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        for cls in module.classes.values():
            model = project.classes.model(cls)
            if not model.is_module or any(one.cls and not _is_ordinary(one.cls) for one in model.mro()):
                continue
            for function in cls.methods.values():
                for number, event in enumerate(function.flow.events):
                    name = _registered_name(event)
                    taken = None if name is None else _taken_by(name, number, function, cls, project)
                    if name is not None and taken is not None:
                        yield from self._taken(queries.Call(event, function, project), name, taken)

    def _taken(self, call: queries.Call, name: str, taken: Place) -> Iterator[Finding]:
        if not {"KeyError", *_CATCHING}.isdisjoint(call.event.handled) or not _ASKING.isdisjoint(call.questions):
            return
        kind = _REGISTERING[str(call.value.callee.data)]
        yield self.finding(
            call.place,
            f"the {kind} `{name}` cannot be registered: there is an attribute of this name",
            symbol=f"{call.symbol}.{name}",
            confidence=Confidence.HIGH,
            severity=Severity.INFO if call.is_tried_out else None,
            evidence=(f"`{call.value.callee.data}` refuses the name of an attribute that is no {kind}",),
            related=(Related(taken, "the attribute is set here"),),
            help=f"register the {kind} first, and do not set the attribute before",
            claim=claims.Refused(call.place, "KeyError", "already exists"),
        )

    # -- results in place of layers ----------------------------------------------------------------------------------

    def _replaced_by_results(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        for cls in module.classes.values():
            for function in cls.methods.values():
                for event in function.flow.of(EventKind.STORE):
                    name = None if event.target is None else self_attribute(event.target)
                    if (
                        name is None
                        or name not in function.words
                        or not _is_result(event.value, name, function, project)
                    ):
                        continue
                    made = _layers_besides(cls, name, event.value, project)
                    if made and event.target is not None and not _CATCHING & {*event.handled}:
                        yield from self._result_stored(name, event.target, made, function, project)

    def _result_stored(
        self, name: str, target: Value, made: list[queries.Operand], function: Function, project: Project
    ) -> Iterator[Finding]:
        owner, module = function.owner, function.module
        is_module = owner is not None and project.classes.model(owner).is_module
        if not is_module and function.name == "__init__":
            return
        place = module.place(target)
        first = made[0]
        what = "cannot take the place of a layer" if is_module else "takes the layer's place: the next call fails"
        yield self.finding(
            place,
            f"the result of `self.{name}` {what}",
            symbol=f"{function.qualname}.{name}",
            confidence=Confidence.HIGH,
            severity=None if is_module else Severity.WARNING,
            evidence=("an `nn.Module` refuses a tensor under the name of a layer",) if is_module else (),
            related=(Related(first.place, "the layer is built here"),),
            help="store the result under another name",
            claim=claims.Refused(place, "TypeError", "cannot assign") if is_module else None,
        )

    # -- loops -------------------------------------------------------------------------------------------------------

    def _called_again(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        for call in queries.flow(module, project).calls():
            if not call.event.loops:
                continue
            carried = call.value.callee if call.value.callee.op is Op.CHOICE else None
            if carried is not None and _is_last(call) and _are_layers(_others(carried, call), call):
                yield self._result_called(call, carried)
            elif call.value.callee.op is not Op.CHOICE and any(one.op is Op.CHOICE for one in call.value.args[1:]):
                yield from self._object_called(call)

    def _result_called(self, call: queries.Call, carried: Value) -> Finding:
        name = call.callee.text
        return self.finding(
            call.place,
            f"`{name}` is a layer in the first round only: the second one calls its result",
            symbol=f"{call.symbol}.{name}",
            confidence=Confidence.HIGH,
            severity=Severity.INFO if call.is_tried_out else None,
            evidence=("the loop assigns the result to the name of the layer",),
            help="store the result under another name",
            claim=claims.RefusedLater(call.place, "TypeError", "not callable"),
        )

    def _object_called(self, call: queries.Call) -> Iterator[Finding]:
        """A variable that is a class at first and an object later, passed to a constructor that calls it."""
        target = call.target
        constructor = None if target is None or not target.is_made else target.function
        if target is None or constructor is None or target.owner is None:
            return
        for name, value in constructor.bind(call.value).items():
            if value.op is not Op.CHOICE or not _is_class_at_first(value, call):
                continue
            inner = _call_of(name, constructor, call.project)
            forward = target.owner.method("forward")
            if inner is None or forward is None or target.owner.has_method("__call__"):
                continue
            again = queries.Reached("forward", forward.open_parameters, forward, target.owner)
            if inner.misfits(again) and call.is_certain(target):
                yield self.finding(
                    call.place,
                    f"`{value.target or name}` is a class in the first round only: the second one calls its object",
                    symbol=f"{call.symbol}.{value.target or name}",
                    confidence=Confidence.HIGH,
                    severity=Severity.INFO if call.is_tried_out else None,
                    evidence=(f"the loop assigns a `{target.name}` to the name of the class",),
                    related=(Related(inner.place, f"`{name}` is called here"),),
                    help="store the object under another name",
                    claim=claims.RefusedLater(inner.place, "TypeError", "forward", call.symbol),
                )

    # -- two layers --------------------------------------------------------------------------------------------------

    def _stored_twice(self, cls: Class, project: Project) -> Iterator[Finding]:
        function = cls.methods["__init__"]
        stored: dict[str, tuple[int, Event]] = {}
        for number, event in enumerate(function.flow.events):
            name = self_attribute(event.target) if event.kind is EventKind.STORE and event.target is not None else None
            if name is None or event.guard is not None or event.loops:
                continue
            before = stored.get(name)
            stored[name] = number, event
            if before is None or not _is_lost(before, number, name, function, project):
                continue
            yield self.finding(
                function.module.place(event.target or event.value),
                f"`self.{name}` was set to another layer before, which is lost",
                symbol=f"{function.qualname}.{name}",
                confidence=Confidence.HIGH,
                severity=Severity.INFO,
                evidence=("both assignments run, and nothing uses the first layer between them",),
                related=(Related(function.module.place(before[1].target or before[1].value), "the first layer"),),
                help="remove one of them, or use another name",
            )


# -- names that are taken --------------------------------------------------------------------------------------------


def _is_ordinary(cls: Class) -> bool:
    """True if a class sets attributes as `nn.Module` does."""
    return not any(name in cls.methods or name in cls.attributes for name in _OWN_WAYS)


def _registered_name(event: Event) -> str | None:
    """The constant name under which a call registers something of `self`."""
    if event.kind is not EventKind.CALL:
        return None
    callee = event.value.callee
    if callee.op is not Op.ATTR or callee.data not in _REGISTERING:
        return None
    owner, name = callee.args[0], event.value.argument(0, "name")
    is_own = owner.op is Op.PARAM and owner.data == "self"
    return name.data if is_own and name is not None and name.op is Op.CONST and isinstance(name.data, str) else None


def _taken_by(name: str, number: int, function: Function, cls: Class, project: Project) -> Place | None:
    """The place that certainly gives the object an attribute of the name before an event."""
    events = function.flow.events
    call, found = events[number], None
    if call.loops:
        return None
    for event in events[:number]:
        target = event.target
        is_named = target is not None and self_attribute(target) == name
        if is_named and event.kind is EventKind.DELETE:
            return None
        if _registered_name(event) == name or _may_change(event, name):
            return None
        is_before = is_named and event.kind is EventKind.STORE and not event.loops
        if is_before and target is not None and _holds(event.guard, call.guard):
            found = function.module.place(target) if _is_plain(event.value, call, function, project) else None
    return found or _taken_by_class(name, cls, project)


def _holds(guard: PathCondition | None, under: PathCondition | None) -> bool:
    """True if code under a condition ran wherever other code runs."""
    known = {(id(one.test), one.truthy) for one in (() if under is None else under.chain())}
    return all((id(one.test), one.truthy) in known for one in (() if guard is None else guard.chain()))


def _may_change(event: Event, name: str) -> bool:
    """True if a call may delete or register an attribute: `delattr`, `self.__dict__.pop(…)`, `setattr`."""
    if event.kind is not EventKind.CALL:
        return False
    callee = event.value.callee
    if callee.op is Op.GLOBAL:
        return callee.data in ("delattr", "setattr")
    return callee.op is Op.ATTR and any(
        part.op is Op.ATTR and part.data in ("__dict__", "_buffers", "_parameters", "_modules")
        for part in callee.walk()
    )


def _is_plain(value: Value, call: Event, function: Function, project: Project) -> bool:
    """True if a value that is stored in an attribute stays a plain one, which the call refuses."""
    kinds = queries.Operand(value, function, project).kinds()
    if call.value.callee.data == "register_buffer":
        return True
    return bool(kinds) and _PLAIN.issuperset(kind.value for kind in kinds)


def _taken_by_class(name: str, cls: Class, project: Project) -> Place | None:
    """The place where a class of the hierarchy gives its objects an attribute of the name."""
    for model in project.classes.model(cls).mro():
        one = model.cls
        if one is None:
            continue
        value, method = one.attributes.get(name), one.methods.get(name)
        if value is not None and name not in one.rebound:
            return one.module.place(value)
        if method is not None and not method.is_property and not method.signature.decorators:
            return method.place
    return None


# -- results in place of layers --------------------------------------------------------------------------------------


def _is_result(value: Value, name: str, function: Function, project: Project) -> bool:
    """True if a value is what calling an attribute of `self` returns, on each path."""
    if value.op not in (Op.CALL, Op.CHOICE) or not any(self_attribute(part) == name for part in value.walk()):
        return False
    leaves = [leaf.value for leaf in queries.Operand(value, function, project).origins(through_operators=False)]
    return bool(leaves) and all(leaf.op is Op.CALL and self_attribute(leaf.callee) == name for leaf in leaves)


def _layers_besides(cls: Class, name: str, result: Value, project: Project) -> list[queries.Operand] | None:
    """The layers that an attribute is apart from a result; None if it may be anything else."""
    if name in cls.attributes or not _is_ordinary(cls):
        return None
    found: list[queries.Operand] = []
    for stored in queries.stored_values(cls, name, project):
        if stored.value is result or stored.is_none:
            continue
        made = queries.made_objects(stored)
        if made is None or not all(map(queries.gives_values, made)):
            return None
        found += made
    return found


def _others(carried: Value, call: queries.Call) -> list[Value]:
    """The values that a variable has besides the result of a call; empty unless the loop assigns that."""
    found: list[Value] = []
    is_result = False
    seen: set[int] = set()
    pending = [carried]
    while pending:
        value = pending.pop()
        if value.op is Op.CHOICE:
            pending += value.args if id(value) not in seen else ()
            seen.add(id(value))
        elif _is_of_call(value, call, carried):
            is_result = True
        else:
            found.append(value)
    return found if is_result else []


def _is_of_call(value: Value, call: queries.Call, carried: Value) -> bool:
    """True if a value is the result of a call, or of another one of the same variable."""
    if value is call.value or (value.op is Op.CALL and value.callee is carried):
        return True
    if value.op is not Op.CALL or not any(part is call.value for part in value.args):
        return False
    leaves = queries.Operand(value, call.function, call.project).origins(through_operators=False)
    return all(leaf.value is call.value for leaf in leaves)


def _are_layers(values: list[Value], call: queries.Call) -> bool:
    """True if values certainly are layers that return tensors."""
    if not values or not {"TypeError", *_CATCHING}.isdisjoint(call.event.handled):
        return False
    for value in values:
        made = queries.made_objects(queries.Operand(value, call.function, call.project))
        if not made or not all(map(queries.gives_values, made)):
            return False
    return _ASKING.isdisjoint(call.questions)


def _is_last(call: queries.Call) -> bool:
    """True if the loop around a call goes on behind it."""
    events = call.function.flow.events
    number = events.index(call.event)
    inside = [loop for loop in call.function.flow.loops if loop.first <= number < loop.last]
    if not inside or any(loop.is_left for loop in inside):
        return False
    last = max(loop.last for loop in inside)
    return not any(event.kind in (EventKind.RETURN, EventKind.RAISE) for event in events[number:last])


# -- classes and their objects ---------------------------------------------------------------------------------------


def _is_class_at_first(carried: Value, call: queries.Call) -> bool:
    """True if a variable is a class of layers in the first round, and what the call constructs in each other."""
    values = _others(carried, call)
    kinds = [queries.Operand(value, call.function, call.project).kind() for value in values]
    return bool(kinds) and all(kind is queries.Kind.CLASS for kind in kinds) and _is_last(call)


def _call_of(name: str, function: Function, project: Project) -> queries.Call | None:
    """The call of a parameter that a function makes in any case."""
    for event in function.flow.of(EventKind.CALL):
        callee = event.value.callee
        if callee.op is Op.PARAM and callee.data == name and event.guard is None and not event.value.has_unpacking:
            return queries.Call(event, function, project) if not event.handled else None
    return None


# -- two layers ------------------------------------------------------------------------------------------------------


def _written(operand: queries.Operand) -> set[str]:
    """The code that builds a layer."""
    return {made.text for made in queries.made_objects(operand) or ()}


def _is_layer(operand: queries.Operand) -> bool:
    """True if a value certainly is a layer."""
    models = [made.made_class() for made in queries.made_objects(operand) or ()]
    return bool(models) and all(model is not None and model.is_module for model in models)


def _is_lost(before: tuple[int, Event], number: int, name: str, function: Function, project: Project) -> bool:
    """True if two stores are of different layers, and nothing uses the first one between them."""
    first, event = before
    again = function.flow.events[number]
    layers = [queries.Operand(one.value, function, project) for one in (event, again)]
    if not all(map(_is_layer, layers)) or _written(layers[0]) == _written(layers[1]):
        return False
    uses = [use for use in layers[0].uses() if use is not event]
    between = function.flow.events[first + 1 : number + 1]
    named = any(
        part.op is Op.ATTR and self_attribute(part) == name
        for one in between
        for part in one.value.walk()
        if part is not again.target
    )
    calls_own = any(
        one.kind is EventKind.CALL and any(part.op is Op.PARAM and part.data == "self" for part in one.value.args[1:])
        for one in between
    )
    own_methods = any(
        one.kind is EventKind.CALL and one.value.callee.op is Op.ATTR and self_attribute(one.value.callee) is not None
        for one in between
    )
    return not uses and not named and not calls_own and not own_methods
