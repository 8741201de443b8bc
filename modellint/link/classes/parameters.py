"""Parameters and layers that an assignment loses: a tensor made from a parameter, and what comes before `nn.Module`.

`nn.Parameter(…).to(device)` is no parameter but the result of an operation on one, which a module does not register.
Before `nn.Module.__init__` has run, a module takes neither layers nor parameters.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from modellint.graph.value import EventKind, Op, are_exclusive, self_attribute
from modellint.link.classes import calls
from modellint.link.classes.objects import Instance, Tensor, Trained, alternatives
from modellint.link.classes.registered import is_layer, reads

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Event, Value
    from modellint.link.classes.models import ClassModel
    from modellint.link.project import Project

#: Methods that give the parameter itself where there is nothing to convert …
_BRACKET = re.compile(r"[\[\](){}]")
_CONVERSIONS = frozenset("to cuda cpu half float double bfloat16 type type_as".split())
#: … which is the rule for these: parameters are made on the CPU, of 32-bit numbers.
_SELDOM = frozenset(("cpu", "float"))
#: Methods that always give another tensor.
_OPERATIONS = frozenset(
    """clone view reshape transpose t permute unsqueeze squeeze repeat expand flatten mul div add sub pow sqrt exp log
    abs neg sigmoid tanh softmax""".split()
)
_METHODS = "|".join(sorted(_CONVERSIONS | _OPERATIONS))
_ARITHMETIC = frozenset("+ - * / @ **".split())
_DEFAULT_DTYPE = frozenset(("float", "float32"))
_MADE = re.compile(r"\bParameter\(")
_CHANGED = re.compile(r"\s*(?:\.(\w+)\(|[*+/@-])")
_CHANGING = re.compile(r"[*+/@-]\s*(?:\w+\.)*$")
_ASSIGNED_NAME = re.compile(r"([\w.]+)(?:\s*:[^=\n]+)?\s*=\s*(?:\w+\.)*$")
#: In how many bytes a generated file says what it was generated from.
_HEAD = 2000
_EARLY = re.compile(r"self\.\w+(?:: [^=\n]+)? ?= ?[^\n]*?(?:[A-Z]\w*|Parameter)\(|self\.\w+ ?= ?\w+\s*\n")


@dataclass(frozen=True, eq=False)
class Derived:
    """An attribute that gets a tensor made from a new parameter.

    `call` makes the parameter, `value` is what is stored, `operation` the method or operator that makes a tensor of
    it. `is_rare`: the operation gives the parameter itself, unless its numbers are of another kind.
    """

    cls: Class
    function: Function
    target: Value
    value: Value
    call: Value
    operation: str
    attribute: str
    use: tuple[Function, Value] | None
    is_certain: bool
    is_rare: bool


@dataclass(frozen=True, eq=False)
class Early:
    """A layer or parameter that is assigned before `later`, the call of the base's constructor."""

    cls: Class
    function: Function
    target: Value
    attribute: str
    is_layer: bool
    later: Value
    is_certain: bool


# -- tensors made from parameters ----------------------------------------------------------------------------------


def derived(module: ModuleFacts, project: Project) -> Iterator[Derived]:
    """What the classes of a file store as a parameter, and is none."""
    if "Parameter(" not in module.text:
        return
    for cls in module.classes.values():
        for function in cls.methods.values():
            if "Parameter(" in function.text and _changes_a_parameter(function.text):
                model = project.classes.model(cls)
                if is_layer(model) is not None and not model.has_own_adder("__setattr__"):
                    yield from _derived_in(function, cls, model, project)


def _changes_a_parameter(text: str) -> bool:
    """Whether something is done to a parameter right where it is made, or to the name that it gets."""
    for match in _MADE.finditer(text):
        end = closing(text, match.end() - 1)
        behind = _CHANGED.match(text, end)
        if behind is not None and not (behind[1] or "").endswith("_"):
            return True
        line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
        if _CHANGING.search(line):
            return True
        name = _ASSIGNED_NAME.search(line)
        if name is not None:
            again = re.escape(name[1])
            if re.search(rf"(?<![\w.]){again}(?:\.(?:{_METHODS})\(| [*/+@-] )|[*/+@-] {again}\b", text):
                return True
    return False


def _derived_in(function: Function, cls: Class, model: ClassModel, project: Project) -> Iterator[Derived]:
    events = list(function.flow.events)
    for event in events:
        attribute, value = _stored(event)
        if attribute is None or value is None or event.target is None:
            continue
        for option in _options(value):
            found = _operation(option, function.module, project)
            if found is None:
                continue
            call, operation = found
            if _is_kept_otherwise(call, attribute, event, events):
                continue
            yield Derived(
                cls,
                function,
                event.target,
                option,
                call,
                operation,
                attribute,
                _use(model, attribute, function),
                is_layer(model) is True,
                _is_rare(option),
            )


def _stored(event: Event) -> tuple[str | None, Value | None]:
    if event.kind is EventKind.STORE and event.target is not None:
        return self_attribute(event.target), event.value
    return None, None


def _options(value: Value) -> Iterator[Value]:
    if value.op in (Op.CHOICE, Op.BOOL):
        yield from value.args
    else:
        yield value


def _operation(value: Value, module: ModuleFacts, project: Project) -> tuple[Value, str] | None:
    """The call that makes a parameter, and the last operation that makes something else of it."""
    operation: str | None = None
    for _ in range(8):
        if value.op is Op.BIN and value.data in _ARITHMETIC:
            sides = [arg for arg in value.args if _leads_to_parameter(arg, module, project)]
            if len(sides) != 1:
                return None
            operation, value = operation or f"`{value.data}`", sides[0]
        elif value.op is Op.UNARY and value.data == "-":
            operation, value = operation or "`-`", value.args[0]
        elif value.op is Op.ATTR and len(value.args) > 1:
            value = value.args[1]
        elif value.op is Op.CALL and value.callee.op is Op.ATTR and not _is_parameter(value, module, project):
            name = str(value.callee.data)
            if name in _CONVERSIONS or name in _OPERATIONS:
                operation = operation or f"`.{name}()`"
            elif not name.endswith("_") or name.endswith("__"):
                return None
            value = value.callee.args[0]
        else:
            break
    if operation is None or not _is_parameter(value, module, project):
        return None
    return value, operation


def _leads_to_parameter(value: Value, module: ModuleFacts, project: Project) -> bool:
    if _is_parameter(value, module, project):
        return True
    return _operation(value, module, project) is not None


def _is_parameter(value: Value, module: ModuleFacts, project: Project) -> bool:
    if value.op is not Op.CALL or value.callee.data not in ("Parameter", "UninitializedParameter"):
        return False
    model = project.classes.resolve(value.callee, module)
    return model is not None and model.name in calls.TENSOR_CLASSES


def _is_kept_otherwise(call: Value, attribute: str, event: Event, events: list[Event]) -> bool:
    """Whether the parameter itself, or another one under that name, is kept as well."""
    for other in events:
        if other is event:
            continue
        if other.kind is EventKind.STORE and other.target is not None:
            if other.value is call and self_attribute(other.target) != attribute:
                return True
            later = self_attribute(other.target) == attribute and other.value is not call
            if later and other.value.op is Op.CALL and other.value.callee.data == "Parameter":
                return True
        if other.kind is EventKind.CALL and any(_holds(arg, call) for arg in other.value.args[1:]):
            return True
    return False


def _holds(value: Value, call: Value) -> bool:
    """Whether an argument is the parameter, or a container with it."""
    if value is call:
        return True
    return value.op in (Op.LIST, Op.TUPLE, Op.DICT, Op.STARRED) and any(_holds(arg, call) for arg in value.args)


def _use(model: ClassModel, attribute: str, maker: Function) -> tuple[Function, Value] | None:
    for owner in model.mro():
        for method in owner.cls.mentioned.get(attribute, ()) if owner.cls is not None else ():
            if method is not maker:
                for value in reads(method, attribute):
                    return method, value
    return None


def _is_rare(value: Value) -> bool:
    """Whether nothing but `.float()`, `.cpu()` or `.to(torch.float32)` is done, which change a parameter seldom."""
    while value.op is Op.CALL and value.callee.op is Op.ATTR and value.callee.data != "Parameter":
        name, given = value.callee.data, value.positional
        to_default = name == "to" and len(given) == 1 and given[0].op is Op.ATTR and given[0].data in _DEFAULT_DTYPE
        if name not in _SELDOM and not to_default and not str(name).endswith("_"):
            return False
        value = value.callee.args[0]
    return value.op is Op.CALL


# -- before nn.Module ------------------------------------------------------------------------------------------------


def early(module: ModuleFacts, project: Project) -> Iterator[Early]:
    """What the constructors of a file assign before the constructor of `nn.Module` has run."""
    for cls in module.classes.values():
        function = cls.methods.get("__init__")
        if function is None or not _assigns_first(function.text):
            continue
        model = project.classes.model(cls)
        if model.is_module is True and not _is_special(model):
            found = list(_early_in(function, cls, model, project))
            if found and not _is_template(module, project):
                yield from found


def _assigns_first(text: str) -> bool:
    """Whether something like a layer is assigned before the first constructor of a base is called."""
    first = text.find("__init__(", text.find("__init__(") + 1)
    if first < 0:
        return False
    begin = text.find("self.")
    return 0 <= begin < first and _EARLY.search(text, begin, first) is not None


def _is_special(model: ClassModel) -> bool:
    """Whether objects come to be, or take attributes, in a way of their own."""
    if model.has_own_adder("__setattr__") or model.has_own_adder("__new__"):
        return True
    return any("metaclass" in owner.cls.head.keywords for owner in model.mro() if owner.cls is not None)


def _is_template(module: ModuleFacts, project: Project) -> bool:
    """Whether a file beside this one says that it was generated from it: what runs is that file then."""
    folder, own = module.file.parent, module.file.name.encode()
    heads = (
        (project.files.read(folder / name) or b"")[:_HEAD]
        for name in project.files.listdir(folder)
        if name.endswith(".py") and name != module.file.name
    )
    return any(b"generated" in head and own in head for head in heads)


def _early_in(function: Function, cls: Class, model: ClassModel, project: Project) -> Iterator[Early]:
    events = list(function.flow.events)
    start = next((n for n, event in enumerate(events) if _may_initialise(event, model)), None)
    if start is None or not _is_base_constructor(events[start].value):
        return
    later = events[start]
    for event in events[:start]:
        attribute, value = _stored(event)
        if attribute is None or value is None or event.target is None or model.has_method(attribute):
            continue
        if are_exclusive(event.guard, later.guard):
            continue
        options = alternatives(project.classes.evaluate(value, function.module, model))
        layers = [isinstance(o, Trained) or (isinstance(o, Instance) and o.model.is_module is True) for o in options]
        parameters = [isinstance(o, Tensor) for o in options]
        if any(layers) or any(parameters):
            certain = event.guard is None and all(a or b for a, b in zip(layers, parameters, strict=True))
            yield Early(cls, function, event.target, attribute, any(layers), later.value, certain)


def _may_initialise(event: Event, model: ClassModel) -> bool:
    """Whether an event is a constructor's call, or calls a method that may call one."""
    if event.kind is not EventKind.CALL or event.value.callee.op is not Op.ATTR:
        return False
    name = str(event.value.callee.data)
    if name == "__init__":
        return True
    method = model.method(name) if self_attribute(event.value.callee) is not None else None
    return method is not None and "__init__(" in method.text


def _is_base_constructor(call: Value) -> bool:
    if call.callee.data != "__init__":
        return False
    owner = call.callee.args[0]
    if owner.op is Op.CALL and owner.callee.op is Op.GLOBAL and owner.callee.data == "super":
        return True
    return any(arg.op is Op.PARAM and arg.data == "self" for arg in call.positional)


def closing(text: str, start: int) -> int:
    """Behind the bracket that closes the first one from `start` on."""
    depth = 0
    for match in _BRACKET.finditer(text, start, start + 4000):
        depth += 1 if match[0] in "[({" else -1
        if depth == 0:
            return match.end()
    return len(text)
