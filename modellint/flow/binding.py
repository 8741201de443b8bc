"""Binding of arguments: the frame that a call of a function runs in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow.domain import NONE, PLAIN, UNKNOWN, SymbolicInput, Unknown, function_of
from modellint.flow.frame import Frame, class_frame
from modellint.flow.heap import Shell
from modellint.graph.arguments import bind
from modellint.graph.declared import may_be_tensor
from modellint.graph.python import REST
from modellint.graph.value import Nested, Op

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from modellint.flow.domain import Arguments, Atom, Atoms, FunctionRef
    from modellint.flow.heap import Trail
    from modellint.flow.interp import Interpreter
    from modellint.graph.arguments import Bound
    from modellint.graph.methods import Method
    from modellint.graph.value import Parameter


class Binding:
    """Binds the arguments of one run's calls."""

    def __init__(self, run: Interpreter) -> None:
        self._run = run

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
        plain = code.plain if parameters else ()

        def other(parameter: Parameter) -> Atoms:
            if parameter.default is not None and arguments.is_complete:
                return self._run.evaluate(parameter.default, class_frame(code.scope, id(parameter.default)))
            known = self._run.asked.parameter(parameter, code, frame)
            return (SymbolicInput(parameter.name),) if known is None else known

        for parameter, found in self._given(parameters, arguments, frame, other):
            is_tensor = any(isinstance(a, SymbolicInput) and a.is_tensor for a in found) and may_be_tensor(parameter)
            if parameter.name in plain and not is_tensor:
                found = self._plain(found, parameter)
            frame.names[parameter.name] = self._run.asked.bound(found, parameter, code, frame)

    def _bind_nested(self, code: Nested, arguments: Arguments, frame: Frame) -> None:
        def other(parameter: Parameter) -> Atoms:
            if parameter.default is None or frame.parent is None:
                return UNKNOWN
            return self._run.evaluate(parameter.default, frame.parent)

        for parameter, found in self._given(code.head, arguments, frame, other):
            frame.memo[id(code.parameters[parameter.name])] = found

    def _given(
        self,
        parameters: Sequence[Parameter],
        arguments: Arguments,
        frame: Frame,
        other: Callable[[Parameter], Atoms],
    ) -> Iterator[tuple[Parameter, Atoms]]:
        """The arguments of parameters, in order; `other` is the value of one that no argument is passed for."""
        bound = bind(parameters, arguments.positional, arguments.keywords)
        for parameter in parameters:
            name = parameter.name
            if name in bound.given:
                yield parameter, bound.given[name]
            elif parameter.kind in REST:
                yield parameter, self._handed(parameter, arguments) or (self._rest(parameter, bound, arguments, frame),)
            else:
                yield parameter, other(parameter)

    def _plain(self, found: Atoms, parameter: Parameter) -> Atoms:
        """An argument of which nothing is known but that it is no tensor and no layer, as an annotation says."""
        if not all(
            isinstance(atom, SymbolicInput | Unknown) and not isinstance(atom, self._run.mode.keeps) for atom in found
        ):
            return found
        default = parameter.default
        may_be_none = default is not None and default.op is Op.CONST and default.data is None
        return (*PLAIN, *NONE) if may_be_none else PLAIN

    @staticmethod
    def _handed(parameter: Parameter, arguments: Arguments) -> Atoms | None:
        """All that a parameter takes which takes the rest, where a constructor is given it as one."""
        known = () if arguments.is_complete else arguments.keywords.get(parameter.name, ())
        return known if any(isinstance(one, Shell) and one.kind == REST[parameter.kind] for one in known) else None

    @staticmethod
    def _rest(parameter: Parameter, bound: Bound[Atoms], arguments: Arguments, frame: Frame) -> Atom:
        """The tuple or the dictionary of the arguments that no other parameter takes."""
        is_list = parameter.kind == "var-positional"
        if not arguments.is_complete and not (bound.rest if is_list else bound.options):
            return SymbolicInput(parameter.name)
        found = Shell(REST[parameter.kind], None, frame.trail)
        if is_list:
            found.fill(tuple(bound.rest))
        else:
            for key, atoms in bound.options.items():
                found.put(atoms, (), key)
        found.is_exact = arguments.is_complete
        return found
