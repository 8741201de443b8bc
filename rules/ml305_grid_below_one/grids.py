"""Sides of images that are rounded down to whole patches, and that nothing keeps above zero.

A function that may round is run on paper, and so are those that call it: some measure the image, others use the size.
Methods of models are left out: their inputs have been prepared for them.
"""

from __future__ import annotations

import ast
import textwrap
from typing import TYPE_CHECKING, TypeVar

from modellint import operators
from modellint.flow import queries
from modellint.graph.definitions import DefinedClass, DefinedFunction
from modellint.graph.immutable import dataclass
from modellint.graph.python import Class
from modellint.graph.value import NOWHERE, EventKind, Op, self_attribute, walk_all

from .following import measuring
from .measured import Measured
from .rounding import Fate, Reach, called_as, numerators, passing, rounding
from .sides import Side, sides_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.value import Value
    from modellint.rule import Project

    from .following import FollowedSides, SideUse

Asked = TypeVar("Asked")
Answer = TypeVar("Answer")

_SHAPING = operators.words("sizes")
#: How many calls may lead to a function from one that is run for it.
_MAX_CALLS = 2


@dataclass(frozen=True, eq=False)
class _Users:
    """The functions that may run where one rounds: those that prepare data, and the methods of models."""

    preparing: list[Function]
    of_models: list[Function]


class Grids:
    """Finds sides that are rounded down; one per project."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._reach = Reach(project)
        self.measured = Measured(project, self._reach, self._mentioning, _MAX_CALLS)

    def rounded_sides(self, module: ModuleFacts) -> Iterator[SideUse]:
        """The sides of images that the functions of a file round, and that something uses in whole patches."""
        homes = [f for f in module.all_functions() if self._may_matter(f)]
        users = self._users(homes) if homes else _Users([], [])
        if not any(map(self._reach.may_measure, users.preparing)) or not self._may_use_sides(users.preparing):
            return
        with measuring(self._project, self._reach) as run:
            self._run_all(users.preparing, run)
            uses = run.theory.uses
            found = [use for use in uses if use.side.rounding is not None and use.side.rounding.module is module]
            found = [use for use in found if not use.is_resized_to or any(map(self._cuts, use.modules))]
        if found:
            prepared = self._transitive_callees(users.of_models)
            yield from (use for use in found if _rounds(use) not in prepared)

    def _may_matter(self, function: Function) -> bool:
        """True if the function may round a side down, and it or a user of its result may multiply that again."""
        fate = rounding(function)
        if not fate or self._is_of_model(function) or not self.measured.rounds_measured(function):
            return False
        given = None if Fate.PASSED in fate else numerators(function)
        if given is not None:
            fate = self._fate_when_run(function, given)
        latest = [function]
        for _ in range(_MAX_CALLS):
            if Fate.MULTIPLIED in fate or Fate.PASSED in fate:
                return True
            if not fate:
                return False
            fates = [(user, passing(user, name)) for user, name in self._mentioning(latest)]
            latest = [user for user, found in fates if Fate.RETURNED in found]
            fate = Fate.NOTHING
            for _, found in fates:
                fate |= found
        return Fate.MULTIPLIED in fate or Fate.PASSED in fate

    def _fate_when_run(self, function: Function, given: frozenset[str]) -> Fate:
        """Run a function with unbounded sides for the parameters `given`; the fate of those that it rounds."""
        at = queries.Site(NOWHERE, function)
        sides: dict[str, queries.Atoms] = {name: (Side(at, image=name),) for name in given}
        stages = set[str]()
        with measuring(self._project, self._reach) as run:
            run.theory.is_result_asked_for = True
            for receiver in run.receivers(function):
                atoms = run.call(function, receiver, **sides)
                stages.update(side.stage for side in sides_in(atoms) if not side.is_limited)
            if any(run.theory.uses):
                stages.add("multiple")
        if "multiple" in stages:
            return Fate.MULTIPLIED
        return Fate.RETURNED if stages & {"floored", "rest"} else Fate.NOTHING

    def _is_of_model(self, function: Function) -> bool:
        """True if the function is a method of a layer, or of any class with a `forward`."""
        if function.owner is None:
            return False
        model = self._project.classes.model(function.owner)
        return model.is_module is True or model.method("forward") is not None

    def _users(self, homes: list[Function]) -> _Users:
        """The functions `homes` and their possible callers in the same files and those beside them, outermost first."""
        found = dict.fromkeys(homes)
        latest = list(homes)
        for _ in range(_MAX_CALLS):
            latest = [user for user, _ in self._mentioning(latest) if user not in found]
            found.update(dict.fromkeys(latest))
        users = _Users([], [])
        for function in reversed(found):
            (users.of_models if self._is_of_model(function) else users.preparing).append(function)
        return users

    def _may_use_sides(self, functions: list[Function]) -> bool:
        """True if functions that are run with unknown arguments use sides in whole patches; each is run once."""
        return any(self._once("uses sides", function.owner or function, self._uses_sides) for function in functions)

    def _uses_sides(self, receiver: Class | Function) -> bool:
        """True if a function uses sides in whole patches, or a method of a class, each on its own."""
        functions = receiver.methods.values() if isinstance(receiver, Class) else (receiver,)
        with measuring(self._project, self._reach) as run:
            for function in functions:
                if self._reach.may_use(function):
                    run.follow(function)
            return run.theory.has_uses

    def _once(self, question: str, about: Asked, compute: Callable[[Asked], Answer]) -> Answer:
        """The answer to a question about one thing, found once."""
        return self._project.once((f"grids: {question}", about), lambda: compute(about))

    def _mentioning(self, functions: Iterable[Function]) -> Iterator[tuple[Function, str]]:
        """The functions that may mention one of `functions`, each with the name under which it does."""
        for function in functions:
            name = called_as(function)
            yield from ((user, name) for user in self._once("users", function, self._users_of))

    def _users_of(self, function: Function) -> tuple[Function, ...]:
        """The functions that may mention a function."""
        return tuple(self._search_users(function, called_as(function)))

    def _search_users(self, function: Function, name: str) -> Iterator[Function]:
        for module in queries.neighbours(function.module, self._project, name):
            for user in module.all_functions():
                if name in user.words and self._may_mean(user, name, function):
                    yield user
            calls = module.body.flow.of(EventKind.CALL)
            is_called = any(name == event.value.callee.data for event in calls)
            if is_called and self._may_mean(module.body, name, function):
                yield module.body

    def _may_mean(self, user: Function, name: str, function: Function) -> bool:
        """True if `name`, somewhere in `user`, may stand for the function, or for its class."""
        mentions = self._once("names", user, _named_parts).get(name)
        if not mentions:
            spoken = self._once("words of code", user, _words_of_code)
            return user.name != name and (spoken is None or name in spoken)
        return any(self._may_be(mention, name, user, function) for mention in mentions)

    def _may_be(self, mention: Value, name: str, user: Function, function: Function) -> bool:
        if mention.op is Op.GLOBAL or function.owner is None:  # no attribute of an object is a function of a file
            found = self._project.names.definition(user.module, mention)
            if found is None:
                return mention.op is Op.GLOBAL
            if isinstance(found, DefinedClass):
                return function.owner is found.cls
            return not isinstance(found, DefinedFunction) or found.function is function
        if self_attribute(mention) is None or user.owner is None:
            return True
        method = self._project.classes.model(user.owner).method(name)
        return method is None or method is function

    def _run_all(self, functions: Iterable[Function], run: queries.Run[FollowedSides]) -> None:
        """Run functions with unknown arguments, but for those that an earlier one has called."""
        for function in functions:
            if function not in run.followed() and self._reach.may_use(function):
                run.follow(function)

    def _transitive_callees(self, functions: list[Function]) -> set[Function]:
        """The functions and their transitive callees."""
        with measuring(self._project, self._reach) as run:
            self._run_all(functions, run)
            return set(run.followed())

    def _cuts(self, module: ModuleFacts) -> bool:
        """True if a file cuts images into patches: it gives a tensor a shape with a quotient in it."""
        return self._project.once(("cuts", module), lambda: self._is_cutting(module))

    def _is_cutting(self, module: ModuleFacts) -> bool:
        with measuring(self._project, self._reach) as run:
            self._run_all((f for f in module.all_functions() if not _SHAPING.isdisjoint(f.words)), run)
            return module in run.theory.cutting


def _rounds(use: SideUse) -> Function | None:
    return None if use.side.rounding is None else use.side.rounding.function


def _named_parts(function: Function) -> dict[str, list[Value]]:
    """The names and attributes in a function's values, by their names."""
    found: dict[str, list[Value]] = {}
    for part in walk_all(function.flow.values):
        if part.op in (Op.GLOBAL, Op.ATTR):
            found.setdefault(str(part.data), []).append(part)
    return found


def _words_of_code(function: Function) -> frozenset[str] | None:
    """The names in the code of a function, and its texts that may be one; None where it cannot be parsed alone."""
    try:
        tree = ast.parse(textwrap.dedent(function.text))
    except (SyntaxError, ValueError):
        return None
    found: set[object] = set()
    for node in ast.walk(tree):
        found |= {getattr(node, "id", None), getattr(node, "attr", None)}
        if isinstance(node, ast.Constant):
            found.add(node.value)
        elif isinstance(node, ast.alias):
            found.update(node.name.split("."))
    return frozenset(word for word in found if isinstance(word, str))
