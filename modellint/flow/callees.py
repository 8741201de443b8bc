"""The objects that values of a function may be where it calls or indexes them: functions, classes, instances, tables.

Calls are resolved by names, and by the classes that attributes are made of; nothing is run. The result is an
over-approximation: a method of an unknown object may be any method of that name in sight.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, TypeAlias

from modellint import operators
from modellint.flow.records import CALLED, UNNAMED
from modellint.graph.arguments import possible_arguments
from modellint.graph.declared import is_single_number
from modellint.graph.immutable import dataclass
from modellint.graph.python import MAKING, Class, Function
from modellint.graph.value import Nested, Op, called_name, dotted, is_self
from modellint.knowledge import codecs
from modellint.link.names import DefinedClass, DefinedConstant, DefinedFunction

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from modellint.flow.summaries import Summaries
    from modellint.graph.python import ModuleFacts
    from modellint.graph.value import Value

NONE: frozenset[Any] = frozenset()
#: Names of classes whose instances look up rows.
TABLES = operators.words("table")
#: Facets of operators that make a tensor of given sizes.
_SIZED = frozenset(("sized", "trained", "kept"))
#: Facets of operators that pass on the elements of their arguments.
PASSING = frozenset(
    (
        "passed", "picked", "limit", "below", "lift", "mask", "chooses", "fill", "rounds", "pairs", "extreme", "copies",
        "adds", "contents", "element", "gathers", "like", "pair",
    )
)  # fmt: skip
#: Facets of operators that return the layer that they are passed, or an object that holds it.
_HOLDING_LAYERS = frozenset(("wraps", "itself", "builds", "holds", "moves", "registers", "trained", "kept"))
_GIVING = PASSING | _HOLDING_LAYERS | {"parameters", "reads", "extends", "removes"}
#: Operations whose value holds its parts, or is one of them.
HOLDING = frozenset(
    (
        Op.LIST, Op.TUPLE, Op.DICT, Op.SET, Op.CHOICE, Op.BOOL, Op.COMPREHENSION, Op.ITEM, Op.UNPACK, Op.UPDATE,
        Op.STARRED, Op.BIN, Op.LAMBDA,
    )
)  # fmt: skip
#: Operations whose value neither is nor holds anything that can be called.
_UNCALLED = frozenset((Op.CONST, Op.COMPARE, Op.STRING, Op.SLICE, Op.UNARY, Op.UNKNOWN))
#: The results of attributes and methods of tensors that are no tensors.
_FACTS = frozenset(("size", "int", "bool", "device", "dtype", "layout"))
#: How many attributes a chain on a parameter may have.
_MAX_ATTRIBUTES = 2


class TableLayer:
    """A layer that looks up rows."""


class PaddedTable:
    """Stands beside a table that may have a `padding_idx`."""


class TableClass:
    """A class whose instances look up rows."""


class Loss:
    """A loss of torch whose targets are classes."""


class TorchLayer:
    """A layer of torch that looks nothing up, and whose results are none of its parts."""


class TorchLayerClass:
    """A class of torch whose instances are no tables."""


class Matrix:
    """A tensor made of sizes, whose rows may be picked."""


@dataclass(frozen=True, slots=True)
class ParameterObject:
    """The object passed as a parameter, or an attribute of it (`codec.books`); it may look something up."""

    name: str

    def part(self, name: str) -> ParameterObject:
        """An attribute of the object; the object itself where the chain is at its limit."""
        return self if self.name.count(".") >= _MAX_ATTRIBUTES else ParameterObject(f"{self.name}.{name}")


@dataclass(frozen=True, slots=True)
class ProjectInstance:
    """An instance of a class of the project."""

    cls: Class


@dataclass(frozen=True, slots=True)
class InstanceArgument:
    """Stands beside an instance of a project class: an argument of its constructor, which an attribute may be."""

    one: Function | Class | ProjectInstance | ParameterObject | type


#: The objects that may be called or indexed: functions and classes of the project, instances, tables, parameters.
Objects: TypeAlias = "frozenset[Function | Class | ProjectInstance | ParameterObject | type | InstanceArgument]"
#: The types that are such objects, and the types of the others but for functions and classes.
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
#: Any object: the answer where it would take too long to find out.
ANYTHING: Objects = frozenset((TableLayer, Matrix))
_TABLE, _PADDED = frozenset((TableLayer,)), frozenset((TableLayer, PaddedTable))
_JUDGE = frozenset((Loss,))
_LAYER, _LAYER_CLASS = frozenset((TorchLayer,)), frozenset((TorchLayerClass,))
#: The argument of a table class that is its padding row.
_PADDING = (2, "padding_idx")


@dataclass(eq=False, slots=True)
class KnownValues:
    """The facts about the values of one function, by identity, and about its operators, by name."""

    objects: dict[int, Objects] = field(default_factory=dict)
    rows: dict[str, operators.Operator | None] = field(default_factory=dict)
    #: The kinds of elements that values may be or hold, and whether they may be real numbers.
    elements: dict[int, frozenset[type]] = field(default_factory=dict)
    reals: dict[int, frozenset[type]] = field(default_factory=dict)
    #: The parameters, or attributes of these, of whose calls values may be the results.
    results: dict[int, frozenset[str]] = field(default_factory=dict)
    #: The possible targets of calls.
    targets: dict[int, CallTargets] = field(default_factory=dict)
    #: Whether values may be, or hold, what a parameter is passed: elements, or real numbers.
    carried: dict[tuple[int, str, bool], bool] = field(default_factory=dict)
    #: Whether nested functions may look something up, by their first and last event and what is asked.
    inside: dict[tuple[int, int, str | None], bool] = field(default_factory=dict)

    def add(self, other: KnownValues) -> None:
        """Adds the facts of `other`."""
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
    """The possible targets of a call: functions, a table, a loss, parameters of the caller, a nested function."""

    functions: tuple[Function, ...]
    is_table: bool
    is_judge: bool
    given: frozenset[str]
    inner: Nested | None


class Callees:
    """Resolves the values that one function calls or indexes to objects.

    `files`: how many imports away from here code is followed. `settled`: the facts that earlier answers found about the
    function; `known` are those found by this object, which may rest on answers that are not stable yet.
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
        """True if the value is the `self` of this method."""
        return is_self(value) and self.function.owner is not None

    # -- objects ---------------------------------------------------------------------------------------------------

    def objects(self, value: Value) -> Objects:
        """The objects that a value may be, or hold."""
        if value.op in _UNCALLED:
            return NONE
        found = self.known.objects.get(id(value))
        if found is None:
            facts = self.known.objects, self._settled.objects
            found = self._summaries.fact(facts, id(value), self._compute_objects, value, ANYTHING, NONE)
        return found

    def _all_objects(self, values: Iterable[Value]) -> Objects:
        return NONE.union(*map(self.objects, values))

    def _compute_objects(self, value: Value) -> Objects:
        op = value.op
        if op is Op.PARAM:
            return self._parameter(str(value.data))
        if op is Op.GLOBAL:
            return self._name_objects(value)
        if op is Op.ATTR:
            return self._name_objects(value) if dotted(value) and root(value).op is Op.GLOBAL else self._member(value)
        if op is Op.CALL:
            return self._call_objects(value)
        if op is Op.INDEX or op is Op.ITEM or op is Op.UNPACK:
            return frozenset(map(unwrap_argument, self.objects(value.args[0])))
        return self._all_objects(value.args) if op in HOLDING else NONE

    def _parameter(self, name: str) -> Objects:
        owner = self.function.owner
        if name == "self" and owner is not None:
            return frozenset((ProjectInstance(owner),))
        return frozenset((ParameterObject(name), *map(ProjectInstance, self._annotation_classes(name))))

    def _annotation_classes(self, name: str) -> Iterator[Class]:
        """The classes that the annotation of a parameter names."""
        parameter = self.function.parameter(name)
        for part in () if parameter is None or parameter.annotation is None else parameter.annotation.walk():
            if part.op in (Op.GLOBAL, Op.ATTR):
                yield from (one for one in self._name_objects(part) if isinstance(one, Class))

    def _name_objects(self, value: Value) -> Objects:
        """The objects that a name, or a chain of attributes on one, resolves to."""
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
        return self._definition_objects(self._names.resolve(self._module, name))

    def _definition_objects(self, definition: object) -> Objects:
        if isinstance(definition, DefinedClass):
            return frozenset((definition.cls,))
        if isinstance(definition, DefinedFunction):
            return frozenset((definition.function,))
        if isinstance(definition, DefinedConstant) and self._files_left(definition.module) >= 0:
            home = self._summaries.body(definition.module.body, self._files_left(definition.module))
            return home.objects(definition.value)
        return NONE

    def _files_left(self, module: ModuleFacts) -> int:
        """How many more imports code is followed through from `module`, if this file leads to it."""
        return self._files - (module is not self._module)

    def _member(self, value: Value) -> Objects:
        """The objects that an attribute may be: methods, and the values that are stored under it."""
        return self._members(self.objects(value.args[0]), str(value.data), is_known=self._is_own(value.args[0]))

    def _members(self, objects: Objects, name: str, *, is_known: bool) -> Objects:
        """The objects that an attribute of `objects` may be; `is_known`: it is an attribute of nothing else."""
        owners = frozenset(map(unwrap_argument, objects))
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
            found |= self._summaries.objects_under(name, self._module, None, self._files)
            if name not in UNNAMED:
                found.update(self._record.functions.get(name, ()))
                for cls in self._summaries.mentioned_classes(self.function, name):
                    found |= self._of_class(cls, name)
        if found or _is_of_tensors(name):
            return frozenset(found)
        return frozenset(one.part(name) for one in owners if isinstance(one, ParameterObject))

    def objects_passed(self, value: Value, path: str) -> Objects:
        """The objects that an argument, or the attribute of it that `path` is in the callee, may be: `codec.books`."""
        found = self.objects(value)
        for name in path.split(".")[1:]:
            found = self._members(found, name, is_known=True)
        return found

    def _of_class(self, cls: Class, name: str) -> Objects:
        """The methods and stored objects of a class, and of its bases, under a name."""
        files = self._files_left(cls.module)
        return NONE if files < 0 else self._summaries.member(cls, name, files)

    def member(self, cls: Class, name: str) -> Objects:
        """The methods and stored objects of a class of this file, and of its bases, under a name."""
        family = self._record.families[cls.name]
        found: set[Any] = set(self._summaries.objects_under(name, self._module, family, self._files))
        if name in cls.attributes:
            found |= self.objects(cls.attributes[name])
        for one in self._record.related(cls):
            if name in one.methods:
                found.add(one.methods[name])
        for base in self._summaries.bases_elsewhere(cls):
            found |= self._of_class(base, name)
        return frozenset(found)

    def _call_objects(self, call: Value) -> Objects:
        """The objects that a call may return."""
        callee, name = call.callee, called_name(call.callee)
        if name == "super" and callee.op is Op.GLOBAL:
            owner = self.function.owner
            bases = NONE if owner is None else self._summaries.bases(owner)
            return frozenset(ProjectInstance(one) if isinstance(one, Class) else TableLayer for one in bases)
        if name == "getattr" and callee.op is Op.GLOBAL:
            named = [arg.data for arg in call.positional[1:2] if arg.op is Op.CONST]
            return NONE.union(*(self._summaries.objects_under(str(n), self._module, None, self._files) for n in named))
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
            found = frozenset(map(unwrap_argument, self._all_objects(operands(call))))
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
                made |= self._objects_returned_by(one, call)
            elif one is TableClass:
                made |= _PADDED if _pads(call, _PADDING) else _TABLE
            elif isinstance(one, ProjectInstance):
                if callee.op is Op.PARAM and self.function.is_class_method:  # `cls(…)`
                    made.add(one)
                for function in self._call_methods(one.cls):
                    made |= self._objects_returned_by(function, call)
        if is_holding:  # of what it is given
            given = self._all_objects(arg for arg in call.args[1:] if arg.op is not Op.PARAM)
            made |= {one if isinstance(one, InstanceArgument) else InstanceArgument(one) for one in given}
            made |= NONE if called - {TorchLayerClass} else given
        return frozenset(made)

    def _objects_returned_by(self, function: Function, call: Value) -> Objects:
        files = self._files_left(function.module)
        makes = NONE if files < 0 else self._summaries.makes(function, files)
        names = {given.name for one in makes if isinstance(given := unwrap_argument(one), ParameterObject)}
        pairs = list(possible_arguments(function.open_parameters, call)) if names else []
        passed = (self.objects_passed(arg, path) for path in names for name, arg in pairs if name == parameter_of(path))
        return NONE.union(*passed, (one for one in makes if not isinstance(unwrap_argument(one), ParameterObject)))

    # -- calls -----------------------------------------------------------------------------------------------------

    def row(self, call: Value) -> operators.Operator | None:
        """The row of the operator that a call may be of, by the last part of its imported name; None if of none."""
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
        elif (
            name in self._record.keeping and self._summaries.objects_under(name, self._module, None, self._files)
        ) or any(name in cls.methods for cls in self._summaries.mentioned_classes(self.function, name)):
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
            found = self.known.targets[id(call)] = self._compute_targets(call.callee)
        return found

    def _compute_targets(self, callee: Value) -> CallTargets:
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
                called = self._call_methods(one.cls)
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

    def _call_methods(self, cls: Class) -> list[Function]:
        return [method for name in CALLED for method in self._methods(cls, name)]

    def _methods(self, cls: Class, name: str) -> tuple[Function, ...]:
        """The nearest definitions of a method in a class and its bases; in this file only if no import is followed."""
        return self._summaries.methods(cls, name, None if self._files > 0 else self._module)

    def _derives_from_table(self, cls: Class) -> bool:
        return self._summaries.derives_from_table(cls, None if self._files > 0 else self._module)

    def makes_table(self, call: Value) -> bool:
        """True if a call that is of no operator makes an instance of a table class, rather than returning a table."""
        return any(
            one is TableClass or (isinstance(one, Class) and self._derives_from_table(one))
            for one in self.objects(call.callee)
        )

    def is_table(self, one: object) -> bool:
        """True if the object is a table, or an instance of a class that derives from one."""
        return one is TableLayer or (isinstance(one, ProjectInstance) and self._derives_from_table(one.cls))


def _is_of_layer(row: operators.Operator) -> bool:
    """True if the operator is the class of a layer that holds no other layers."""
    last = row.name.rpartition(".")[2]
    return row.name == f"torch.nn.{last}" and last[0].isupper() and row.facets.keys().isdisjoint(_HOLDING_LAYERS)


def _is_of_tensors(name: str) -> bool:
    """True if an attribute describes a tensor rather than being one: its shape, dtype or device."""
    row = operators.row(f"Tensor.{name}")
    return row is not None and row.facets.get("gives") in _FACTS


def _attribute(objects: Iterable[object], name: str) -> Iterator[type]:
    """The objects that an attribute of tables, or of objects that keep some, may be: a weight, `codec.books`."""
    for one in objects:
        kept = unwrap_argument(one)
        if kept is Matrix:
            if kept is not one or operators.row(f"Tensor.{name}") is not None:
                yield Matrix
        elif isinstance(kept, type) and kept is not TorchLayerClass and (kept is not TorchLayer or name == "weight"):
            yield Matrix if name == "weight" else kept


def parameter_of(path: str) -> str:
    """The parameter that a chain of attributes begins with."""
    return path.partition(".")[0]


def unwrap_argument(one: object) -> Any:
    """The argument behind an InstanceArgument; any other object as it is."""
    return one.one if isinstance(one, InstanceArgument) else one


def _is_checkpoint(value: Value) -> bool:
    """True if the value is the name of a published codec."""
    return value.op is Op.CONST and isinstance(value.data, str) and codecs.published(value.data) is not None


def _is_numbers(one: object) -> bool:
    return isinstance(one, ParameterObject) or one is Matrix or one is TableLayer


def _pads(call: Value, padding: tuple[int, str] | None) -> bool:
    """True if a call that makes a table may pass it a padding row; `padding` is the argument for that."""
    if call.has_unpacking or call.callee.op is Op.CALL:
        return True
    return padding is not None and call.argument(*padding) is not None


def root(value: Value) -> Value:
    while value.op is Op.ATTR:
        value = value.args[0]
    return value


def operands(call: Value) -> tuple[Value, ...]:
    """The arguments of a call, after the receiver of a method, or after a callee that is no plain name."""
    callee = call.callee
    if callee.op is Op.ATTR:
        return (callee.args[0], *call.args[1:])
    return call.args[1:] if callee.op is Op.GLOBAL else call.args
