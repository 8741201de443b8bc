"""Path conditions: deciding them, and evaluating choices under undecided ones."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING

from modellint.flow.domain import join
from modellint.flow.theory import Undecided
from modellint.flow.truth import identity, open_part, truth
from modellint.graph.value import Op, PathCondition

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator
    from contextlib import AbstractContextManager

    from modellint.flow.domain import Atoms
    from modellint.flow.frame import Frame
    from modellint.flow.heap import Path
    from modellint.flow.interp import Interpreter
    from modellint.graph.value import Value


class Conditions:
    """Decides the path conditions of one run."""

    def __init__(self, run: Interpreter) -> None:
        self._run = run

    def undecided_tests(self, guard: PathCondition, frame: Frame) -> Path | None:
        """The tests of a path condition that are undecided; None if one of them does not hold."""
        known = frame.conditions
        pending: list[PathCondition] = []
        link: PathCondition | None = guard
        while link is not None and id(link) not in known and not _is_outer(link.test, frame):
            pending.append(link)
            link = link.outer
        found: Path | None = () if link is None else known.get(id(link), ())
        for link in reversed(pending):
            found = None if found is None else self._within(found, link, frame)
            known[id(link)] = found
        return found

    def _within(self, outer: Path, guard: PathCondition, frame: Frame) -> Path | None:
        """The undecided tests of a path condition, after those of its outer conditions; None if it doesn't hold."""
        test = guard.test
        if test.op is Op.UNKNOWN and test.data == "except" and self._run.mode.skips_handlers:
            return None
        outcome = self.truth(test, frame)
        if outcome is not None:
            return outer if outcome is guard.truthy else None
        # What is raised otherwise holds wherever the run goes on.
        return outer if guard.raised else (*outer, self._step(test, guard.truthy, frame))

    def truth(self, test: Value, frame: Frame) -> bool | None:
        """The outcome of a test: True, False, or None if unknown."""
        return truth(test, partial(self._run.evaluate, frame=frame))

    def one_of(self, value: Value, frame: Frame) -> Atoms:
        """The value of a CHOICE with an undecided test: the join of its branches, or a theory's answer."""
        if value.data is None:
            return join([self._run.evaluate(arg, frame) for arg in value.args])
        branches = [self._behind(value.data, at == 0, arg, frame) for at, arg in enumerate(value.args)]
        known = self._run.asked.operator(value, branches, frame)
        return join(branches) if known is None else known

    def _behind(self, test: Value, truthy: bool, value: Value, frame: Frame) -> Atoms:
        """A value that is computed only where a test comes out as `truthy`."""
        outer = self._run.guard
        self._run.guard = PathCondition(test, truthy, outer)
        found = self._run.evaluate(value, frame)
        self._run.guard = outer
        return found

    def operand(self, value: Value, frame: Frame) -> Atoms:
        """The value of `and` and `or`: the join of the operands that may be the result."""
        options: list[Atoms] = []
        decisive = bool(value.data == "or")
        for number, arg in enumerate(value.args):
            outcome = self.truth(arg, frame)
            is_last = number == len(value.args) - 1
            if is_last or outcome is None or outcome is decisive:
                found = self._run.evaluate(arg, frame)
                options.append(found if is_last else self._run.behind(found, frame, PathCondition(arg, decisive)))
            if outcome is decisive:
                break
        return join(options)

    def _step(self, test: Value, outcome: bool, frame: Frame) -> tuple[Hashable, bool]:
        """The step of a path for an undecided test: its key and outcome."""
        part, negated = open_part(test, partial(self._run.evaluate, frame=frame))
        key = identity(part), frame.trail
        self._run.asked.tell(Undecided, key, part, frame)
        return self._run.asked.condition(key, part, frame), outcome is not negated


class Assumed(Conditions):
    """Conditions for runs that evaluate a value under the assumption that the condition on its branch holds."""

    def _within(self, outer: Path, guard: PathCondition, frame: Frame) -> Path | None:
        run = self._run
        before, run.path = run.path, longer(run.path, outer)
        found = super()._within(outer, guard, frame)
        run.path = before
        return found

    def truth(self, test: Value, frame: Frame) -> bool | None:
        def assume(part: Value, outcome: bool) -> AbstractContextManager[None]:
            return self._assuming(part, outcome, frame)

        return truth(test, partial(self._run.evaluate, frame=frame), assume)

    def one_of(self, value: Value, frame: Frame) -> Atoms:
        if value.data is None or len(value.args) != 2:
            return super().one_of(value, frame)
        return join(self._under(value.data, at == 0, arg, frame) for at, arg in enumerate(value.args))

    def operand(self, value: Value, frame: Frame) -> Atoms:
        options: list[Atoms] = []
        decisive = bool(value.data == "or")
        with ExitStack() as assumed:
            for number, arg in enumerate(value.args):
                outcome = self.truth(arg, frame)
                is_last = number == len(value.args) - 1
                if is_last or outcome is None or outcome is decisive:
                    options.append(self._run.evaluate(arg, frame))
                if outcome is decisive:
                    break
                if outcome is None and not is_last:
                    assumed.enter_context(self._assuming(arg, not decisive, frame))
        return join(options)

    def _under(self, test: Value, outcome: bool, value: Value, frame: Frame) -> Atoms:
        with self._assuming(test, outcome, frame):
            return self._run.evaluate(value, frame)

    @contextmanager
    def _assuming(self, test: Value, outcome: bool, frame: Frame) -> Iterator[None]:
        """Context in which an undecided test is assumed to have an outcome."""
        run, step = self._run, (self._step(test, outcome, frame),)
        outer, run.path = run.path, longer(run.path, step)
        assumed, run.assumed = run.assumed, longer(run.assumed, step)
        yield
        run.path, run.assumed = outer, assumed


def longer(path: Path, more: Path) -> Path:
    """A path extended by conditions, without duplicates."""
    if not more or not path:
        return path or more
    return path + tuple([step for step in more if step not in path])


def _is_outer(test: Value, frame: Frame) -> bool:
    """True for the test that stands for all conditions around a nested function, which its creation decided."""
    return frame.is_nested and test.op is Op.UNKNOWN and test.data == "nested"
