"""Objects of layers: the calls that construct them, and the members that they certainly lack."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from modellint import operators
from modellint.flow.queries.calls import Call, Calls
from modellint.flow.queries.values import Kind, Operand, returns
from modellint.graph.attributes import names_in, set_attribute
from modellint.graph.definitions import External
from modellint.graph.value import EventKind, Op, dotted, walk_all
from modellint.knowledge import surface
from modellint.link.calls.doubts import is_generator_source, is_shadowed, subclasses
from modellint.link.classes.attributes import attribute_mentions, owners_set
from modellint.link.classes.decorated import decorator_effects, handed_over
from modellint.link.searched import is_searched, mentioning
from modellint.link.values.members import Members

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Value
    from modellint.link.classes.models import ClassModel
    from modellint.link.project import Project

#: Methods and functions that return the layer that they get, or call it.
_ITSELF = operators.methods("Module", "itself")
_WRAPPING = operators.functions("wraps")
_LIST, _SEQUENTIAL = "torch.nn.ModuleList", "torch.nn.Sequential"
#: Classes of torch without `forward`, and bases without methods.
_WITHOUT_FORWARD = frozenset(f"torch.nn.{name}" for name in ("Module", "ModuleList", "ModuleDict"))
_MAX_STEPS = 8
#: Methods that add elements to a list, with the number of arguments before these.
_ADDING = {"append": 0, "insert": 1, "extend": 0, "add": 0, "[]=": 1}
_COPYING = ("builtins.list", "builtins.tuple")
#: Layers of torch whose result is what they get.
_GIVING_ANYTHING = frozenset(("torch.nn.Identity", _SEQUENTIAL, "torch.nn.Module", "torch.nn.DataParallel"))
#: Kinds of values that cannot be called.
_VALUES = frozenset((Kind.TENSOR, Kind.NUMBER, Kind.SEVERAL))
#: Functions and attributes that set an attribute by a name that may be computed.
_BY_NAME = frozenset(("setattr", "__dict__", "vars", "__setattr__", "__getattr__"))
#: Operations that give an object which may be called.
_CALLABLE = (Op.ATTR, Op.CALL, Op.GLOBAL, Op.CHOICE, Op.ITEM, Op.INDEX, Op.PARAM)


def made_objects(operand: Operand, depth: int = 0) -> list[Operand] | None:
    """The calls that construct the object that a value is on its paths; None if a path is not known.

    They are found through `to` and `eval`, wrappers such as `torch.compile`, and the elements of lists of layers.
    """

    def made(leaves: Iterable[Operand]) -> list[Operand] | None:
        found: list[Operand] = []
        for leaf in leaves:
            of_leaf = _made(leaf, depth)
            if of_leaf is None:
                return None
            found += of_leaf
        return found or None

    return None if depth > _MAX_STEPS else operand.conclude(made)


def _made(leaf: Operand, depth: int) -> list[Operand] | None:
    value, function, project = leaf.value, leaf.function, leaf.project
    if leaf.is_none:
        return []  # None can be neither called nor asked for a method, so another path is meant
    if leaf.part is not None:
        return _elements(leaf, depth)
    if value.op is not Op.CALL:
        return None
    callee = value.callee
    definition = project.names.definition(function.module, callee)
    if definition is None and callee.op is Op.ATTR and callee.data in _ITSELF:
        return made_objects(Operand(callee.args[0], function, project), depth + 1)
    if isinstance(definition, External) and definition.name in _WRAPPING and value.positional:
        return made_objects(Operand(value.positional[0], function, project), depth + 1)
    return None if leaf.made_class() is None else [leaf]


def _elements(leaf: Operand, depth: int) -> list[Operand] | None:
    """The objects that the elements of a list of layers are."""
    made = Operand(leaf.value, leaf.function, leaf.project)
    parts = elements(made)
    if not parts:
        return None
    found: list[Operand] = []
    for part in parts:
        objects = made_objects(part, depth + 1)
        if objects is None:
            return None
        found += objects
    return found


def elements(made: Operand) -> list[Operand] | None:
    """The values that a list, an `nn.ModuleList` or an `nn.Sequential` is made of, each once; None if not known.

    The element of a comprehension, and what a loop appends, is one value.
    """
    found: dict[Value, None] = {}
    is_known = _collect(made.value, made, found, set())
    return [Operand(value, made.function, made.project) for value in found] if is_known else None


def _collect(value: Value, made: Operand, found: dict[Value, None], seen: set[Value]) -> bool:
    """Collect the elements of a container; returns whether all are known."""
    if value in seen:
        return True
    seen.add(value)

    def each(values: Iterable[Value]) -> bool:
        return all(_collect(one, made, found, seen) for one in values)

    op = value.op
    if op in (Op.LIST, Op.TUPLE):
        found.update(dict.fromkeys(part for part in value.args if part.op is not Op.STARRED))
        return each(part.args[0] for part in value.args if part.op is Op.STARRED)
    if op is Op.COMPREHENSION and value.data != "dict":
        found[value.args[0]] = None
        return True
    if op is Op.CHOICE or op is Op.STARRED or (op is Op.BIN and value.data == "+"):
        return bool(value.args) and each(value.args)
    if op is Op.BIN and value.data == "*":
        return each(part for part in value.args if part.op in (Op.LIST, Op.TUPLE))
    if op is Op.UPDATE and value.data in _ADDING:
        given = value.args[1 + _ADDING[value.data] :]
        if value.data != "extend":
            found.update(dict.fromkeys(given))
        return each((value.args[0], *(given if value.data == "extend" else ())))
    return op is Op.CALL and _collect_call(value, made, each, found)


def _collect_call(
    call: Value, made: Operand, each: Callable[[Iterable[Value]], bool], found: dict[Value, None]
) -> bool:
    definition = made.project.names.definition(made.function.module, call.callee)
    name = definition.name if isinstance(definition, External) else ""
    if name in _COPYING or name == _LIST:
        return len(call.args) == 2 and each(call.args[1:])
    if name != _SEQUENTIAL or call.data:
        return False
    found.update(dict.fromkeys(part for part in call.positional if part.op is not Op.STARRED))
    return each(part for part in call.positional if part.op is Op.STARRED)


# -- members that are not there --------------------------------------------------------------------------------------


def lacks_forward(cls: Class, project: Project) -> bool:
    """True if objects of exactly this class are layers, and have no `forward` unless other code sets it from outside.

    `is_set_outside` asks for that. It may read many files: ask it last.
    """
    return project.once(
        ("lacks forward", cls.module.path, cls.qualname, cls.line), lambda: _lacks_forward(cls, project)
    )


def _lacks_forward(cls: Class, project: Project) -> bool:
    model = project.classes.model(cls)
    if not model.is_module or not model.is_complete or not _can_be_made(cls):
        return False
    for current in model.mro():
        if current.cls is None:
            if current.name not in _WITHOUT_FORWARD:
                return False
        elif _gives(current.cls, ("forward", "__call__", "_call_impl", "__new__", "_wrapped_call_impl"), project):
            return False
    return not _is_any_doubtful(model, project)


def may_have(cls: Class, name: str, project: Project) -> bool:
    """True if objects of a class may have an attribute or a method of this name, for all that is known."""
    model = project.classes.model(cls)
    for current in model.mro():
        if current.cls is None:
            members = surface.layer_members(current.name)
            if members is None or name in members:
                return True
        elif _gives(current.cls, (name,), project):
            return True
    return not model.is_complete or _is_any_doubtful(model, project)


def _can_be_made(cls: Class) -> bool:
    """True unless the constructor always raises."""
    constructor = cls.methods.get("__init__")
    return constructor is None or not any(event.guard is None for event in constructor.flow.of(EventKind.RAISE))


def _is_any_doubtful(model: ClassModel, project: Project) -> bool:
    """True if a class, or a base, may be another one than its statement says. It may read many files."""
    return any(is_doubtful(current.cls, project) for current in model.mro() if current.cls is not None)


def _gives(cls: Class, names: tuple[str, ...], project: Project) -> bool:
    """True if the statement of a class gives its objects one of the names, or may do so."""
    if any(name in cls.methods or name in cls.attributes or name in cls.annotations for name in names):
        return True
    said = attribute_mentions(cls, project)
    return said.stores_any or any(name in said.stored or said.may_name(name) for name in names)


def is_doubtful(cls: Class, project: Project) -> bool:
    """True if a class may be another one than its statement says, or is changed by a decorator or a metaclass."""
    return project.once(("doubtful", cls), lambda: _is_doubtful(cls, project))


def _is_doubtful(cls: Class, project: Project) -> bool:
    module = cls.module
    if cls.qualname in module.rebound or is_generator_source(project, module):
        return True
    for base in cls.bases:
        written = dotted(base.args[0] if base.op is Op.INDEX else base)
        if written is None or is_shadowed(project, module, written):
            return True
        is_torchs = getattr(project.names.definition(module, base), "name", "").startswith("torch.")
        if written.partition(".")[0] in module.rebound and not is_torchs:
            return True
    if has_keywords(cls, project):
        return True
    for done in (decorator_effects(cls, project), handed_over(cls, project)):
        if done.alter or done.bases or done.names or not done.is_known:
            return True
    return False


def has_keywords(cls: Class, project: Project) -> bool:
    """True if a class statement has a metaclass other than `abc.ABCMeta`, or other keywords: it may run any code."""
    for name, value in cls.head.keywords.items():
        definition = project.names.definition(cls.module, value)
        if name != "metaclass" or not isinstance(definition, External) or definition.name != "abc.ABCMeta":
            return True
    return False


def is_set_outside(cls: Class, name: str, project: Project) -> bool:
    """True if a file that names the class sets an attribute of this name on another object than its own."""
    modules = _naming(cls, name, project)
    return modules is None or any(owners_set(module, name, project) for module in modules)


def _naming(cls: Class, name: str, project: Project) -> list[ModuleFacts] | None:
    """The files that name a class and an attribute, its own among them; None if they cannot be searched for."""
    if not is_searched(project, cls.module):
        return None
    said = (module for word in (f". {name}", f"' {name}") for module in mentioning(project, cls.module, word, cls.name))
    return list(dict.fromkeys((cls.module, *said)))


def is_set_besides(cls: Class, name: str, method: Function, project: Project) -> bool:
    """True if other code than one method may set an attribute of objects of a class."""
    model = project.classes.model(cls)
    if not model.is_complete:
        return True
    for current in model.mro():
        if current.cls is None:
            members = surface.layer_members(current.name)
            if members is None or name in members:
                return True
        elif current.cls is not cls:
            if _gives(current.cls, (name,), project) or is_doubtful(current.cls, project):
                return True
        elif (
            name in cls.methods
            or name in cls.attributes
            or name in cls.annotations
            or any(_stores(function, name) for function in cls.methods.values() if function is not method)
        ):
            return True
    return is_set_outside(cls, name, project)


def _stores(function: Function, name: str) -> bool:
    """True if a method sets an attribute of `self`, or may do so by a name that it computes."""
    events = [event for event in function.flow.events if event.kind in (EventKind.STORE, EventKind.CALL)]
    return any(set_attribute(event) == name for event in events) or not _BY_NAME.isdisjoint(function.words)


def is_method_named(cls: Class, method: Function, project: Project) -> bool:
    """True if code other than methods of this name, which call it of `super()`, names a method, or may do so."""
    name = method.name
    modules = _naming(cls, name, project)
    return modules is None or any(
        _names(function, name)
        for module in modules
        for function in (*module.all_functions(), module.body)
        if function.name != name and name in function.words
    )


def _names(function: Function, name: str) -> bool:
    for value in walk_all(function.flow.evaluated()):
        if (value.op is Op.ATTR and value.data == name) or name in names_in(value):
            return True
    return False


# -- calls of objects ------------------------------------------------------------------------------------------------


#: The head of a class, an import without another name, annotations of parameters without defaults, and of results.
_NO_OBJECTS = re.compile(
    r"\bclass\s+\w+\s*(?:\([^()]*\))?\s*:|^from\s+\S+\s+import\s+(?!.*\bas\b)[\w, ]+$"
    r"|\bdef\s+\w+\s*\([^()=]*\)|->[^:\n]*:",
    re.MULTILINE,
)


def calls_of_objects(cls: Class, project: Project) -> Iterator[Call]:
    """The calls of objects of exactly this class, in its own file and in those that name it: `model(x)`.

    A call of an `nn.Sequential` with such an object counts as one, and `model.forward(x)`.
    """
    modules, called = list(dict.fromkeys((cls.module, *mentioning(project, cls.module, cls.name)))), project.of(_Called)
    if not any(called.may_construct(module, cls) for module in modules):
        return
    for module in modules:
        for call, found in called.of(module):
            if cls in found:
                yield call


class _Called:
    """The calls of layers of the project, by file, each with the classes whose objects it certainly calls."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._found: dict[ModuleFacts, list[tuple[Call, frozenset[Class]]]] = {}
        #: The texts of files without the places at which a class makes no object.
        self._texts: dict[ModuleFacts, str] = {}

    def may_construct(self, module: ModuleFacts, cls: Class) -> bool:
        """True unless a file names a class only where it makes no object: as a base, in imports, or as a result."""
        text = self._texts.get(module)
        if text is None:
            text = self._texts[module] = _NO_OBJECTS.sub("", module.text)
        return re.search(rf"\b{re.escape(cls.name)}\b", text) is not None

    def of(self, module: ModuleFacts) -> list[tuple[Call, frozenset[Class]]]:
        found = self._found.get(module)
        if found is None:
            found = self._found[module] = list(self._find(module))
        return found

    def _find(self, module: ModuleFacts) -> Iterator[tuple[Call, frozenset[Class]]]:
        for call in Calls(module, self._project).others:
            callee = call.callee
            if callee.value.op is Op.ATTR and callee.value.data == "forward":
                callee = Operand(callee.value.args[0], call.function, self._project)
            if callee.value.op in _CALLABLE:
                found = _classes(callee)
                if found:
                    yield call, found


def _classes(callee: Operand) -> frozenset[Class]:
    """The one class of the project of which a value is an object, or those of the elements of an `nn.Sequential`."""
    objects = made_objects(callee)
    models = {made.made_class() for made in objects or ()}
    if len(models) != 1 or not objects:
        return frozenset()
    model = models.pop()
    if model is not None and model.cls is not None:
        return frozenset((model.cls,))
    if model is None or model.name != _SEQUENTIAL:
        return frozenset()
    called = [{cls for part in elements(one) or () for cls in _classes(part)} for one in objects]
    return frozenset(set.intersection(*called))


def mode_changes(cls: Class, method: Function, project: Project) -> Iterator[Call]:
    """The calls of torch's `eval` on objects of a class, or of its subclasses, that run its method `train`."""
    classes = [one for one in (cls, *subclasses(project, cls)) if _runs(one, method, project)]
    inherits = len(classes) == 1 + len(subclasses(project, cls))
    for module in dict.fromkeys((cls.module, *mentioning(project, cls.module, cls.name))):
        for call in Calls(module, project).others if "eval" in module.text else ():
            callee = call.value.callee
            if callee.op is not Op.ATTR or callee.data != "eval" or call.value.args[1:]:
                continue
            receiver = Operand(callee.args[0], call.function, project)
            is_self = receiver.value.op is Op.PARAM and receiver.value.data == "self"
            made = _classes(receiver)
            if (is_self and call.function.owner is cls and inherits) or (made and made <= set(classes)):
                yield call


def _runs(cls: Class, method: Function, project: Project) -> bool:
    """True if `train` of a class's objects is a certain method, and `eval` is torch's."""
    model = project.classes.model(cls)
    is_torchs = all(one.cls is None or "eval" not in one.cls.methods for one in model.mro())
    return model.is_complete and is_torchs and model.method("train") is method


# -- attributes ------------------------------------------------------------------------------------------------------


def stored_values(cls: Class, name: str, project: Project) -> list[Operand]:
    """The values that a class and its readable bases store in an attribute of `self`."""
    return [Operand(event.value, function, project) for function, event in project.of(Members).stores(cls, name)]


def gives_values(made: Operand) -> bool:
    """True if calling a constructed layer certainly returns tensors or numbers, which cannot be called in turn."""
    model = made.made_class()
    if model is None or not model.is_module:
        return False
    if model.cls is None:
        return surface.forward_parameters(model.name) is not None and model.name not in _GIVING_ANYTHING
    forward = model.method("forward")
    if forward is None or model.has_method("__call__"):
        return False
    given = returns(forward)
    return bool(given) and all(Operand(value, forward, made.project).kinds() <= _VALUES for value in given)
