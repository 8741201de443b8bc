"""Constructors of layers that never call the one of `nn.Module`."""

from __future__ import annotations

import ast
import textwrap
from typing import TYPE_CHECKING

from modellint.finding import Applicability, Edit, Fix, Place, Span
from modellint.flow import queries
from modellint.graph.attributes import REGISTERING
from modellint.graph.immutable import dataclass
from modellint.graph.value import EventKind, Op, is_super, self_attribute

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Event, Value
    from modellint.rule import Project


@dataclass(frozen=True, slots=True)
class Uninitialised:
    """A class whose objects are never set up, and the first layer or parameter that its constructor assigns, if any.

    `constructor` is the one that calls no other one: that of the class, or of a base that comes before `nn.Module`.
    """

    cls: Class
    constructor: Function
    target: Value | None = None
    attribute: str = ""
    is_layer: bool = False


def uninitialised_layers(module: ModuleFacts, project: Project) -> Iterator[Uninitialised]:
    """The layers of a file that `nn.Module` never sets up; no bases of which a derived class is found."""
    found = list(_all_uninitialised(module, project))
    told = {one.constructor for one in found if one.target is not None}
    yield from (one for one in found if one.target is not None or one.constructor not in told)


def _all_uninitialised(module: ModuleFacts, project: Project) -> Iterator[Uninitialised]:
    for cls in module.classes.values():
        constructor = cls.methods.get("__init__")
        if constructor is None or cls.head.keywords or constructor.signature.decorators or cls.head.decorators:
            continue
        if any(map(_is_constructor, _calls(constructor))):
            yield from _stopped_above(cls, constructor, project)
            continue
        if _calls_others(constructor, cls) or _refuses(constructor):
            continue
        model = project.classes.model(cls)
        is_plain = not model.has_own_adder("__new__") and not _has_keywords_above(model, project)
        if model.is_module and model.are_bases_known and is_plain:
            found = _first_kept(cls, constructor, project)
            if found.target is not None or not any(self_attribute(call.callee) for call in _calls(constructor)):
                yield found


def _has_keywords_above(model: queries.ClassModel, project: Project) -> bool:
    """True if a metaclass may make the objects of a class, and run any constructor first."""
    return any(queries.has_keywords(above.cls, project) for above in model.mro() if above.cls is not None)


def _stopped_above(cls: Class, constructor: Function, project: Project) -> Iterator[Uninitialised]:
    """A class whose `super().__init__()` never reaches `nn.Module`, and that assigns a layer or parameter."""
    model = project.classes.model(cls)
    is_plain = not model.has_own_adder("__new__") and not _has_keywords_above(model, project)
    if model.is_module and model.is_complete and is_plain:
        last = _last_constructor(constructor, model, project)
        found = None if last is None else _first_kept(cls, last, project)
        if found is not None and found.target is not None:
            yield found


def _last_constructor(constructor: Function, model: queries.ClassModel, project: Project) -> Function | None:
    """The constructor at which the chain of `super().__init__()` ends before `nn.Module`; None if it does not."""
    mro, at = model.mro(), 0
    while True:
        owners = _supers(constructor)
        if len(owners) != 1 or sum(map(_is_constructor, _calls(constructor))) != 1:
            return None
        named = None
        if owners[0].args[1:]:
            named = project.classes.of(project.names.definition(constructor.module, owners[0].args[1]))
            if named not in mro:
                return None
        at = (at if named is None else mro.index(named)) + 1
        while at < len(mro) and mro[at].cls is not None and not mro[at].facts.has_method("__init__"):
            at += 1
        if at == len(mro):
            return constructor
        owner = mro[at].cls
        if owner is None:
            return None
        constructor = owner.methods["__init__"]
        if "super" not in constructor.words:
            return None if _calls_others(constructor, owner) else constructor


def _supers(constructor: Function) -> list[Value]:
    """The `super(…)` objects whose constructor a constructor calls."""
    owners = [call.callee.args[0] for call in _calls(constructor) if _is_constructor(call)]
    return [owner for owner in owners if owner.op is Op.CALL and owner.callee.data in ("super", "builtins.super")]


def _is_constructor(call: Value) -> bool:
    return call.callee.op is Op.ATTR and call.callee.data == "__init__"


def _calls(function: Function) -> list[Value]:
    return [event.value for event in function.flow.of(EventKind.CALL)]


def _calls_others(constructor: Function, cls: Class, seen: tuple[Function, ...] = ()) -> bool:
    """True if a constructor calls another one, passes on its object, or calls a method that may do so."""
    if any(map(_uses_super, constructor.flow.events)):
        return True
    for call in _calls(constructor):
        if is_super(call):
            continue
        if call.callee.op is Op.ATTR and call.callee.data in ("__init__", "__setstate__"):
            return True
        if any(map(_holds_self, call.args[1:])):
            return True
        name = self_attribute(call.callee)
        if name is not None and name not in REGISTERING:
            method = cls.methods.get(name)
            if (
                method is None
                or "super" in method.words
                or method in seen
                or _calls_others(method, cls, (*seen, method))
            ):
                return True
    return any(event.value.data == "__dict__" for event in constructor.flow.reads)


def _uses_super(event: Event) -> bool:
    """True if an event calls a method of `super()`, passes it on or keeps it: more than the bare `super()`."""
    is_made = event.kind is EventKind.CALL and is_super(event.value)
    return not is_made and any(map(is_super, event.value.walk()))


def _refuses(constructor: Function) -> bool:
    """True if a constructor raises and stores nothing."""
    events = constructor.flow.events
    return any(e.kind is EventKind.RAISE for e in events) and not any(e.kind is EventKind.STORE for e in events)


def _holds_self(value: Value) -> bool:
    """True if an argument is the object itself, or a display that holds it."""
    if value.op in (Op.TUPLE, Op.LIST, Op.SET, Op.DICT, Op.STARRED):
        return any(map(_holds_self, value.args))
    return value.op is Op.PARAM and value.data == "self"


def set_up(found: Uninitialised, project: Project) -> Fix | None:
    """Call the constructor of the base first, in the one that calls none, or the one that comes next."""
    if _takes_arguments(found.constructor, project):
        return None
    function = found.constructor
    module = function.module
    owners = _supers(function)
    if owners and owners[0].args[1:]:
        place = module.place(owners[0].args[1])
        return Fix(f"Use `super({found.cls.name}, …)`", Applicability.SAFE, (Edit(place, found.cls.name),))
    if owners:
        return None
    try:
        defined = ast.parse(textwrap.dedent(function.text)).body[0]
    except (SyntaxError, ValueError, IndexError):
        return None
    body = defined.body if isinstance(defined, ast.FunctionDef) else []
    first = next((one for one in body if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))), None)
    if first is None or not isinstance(defined, ast.FunctionDef) or first.lineno == defined.lineno:
        return None
    line = function.line + first.lineno - 1
    begun = next(filter(is_super, _calls(function)), None)
    if begun is not None:
        return _finished_call(begun, first, line, module)
    (text,) = module.as_written(line, line)
    margin = text[: len(text) - len(text.lstrip())]
    indent = margin.replace("\f", "")  # a page may begin here
    if not function.text.splitlines()[first.lineno - 1].startswith(indent):
        return None
    place = Place(module.path, Span(line, len(margin) + 1, line, len(margin) + 1))
    ending = text[len(text.rstrip("\r\n")) :]
    edit = Edit(place, f"super().__init__(){ending}{indent}")
    return Fix("Call `super().__init__()` first", Applicability.SAFE, (edit,))


def _takes_arguments(constructor: Function, project: Project) -> bool:
    """True if the constructor that `super()` leads to takes arguments that are not known here."""
    model = None if constructor.owner is None else project.classes.model(constructor.owner)
    above = () if model is None else model.mro()[1:]
    method = next((found for one in above if (found := one.own_method("__init__")) is not None), None)
    taken = () if method is None else method.parameters[1:]
    return any(one.default is None and one.kind != "var-keyword" for one in taken)


def _finished_call(begun: Value, first: ast.stmt, line: int, module: ModuleFacts) -> Fix | None:
    """Call the constructor in the first statement, where that is `super()` or `super().__init__`."""
    made = first.value if isinstance(first, ast.Expr) else None
    is_read = isinstance(made, ast.Attribute) and made.attr == "__init__"
    span = module.place(begun).span
    called = made.value if isinstance(made, ast.Attribute) and is_read else made
    if not isinstance(called, ast.Call) or ast.unparse(called.func) != "super" or begun.line != line:
        return None
    column = span.end_column + (len(".__init__") if is_read else 0)
    place = Place(module.path, Span(span.end_line, column, span.end_line, column))
    text = "()" if is_read else ".__init__()"
    return Fix("Call `super().__init__()` first", Applicability.SAFE, (Edit(place, text),))


def _first_kept(cls: Class, last: Function, project: Project) -> Uninitialised:
    for store in queries.flow(cls.module, project).stores(cls):
        layers = any(isinstance(atom, queries.Shell) and atom.is_layer for atom in store.atoms)
        parameters = any(isinstance(atom, queries.Shell) and atom.kind == "parameter" for atom in store.atoms)
        is_kept = store.is_sure and store.name is not None and store.place is not None
        if is_kept and store.function is not None and store.function.owner is cls and (layers or parameters):
            return Uninitialised(cls, last, store.place, store.name or "", is_layer=layers)
    return Uninitialised(cls, last)
