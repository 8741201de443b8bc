"""What the values of a function may be that is called or indexed: functions, classes, their objects, tables.

Calls are resolved by names, and by the classes that attributes are made of; nothing is run. What is found may be too
much: a method of an object of which nothing is known may be any method of that name in sight.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, TypeAlias

from modellint import operators
from modellint.flow.records import CALLED, MAKING, UNNAMED, is_self
from modellint.graph.immutable import dataclass
from modellint.graph.python import Class, Function
from modellint.graph.value import Nested, Op, called_name, dotted
from modellint.knowledge import codecs
from modellint.link.classes.calls import is_single_number
from modellint.link.names import DefinedClass, DefinedConstant, DefinedFunction

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from modellint.flow.summaries import Summaries
    from modellint.graph.python import ModuleFacts
    from modellint.graph.value import Value

NONE: frozenset[Any] = frozenset()
#: Words of classes that look up rows.
TABLES = operators.words("table")
#: Facets of what makes a tensor of sizes.
_SIZED = frozenset(("sized", "trained", "kept"))
#: Facets of what gives the elements of what it is given.
PASSING = frozenset(
    (
        "passed", "picked", "limit", "below", "lift", "mask", "chooses", "fill", "rounds", "pairs", "extreme", "copies",
        "adds", "contents", "element", "gathers", "like", "pair",
    )
)  # fmt: skip
#: Facets of what gives the layer that it is given, or something that holds it.
_HOLDING_LAYERS = frozenset(("wraps", "itself", "builds", "holds", "moves", "registers", "trained", "kept"))
_GIVING = PASSING | _HOLDING_LAYERS | {"parameters", "reads", "extends", "removes"}
#: What holds its parts, or is one of them.
HOLDING = frozenset(
    (
        Op.LIST, Op.TUPLE, Op.DICT, Op.SET, Op.CHOICE, Op.BOOL, Op.COMPREHENSION, Op.ITEM, Op.UNPACK, Op.UPDATE,
        Op.STARRED, Op.BIN, Op.LAMBDA,
    )
)  # fmt: skip
#: What is, and holds, nothing that can be called.
_UNCALLED = frozenset((Op.CONST, Op.COMPARE, Op.STRING, Op.SLICE, Op.UNARY, Op.UNKNOWN))
#: What attributes and methods of tensors give that is no tensor.
_FACTS = frozenset(("size", "int", "bool", "device", "dtype", "layout"))
#: How long chains of attributes of a parameter are followed.
_MAX_ATTRIBUTES = 2


class TableLayer:
    """A layer that looks up rows."""


class PaddedTable:
    """Beside a table: it may be told its row for padding."""


class TableClass:
    """A class of layers that look up rows."""


class Loss:
    """A loss of torch's that is given classes as targets."""


class TorchLayer:
    """A layer of torch's that looks nothing up, and gives nothing of what it is made of."""


class TorchLayerClass:
    """A class of torch's that is none of tables."""


class Matrix:
    """A tensor that is made of sizes, whose rows may be picked."""


@dataclass(frozen=True, slots=True)
class ParameterObject:
    """What a parameter is given, or an attribute of that (`codec.books`): an object that may look something up."""

    name: str

    def part(self, name: str) -> ParameterObject:
        """An attribute of it, as far as chains of them are followed."""
        return self if self.name.count(".") >= _MAX_ATTRIBUTES else ParameterObject(f"{self.name}.{name}")


@dataclass(frozen=True, slots=True)
class ProjectInstance:
    """An instance of a class of the project."""

    cls: Class


@dataclass(frozen=True, slots=True)
class InstanceArgument:
    """Beside an instance of a class of the project: what its constructor was given, which an attribute may be."""

    one: Function | Class | ProjectInstance | ParameterObject | type


#: What may be called or indexed: functions and classes of the project, their instances, tables and parameters.
Objects: TypeAlias = "frozenset[Function | Class | ProjectInstance | ParameterObject | type | InstanceArgument]"
#: The types that these are, but for functions and classes, or instances of.
OBJECTS = (
    TableLayer,
    PaddedTable,
    TableClass,
    Loss,
    TorchLayer,
    TorchLayerClass,
    Matrix,
    ParameterObject,
    ProjectInstance,
    InstanceArgument,
)
#: What may be any object, where it would take too long to find out.
ANYTHING: Objects = frozenset((TableLayer, Matrix))
_TABLE, _PADDED = frozenset((TableLayer,)), frozenset((TableLayer, PaddedTable))
_JUDGE = frozenset((Loss,))
_LAYER, _LAYER_CLASS = frozenset((TorchLayer,)), frozenset((TorchLayerClass,))
#: The argument of a table that is its row for padding.
_PADDING = (2, "padding_idx")


@dataclass(eq=False, slots=True)
class KnownValues:
    """What is known of the values of one function, by identity, and of its operators by their names."""

    objects: dict[int, Objects] = field(default_factory=dict)
    rows: dict[str, operators.Operator | None] = field(default_factory=dict)
    #: The kinds of elements that values may be or hold, and whether they may be real numbers.
    elements: dict[int, frozenset[type]] = field(default_factory=dict)
    reals: dict[int, frozenset[type]] = field(default_factory=dict)
    #: The parameters, or attributes of these, whose results values may be.
    results: dict[int, frozenset[str]] = field(default_factory=dict)
    #: What calls may run.
    targets: dict[int, CallTargets] = field(default_factory=dict)
    #: Whether values may be what a parameter is given, elements or real numbers.
    carried: dict[tuple[int, str, bool], bool] = field(default_factory=dict)
    #: By first and last event: whether functions inside of the function may look something up.
    inside: dict[tuple[int, int], bool] = field(default_factory=dict)

    def add(self, other: KnownValues) -> None:
        """Know what another knows as well."""
        self.objects.update(other.objects)
        self.rows.update(other.rows)
        self.elements.update(other.elements)
        self.reals.update(other.reals)
        self.results.update(other.results)
        self.targets.update(other.targets)
        self.carried.update(other.carried)
        self.inside.update(other.inside)


NOTHING = KnownValues()


@dataclass(frozen=True, slots=True)
class CallTargets:
    """What a call may run: functions, a table, a loss, what its caller is given, a function inside of it."""

    functions: tuple[Function, ...]
    is_table: bool
    is_judge: bool
    given: frozenset[str]
    inner: Nested | None


class Callees:
    """What the values of one function may be that is called or indexed.

    `files`: through how many imports that is followed from here. `settled`: what earlier answers have found out of the
    function; `known` is what this one does, which may rest on answers that are not stable yet.
    """

    def __init__(self, function: Function, summaries: Summaries, files: int, settled: KnownValues = NOTHING) -> None:
        self.function = function
        self._summaries = summaries
        self._files = files
        self._module = function.module
        self._record = summaries.record(function.module)
        self._names = summaries.project.names
        self.known = KnownValues()
        self._settled = settled

    def _is_own(self, value: Value) -> bool:
        """Whether a value is the object whose method this is."""
        return is_self(value) and self.function.owner is not None

    # -- objects ---------------------------------------------------------------------------------------------------

    def objects(self, value: Value) -> Objects:
        """What a value may be, or hold, that can be called or indexed."""
        if value.op in _UNCALLED:
            return NONE
        found = self.known.objects.get(id(value))
        if found is None:
            facts = self.known.objects, self._settled.objects
            found = self._summaries.found_out(facts, id(value), self._found_objects, value, ANYTHING, NONE)
        return found

    def _all_objects(self, values: Iterable[Value]) -> Objects:
        return NONE.union(*map(self.objects, values))

    def _found_objects(self, value: Value) -> Objects:
        op = value.op
        if op is Op.PARAM:
            return self._parameter(str(value.data))
        if op is Op.GLOBAL:
            return self._named(value)
        if op is Op.ATTR:
            return self._named(value) if dotted(value) and root(value).op is Op.GLOBAL else self._member(value)
        if op is Op.CALL:
            return self._made_by(value)
        if op is Op.INDEX or op is Op.ITEM or op is Op.UNPACK:
            return frozenset(map(kept_or_it, self.objects(value.args[0])))
        return self._all_objects(value.args) if op in HOLDING else NONE

    def _parameter(self, name: str) -> Objects:
        owner = self.function.owner
        if name == "self" and owner is not None:
            return frozenset((ProjectInstance(owner),))
        return frozenset((ParameterObject(name), *map(ProjectInstance, self._annotated(name))))

    def _annotated(self, name: str) -> Iterator[Class]:
        """The classes that the annotation of a parameter names."""
        parameter = self.function.parameter(name)
        for part in () if parameter is None or parameter.annotation is None else parameter.annotation.walk():
            if part.op in (Op.GLOBAL, Op.ATTR):
                yield from (one for one in self._named(part) if isinstance(one, Class))

    def _named(self, value: Value) -> Objects:
        """What a name stands for, or a chain of attributes on one."""
        name = dotted(value) or ""
        last = name.rpartition(".")[2]
        head, _, rest = name.partition(".")
        if not rest and (own := self._record.own.get(head)):
            return frozenset(own)
        target = self._module.imports.get(head)
        if last in TABLES or (target is not None and not rest and target.rpartition(".")[2] in TABLES):
            return frozenset((TableClass,))
        if target is None and not (head in self._module.constants or head in self._module.functions):
            if not self._module.star_imports and head not in self._record.own:
                return NONE
        elif target is not None:
            if target == "torch" or target.startswith("torch."):
                if (last if rest else target.rpartition(".")[2])[:1].isupper():
                    return _LAYER_CLASS
                row = operators.row(f"{target}.{rest}".rstrip("."))
                return _JUDGE if row is not None and "judges" in row.facets else NONE
            if target.partition(".")[0] in codecs.PACKAGES and codecs.is_known(f"{target}.{rest}".rstrip(".")):
                return frozenset((TableClass,))
        return self._defined(self._names.resolve(self._module, name))

    def _defined(self, definition: object) -> Objects:
        if isinstance(definition, DefinedClass):
            return frozenset((definition.cls,))
        if isinstance(definition, DefinedFunction):
            return frozenset((definition.function,))
        if isinstance(definition, DefinedConstant) and self._nearer(definition.module) >= 0:
            home = self._summaries.body(definition.module.body, self._nearer(definition.module))
            return home.objects(definition.value)
        return NONE

    def _nearer(self, module: ModuleFacts) -> int:
        """Through how many imports elements are followed from a file that this one leads to."""
        return self._files - (module is not self._module)

    def _member(self, value: Value) -> Objects:
        """The values of an attribute: methods, and what constructors store there."""
        return self._members(self.objects(value.args[0]), str(value.data), is_known=self._is_own(value.args[0]))

    def _members(self, objects: Objects, name: str, *, is_known: bool) -> Objects:
        """`is_known`: it is not an attribute of anything else than these objects."""
        owners = frozenset(map(kept_or_it, objects))
        classes = {
            one.cls if isinstance(one, ProjectInstance) else one
            for one in owners
            if isinstance(one, ProjectInstance | Class)
        }
        by_class = [self._of_class(cls, name) for cls in classes]
        found: set[Any] = set().union(*by_class)
        is_method = bool(by_class) and all(any(isinstance(one, Function) for one in some) for some in by_class)
        if not _is_of_tensors(name):
            found.update(
                _attribute((one for one in objects if not (is_method and isinstance(one, InstanceArgument))), name)
            )
        if not is_known:
            found |= self._summaries.held(name, self._module, None, self._files)
            if name not in UNNAMED:
                found.update(self._record.functions.get(name, ()))
                for cls in self._summaries.mentioned(self.function, name):
                    found |= self._of_class(cls, name)
        if found or _is_of_tensors(name):
            return frozenset(found)
        return frozenset(one.part(name) for one in owners if isinstance(one, ParameterObject))

    def given_at(self, value: Value, path: str) -> Objects:
        """What a chain of attributes of an argument is, as a parameter of a called function has it: `codec.books`."""
        found = self.objects(value)
        for name in path.split(".")[1:]:
            found = self._members(found, name, is_known=True)
        return found

    def _of_class(self, cls: Class, name: str) -> Objects:
        """A method of a class, or what its objects keep under an attribute; of its bases as well."""
        files = self._nearer(cls.module)
        return NONE if files < 0 else self._summaries.member(cls, name, files)

    def member(self, cls: Class, name: str) -> Objects:
        """The values of an attribute of a class of the file."""
        family = self._record.families[cls.name]
        found: set[Any] = set(self._summaries.held(name, self._module, family, self._files))
        if name in cls.attributes:
            found |= self.objects(cls.attributes[name])
        for one in self._record.related(cls):
            if name in one.methods:
                found.add(one.methods[name])
        for base in self._summaries.bases_elsewhere(cls):
            found |= self._of_class(base, name)
        return frozenset(found)

    def _made_by(self, call: Value) -> Objects:
        """The objects that a call may give."""
        callee, name = call.callee, called_name(call.callee)
        if name == "super" and callee.op is Op.GLOBAL:
            owner = self.function.owner
            bases = NONE if owner is None else self._summaries.bases(owner)
            return frozenset(ProjectInstance(one) if isinstance(one, Class) else TableLayer for one in bases)
        if name == "getattr" and callee.op is Op.GLOBAL:
            named = [arg.data for arg in call.positional[1:2] if arg.op is Op.CONST]
            return NONE.union(*(self._summaries.held(str(n), self._module, None, self._files) for n in named))
        if callee.op is Op.LAMBDA:
            return self._all_objects((callee, *call.args[1:]))
        row = self.row(call)
        if row is not None:
            if "table" in row.facets:
                return _PADDED if _pads(call, row.argument("padding")) else _TABLE
            if "judges" in row.facets and _is_of_layer(row):
                return _JUDGE
            if _is_of_layer(row):
                return _LAYER
            found = frozenset(map(kept_or_it, self._all_objects(operands(call))))
            if row.facets.keys().isdisjoint(_GIVING):  # numbers, made of a table's perhaps
                found = frozenset(
                    one if isinstance(one, ParameterObject) else Matrix for one in found if _is_numbers(one)
                )
            return found | {Matrix} if row.facets.keys() & _SIZED and not is_single_number(call, row) else found
        if name == "from_pretrained" and any(_is_checkpoint(arg) for arg in call.positional[:1]):
            return _TABLE
        made, called = set[Any](), self.objects(callee)
        is_holding = not called - {TorchLayerClass}
        made |= {TorchLayer} if TorchLayerClass in called else NONE
        if callee.op is Op.CALL:  # a `partial`, say, and what it was given
            made |= called & {TableLayer, PaddedTable, Matrix}
        for one in called:
            if isinstance(one, Class):
                made.add(ProjectInstance(one))
                is_holding = True
            elif isinstance(one, Function):
                made |= self._made_in(one, call)
            elif one is TableClass:
                made |= _PADDED if _pads(call, _PADDING) else _TABLE
            elif isinstance(one, ProjectInstance):
                if callee.op is Op.PARAM and self.function.is_class_method:  # `cls(…)`
                    made.add(one)
                for function in self._called(one.cls):
                    made |= self._made_in(function, call)
        if is_holding:  # of what it is given
            given = self._all_objects(arg for arg in call.args[1:] if arg.op is not Op.PARAM)
            made |= {one if isinstance(one, InstanceArgument) else InstanceArgument(one) for one in given}
            made |= NONE if called - {TorchLayerClass} else given
        return frozenset(made)

    def _made_in(self, function: Function, call: Value) -> Objects:
        files = self._nearer(function.module)
        makes = NONE if files < 0 else self._summaries.makes(function, files)
        names = {given.name for one in makes if isinstance(given := kept_or_it(one), ParameterObject)}
        pairs = list(bound(function, call)) if names else []
        passed = (self.given_at(arg, path) for path in names for name, arg in pairs if name == parameter_of(path))
        return NONE.union(*passed, (one for one in makes if not isinstance(kept_or_it(one), ParameterObject)))

    # -- calls -----------------------------------------------------------------------------------------------------

    def row(self, call: Value) -> operators.Operator | None:
        """The row of the operator that a call may be of, by the last part of its name where that was imported from."""
        callee = call.args[0]
        is_global, is_dotted = callee.op is Op.GLOBAL, False
        if is_global:
            key = str(callee.data)
        elif callee.op is Op.ATTR and not self._is_own(callee.args[0]):
            is_dotted = root(callee).op is Op.GLOBAL
            key = (dotted(callee) or "") if is_dotted else f"?.{callee.data}"
        else:
            return None
        for rows in (self._settled.rows, self.known.rows):
            if key in rows:
                return rows[key]
        name = called_name(callee)
        found = self.known.rows[key] = self._row(callee, name, is_global=is_global, is_dotted=is_dotted)
        return found

    def _row(self, callee: Value, name: str, *, is_global: bool, is_dotted: bool) -> operators.Operator | None:
        origin = self._module.imports.get(name) if is_global else None
        last = name if origin is None else origin.rpartition(".")[2]
        if name in self._record.functions or name in self._record.own:
            return None
        is_builtin = is_global and origin is None and not self._module.star_imports
        row = self._summaries.best_row(last, is_builtin=is_builtin)
        if row is None or is_builtin:
            return row
        if is_global:
            is_of_torch = origin is not None and origin.startswith("torch")
            if not is_of_torch and isinstance(self._names.resolve(self._module, name), DefinedFunction | DefinedClass):
                return None
        elif is_dotted:
            return None if self._is_of_project(callee) else row
        elif (name in self._record.keeping and self._summaries.held(name, self._module, None, self._files)) or any(
            name in cls.methods for cls in self._summaries.mentioned(self.function, name)
        ):
            return None
        return row

    def _is_of_project(self, callee: Value) -> bool:
        target = self._module.imports.get(str(root(callee).data), "")
        if not target or target.startswith("torch"):
            return False
        return isinstance(self._names.definition(self._module, callee), DefinedFunction | DefinedClass)

    def targets(self, call: Value) -> CallTargets:
        """The functions, tables, losses and parameters that a call may run."""
        found = self._settled.targets.get(id(call))
        if found is None:
            found = self.known.targets.get(id(call))
        if found is None:
            found = self.known.targets[id(call)] = self._found_targets(call.callee)
        return found

    def _found_targets(self, callee: Value) -> CallTargets:
        functions: dict[Function, None] = {}
        is_table, is_judge = callee.op is Op.INNER, False  # a function inside of the function may be given a table
        given: set[str] = set()
        for one in self.objects(callee):
            if isinstance(one, InstanceArgument):  # a layer may hand on to the layers that it keeps
                one = one.one if isinstance(one.one, ProjectInstance) or one.one is TableLayer else one
            if isinstance(one, Function):
                functions[one] = None
            elif isinstance(one, Class):
                for name in MAKING:
                    functions.update(dict.fromkeys(self._methods(one, name)))
            elif isinstance(one, ProjectInstance):
                called = self._called(one.cls)
                is_table = is_table or (not called and self._derives_from_table(one.cls))
                functions.update(dict.fromkeys(called))
            elif one is TableLayer:
                is_table = True
            elif one is Loss:
                is_judge = True
            elif isinstance(one, ParameterObject):
                given.add(one.name)
        inner = callee.data if isinstance(callee.data, Nested) else None
        return CallTargets(tuple(functions), is_table, is_judge, frozenset(given), inner)

    def _called(self, cls: Class) -> list[Function]:
        return [method for name in CALLED for method in self._methods(cls, name)]

    def _methods(self, cls: Class, name: str) -> tuple[Function, ...]:
        """What a method of a class is, as the nearest of its bases has it; those of subclasses in its file as well."""
        return self._summaries.methods(cls, name, None if self._files > 0 else self._module)

    def _derives_from_table(self, cls: Class) -> bool:
        return self._summaries.derives_from_table(cls, None if self._files > 0 else self._module)

    def makes_table(self, call: Value) -> bool:
        """Whether a call that is none of an operator is of a class of tables, rather than of what gives some."""
        return any(
            one is TableClass or (isinstance(one, Class) and self._derives_from_table(one))
            for one in self.objects(call.callee)
        )

    def is_table(self, one: object) -> bool:
        """Whether an object is a table, or one of a class that derives from one."""
        return one is TableLayer or (isinstance(one, ProjectInstance) and self._derives_from_table(one.cls))


def _is_of_layer(row: operators.Operator) -> bool:
    """Whether an operator is the class of a layer that holds no others."""
    last = row.name.rpartition(".")[2]
    return row.name == f"torch.nn.{last}" and last[0].isupper() and row.facets.keys().isdisjoint(_HOLDING_LAYERS)


def _is_of_tensors(name: str) -> bool:
    """Whether an attribute says something of a tensor, rather than being one: its shape, type, device."""
    row = operators.row(f"Tensor.{name}")
    return row is not None and row.facets.get("gives") in _FACTS


def _attribute(objects: Iterable[object], name: str) -> Iterator[type]:
    """What an attribute of tables, or of what keeps some, may be: the weight of a table, `codec.books`."""
    for one in objects:
        kept = kept_or_it(one)
        if kept is Matrix:
            if kept is not one or operators.row(f"Tensor.{name}") is not None:
                yield Matrix
        elif isinstance(kept, type) and kept is not TorchLayerClass and (kept is not TorchLayer or name == "weight"):
            yield Matrix if name == "weight" else kept


def parameter_of(path: str) -> str:
    """The parameter that a chain of attributes begins with."""
    return path.partition(".")[0]


def kept_or_it(one: object) -> Any:
    """The argument that an instance keeps, for such an argument; anything else as it is."""
    return one.one if isinstance(one, InstanceArgument) else one


def _is_checkpoint(value: Value) -> bool:
    """Whether a value is the name of a published codec."""
    return value.op is Op.CONST and isinstance(value.data, str) and codecs.published(value.data) is not None


def _is_numbers(one: object) -> bool:
    return isinstance(one, ParameterObject) or one is Matrix or one is TableLayer


def _pads(call: Value, padding: tuple[int, str] | None) -> bool:
    """Whether a call that makes a table may tell it its row for padding, which is a known argument."""
    if call.has_unpacking or call.callee.op is Op.CALL:
        return True
    return padding is not None and call.argument(*padding) is not None


def root(value: Value) -> Value:
    while value.op is Op.ATTR:
        value = value.args[0]
    return value


def operands(call: Value) -> tuple[Value, ...]:
    """What a method is called on, or a function inside of another one gives, and the arguments of a call."""
    callee = call.callee
    if callee.op is Op.ATTR:
        return (callee.args[0], *call.args[1:])
    return call.args[1:] if callee.op is Op.GLOBAL else call.args


def bound(function: Function, call: Value) -> Iterator[tuple[str, Value]]:
    """The arguments of a call, each with the parameters of a function that may get it."""
    names = function.argument_names
    keywords = [parameter.name for parameter in function.parameters]
    catching = [parameter.name for parameter in function.parameters if parameter.kind.startswith("var")]
    is_starred = False
    for at, arg in enumerate(call.positional):
        is_starred = is_starred or arg.op is Op.STARRED
        for name in (*names, *catching) if is_starred else names[at : at + 1] or catching:
            yield name, arg
    start = len(call.args) - len(call.data)
    for number, keyword in enumerate(call.data):
        given = call.args[start + number]
        entries = [(keyword, given)] if keyword is not None else _entries(given)
        if entries is None:
            yield from ((name, given) for name in keywords)
        else:
            yield from ((name, arg) for key, arg in entries for name in ([key] if key in keywords else catching))


def _is_string(value: Value) -> bool:
    return value.op is Op.CONST and isinstance(value.data, str)


def _entries(mapping: Value) -> list[tuple[str, Value]] | None:
    """What a dictionary holds that is written out, by its keys; None if it may hold more."""
    found: list[tuple[str, Value]] = []
    pending, seen = [mapping], {id(mapping)}
    for part in pending:
        parts: tuple[Value, ...] = ()
        if part.op is Op.DICT and all(key is None or _is_string(key) for key in part.data):
            found += [(key.data, arg) for key, arg in zip(part.data, part.args, strict=True) if key is not None]
            parts = tuple(arg for key, arg in zip(part.data, part.args, strict=True) if key is None)
        elif part.op is Op.UPDATE and part.data == "[]=" and _is_string(part.args[1]):
            found.append((part.args[1].data, part.args[2]))
            parts = part.args[:1]
        elif part.op is Op.CHOICE:
            parts = part.args
        else:
            return None
        pending.extend(one for one in parts if id(one) not in seen)
        seen.update(map(id, parts))
    return found
