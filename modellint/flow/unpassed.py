"""Values of parameters without an argument, from annotations and defaults."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow.domain import ANY_ARGUMENTS, Constant, Number, SymbolicInput, size_of
from modellint.flow.frame import class_frame
from modellint.flow.heap import Shell, Slot
from modellint.graph.python import REST, alternatives, sides
from modellint.graph.size import Size, Symbol
from modellint.graph.value import Op, dotted
from modellint.link.classes.calls import MODULE

if TYPE_CHECKING:
    from modellint.flow.domain import Atoms
    from modellint.flow.frame import Frame
    from modellint.flow.interp import Interpreter
    from modellint.graph.methods import Method
    from modellint.graph.python import Class, Function
    from modellint.graph.value import Flow, Parameter, Value
    from modellint.link.classes.models import ClassModel
    from modellint.link.project import Project

#: The kinds of plain containers, by their names in annotations.
_CONTAINERS = {
    **dict.fromkeys(("List", "list", "Sequence", "Iterable", "Collection", "MutableSequence"), "list"),
    **dict.fromkeys(("Tuple", "tuple"), "tuple"),
    **dict.fromkeys(("Dict", "dict", "Mapping", "MutableMapping", "OrderedDict"), "dict"),
}


def asked_for(run: Interpreter, parameter: Parameter, code: Method, frame: Frame) -> Atoms:
    """The value of a parameter without an argument: an object of its annotation's class, or a symbolic number."""
    function = frame.function
    if function is None:
        return (SymbolicInput(parameter.name),)
    for part in alternatives(parameter.annotation) if parameter.annotation is not None else ():
        definition = code.scope.definition(part)
        model = None if definition is None else run.classes.of(definition)
        is_nested = id(part) in frame.trail  # an object that is given one of its class: there is no end to these
        if model is not None and model.cls is not None and not is_nested:
            made = run.shell("instance", part, frame, parameter.name)
            made.model, made.arguments = model, ANY_ARGUMENTS
            return (made,)
    default = None
    if parameter.default is not None:
        given = run.evaluate(parameter.default, class_frame(code.scope, id(parameter.default)))
        if given == (Constant(True),) and parameter.name in frame.flow.once(asserted_parameters):
            return given
        known = size_of(given)
        default = None if known is None else known.number
    path = str(function.module.path)
    symbol = Symbol(f"{path}:{function.qualname}", parameter.name, default)
    return (SymbolicInput(parameter.name, symbol, f"{path}:{parameter.name}"),)


def asserted_parameters(flow: Flow) -> frozenset[object]:
    """The names of the parameters that a function asserts: `assert is_double`."""
    guards = (event.guard for event in flow.events if event.guard is not None)
    tests = (link.test for guard in guards for link in guard.chain() if link.raised and link.truthy)
    return frozenset(test.data for test in tests if test.op is Op.PARAM)


def field_of(model: ClassModel, name: str, default: Atoms) -> Atoms:
    """A numeric field of a class as a symbol with its name and default; other defaults are returned as they are.

    Any annotated attribute of a class that is no layer is such a field, as other libraries than `dataclasses` make
    fields of annotations, too.
    """
    size = size_of(default)
    if size is None or model.cls is None or not is_field_of(model, name):
        return default
    symbol = Symbol(f"{model.cls.module.path}:{model.cls.qualname}", name, size.number)
    return (Number(Size.symbol(symbol)),)


def is_field_of(model: ClassModel, name: str) -> bool:
    """True if a class that is no layer has a field of a name: what stands in the class is only its default."""
    return model.cls is not None and model.is_module is not True and _is_field(model.cls, name)


def _is_field(cls: Class, name: str) -> bool:
    """True if a class-level attribute is a field: annotated, and neither `ClassVar` nor `Final`."""
    annotation = cls.annotations.get(name)
    return annotation is not None and all(part.data not in ("ClassVar", "Final") for part in annotation.walk())


def container_of_layers(parameter: Parameter, function: Function, project: Project) -> Shell | None:
    """The container of layers that a parameter's annotation describes; None if it describes none."""
    rest = REST.get(parameter.kind)
    if parameter.annotation is None:
        return None
    found = _container_kind(parameter.annotation) if rest is None else (rest, parameter.annotation)
    if found is None:
        return None
    kind, element = found
    model = _layer(element, function, project)
    if model is None:
        return None
    layer = Shell("pretrained", element, (), model)
    container = Shell(kind, parameter.annotation, ())
    layer.function = container.function = function
    container.entries.append(Slot(None, (layer,), ()))
    container.is_exact = False
    return container


def is_said(shell: Shell) -> bool:
    """True if an object is a layer known from an annotation."""
    return shell.kind == "pretrained" and shell.model is not None


def _container_kind(annotation: Value) -> tuple[str, Value] | None:
    """The kind of container that an annotation names, and the annotation of its elements; None if it names none."""
    found = list(sides(annotation))
    if len(found) != 1 or found[0].op is not Op.INDEX:
        return None
    owner, inner = found[0].args[:2]
    kind = _CONTAINERS.get((dotted(owner) or "").rpartition(".")[2])
    element = inner.args[-1 if kind == "dict" else 0] if inner.op is Op.TUPLE and inner.args else inner
    return None if kind is None else (kind, element)


def _layer(element: Value, function: Function, project: Project) -> ClassModel | None:
    definition = project.names.definition(function.module, element)
    model = None if definition is None else project.classes.of(definition)
    if model is None or model.is_module is not True or model.is_container:
        return None
    from modellint.flow.built import has_state

    is_stateless = model.cls is None and model.name != MODULE and has_state(model) is False
    return None if is_stateless else model
