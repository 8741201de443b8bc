"""How much work one file may cause: a number of steps for each question, so that the same input ends at the same place.

A question is what some theories ask of all functions of a file, or what a rule finds out by itself. One that takes all
of its steps leaves those of the others as they are.
"""

from __future__ import annotations

#: The most demanding file of the libraries that modellint was measured on takes a four-hundredth of this.
STEPS = 1_000_000


class ExhaustedError(Exception):
    """A question takes more steps than one may for a file."""

    def __init__(self, question: str) -> None:
        super().__init__(question)
        self.question = question


class SupersededError(BaseException):
    """Nobody wants to know any more what is being found out of a file: its text, or one that it uses, is another now.

    It passes what goes on after a failure, which is an `Exception`.
    """


class LeftOutError(Exception):
    """A rule asks for a theory that runs do not have: of its pack, where that has failed on the file and was told."""

    def __init__(self, kind: type) -> None:
        super().__init__(f"`{kind.__name__}` is in the `theories` of no rule that is selected")
        self.kind = kind


class Steps:
    """The steps that are left of one question about the file under study."""

    __slots__ = ("is_superseded", "left", "question")

    def __init__(self, question: str) -> None:
        self.question = question
        self.left = STEPS
        self.is_superseded = False

    def spend(self, steps: int = 1) -> None:
        """Take steps. Raises ExhaustedError when none are left, SupersededError once nobody wants to know."""
        self.left -= steps
        if self.left < 0:
            raise SupersededError if self.is_superseded else ExhaustedError(self.question)

    def supersede(self) -> None:
        """Let the next step be the last; may be called from another thread."""
        self.is_superseded = True
        self.left = 0


class Budget:
    """The steps that are left for the file under study, by question.

    `cut` are the questions of the rule that is being asked which went on without what they had no steps for.
    """

    __slots__ = ("_questions", "_rule", "cut")

    def __init__(self) -> None:
        self._questions: dict[str, Steps] = {}
        self.begin()

    def begin(self) -> None:
        """A rule is asked."""
        self._rule = Steps("")
        self.cut: dict[str, None] = {}

    def supersede(self) -> None:
        """Have what takes steps now end with SupersededError; may be called from another thread."""
        for steps in (self._rule, *self._questions.values()):
            steps.supersede()

    def of(self, question: str) -> Steps:
        """The steps of a question, which all rules share that ask it."""
        found = self._questions.get(question)
        if found is None:
            found = self._questions[question] = Steps(question)
        return found

    def spend(self, steps: int = 1) -> None:
        """Take steps for what the rule that is asked finds out by itself. Raises ExhaustedError when none are left."""
        self._rule.spend(steps)
