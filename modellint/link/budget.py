"""Budgets of work for one file: a number of steps per question, so that the same input always ends at the same place.

A question is an analysis of a file's functions by some theories, or the own work of a rule. One that takes all
of its steps leaves the budgets of the others untouched.
"""

from __future__ import annotations

#: The most demanding file of the libraries that modellint was measured on takes a four-hundredth of this.
STEPS = 1_000_000


class ExhaustedError(Exception):
    """A question has used all steps that it may take for a file."""

    def __init__(self, question: str) -> None:
        super().__init__(question)
        self.question = question


class SupersededError(BaseException):
    """The work on a file is cancelled, as its text, or that of a file it depends on, has changed.

    It is no `Exception`, so handlers that go on after a failure do not catch it.
    """


class LeftOutError(Exception):
    """A rule asks for a theory that runs lack: no selected rule lists it, or it has failed on the file."""

    def __init__(self, kind: type) -> None:
        super().__init__(f"`{kind.__name__}` is in the `theories` of no rule that is selected")
        self.kind = kind


class Steps:
    """The steps that are left to one question about the current file."""

    __slots__ = ("is_superseded", "left", "question")

    def __init__(self, question: str) -> None:
        self.question = question
        self.left = STEPS
        self.is_superseded = False

    def spend(self, steps: int = 1) -> None:
        """Take steps. Raises ExhaustedError when none are left, SupersededError once the work is cancelled."""
        self.left -= steps
        if self.left < 0:
            raise SupersededError if self.is_superseded else ExhaustedError(self.question)

    def supersede(self) -> None:
        """Cancel at the next step; may be called from another thread."""
        self.is_superseded = True
        self.left = 0


class Budget:
    """The steps that are left for the current file, by question.

    `cut` are the questions that had no steps left while the current rule ran.
    """

    __slots__ = ("_questions", "_rule", "cut")

    def __init__(self) -> None:
        self._questions: dict[str, Steps] = {}
        self.begin()

    def begin(self) -> None:
        """Start the budget of the next rule."""
        self._rule = Steps("")
        self.cut: dict[str, None] = {}

    def supersede(self) -> None:
        """Cancel all work on the file with SupersededError; may be called from another thread."""
        for steps in (self._rule, *self._questions.values()):
            steps.supersede()

    def of(self, question: str) -> Steps:
        """The steps of a question, shared by all rules that ask it."""
        found = self._questions.get(question)
        if found is None:
            found = self._questions[question] = Steps(question)
        return found

    def spend(self, steps: int = 1) -> None:
        """Take steps for the current rule's own work. Raises ExhaustedError when none are left."""
        self._rule.spend(steps)
