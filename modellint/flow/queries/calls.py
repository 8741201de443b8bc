"""The calls of a file, by what they call, and their arguments."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from modellint import edits
from modellint.flow.queries.values import Operand, called_names
from modellint.graph.arguments import bind_call
from modellint.graph.definitions import DefinedConstant, External
from modellint.graph.immutable import dataclass
from modellint.graph.value import EventKind, Op, called_name
from modellint.link.calls.doubts import is_certain, is_expected_to_fail, is_tried_out
from modellint.link.calls.reached import CallReach, has_foreign

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from modellint.finding import Place
    from modellint.graph.arguments import Misfit
    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.value import Event, Value
    from modellint.link.calls.reached import Reached
    from modellint.link.project import Project

#: Functions that tell what an installation or an object has.
_ASKING_INSTALLATION = frozenset(("hasattr", "getattr", "signature", "getfullargspec", "is_available"))


@dataclass(frozen=True, slots=True)
class Argument(Operand):
    """An argument of a call. Its `place` is where the value is made, `place_of_use` where the call names it."""

    place_of_use: Place | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """A call in a function, a method, or the code outside of them: `event` has its conditions and handlers."""

    event: Event
    function: Function
    project: Project

    @classmethod
    def at(cls, value: Value, function: Function, project: Project) -> Call | None:
        """The call whose result a value of a function is; None for another value."""
        if value.op is not Op.CALL:
            return None
        events = function.flow.of(EventKind.CALL)
        return next((cls(event, function, project) for event in events if event.value is value), None)

    @property
    def value(self) -> Value:
        return self.event.value

    @property
    def module(self) -> ModuleFacts:
        return self.function.module

    @property
    def place(self) -> Place:
        return self.module.place(self.value)

    @property
    def symbol(self) -> str:
        """The function around the call, for baselines: `Encoder.forward`."""
        return self.function.qualname

    @property
    def result(self) -> Operand:
        """The value that the call returns."""
        return Operand(self.value, self.function, self.project)

    @property
    def callee(self) -> Operand:
        return Operand(self.value.callee, self.function, self.project)

    @property
    def names(self) -> frozenset[str]:
        """The dotted names of what is called: `torch.softmax`, `torch.Tensor.view`, `torch.nn.CrossEntropyLoss`.

        Empty for what the project defines, and for what cannot be told.
        """
        return called_names(self.result)

    @property
    def function_names(self) -> frozenset[str]:
        """The names if a function or class outside of the project is called by its name; empty for a method."""
        definition = self.project.names.definition(self.module, self.value.callee)
        return self.names if isinstance(definition, External) else frozenset()

    def argument(self, position: int, name: str = "") -> Argument | None:
        """The argument at `position` (0 is the first), or called `name`; None if it is not passed, or not known."""
        value = self.value.argument(position, name or None)
        if value is None:
            return None
        place = edits.argument_place(self.value, position, name, self.module)
        return Argument(value, self.function, self.project, place_of_use=place)

    # -- what it calls -----------------------------------------------------------------------------------------------

    @property
    def target(self) -> Reached | None:
        """The function, method or constructor that the call runs, with its parameters; None if unknown or ambiguous."""
        key = ("call target", self.value)
        return self.project.once(key, lambda: CallReach(self.project, self.function).of(self.value))

    def misfits(self, target: Reached) -> list[Misfit]:
        """The arguments that a target does not take, and those that it lacks; empty where the call fits."""
        return bind_call(target.parameters, self.value).misfits

    def is_certain(self, target: Reached) -> bool:
        """True if the call certainly runs this target and is meant to succeed: nothing replaces or overrides it.

        It may read all files of the project that mention the target: ask it last.
        """
        return is_certain(self.project, self.function, self.event, target)

    # -- circumstances -----------------------------------------------------------------------------------------------

    @property
    def questions(self) -> frozenset[str]:
        """The names of the functions that conditions around the call ask: `isinstance`, `hasattr`, `is_tensor`.

        `x.__class__` asks what `type(x)` asks.
        """
        tests = () if self.event.guard is None else (guard.test for guard in self.event.guard.chain())
        asked = [part for test in tests for part in test.walk()]
        parts = [part for part in asked if part.op is Op.CALL]
        of_class = ("type",) if any(part.op is Op.ATTR and part.data == "__class__" for part in asked) else ()
        found = (self.project.names.definition(self.module, part.callee) for part in parts)
        names = (one.name.rpartition(".")[2] for one in found if isinstance(one, External))
        return frozenset((*(called_name(part.callee) for part in parts), *names, *of_class))

    @property
    def depends_on_release(self) -> bool:
        """True if a condition around the call asks for a version of torch, or what an installation has."""
        tests = () if self.event.guard is None else (guard.test for guard in self.event.guard.chain())
        if any(self._asks_for_release(part) for test in tests for part in test.walk()):
            return True
        return not _ASKING_INSTALLATION.isdisjoint(self.questions)

    def _asks_for_release(self, part: Value) -> bool:
        """True for a name that speaks of a version or of torch, and for a constant that is made of such a name."""
        if part.op not in (Op.ATTR, Op.GLOBAL, Op.PARAM):
            return False
        definition = self.project.names.definition(self.module, part)
        if isinstance(definition, DefinedConstant):
            names = (self.project.names.definition(definition.module, one) for one in definition.value.walk())
            if any(isinstance(one, External) and _speaks_of_release(one.name) for one in names):
                return True
        return _speaks_of_release(definition.name if isinstance(definition, External) else str(part.data))

    @property
    def is_expected_to_fail(self) -> bool:
        """True if a handler around the call catches the error of an argument that does not fit."""
        return is_expected_to_fail(self.event)

    @property
    def is_tried_out(self) -> bool:
        """True if the call stands in a test, in a demonstration, or under `if __name__ == "__main__"`."""
        return is_tried_out(self.project, self.function, self.event)

    @property
    def may_be_compiled(self) -> bool:
        """True if a library may compile the function to another language, in which its numbers are no Python numbers.

        A decorator does so (`@triton.jit`), and nobody reads those of libraries other than torch and Python's own.
        """
        plain = (one.callee if one.op is Op.CALL else one for one in self.function.signature.decorators)
        return has_foreign(plain, self.function, self.project)


def _speaks_of_release(name: str) -> bool:
    """True for a name with a word such as `version` or `is_torch_2`; not for names in torch itself."""
    words = name.lower().split(".")
    return any("version" in word or ("torch" in word and word != "torch") for word in words)


class Calls:
    """The calls of a file, by the names of what they call: of functions at once, of objects when one is asked for."""

    def __init__(self, module: ModuleFacts, project: Project) -> None:
        self.all = tuple(
            Call(event, function, project)
            for function in (*module.all_functions(), module.body)
            for event in function.flow.of(EventKind.CALL)
        )
        self._names = project.names
        self._by_function: dict[str, list[Call]] = {}
        #: Those that call neither a function nor a class by its name.
        self.others: list[Call] = []
        for call in self.all:
            definition = self._names.definition(module, call.value.callee)
            if definition is None or isinstance(definition, DefinedConstant):
                self.others.append(call)
            elif isinstance(definition, External):
                for name in call.names:
                    self._by_function.setdefault(name, []).append(call)

    @cached_property
    def _by_object(self) -> dict[str, list[Call]]:
        found: dict[str, list[Call]] = {}
        for call in self.others:
            for name in call.names:
                found.setdefault(name, []).append(call)
        return found

    def of(self, names: Iterable[str]) -> list[Call]:
        """The calls of functions and layers with some names, in the order of the file's functions."""
        names = list(dict.fromkeys(names))
        found = self.of_functions(name for name in names if not is_of_object(name))
        for name in filter(is_of_object, names):
            found += self._by_object.get(name, ())
        return self._in_order(found)

    def of_functions(self, names: Iterable[str]) -> list[Call]:
        """The calls of functions, or constructions of classes, with some names."""
        return self._in_order([call for name in names for call in self._by_function.get(name, ())])

    def _in_order(self, found: list[Call]) -> list[Call]:
        order = {call: number for number, call in enumerate(self.all)} if len(found) > 1 else {}
        return sorted(dict.fromkeys(found), key=lambda call: order.get(call, 0))


def is_of_object(name: str) -> bool:
    """True for the name of a class, whose objects are called, and of a method: not for a function's."""
    return name.startswith("torch.Tensor.") or name.rpartition(".")[2][:1].isupper()


class CallQueries:
    """The queries about the calls of a file."""

    _module: ModuleFacts
    _project: Project

    @cached_property
    def _all_calls(self) -> Calls:
        return Calls(self._module, self._project)

    def calls(self, *names: str) -> Sequence[Call]:
        """The calls of functions, methods and layers with these dotted names; all calls of the file without a name.

        `torch.nn.functional.cross_entropy`, `torch.Tensor.view` (on what certainly is a tensor), or a class:
        `torch.nn.CrossEntropyLoss` are the calls of its objects, wherever these are made and kept, and of objects of
        classes that derive from it. Its constructions are `constructed`.
        """
        return self._all_calls.of(names) if names else self._all_calls.all

    def constructions(self, *names: str) -> list[Call]:
        """The calls in the file that construct a class with one of these dotted names, as they are written.

        `constructed` follows helpers, subclasses and files, and knows the arguments' values; this costs less.
        """
        return self._all_calls.of_functions(names)

    def dropped_calls(self) -> Iterator[Call]:
        """The calls that are statements of their own, so that nothing gets their result."""
        for function in (*self._module.all_functions(), self._module.body):
            yield from (Call(event, function, self._project) for event in function.flow.dropped)

    def reaches(
        self, sources: Collection[str], sinks: Collection[str], barriers: Collection[str] = ()
    ) -> Iterator[tuple[Operand, Call, Argument]]:
        """The arguments of calls of `sinks` that may come from a call of `sources`, not through one of `barriers`.

        Each with the call that it comes from.
        """
        for call in self.calls(*sinks):
            names = (*range(len(call.value.positional)), *call.value.keywords)
            for name in names:
                argument = call.argument(name) if isinstance(name, int) else call.argument(len(names), name)
                source = None if argument is None else argument.made_by(*sources, barriers=barriers)
                if argument is not None and source is not None:
                    yield source, call, argument

    def operand(self, value: Value, function: Function) -> Operand:
        """A value of one of the file's functions, to ask for its kind and where it comes from."""
        return Operand(value, function, self._project)
