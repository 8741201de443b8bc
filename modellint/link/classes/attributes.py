"""Attribute names in code: those that it reads, sets, mentions in strings, or computes.

A record of names for each class, made once from the bodies of its methods; and for each file the reads and stores
of an attribute `name` of other objects than `self`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.graph.attributes import REGISTERING, names_in, set_attribute
from modellint.graph.immutable import dataclass
from modellint.graph.python import INITIAL
from modellint.graph.value import EventKind, Op, dotted, is_self, self_attribute, walk_all
from modellint.link.names import DefinedFunction, External

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Value
    from modellint.link.project import Project

#: Attributes and methods that enumerate all parts of an object.
_GOING_THROUGH = frozenset(("children", "modules", "named_children", "named_modules", "_modules", "__dict__"))
#: The dicts in which `nn.Module` stores registered objects.
_HOLDING = frozenset(("_modules", "_parameters", "_buffers"))
#: Methods that give a class attributes of any name.
_ANSWERING = frozenset(("__getattr__", "__getattribute__", "__setattr__"))

#: The base of functions whose static methods get a context, by its names.
_WITH_CONTEXT = frozenset(("torch.autograd.Function", "torch.autograd.function.Function"))
#: Values that texts are compared with, and displays of such texts.
_COMPARED = (Op.PARAM, Op.ATTR, Op.INDEX)
_DISPLAYS = (Op.TUPLE, Op.LIST, Op.SET)


@dataclass(frozen=True, slots=True)
class AttributeMentions:
    """The attribute names that the methods of a class mention.

    `read` are attributes of `self` that methods read, initialising ones left out, `filled` those that initialising
    methods read, and `stored` those that any method assigns. `told` are words in strings, `compared` those of them that
    an argument or attribute is only compared with, `prefixes` the beginnings of computed names. `reads_any`: a method
    may read an attribute of any name; `stores_any`: one may set it.
    """

    read: frozenset[str]
    filled: frozenset[str]
    stored: frozenset[str]
    told: frozenset[str]
    compared: frozenset[str]
    prefixes: tuple[str, ...]
    reads_any: bool
    stores_any: bool

    def may_name(self, name: str) -> bool:
        """True if a string contains the name, or a computed name may be it."""
        return name in self.told or name.startswith(self.prefixes)

    def may_set(self, name: str) -> bool:
        """True if an attribute may be set by this name: in a string that is not just compared, or computed."""
        return (name in self.told and name not in self.compared) or name.startswith(self.prefixes)


def attribute_mentions(cls: Class, project: Project) -> AttributeMentions:
    """The attribute names that the methods of a class mention."""
    return project.once(("attribute mentions", cls.module.path, cls.qualname, cls.line), lambda: _find_mentions(cls))


def _find_mentions(cls: Class) -> AttributeMentions:
    read: set[str] = set()
    filled: set[str] = set()
    stored: set[str] = set()
    told: set[str] = set()
    compared: set[str] = set()
    otherwise: set[str] = set()
    prefixes: set[str] = set()
    reads_any, stores_any = False, not _ANSWERING.isdisjoint(cls.methods)
    for function in (*cls.methods.values(), *cls.hidden):
        is_initial = INITIAL.fullmatch(function.name) is not None
        names = {str(event.value.data) for event in function.flow.reads}
        if is_initial:
            filled |= names
        else:
            read |= names
            reads_any = reads_any or not _GOING_THROUGH.isdisjoint(names)
        stores_any = stores_any or "__dict__" in names
        names_kept: set[int] = set()
        for event in function.flow.events:
            target = event.target
            if (name := set_attribute(event)) is not None:
                stored.add(name)
                names_kept.update(map(id, event.value.args[1:] if target is None else ()))
            elif target is not None and target.op is Op.INDEX and self_attribute(target.args[0]) in _HOLDING:
                stores_any = stores_any or target.args[1].op is not Op.CONST
        values = list(walk_all(function.flow.evaluated()))
        only_compared = {id(part) for value in values for part in _compared(value)}
        for value in values:
            if id(value) not in names_kept:
                names = set(names_in(value))
                told |= names
                (compared if id(value) in only_compared else otherwise).update(names)
            if value.op is Op.CALL:
                computed = _computed_name(value)
                if computed is None:
                    continue
                is_stored, name = computed
                if not is_stored:
                    reads_any = True
                elif name:
                    prefixes.add(name)
                else:
                    stores_any = True
            elif value.op is Op.INDEX and is_self(value.args[0]) and not is_initial:
                reads_any = True
    for value in walk_all(cls.attributes.values()):
        told.update(names_in(value))
        otherwise.update(names_in(value))
    return AttributeMentions(
        frozenset(read),
        frozenset(filled),
        frozenset(stored),
        frozenset(told),
        frozenset(compared - otherwise),
        tuple(prefixes),
        reads_any,
        stores_any,
    )


def _compared(value: Value) -> Iterator[Value]:
    """The texts that a comparison compares an argument, an attribute or an entry with; not a loop's variable."""
    if value.op is not Op.COMPARE or value.data not in ("==", "!=", "in", "not in"):
        return
    is_of_texts = value.data in ("in", "not in")  # what a text is looked for in may be the attributes of an object
    for one, other in (value.args,) if is_of_texts else (value.args, value.args[::-1]):
        if one.op in _COMPARED:
            yield from (other,) if other.op is Op.CONST else other.args if other.op in _DISPLAYS else ()


def _computed_name(call: Value) -> tuple[bool, str] | None:
    """For a call that sets (True) or reads an attribute by a computed name: the beginning of the name, or ""."""
    callee, given = call.callee, call.positional
    if callee.op is Op.GLOBAL:
        if callee.data in ("setattr", "delattr") and len(given) > 1:
            return (True, _beginning(given[1])) if given[1].op is not Op.CONST else None
        if callee.data == "getattr" and len(given) > 1 and is_self(given[0]):
            return (False, _beginning(given[1])) if given[1].op is not Op.CONST else None
        if callee.data == "vars" and (not given or is_self(given[0])):
            return True, ""
        if callee.data in ("exec", "eval"):
            return callee.data == "exec", ""
    if callee.op is Op.ATTR:
        if callee.data in REGISTERING:
            name = call.argument(0, "name")
            return (True, "" if name is None else _beginning(name)) if name is None or name.op is not Op.CONST else None
        if callee.data in _ANSWERING or callee.data == "save_hyperparameters":
            name = call.argument(1)
            return None if name is not None and name.op is Op.CONST else (callee.data != "__getattribute__", "")
    return None


def _beginning(name: Value) -> str:
    """The constant beginning of a computed name, as far as it is written; "" if none is."""
    if name.op is Op.STRING:
        return name.data[0] or "" if name.data else ""
    if name.op is Op.CONST:
        return name.data if isinstance(name.data, str) else ""
    if name.op is Op.BIN and name.data in ("+", "%"):
        return _beginning(name.args[0]).partition("%")[0]
    if name.op is Op.CALL and name.callee.op is Op.ATTR and name.callee.data == "format":
        return _beginning(name.callee.args[0]).partition("{")[0]
    return ""


# -- attributes of other objects -----------------------------------------------------------------------------------


def is_attribute_read(name: str, module: ModuleFacts, project: Project, *, of_others: bool = False) -> bool:
    """True if a file reads an attribute `name`, or has it in a string; `of_others`: of another object than `self`."""
    return project.once(
        ("attribute is read", module.path, name, of_others), lambda: any(_reading(module, name, of_others))
    )


def _reading(module: ModuleFacts, name: str, of_others: bool) -> Iterator[bool]:
    for function in _mentioning(module, name):
        for value in walk_all(function.flow.evaluated()):
            if value.op is Op.ATTR:
                yield value.data == name and not (of_others and _is_receiver(value.args[0], function))
            elif value.op is Op.GLOBAL:
                yield name in str(value.data).split(".")[1:]
            else:
                yield name in names_in(value)
    for cls in module.classes.values() if name in module.body.words else ():
        yield any(name in names_in(value) for value in walk_all(cls.attributes.values()))


def owners_read(module: ModuleFacts, name: str, project: Project) -> frozenset[str]:
    """The names of the other objects than `self` whose attribute `name` a file reads."""
    return project.once(("holders read", module.path, name), lambda: frozenset(_holders_read(module, name)))


def _holders_read(module: ModuleFacts, name: str) -> Iterator[str]:
    for function in _mentioning(module, name):
        for value in walk_all(function.flow.evaluated()):
            if value.op is Op.ATTR and value.data == name and not _is_receiver(value.args[0], function):
                yield from _names_of(value.args[0])


def owners_set(module: ModuleFacts, name: str, project: Project) -> frozenset[str]:
    """The last names of the other objects than `self` whose attribute `name` a file sets; "" for one without name."""
    return project.once(("set of others", module.path, name), lambda: frozenset(_setting(module, name, project)))


def _setting(module: ModuleFacts, name: str, project: Project) -> Iterator[str]:
    for function in _mentioning(module, name):
        for event in function.flow.events:
            target = event.target
            if event.kind is EventKind.STORE and target is not None and target.op is Op.ATTR and target.data == name:
                owner = target.args[0]
                if _is_receiver(owner, function) or _is_context(owner, function, project):
                    continue
                if not _is_copied(event.value, target, module, project):
                    yield next(_names_of(owner), "")
            elif event.kind is EventKind.CALL and sets_by_name(event.value, name):
                yield from () if function.owner is not None and set_attribute(event) == name else ("",)


def _is_receiver(value: Value, function: Function) -> bool:
    """True if a value is the receiver of a method, not a parameter `self` of another function."""
    return function.owner is not None and is_self(value)


def _is_context(value: Value, function: Function, project: Project) -> bool:
    """True if a value is the context that torch gives the static methods of an `autograd.Function`."""
    owner = function.owner
    if value.op is not Op.PARAM or owner is None or not function.is_static:
        return False
    if not function.parameters or function.parameters[0].name != value.data:
        return False
    classes = [model.cls for model in project.classes.model(owner).mro() if model.cls is not None]
    bases = (project.names.definition(one.module, base) for one in classes for base in one.bases)
    return any(isinstance(base, External) and base.name in _WITH_CONTEXT for base in bases)


def _is_copied(value: Value, target: Value, module: ModuleFacts, project: Project) -> bool:
    """True if a function is replaced by a copy of itself, say for another docstring: `C.f = copied(C.f)`."""
    given = value.positional if value.op is Op.CALL else ()
    if len(given) != 1 or dotted(given[0]) is None or dotted(given[0]) != dotted(target):
        return False
    copying = project.names.definition(module, value.callee)
    return isinstance(copying, DefinedFunction) and any(
        _is_made_of_code(event.value, copying.function, project) for event in copying.function.flow.of(EventKind.CALL)
    )


def _is_made_of_code(call: Value, function: Function, project: Project) -> bool:
    """True if a call makes a function from an argument's code: `types.FunctionType(f.__code__, …)`."""
    made = project.names.definition(function.module, call.callee)
    code = call.positional[0] if call.positional else None
    is_code = code is not None and code.op is Op.ATTR and code.data == "__code__" and code.args[0].op is Op.PARAM
    return is_code and isinstance(made, External) and made.name == "types.FunctionType"


def sets_by_name(call: Value, name: str) -> bool:
    """True if a call sets or registers an attribute whose name is a constant argument."""
    callee = call.callee
    last = str(callee.data) if callee.op in (Op.GLOBAL, Op.ATTR) else ""
    is_setting = last in ("setattr", "__setattr__") or last in REGISTERING
    return is_setting and any(arg.op is Op.CONST and arg.data == name for arg in call.args[1:])


def _names_of(value: Value) -> Iterator[str]:
    """The names for an object: its variable, the attribute or function that it comes from, its container."""
    if value.target is not None:
        yield value.target
    while value.op in (Op.INDEX, Op.ITEM, Op.CALL, Op.UPDATE):
        value = value.args[0]
    if value.op in (Op.ATTR, Op.GLOBAL, Op.PARAM):
        yield str(value.data).rpartition(".")[2]


def _mentioning(module: ModuleFacts, name: str) -> Iterator[Function]:
    return (function for function in (*module.all_functions(), module.body) if name in function.words)
