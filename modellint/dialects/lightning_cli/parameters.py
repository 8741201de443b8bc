"""The parameters of a class or function as jsonargparse resolves them: those behind `**kwargs` included.

jsonargparse looks in the source of a function for what becomes of its `**kwargs`: a call of the parent's method, of
another class or function that gets them, and `kwargs.pop("name", default)`. The parameters found there are parameters
of the function. Keyword arguments with another fate, or with none, take no key of a configuration.
Source: jsonargparse 4.53, `_parameter_resolvers.py` and `_signatures.py`.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from modellint.dialects.lightning_cli.types import ANYTHING, NONE, Either, Plain, Type, optional, options_of, read_type
from modellint.graph.immutable import dataclass, replace
from modellint.graph.value import Op, dotted, self_attribute
from modellint.link.classes.definitions import SourceFacts
from modellint.link.names import DefinedClass, DefinedFunction, External
from modellint.link.recipes.targets import resolve_described

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from modellint.graph.methods import Method
    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.value import Parameter, Value
    from modellint.link.classes.models import ClassModel
    from modellint.link.project import Project

#: How many calls one after the other are followed for what takes `**kwargs`.
_DEEPEST = 8
#: Classes whose constructor has no parameters, whatever it says.
_EMPTY = frozenset(("torch.nn.Module", "builtins.object"))
#: Packages whose base classes are no dataclasses.
_PLAIN = ("torch.", "lightning.", "pytorch_lightning.")
#: Decorators that leave the parameters of a constructor as they are.
_HARMLESS = frozenset(("typing.override", "typing_extensions.override", "abc.abstractmethod", "typing.no_type_check"))
#: Decorators of a class that do so.
_HARMLESS_FOR_CLASSES = frozenset(("final", "total_ordering", "runtime_checkable", "dataclass", "deprecated"))


@dataclass(frozen=True, eq=False, slots=True)
class Field:
    """A key that configures a parameter. `is_typed`: it has an annotation, or a default that tells a type."""

    name: str
    type: Type = ANYTHING
    is_required: bool = False
    default: Value | None = None
    is_typed: bool = False
    is_positional: bool = True


@dataclass(frozen=True, eq=False, slots=True)
class Takes:
    """The fields that a class, function or group of arguments takes; not all of them if it `is_open`."""

    fields: Mapping[str, Field] = field(default_factory=dict)
    is_open: bool = False

    def without(self, names: Iterable[str], positions: Iterable[int] = ()) -> Takes:
        """These fields without some names, and without those at some positions."""
        taken = [one.name for one in self.fields.values() if one.is_positional]
        left_out = {*names, *(taken[at] for at in positions if at < len(taken))}
        return Takes({name: one for name, one in self.fields.items() if name not in left_out}, self.is_open)


UNKNOWN = Takes(is_open=True)


def constructor_fields(model: ClassModel, project: Project) -> Takes:
    """The fields that the constructor of a class takes."""
    return project.once(("cli fields", model.name, id(model)), lambda: _of_method(model, "__init__", 0, project, 0))


def method_fields(model: ClassModel, name: str, project: Project) -> Takes:
    """The fields that a method of the objects of a class takes."""
    return _of_method(model, name, 0, project, 0) if model.has_method(name) else UNKNOWN


def function_fields(function: Function, project: Project) -> Takes:
    """The fields that a function or a class method takes."""
    if _is_altered(function.signature.decorators, function.module, project):
        return UNKNOWN
    parameters = function.open_parameters
    return _resolve(function, parameters, None, 0, project, 0)


def described_fields(signatures: tuple[tuple[Parameter, ...], ...]) -> Takes:
    """The fields of a class or function of which only parameter lists are known, one for each release."""
    if not signatures:
        return UNKNOWN
    fields: dict[str, Field] = {}
    is_open = False
    for parameters in signatures:
        for one in parameters:
            is_open = is_open or one.kind == "var-keyword"
            if not one.kind.startswith("var"):
                is_required = one.default is None and all(_needs(one.name, other) for other in signatures)
                positional = one.kind == "positional"
                fields.setdefault(one.name, Field(one.name, ANYTHING, is_required, one.default, True, positional))
    return Takes(fields, is_open)


def _needs(name: str, parameters: tuple[Parameter, ...]) -> bool:
    return any(one.name == name and one.default is None for one in parameters)


# -- methods of classes --------------------------------------------------------------------------------------------


def _of_method(model: ClassModel, name: str, start: int, project: Project, depth: int) -> Takes:
    """The fields of a method for objects of a class, looked for from a position in its MRO on."""
    mro = model.mro()
    if start and not all(project.classes.is_known_base(base) for base in mro[start - 1].facts.bases):
        return _of_unread(mro[start - 1], name, project)
    for at in range(start, len(mro)):
        current = mro[at]
        facts = current.facts
        if facts.has_method("__new__") and current.name not in _EMPTY:
            return UNKNOWN
        if name == "__init__" and facts.fields is not None:
            return _of_dataclass(mro[at:], project)
        method = facts.method(name)
        if method is not None:
            return _of_definition(current, method, model, at, project, depth)
        if name in facts.attributes or _is_changed(current):
            return UNKNOWN
        if not all(project.classes.is_known_base(base) for base in facts.bases):
            return _of_unread(current, name, project)
    return Takes()


def _of_unread(model: ClassModel, name: str, project: Project) -> Takes:
    """The fields of a method that a class inherits from a class which is described by its constructor only."""
    bases = tuple(model.facts.bases)
    if name != "__init__" or len(bases) != 1 or not isinstance(bases[0], External):
        return UNKNOWN
    return described_fields(resolve_described(bases[0].name, project).signatures)


def _of_definition(
    owner: ClassModel, method: Method, model: ClassModel, at: int, project: Project, depth: int
) -> Takes:
    """The fields of a method that a class of the MRO defines."""
    if owner.name in _EMPTY:
        return Takes()
    if not isinstance(owner.facts, SourceFacts):
        return described_fields((method.parameters[1:],))
    function = owner.facts.cls.methods[method.name]
    if _is_altered(function.signature.decorators, function.module, project):
        return UNKNOWN
    return _resolve(function, function.open_parameters, model, at, project, depth)


def _is_changed(model: ClassModel) -> bool:
    """True if a decorator may give a class another constructor."""
    if model.cls is None:
        return False
    for decorator in model.cls.head.decorators:
        name = dotted(decorator.callee if decorator.op is Op.CALL else decorator) or ""
        if name.rpartition(".")[2] not in _HARMLESS_FOR_CLASSES:
            return True
    return False


def _is_altered(decorators: tuple[Value, ...], module: ModuleFacts, project: Project) -> bool:
    """True if a decorator of a function may change its parameters."""
    for decorator in decorators:
        found = project.names.definition(module, decorator)
        name = found.name if isinstance(found, External) else ""
        is_method = decorator.op is Op.GLOBAL and decorator.data in ("classmethod", "staticmethod", "override")
        if name not in _HARMLESS and not is_method and not _wraps(decorator, module, project):
            return True
    return False


def _wraps(decorator: Value, module: ModuleFacts, project: Project) -> bool:
    """True if a decorator returns a function that tells the signature of the one it wraps, by `functools.wraps`."""
    callee = decorator.callee if decorator.op is Op.CALL else decorator
    found = project.names.definition(module, callee)
    return isinstance(found, DefinedFunction) and "wraps" in found.function.words


def _of_dataclass(mro: tuple[ClassModel, ...], project: Project) -> Takes:
    """The fields of a dataclass, those of its bases first."""
    fields: dict[str, Field] = {}
    is_open = False
    for model in reversed(mro):
        own = model.facts.fields
        if own is None:
            unknown = [base for base in model.facts.bases if not project.classes.is_known_base(base)]
            is_open = is_open or not all(isinstance(one, External) and one.name.startswith(_PLAIN) for one in unknown)
            continue
        module = model.cls.module if model.cls is not None else None
        for one in own:
            default = one.default
            if one.annotation is not None and "ClassVar" in (dotted(_base_of(one.annotation)) or ""):
                continue
            if default is not None and default.op is Op.CALL and _is_field(default):
                given = default.keywords
                if given.get("init") is not None and given["init"].data is False:
                    fields.pop(one.name, None)
                    continue
                default = given.get("default", given.get("default_factory"))
            known = replace(one, default=default)
            if module is not None:
                fields[one.name] = _field(known, module, project, is_factory=default is not one.default)
    return Takes(fields, is_open)


def _base_of(annotation: Value) -> Value:
    return annotation.args[0] if annotation.op is Op.INDEX else annotation


def _is_field(call: Value) -> bool:
    return (dotted(call.callee) or "").rpartition(".")[2] == "field"


# -- functions with `**kwargs` -------------------------------------------------------------------------------------


def _resolve(
    function: Function,
    parameters: tuple[Parameter, ...],
    model: ClassModel | None,
    at: int,
    project: Project,
    depth: int,
) -> Takes:
    """The fields of a function, as a method of a class that the MRO has at a position."""
    module = function.module
    fields = {one.name: _field(one, module, project) for one in parameters if not one.kind.startswith("var")}
    rest = next((one for one in parameters if one.kind == "var-keyword"), None)
    if rest is None:
        return Takes(fields)
    if depth > _DEEPEST:
        return Takes(fields, is_open=True)
    more = _behind(rest.name, function, model, at, project, depth)
    return Takes({**{name: one for name, one in more.fields.items() if name not in fields}, **fields}, more.is_open)


def _behind(name: str, function: Function, model: ClassModel | None, at: int, project: Project, depth: int) -> Takes:
    """The fields behind a function's `**kwargs`."""
    found: list[Takes] = []
    removed: set[str] = set()
    popped: dict[str, Field] = {}
    is_open = False
    seen: set[int] = set()
    for event in function.flow.events:
        for value in (event.value, event.target):
            for part in value.walk() if value is not None else ():
                if id(part) in seen:
                    continue
                seen.add(id(part))
                if part.op is Op.CALL and _is_rest(_receiver(part), name):
                    taken = _popped_field(part)
                    if taken is not None:
                        popped[taken.name] = taken
                elif part.op is Op.CALL and _is_unpacked(part, name):
                    takes = _of_call(part, function, model, at, project, depth)
                    if takes is not None:
                        removed.update(part.keywords)
                        given = [at for at, one in enumerate(part.positional) if one.op is not Op.STARRED]
                        found.append(takes.without(part.keywords, given))
                elif part.op is Op.CALL and any(_is_rest(one, name) for one in part.keywords.values()):
                    continue  # `f(options=kwargs)`: jsonargparse follows no such call
                elif part.op is Op.DICT and any(
                    key is None and _is_rest(one, name) for key, one in zip(part.data, part.args, strict=False)
                ):
                    is_open = True
        is_kept = event.target is not None and _is_rest(event.value, name)
        is_open = is_open or (is_kept and event.target is not None and _is_unpacked_later(event.target, model))
    fields: dict[str, Field] = {}
    for takes in found:
        is_open = is_open or takes.is_open
        for key, one in takes.fields.items():
            in_all = all(key in other.fields for other in found)
            first = fields.get(key)
            is_required = one.is_required and in_all and (first is None or first.is_required)
            kind = one.type if first is None else Either((first.type, one.type))
            fields[key] = replace(one, is_required=is_required, type=kind, is_positional=False)
    kept = {key: one for key, one in fields.items() if key not in removed}
    return Takes({**kept, **popped}, is_open)


def _receiver(call: Value) -> Value | None:
    """The object whose method a call calls."""
    return call.callee.args[0] if call.callee.op is Op.ATTR else None


def _is_rest(value: Value | None, name: str) -> bool:
    """True if a value is the parameter `**name` itself, perhaps with keys put in or taken out."""
    seen: set[int] = set()
    while value is not None and value.op in (Op.UPDATE, Op.CHOICE) and value.args and id(value) not in seen:
        seen.add(id(value))
        value = value.args[0]
    return value is not None and value.op is Op.PARAM and value.data == name


def _is_unpacked_later(target: Value, model: ClassModel | None) -> bool:
    """True if keyword arguments are kept where they may be passed on, as in an attribute that a method unpacks."""
    name = self_attribute(target)
    if name is None or model is None:
        return True
    methods = (method for one in model.mro() if one.cls is not None for method in one.cls.methods.values())
    return any(name in method.words and f"**self.{name}" in method.text for method in methods)


def _popped_field(call: Value) -> Field | None:
    """The field that `kwargs.pop("name", default)` takes; None for another call."""
    given = call.positional
    if call.callee.data not in ("pop", "get") or len(given) != 2 or not isinstance(given[0].data, str):
        return None
    return Field(given[0].data, default=given[1], is_positional=False)


def _is_unpacked(call: Value, name: str) -> bool:
    """True if a call gets `**name`."""
    start = len(call.args) - len(call.data)
    return any(key is None and _is_rest(call.args[start + i], name) for i, key in enumerate(call.data))


def _of_call(
    call: Value, function: Function, model: ClassModel | None, at: int, project: Project, depth: int
) -> Takes | None:
    """The fields of what a call calls; None for a call that jsonargparse does not follow."""
    callee, module = call.callee, function.module
    if callee.op is Op.ATTR:
        holder = callee.args[0]
        is_super = holder.op is Op.CALL and holder.callee.op is Op.GLOBAL and holder.callee.data == "super"
        if is_super:
            return None if model is None else _of_method(model, str(callee.data), at + 1, project, depth + 1)
        if holder.op is Op.PARAM:
            is_own = model is not None and function.parameters and holder.data in ("self", function.parameters[0].name)
            return _of_method(model, str(callee.data), 0, project, depth + 1) if is_own and model is not None else None
    if callee.op is Op.PARAM or (callee.op is Op.ATTR and dotted(callee) is None):
        return None
    if callee.op is Op.GLOBAL and callee.data == "dict":
        return UNKNOWN  # another dictionary, which may be passed on
    definition = project.names.definition(module, callee)
    match definition:
        case DefinedFunction(target):
            if _is_altered(target.signature.decorators, target.module, project):
                return UNKNOWN
            return _resolve(target, target.open_parameters, None, 0, project, depth + 1)
        case DefinedClass():
            found = project.classes.of(definition)
            return UNKNOWN if found is None else _of_method(found, "__init__", 0, project, depth + 1)
        case External(name):
            found = project.classes.of(definition)
            if found is None:
                return UNKNOWN
            return _of_method(found, "__init__", 0, project, depth + 1) if name not in _EMPTY else Takes()
    return UNKNOWN


# -- one parameter -------------------------------------------------------------------------------------------------


def _field(one: Parameter, module: ModuleFacts, project: Project, *, is_factory: bool = False) -> Field:
    """The field of a parameter.

    Without a default, it is required unless its type takes None, or it has none at all. A default of None, and one of
    another type, is taken though the annotation says otherwise.
    """
    kind = read_type(one.annotation, module, project)
    default = one.default
    is_none = default is not None and default.op is Op.CONST and default.data is None
    if is_none:
        kind = optional(kind)
    takes_none = any(
        option is NONE or (isinstance(option, Plain) and option.name == "None") for option in options_of(kind)
    )
    is_typed = one.annotation is not None
    is_required = default is None and is_typed and not takes_none
    return Field(one.name, kind, is_required, None if is_factory else default, is_typed, one.kind == "positional")


def inherited_names(models: Iterable[ClassModel]) -> Iterator[str]:
    """The names of classes, and of the unknown ones that they derive from."""
    for model in models:
        yield model.name
        for base in model.facts.bases:
            if isinstance(base, External):
                yield base.name
