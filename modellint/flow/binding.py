"""Binding of arguments: the frame that a call of a function runs in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow.declared import may_be_tensor
from modellint.flow.devices import There
from modellint.flow.domain import ANY_ARGUMENTS, NONE, PLAIN, UNKNOWN, Given, Site, Unknown, function_of, size_of
from modellint.flow.frame import Frame, class_frame
from modellint.flow.given import REST
from modellint.flow.heap import Shell
from modellint.graph.python import alternatives
from modellint.graph.size import Symbol
from modellint.graph.value import Nested, Op
from modellint.link.names import External

if TYPE_CHECKING:
    from modellint.flow.domain import Arguments, Atom, Atoms, FunctionRef
    from modellint.flow.heap import Trail
    from modellint.flow.interp import Interpreter
    from modellint.graph.methods import Method
    from modellint.graph.python import Parameter


class Binding:
    """Binds the arguments of one run's calls."""

    def __init__(self, run: Interpreter) -> None:
        self._run = run
        #: By identity of the annotation: the object that a parameter is given, where nothing else is known of it.
        self._layers: dict[int, Shell | None] = {}

    def frame(self, function: FunctionRef, arguments: Arguments, trail: Trail) -> Frame:
        """The frame of a function that is called with these arguments."""
        code = function.code
        path = self._run.path
        if isinstance(code, Nested):
            outer = function.frame
            assert outer is not None
            frame = Frame(code.flow or outer.flow, outer.scope, {}, trail, path, outer)
            frame.function, frame.above = outer.function, outer.above
            self._bind_nested(code, arguments, frame)
            return frame
        frame = Frame(code.flow, code.scope, {}, trail, path)
        frame.function, frame.above = function_of(code), function.above
        if code.has_receiver and code.parameters:
            receiver: Atoms
            if function.receiver is not None:
                receiver = (function.receiver,)
            elif arguments.positional:
                receiver, arguments = arguments.positional[0], arguments.without_first()
                self._find_above(frame, function, receiver)
            else:
                receiver = UNKNOWN
            frame.names["self"] = receiver
        self._bind(code, arguments, frame)
        return frame

    @staticmethod
    def _find_above(frame: Frame, function: FunctionRef, receiver: Atoms) -> None:
        """Where in the MRO of an object a method stands that is called through its class: `Base.__init__(self)`."""
        found = frame.function
        if found is None or found.owner is None:
            return
        for atom in receiver:
            if isinstance(atom, Shell) and atom.model is not None:
                for above, model in enumerate(atom.model.mro()):
                    if model.cls is found.owner:
                        frame.above = above

    def _bind(self, code: Method, arguments: Arguments, frame: Frame) -> None:
        """The parameters of a method, with what the arguments or the defaults make of them."""
        parameters = code.parameters[1:] if code.has_receiver else code.parameters
        positional, keywords = list(arguments.positional), dict(arguments.keywords)
        for parameter in parameters:
            name = parameter.name
            found: Atoms
            if parameter.kind == "var-positional":
                found = self._handed(parameter, arguments) or (self._rest(name, positional, arguments, frame),)
                positional = []
            elif parameter.kind == "var-keyword":
                found = self._handed(parameter, arguments) or (self._options(name, keywords, arguments, frame),)
            elif parameter.kind == "positional" and positional:
                found = positional.pop(0)
                keywords.pop(name, None)
            elif name in keywords:
                found = keywords.pop(name)
            elif parameter.default is not None and arguments.is_complete:
                found = self._run.evaluate(parameter.default, class_frame(code.scope, id(parameter.default)))
            elif self._run.tensors is not None or self._run.training is not None:
                found = self._asked_for(parameter, code, frame)
            else:
                found = (Given(name),)
            if self._run.lookups is not None and parameter.annotation is not None:
                found = self._annotated(found, parameter, code)
            is_tensor = any(isinstance(atom, There) for atom in found) and may_be_tensor(parameter)
            is_plain = name in code.plain and not is_tensor and self._run.tensors is None
            if is_plain and all(self._is_unknown(atom) for atom in found):
                default = parameter.default
                may_be_none = default is not None and default.op is Op.CONST and default.data is None
                found = (*PLAIN, *NONE) if may_be_none else PLAIN
            if frame.function is not None and any(isinstance(atom, There) for atom in found):
                found = self._run.devices.bound(found, name, frame.function)
            frame.names[name] = found

    def _is_unknown(self, atom: Atom) -> bool:
        """Whether nothing is known of an argument; where numbers are asked for, it may be known as one."""
        return isinstance(atom, Unknown) or (isinstance(atom, Given) and self._run.turns is None)

    def _asked_for(self, parameter: Parameter, code: Method, frame: Frame) -> Atoms:
        """What a parameter of which nothing is given may be: an object of its class, or a number that it names."""
        function = frame.function
        if function is None:
            return (Given(parameter.name),)
        for part in alternatives(parameter.annotation) if parameter.annotation is not None else ():
            definition = code.scope.definition(part)
            if self._run.tensors is not None and isinstance(definition, External) and definition.name == "torch.Size":
                site = Site(part, function)
                return self._run.tensors.shape(Given(parameter.name), site)
            model = None if definition is None else self._run.classes.of(definition)
            is_nested = id(part) in frame.trail  # an object that is given one of its class: there is no end to these
            if model is not None and model.cls is not None and not is_nested:
                made = self._run.shell("instance", part, frame, parameter.name)
                made.model, made.arguments = model, ANY_ARGUMENTS
                return (made,)
        default = None
        if parameter.default is not None:
            known = size_of(self._run.evaluate(parameter.default, class_frame(code.scope, id(parameter.default))))
            default = None if known is None else known.number
        path = str(function.module.path)
        symbol = Symbol(f"{path}:{function.qualname}", parameter.name, default)
        return (Given(parameter.name, symbol, f"{path}:{parameter.name}"),)

    def _annotated(self, found: Atoms, parameter: Parameter, code: Method) -> Atoms:
        """An argument of which nothing is known, as an object of the layer that the parameter is annotated with.

        What was made of an object, by what cannot be read (`fabric.setup(model)`), is taken for that object.
        """
        if self._run.objects.under_construction or not all(isinstance(atom, Given | Unknown) for atom in found):
            return found
        key = id(parameter.annotation)
        if key not in self._layers:
            self._layers[key] = self._layer(parameter, code)
        known = self._layers[key]
        if known is None or known.model is None:
            return found
        held = (shell for atom in found if isinstance(atom, Unknown) for shell in atom.held)
        own = tuple(shell for shell in held if shell.model is not None and known.model in shell.model.mro())
        return own or (known,)

    def _layer(self, parameter: Parameter, code: Method) -> Shell | None:
        """The one object that stands for all that a parameter may be given, if its annotation is a class of layers."""
        for part in alternatives(parameter.annotation) if parameter.annotation is not None else ():
            definition = code.scope.definition(part)
            model = None if definition is None else self._run.classes.of(definition)
            if model is not None and model.cls is not None and model.is_module is True:
                return Shell("instance", None, (id(parameter.annotation),), model, ANY_ARGUMENTS)
        return None

    def _bind_nested(self, code: Nested, arguments: Arguments, frame: Frame) -> None:
        positional, keywords = list(arguments.positional), dict(arguments.keywords)
        for name, value in code.parameters.items():
            if name == code.variadic:
                found: Atoms = (self._rest(name, positional, arguments, frame),)
            elif name == code.options:
                found = (self._options(name, keywords, arguments, frame),)
            elif positional:
                found = positional.pop(0)
            elif name in keywords:
                found = keywords.pop(name)
            elif name in code.defaults and frame.parent is not None:
                found = self._run.evaluate(code.defaults[name], frame.parent)
            else:
                found = UNKNOWN
            frame.memo[id(value)] = found

    @staticmethod
    def _handed(parameter: Parameter, arguments: Arguments) -> Atoms | None:
        """All that a parameter takes which takes the rest, where a constructor is given it as one."""
        known = () if arguments.is_complete else arguments.keywords.get(parameter.name, ())
        return known if any(isinstance(one, Shell) and one.kind == REST[parameter.kind] for one in known) else None

    def _rest(self, name: str, positional: list[Atoms], arguments: Arguments, frame: Frame) -> Atom:
        if not positional and not arguments.is_complete:
            return Given(name)
        found = Shell("tuple", None, frame.trail)
        found.fill(tuple(positional))
        found.is_exact = arguments.is_complete
        return found

    def _options(self, name: str, keywords: dict[str, Atoms], arguments: Arguments, frame: Frame) -> Atom:
        if not keywords and not arguments.is_complete:
            return Given(name)
        found = Shell("dict", None, frame.trail)
        for key, atoms in keywords.items():
            found.put(atoms, (), key)
        found.is_exact = arguments.is_complete
        return found
