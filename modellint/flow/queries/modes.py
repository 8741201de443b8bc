"""Training mode and evaluation mode: which layers act by it, who sets it, and who runs a layer in it.

A layer is in training mode when it is made. What a function and its helpers do about modes stands in order, as it does
in the courses of training (`training.py`). Nothing is run.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from modellint import operators
from modellint.flow.queries.answers import flow
from modellint.flow.queries.layers import is_doubtful
from modellint.flow.queries.training import Act, Action, Course, acting, each_argument, is_forward
from modellint.flow.queries.values import Context, Operand
from modellint.graph.definitions import DefinedClass, DefinedConstant, External
from modellint.graph.value import EventKind, Op, is_self, self_attribute, walk_all
from modellint.knowledge import surface, trunks
from modellint.link.calls.gradients import is_without_gradients, records_nothing
from modellint.link.calls.reached import CallReach, Reached
from modellint.link.searched import is_searched, mentioning, paths_mentioning
from modellint.link.values.callers import callers
from modellint.link.values.members import Members

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from modellint.flow.queries.training import At
    from modellint.graph.python import Class, Function
    from modellint.graph.value import Event, PathCondition, Value
    from modellint.link.classes.models import ClassModel
    from modellint.link.project import Project

#: Methods and functions that give the layer that they get, and attributes of wrappers that hold it.
_ITSELF = operators.methods("Module", "itself")
_WRAPPING = operators.functions("wraps")
_HELD = frozenset(("module", "_orig_mod"))
#: Functions that record what a layer does in the mode in which it is, with the argument that is the layer.
_RECORDING = {"torch.jit.trace": "func", "torch.jit.trace_module": "mod", "torch.export.export": "mod"}
_SETTING = frozenset(("torch.nn.Module.train", "torch.nn.Module.eval"))
#: Libraries whose functions set no modes, and parts of torch that may.
_PLAIN = frozenset(("builtins", "torch", "numpy", "tqdm", "torchvision", "os", "time", "json", "math", "random"))
_CALLING = frozenset(f"builtins.{name}" for name in ("map", "filter", "getattr", "exec", "eval"))
#: Words of code that has to do with modes.
_WORDS = frozenset(("eval", "train", "training"))
#: Operations that give an object that may be called.
_CALLABLE = (Op.PARAM, Op.INNER, Op.CALL, Op.CHOICE, Op.INDEX, Op.ITEM, Op.UNPACK, Op.GLOBAL)
_MAX_DEPTH, _MAX_CALLERS, _MAX_ABOVE, _MAX_LEAVES, _MAX_CLASSES = 6, 6, 3, 40, 60
#: The most values that are looked at to tell whether a layer acts by mode, and how far they are nested.
_MAX_PARTS, _MAX_PARTS_DEPTH = 400, 16
#: The containers of torch whose parts are those that they are given.
_CONTAINERS = frozenset(("torch.nn.Sequential", "torch.nn.ModuleList"))
_FUNCTIONS = "torch.nn.functional."

#: An object: how it comes into being, or where it comes in, and the value or the definition that does so. It is `made`
#: by a constructor, `got` from another call, `given` as an argument, `held` by the receiver, or a `global` name.
Key = tuple[str, object]
_Steps = tuple[tuple["Event", "Function"], ...]


# -- layers that act by mode -----------------------------------------------------------------------------------------


def acts_by_mode(made: Operand) -> bool | None:
    """True if a layer that a call constructs certainly acts otherwise in training than in evaluation; False: never.

    Dropout and batch norm do so, and all that holds them. None if it is not known.
    """
    return _Modes(made.project).of(made, 0)


class _Modes:
    """A search for layers that act by mode, through containers, helpers, and classes of the project."""

    def __init__(self, project: Project) -> None:
        self._project = project
        #: The answers so far; None for a value that is being looked at.
        self._found: dict[tuple[int, object], bool | None] = {}

    def of(self, made: Operand, depth: int) -> bool | None:
        """True, False or None for what a value certainly is."""
        visit = id(made.value), None if made.context is None else id(made.context.call.value)
        if visit not in self._found and depth <= _MAX_PARTS_DEPTH and len(self._found) < _MAX_PARTS:
            self._found[visit] = None
            self._found[visit] = self._of_value(made, depth)
        return self._found.get(visit)

    def _of_value(self, made: Operand, depth: int) -> bool | None:
        value, op = made.value, made.value.op
        if op is Op.CALL:
            return self._of_call(made, depth)
        if op is Op.CHOICE:
            found = [self.of(made.of(one), depth + 1) for one in value.args]
            return _any(found) if value.data is None else found[0] if len(set(found)) == 1 else None
        if op in (Op.LIST, Op.TUPLE, Op.STARRED):
            return _any(self.of(made.of(one), depth + 1) for one in value.args)
        if op is Op.DICT:
            return _any(self.of(made.of(one), depth + 1) for one in value.args)
        if op is Op.COMPREHENSION:
            return self.of(made.of(value.args[-1]), depth + 1)
        if op is Op.UPDATE:
            added = value.args[1:] if value.guard is None else ()
            found = [self.of(made.of(one), depth + 1) for one in (value.args[0], *added)]
            return _any(found) if value.guard is None else (True if found[0] else None)
        if op is Op.BIN and value.data in ("+", "*"):
            return _any(self.of(made.of(one), depth + 1) for one in value.args)
        if op in (Op.CONST, Op.BIN, Op.COMPARE, Op.STRING):
            return False
        if op in (Op.PARAM, Op.ATTR, Op.INDEX, Op.ITEM, Op.UNPACK, Op.GLOBAL):
            leaves = [leaf for leaf in made.origins(through_operators=False) if leaf.value is not value]
            found = [None if leaf.part is not None else self.of(leaf, depth + 1) for leaf in leaves[:_MAX_LEAVES]]
            return found[0] if found and len(set(found)) == 1 else None
        return None

    def _of_call(self, made: Operand, depth: int) -> bool | None:
        value, project = made.value, self._project
        definition = project.names.definition(made.function.module, value.callee)
        if definition is None and value.callee.op is Op.ATTR and value.callee.data in _ITSELF:
            return self.of(made.of(value.callee.args[0]), depth + 1)
        if isinstance(definition, External):
            if definition.name in _WRAPPING and value.positional:
                return self.of(made.of(value.positional[0]), depth + 1)
            if trunks.may_be_trunk(definition.name):
                return trunks.acts_by_mode(trunks.torchvision_name(definition.name)) or None
            if definition.name in ("builtins.list", "builtins.tuple", "collections.OrderedDict"):
                return _any(self.of(made.of(one), depth + 1) for one in value.args[1:])
        model = made.made_class()
        if model is not None:
            return self.of_class(model, made, depth)
        leaves = [leaf for leaf in made.origins(through_operators=False) if leaf.value is not value]
        found = [self.of(leaf, depth + 1) for leaf in leaves[:_MAX_LEAVES]]
        if found:
            return found[0] if len(set(found)) == 1 else None
        return False if isinstance(definition, External) and definition.name.startswith("builtins.") else None

    def of_class(self, model: ClassModel, made: Operand, depth: int) -> bool | None:
        value, name = made.value, model.name
        if value.callee.op is Op.CALL:
            return None  # a partial, which gives other arguments
        row = operators.row(name)
        if row is not None and "by-mode" in row.facets:
            argument = row.argument("by-mode")
            assert argument is not None
            given = value.argument(*argument)
            if given is None and value.has_unpacking:
                return True if _leaves_out(value, argument[1]) else None
            return True if given is None else _is_on(given, made)
        if name in _CONTAINERS:
            return _any(self.of(made.of(one), depth + 1) for one in value.args[1:])
        if model.cls is None:
            return False if name.startswith("torch.nn.") and not model.is_container else None
        if model.is_module is False:
            return False
        if not leaves_modes_alone(model) or is_doubtful(model.cls, self._project):
            return None
        return self._of_source(model, made, depth)

    def _of_source(self, model: ClassModel, made: Operand, depth: int) -> bool | None:
        """The answer for a class of the project: of the children that it stores, and of what `forward` calls."""
        assert model.cls is not None
        found: list[bool | None] = []
        if any(one.cls is None and not one.name.startswith("torch.nn.") for one in model.mro()):
            found.append(None)
        context = Context(made, made.context, 0 if made.context is None else made.context.depth + 1)
        constructor, used = model.method("__init__"), _always_used(model)
        for name in flow(model.cls.module, self._project).children(model):
            stored = self._project.of(Members).stores(model.cls, name)
            parts = [
                self.of(
                    Operand(event.value, one, self._project, context=context if one is constructor else None), depth + 1
                )
                for one, event in stored
            ]
            is_certain = name in used and _covers([event.guard for _, event in stored]) and len(set(parts)) == 1
            found.append(parts[0] if is_certain else False if parts and set(parts) == {False} else None)
            if found[-1]:
                return True
        forward = model.method("forward")
        if forward is not None and "training" in forward.words:
            found.append(_gets_mode(forward, self._project) or None)
        return _any(found)


def _covers(guards: list[PathCondition | None]) -> bool:
    """True if one of some conditions holds on every path: one of them is none, or two are branches of one test."""
    if None in guards:
        return True
    known = [one for one in guards if one is not None and not one.early]
    return any(
        one.test is other.test and one.truthy and not other.truthy and _covers([one.outer])
        for one in known
        for other in known
    )


def _always_used(model: ClassModel) -> frozenset[str]:
    """The attributes that `forward`, and the methods that it calls, read on every path."""
    found: dict[str, list[PathCondition | None]] = {}
    pending = _methods_of_bases(model, "forward")
    for method in pending:
        called = {id(event.value.callee): event for event in method.flow.of(EventKind.CALL)}
        for event in method.flow.reads:
            name = str(event.value.data)
            around = called.get(id(event.value), event)
            is_known = name in found and _covers(found[name])
            found.setdefault(name, []).append(event.guard if around.guard is None else around.guard)
            if not is_known and _covers(found[name]):
                inner = model.method(name)
                if inner is not None and inner not in pending and len(pending) < _MAX_CLASSES:
                    pending.append(inner)
    return frozenset(name for name, guards in found.items() if _covers(guards))


def _methods_of_bases(model: ClassModel, name: str) -> list[Function]:
    """The method of a class, and the one of its base if it calls that."""
    found: list[Function] = []
    for one in model.mro():
        method = None if one.cls is None else one.cls.methods.get(name)
        if method is not None:
            found.append(method)
            if "super" not in method.words:
                break
    return found


def _leaves_out(call: Value, name: str) -> bool:
    """True if a call unpacks displays of other arguments only: `Dropout(**{"inplace": True})`."""
    named = zip(call.data, call.args[len(call.args) - len(call.data) :], strict=True)
    unpacked = [given for key, given in named if key is None]
    return all(
        one.op is Op.DICT and all(key is not None and key.op is Op.CONST and key.data != name for key in one.data)
        for one in unpacked
    ) and not any(one.op is Op.STARRED for one in call.positional)


def _any(found: Iterable[bool | None]) -> bool | None:
    """True if one is, False if all are False."""
    known = list(found)
    return True if any(known) else None if None in known else False


def _is_on(given: Value, made: Operand) -> bool | None:
    """True for a rate that is not zero, and for True; None if it is not known."""
    found: set[bool | None] = set()
    for leaf in made.of(given).origins(through_operators=False):
        is_known = leaf.part is None and leaf.value.op is Op.CONST
        found.add(bool(leaf.value.data) if is_known else None)
    return found.pop() if len(found) == 1 else None


def _gets_mode(forward: Function, project: Project) -> bool:
    """True if `forward` passes the mode to a function of torch, always: `F.dropout(x, training=self.training)`."""
    for event in forward.flow.of(EventKind.CALL):
        if event.guard is None and any(self_attribute(one) == "training" for one in event.value.args[1:]):
            definition = project.names.definition(forward.module, event.value.callee)
            rate = event.value.argument(1, "p")
            is_on = rate is None or (rate.op is Op.CONST and bool(rate.data))
            if isinstance(definition, External) and definition.name.startswith(_FUNCTIONS) and is_on:
                return True
    return False


def leaves_modes_alone(model: ClassModel) -> bool:
    """True if a class leaves modes to torch: it neither sets one nor takes another path by it."""
    if not model.is_complete:
        return False
    return not any(_concerns_modes(method) for one in model.mro() if one.cls for method in one.cls.methods.values())


def _concerns_modes(method: Function) -> bool:
    if method.name in ("train", "eval"):
        return True
    if _WORDS.isdisjoint(method.words):
        return False
    given: set[int] = set()
    for event in method.flow.of(EventKind.CALL):
        callee = event.value.callee
        if callee.op is Op.ATTR and callee.data in ("eval", "train"):
            return True
        given.update(map(id, event.value.args[1:]))
    return any(
        part.op is Op.ATTR and part.data == "training" and id(part) not in given
        for part in walk_all(method.flow.evaluated())
    ) or any(
        event.target is not None and event.target.op is Op.ATTR and event.target.data == "training"
        for event in method.flow.of(EventKind.STORE)
    )


def is_quiet(event: Event, function: Function, project: Project) -> bool:
    """True if an event happens where its function records no gradients."""
    if any(records_nothing(one, function.module, project) for one in event.contexts):
        return True
    return is_without_gradients(function, project)


# -- courses ---------------------------------------------------------------------------------------------------------


class ModeCourse(Course):
    """All that a function and its helpers do about modes, in order.

    `TRAIN` and `EVAL` put a layer into a mode, `MODE` into one that is not known. `RUN` is a call of what may be a
    layer, or of a method that may run its parts, `RECORD` one that records what it does, `LOAD` loads its weights.
    """

    def _add(self, at: At) -> None:
        event = at.event
        if event.kind is not EventKind.CALL:
            target = event.target
            if target is not None and target.op is Op.ATTR and target.data == "training":
                self._note(at, Act.MODE, at.operand(target.args[0]))
            return
        callee = event.value.callee
        if callee.op is Op.LAMBDA:
            self._follow_nested(at, callee.data)
            return
        definition = self.project.names.definition(at.body.function.module, callee)
        if isinstance(definition, External) and self.project.classes.of(definition) is None:
            self._add_outside(at, definition.name)
            return
        reached = self._reach(at)
        if reached is not None and is_forward(reached):
            self._note(at, Act.RUN, at.operand(callee.args[0] if _names_forward(callee) else callee))
            if reached.function is not None and _concerns_modes(reached.function):
                self._note(at, Act.MODE, None)
            return
        if reached is not None and reached.function is not None:
            is_layer = reached.owner is not None and reached.owner.is_module is not False
            if is_layer and reached.function.name in ("train", "eval"):
                self._note(at, Act.MODE, at.operand(callee.args[0]))
                return
            owner = reached.owner if is_layer and callee.op is Op.ATTR else None
            if owner is not None and _may_run_parts(reached.function, owner):
                self._note(at, Act.RUN, at.operand(callee.args[0]))
            if len(at.steps) < _MAX_DEPTH - 1:
                self._follow(at, reached)
            else:
                self.is_whole = False
            return
        if isinstance(definition, External) or (reached is not None and reached.is_made):
            return  # an object whose constructor is not written, or of torch
        if callee.op is Op.ATTR and (definition is None or isinstance(definition, DefinedConstant)):
            self._add_mode_method(at, str(callee.data))
        elif callee.op in _CALLABLE:
            self._note(at, Act.RUN, at.operand(callee))
        else:
            self._note(at, Act.OTHER, None)

    def _add_outside(self, at: At, name: str) -> None:
        value = at.event.value
        if name == "torch.autograd.backward":
            self._note(at, Act.BACKWARD, None)
        elif name in _SETTING:
            self._note(at, Act.MODE, None)
        elif name in _RECORDING or (name == "torch.onnx.export" and _is_dynamo(value)):
            given = value.argument(0, _RECORDING.get(name, "model"))
            if given is not None:
                self._note(at, Act.RECORD, at.operand(given))
        elif name.partition(".")[0] not in _PLAIN or name in _CALLING:
            self._note(at, Act.OTHER, None)

    def _add_mode_method(self, at: At, name: str) -> None:
        """Note the call of a method that no code in sight defines."""
        value = at.event.value
        owner = at.operand(value.callee.args[0])
        if name in ("train", "eval"):
            self._note(at, _mode(value), owner)
        elif name == "backward":
            self._note(at, Act.BACKWARD, None)
        elif name == "load_state_dict":
            self._note(at, Act.LOAD, owner)
        elif name == "forward":
            self._note(at, Act.RUN, owner)
        elif is_self(owner.value) and self._is_stored(at, name):
            self._note(at, Act.RUN, at.operand(value.callee))
        elif self._is_run(owner, name):
            self._note(at, Act.RUN, owner)
        else:
            self._note(at, Act.OTHER, owner)

    def _is_run(self, owner: Operand, name: str) -> bool:
        """True for a method of a layer that calls parts of it."""
        is_other = is_self(owner.value) or owner.value.op not in _CALLABLE or name in surface.tensor_names()
        model = None if is_other or owner.value.op is Op.GLOBAL else owner.object_class()
        if model is None or model.cls is None or model.is_module is False:
            return False
        method = self.project.of(Members).method(model.cls, name)
        return method is not None and _may_run_parts(method, model)

    def _is_stored(self, at: At, name: str) -> bool:
        owner = at.body.function.owner
        return owner is not None and bool(self.project.of(Members).stores(owner, name))

    def _reach(self, at: At) -> Reached | None:
        value, function, project = at.event.value, at.body.function, self.project
        made = project.once(("call target", value), lambda: CallReach(project, function).of(value))
        if made is None or not made.is_made:
            return super()._reach(at)
        is_layer = made.owner is None or made.owner.is_module is not False
        return Reached(made.name, made.parameters, None, made.owner, is_made=True) if is_layer else made

    # -- answers -----------------------------------------------------------------------------------------------------

    def is_quiet(self, action: Action) -> bool:
        """True if an action is done where no gradients are recorded."""
        pairs = ((action.event, action.function), *action.steps)
        return any(is_quiet(event, function, self.project) for event, function in pairs)

    def objects(self, action: Action, operand: Operand | None) -> frozenset[Key] | None:
        """The objects that a value may be, each as a key; None if one is not known."""
        return None if operand is None else self._objects(operand, action.steps, 0)

    def _objects(self, operand: Operand, steps: _Steps, depth: int) -> frozenset[Key] | None:
        found: set[Key] = set()
        if depth > _MAX_DEPTH:
            return None
        for leaf in operand.origins(through_operators=False):
            if leaf.is_none:
                continue
            keys = self._of_leaf(leaf, steps, depth)
            if keys is None or len(found) > _MAX_LEAVES:
                return None
            found |= keys
        return frozenset(found) or None

    def _of_leaf(self, leaf: Operand, steps: _Steps, depth: int) -> frozenset[Key] | None:
        value, names = leaf.value, self.project.names
        if leaf.part is not None:
            return None
        if value.op is Op.CALL:
            definition = names.definition(leaf.function.module, value.callee)
            if definition is None and value.callee.op is Op.ATTR and value.callee.data in _ITSELF:
                return self._objects(leaf.of(value.callee.args[0]), steps, depth + 1)
            if isinstance(definition, External) and definition.name in _WRAPPING and value.positional:
                return self._objects(leaf.of(value.positional[0]), steps, depth + 1)
            is_made = leaf.made_class() is not None or trunks.may_be_trunk(getattr(definition, "name", ""))
            return frozenset((("made" if is_made else "got", ModeObject(leaf)),))
        if value.op is Op.PARAM:
            receiver = self._receiver(leaf, steps) if is_self(value) else None
            if receiver is not None:
                return self._objects(receiver[0], receiver[1], depth + 1)
            return frozenset((("given", (leaf.function, value.data)),))
        if value.op is Op.ATTR and value.data in _HELD:
            return self._objects(leaf.of(value.args[0]), steps, depth + 1)
        if value.op is Op.ATTR and self_attribute(value) is not None:
            return frozenset((("held", (leaf.function.owner, value.data)),))
        if value.op is Op.GLOBAL:
            return frozenset((("global", (leaf.function.module.path, value.data)),))
        return None

    def _receiver(self, leaf: Operand, steps: _Steps) -> tuple[Operand, _Steps] | None:
        """The object whose method runs, by the call that leads to it."""
        if not steps or leaf.context is None or leaf.context.call.value is not steps[-1][0].value:
            return None
        event, caller = steps[-1]
        callee = event.value.callee
        outer = leaf.context.outer
        if callee.op is Op.ATTR and self.project.names.definition(caller.module, callee) is None:
            return Operand(callee.args[0], caller, self.project, context=outer), steps[:-1]
        return None

    def may_be_related(self, some: frozenset[Key], others: frozenset[Key]) -> bool:
        """True if one object may be, hold, or be part of another one."""
        return any(_are_related(one, other, self) for one in some for other in others)

    def may_hand_over(self, action: Action, keys: frozenset[Key]) -> bool:
        """True if a call that cannot be read may set the mode of one of some objects."""
        value = action.value
        callee = value.callee
        if callee.op is Op.ATTR:
            owner = callee.args[0]
            if owner.op is Op.CALL and owner.callee.op is Op.GLOBAL and owner.callee.data == "super":
                return True
            if is_self(owner) and action.act is Act.OTHER:
                return True
            if callee.data == "apply" and not self._applies_harmlessly(action):
                return True
            if action.act is Act.OTHER and self._got_before(action, owner, keys):
                return True
        elif self._is_made_of(action.operand(callee), action, keys, 0):
            return True
        return any(self._may_be(action, one, keys) for one in each_argument(value.args[1:])) and not self._is_torchs(
            action
        )

    def _is_torchs(self, action: Action) -> bool:
        return action.act is Act.RUN and action.subject is not None and _is_loss(action.subject)

    def _applies_harmlessly(self, action: Action) -> bool:
        given = action.value.argument(0, "fn")
        if given is None:
            return False
        if given.op is Op.LAMBDA:
            events = action.function.flow.events[given.data.first : given.data.last]
            return not any(one.value.callee.data in ("train", "eval") for one in events if one.kind is EventKind.CALL)
        definition = self.project.names.definition(action.function.module, given)
        function = getattr(definition, "function", None)
        return function is not None and _WORDS.isdisjoint(function.words)

    def _may_be(self, action: Action, value: Value, keys: frozenset[Key]) -> bool:
        """True if an argument may be one of some objects, what holds it, or a method of it."""
        if is_self(value) or value.op is Op.LAMBDA:
            return True
        if value.op is Op.ATTR and self_attribute(value) is None and value.args[0].op is not Op.GLOBAL:
            owner = self.objects(action, action.operand(value.args[0]))
            if owner is not None and owner & keys:
                return True
        if value.op not in (Op.PARAM, Op.ATTR, Op.GLOBAL, Op.CALL, Op.CHOICE, Op.INDEX, Op.ITEM, Op.UNPACK):
            return False
        return self._may_stand_for(action.operand(value), action, keys)

    def _may_set_own(self, key: Key, action: Action) -> bool:
        """True if the method of an object that is called may set its mode."""
        name, project = str(action.value.callee.data), self.project
        model = key[1].operand.made_class() if isinstance(key[1], ModeObject) else None
        method = None if model is None else model.method(name)
        if model is not None and method is not None:
            return any(_concerns_modes(one) for one in _with_own_calls(method, model))
        if name in (surface.layer_members("torch.nn.Module") or ()):
            return False
        near = action.function.module
        return not is_searched(project, near) or any(paths_mentioning(project, near, f"def {name}"))

    def _may_stand_for(self, operand: Operand, action: Action, keys: frozenset[Key], depth: int = 0) -> bool:
        """True if a value may be one of some objects, or hold one."""
        found = self.objects(action, operand)
        if found is None:
            return depth < 2 and self._is_made_of(operand, action, keys, depth)
        if found & keys:
            return True
        values = {id(what.operand.value) for _, what in keys if isinstance(what, ModeObject)}
        if any(isinstance(what, ModeObject) and id(what.operand.value) in values for _, what in found):
            return True  # by another way, which may be the same object
        is_asked = id(operand.value) in operand.function.flow.once(acting)
        for kind, what in found:
            if not isinstance(what, ModeObject):
                if is_asked and any(_are_related((kind, what), key, self) for key in keys):
                    return True
            elif kind == "made" and _is_layer(what.operand):
                if any(_are_related((kind, what), key, self) for key in keys):
                    return True
            elif depth < 2 and self._is_made_of(what.operand, action, keys, depth):
                return True
        return False

    def _is_made_of(self, operand: Operand, action: Action, keys: frozenset[Key], depth: int) -> bool:
        """True if a call gets one of some objects, and its result may hold it: `partial(train, model)`."""
        for leaf in operand.origins(through_operators=False):
            made = leaf.value
            if made.op is not Op.CALL or leaf.part is not None or _is_number(made, leaf):
                continue
            for one in each_argument(made.args[1:]):
                is_followed = one.op in (Op.PARAM, Op.ATTR, Op.GLOBAL, Op.CALL, Op.CHOICE)
                if is_followed and self._may_stand_for(leaf.of(one), action, keys, depth + 1):
                    return True
        return False

    def _got_before(self, action: Action, owner: Value, keys: frozenset[Key]) -> bool:
        """True if the object whose method is called is made of one of some objects, or is what holds one."""
        objects = self.objects(action, action.operand(owner))
        if objects is not None and objects & keys:
            return any(self._may_set_own(key, action) for key in objects & keys)
        if owner.op in (Op.CONST, Op.STRING):
            return False
        return self._may_stand_for(action.operand(owner), action, keys)


def _is_layer(made: Operand) -> bool:
    """True for an object of a layer class, or of one of the project that may be one."""
    model = made.made_class()
    return model is not None and (model.is_module is True or (model.is_module is None and model.cls is not None))


def _is_number(made: Value, leaf: Operand) -> bool:
    """True for what a function of torch or Python gives of a layer's parts."""
    definition = leaf.project.names.definition(leaf.function.module, made.callee)
    return isinstance(definition, External) and definition.name.partition(".")[0] in _PLAIN


def _is_loss(subject: Operand) -> bool:
    model = subject.object_class()
    return model is not None and model.name.startswith("torch.nn.")


class ModeObject:
    """The call that constructs an object; two are equal if the same call does, reached by the same calls of helpers."""

    __slots__ = ("_by", "operand")

    def __init__(self, operand: Operand) -> None:
        self.operand = operand
        self._by = tuple(_calls_to(operand))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ModeObject) and other._by == self._by

    def __hash__(self) -> int:
        return hash(self._by)


def _calls_to(operand: Operand) -> Iterator[int]:
    """The identities of a value and of the calls that lead to it, up to where an object of a class keeps it."""
    at, context = operand, operand.context
    yield id(at.value)
    while context is not None and not _is_kept(at):
        at, context = context.call, context.outer
        yield id(at.value)


def _is_kept(operand: Operand) -> bool:
    """True if a function stores a value in an attribute of the receiver, by which all methods reach the same object."""
    return any(
        self_attribute(event.target) is not None and any(part is operand.value for part in event.value.walk())
        for event in operand.function.flow.of(EventKind.STORE)
        if event.target is not None
    )


def _are_related(one: Key, other: Key, course: ModeCourse) -> bool:
    """True if an object may be, hold, or be part of another one."""
    kind, what = one
    other_kind, other_what = other
    if one == other:
        return True
    if kind != other_kind:
        return not (_is_older(one, other, course) or _is_older(other, one, course))
    if kind == "got":
        return True
    if isinstance(what, ModeObject) and isinstance(other_what, ModeObject):
        return _may_contain(what.operand, other_what.operand) or _may_contain(other_what.operand, what.operand)
    assert isinstance(what, tuple)
    assert isinstance(other_what, tuple)
    return kind != "global" and what[0] is not other_what[0]


def _is_older(given: Key, made: Key, course: ModeCourse) -> bool:
    """True if a course gets an object as an argument, and makes the other one."""
    kind, what = given
    is_given = kind == "given" and isinstance(what, tuple) and what[0] is course.function
    return is_given and isinstance(made[1], ModeObject) and made[1].operand.function in course.functions


def _may_contain(whole: Operand, part: Operand) -> bool:
    """True if an object may have another one as a part: it gets it as an argument, or a class in it makes that."""
    if any(leaf.value is part.value for one in each_argument(whole.value.args[1:]) for leaf in _sources(whole.of(one))):
        return True
    model, owner = whole.made_class(), part.function.owner
    return owner is not None and model is not None and owner in classes_inside(model, part.project)


def _sources(operand: Operand) -> Iterator[Operand]:
    if operand.value.op is not Op.CONST:
        yield from operand.origins(through_operators=False)


def classes_inside(model: ClassModel, project: Project) -> frozenset[Class]:
    """The classes whose objects a class makes, and those that they make in turn."""

    def find() -> frozenset[Class]:
        found: dict[Class, None] = {one.cls: None for one in model.mro() if one.cls is not None}
        pending = list(found)
        for cls in pending:
            for method in cls.methods.values():
                for event in method.flow.of(EventKind.CALL):
                    made = Operand(event.value, method, project).made_class()
                    for one in () if made is None or len(found) > _MAX_CLASSES else made.mro():
                        if one.cls is not None and one.cls not in found:
                            found[one.cls] = None
                            pending.append(one.cls)
        return frozenset(found)

    return project.once(("classes inside", model.cls or model.name), find)


def classes_made(operand: Operand, depth: int = 0) -> list[ClassModel] | None:
    """The classes of the layer that a value is on its paths, also of one that a class makes which is an argument.

    None if one is not known.
    """
    found: list[ClassModel] = []
    for leaf in operand.origins(through_operators=False) if depth < _MAX_DEPTH else ():
        if leaf.is_none:
            continue
        models = _classes_of_leaf(leaf, depth)
        if not models:
            return None
        found += models
    return found or None


def _classes_of_leaf(leaf: Operand, depth: int) -> list[ClassModel] | None:
    value, project = leaf.value, leaf.project
    if value.op is not Op.CALL or leaf.part is not None:
        return None
    model = leaf.made_class()
    if model is not None:
        return [model]
    callee = value.callee
    definition = project.names.definition(leaf.function.module, callee)
    if definition is None and callee.op is Op.ATTR and callee.data in _ITSELF:
        return classes_made(leaf.of(callee.args[0]), depth + 1)
    if isinstance(definition, External) and definition.name in _WRAPPING and value.positional:
        return classes_made(leaf.of(value.positional[0]), depth + 1)
    found: list[ClassModel] = []
    for one in leaf.of(callee).origins(through_operators=False) if callee.op is Op.PARAM else ():
        named = project.names.definition(one.function.module, one.value)
        made = project.classes.of(named) if isinstance(named, DefinedClass | External) else None
        if made is None:
            return None
        found.append(made)
    return found


def _with_own_calls(method: Function, model: ClassModel) -> list[Function]:
    """A method of a class, and the methods that it calls."""
    found = [method]
    for one in found:
        for name in {str(event.value.data) for event in one.flow.reads}:
            inner = model.method(name)
            if inner is not None and inner not in found and len(found) < _MAX_CLASSES:
                found.append(inner)
    return found


def parts_used(method: Function, model: ClassModel) -> frozenset[str]:
    """The attributes of a layer that a method uses, and the methods that it calls: `forward` by `self(x)`, too."""
    found, pending = set[str](), [method]
    for one in pending:
        names = {str(event.value.data) for event in one.flow.reads}
        if any(is_self(event.value.callee) for event in one.flow.of(EventKind.CALL)):
            names.add("forward")
        for name in names - found:
            found.add(name)
            inner = model.method(name)
            if inner is not None and len(pending) < _MAX_CLASSES:
                pending.append(inner)
    return frozenset(found)


def _may_run_parts(method: Function, model: ClassModel) -> bool:
    """True if a method uses attributes that the class stores; `runs_parts` tells whether they are layers."""
    stored = {name for one in model.mro() if one.cls is not None for name in one.cls.assigned}
    return not stored.isdisjoint(parts_used(method, model))


def runs_parts(method: Function, model: ClassModel, project: Project) -> bool:
    """True if a method of a layer uses layers or parameters that it has."""
    if model.cls is None:
        return False
    children = flow(model.cls.module, project).children(model)
    used = parts_used(method, model)
    return any(child.has_state is not False for name, child in children.items() if name in used)


def learns_from(method: Function, model: ClassModel, project: Project) -> bool:
    """True if a method uses parts of a layer that certainly have parameters which gradients reach."""
    if model.cls is None:
        return False
    children = flow(model.cls.module, project).children(model)
    used = parts_used(method, model)
    return any(child.has_parameters for name, child in children.items() if name in used)


def _names_forward(callee: Value) -> bool:
    return callee.op is Op.ATTR and callee.data == "forward"


def _is_dynamo(call: Value) -> bool:
    """True for an export that traces the layer as it is; the other one puts it into evaluation mode first."""
    given = call.argument(99, "dynamo")
    return given is not None and given.op is Op.CONST and given.data is True


def _mode(call: Value) -> Act:
    """The act of `eval()`, or of `train(…)` by its argument."""
    if call.callee.data == "eval":
        return Act.MODE if call.args[1:] else Act.EVAL
    given = call.argument(0, "mode")
    if not call.args[1:]:
        return Act.TRAIN
    if len(call.args) > 2 or given is None or given.op is not Op.CONST or type(given.data) is not bool:
        return Act.MODE
    return Act.TRAIN if given.data else Act.EVAL


def mode_courses(functions: Iterable[Function], project: Project) -> Iterator[ModeCourse]:
    """The courses of modes of functions and of those that call them, the nearest ones first."""
    seen = functions_above(functions, project)
    names = frozenset(one.name for one in seen)
    for function in seen:
        yield project.once(("course of modes", function, names), partial(ModeCourse, function, project, names))


def functions_above(functions: Iterable[Function], project: Project) -> list[Function]:
    """Functions and those that call them, directly or not, the nearest ones first."""
    seen: dict[Function, None] = dict.fromkeys(functions)
    pending = list(seen)
    for _ in range(_MAX_ABOVE):
        above: dict[Function, None] = {}
        for function in pending:
            if function.name != "<module>":
                above.update(dict.fromkeys(_users(function, project)[:_MAX_CALLERS]))
        pending = [one for one in above if one not in seen]
        seen.update(dict.fromkeys(pending))
    return list(seen)


def _users(function: Function, project: Project) -> list[Function]:
    """The functions that call a function; those that construct the class of a method which only methods call."""
    found = callers(project, function)
    if function.name == "__init__" and function.owner is not None:
        found = [*found, *constructing(function.owner, project)]
    return found


def constructing(cls: Class, project: Project) -> list[Function]:
    """The functions that construct objects of a class."""

    def find() -> list[Function]:
        found: dict[Function, None] = {}
        for module in dict.fromkeys((cls.module, *mentioning(project, cls.module, cls.name))):
            for function in (*module.all_functions(), module.body):
                if cls.name not in function.words:
                    continue
                for event in function.flow.of(EventKind.CALL):
                    model = Operand(event.value, function, project).made_class()
                    if model is not None and model.cls is cls:
                        found[function] = None
        return list(found)

    return project.once(("functions that construct", cls), find)
