"""The questions of an editor that wait for their answers, in the checking thread."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from pygls.exceptions import JsonRpcException

from modellint.link.budget import SupersededError

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Question:
    """A question of the editor: who waits for the answer, the document that has to be checked first, and the answer."""

    future: asyncio.Future[Any]
    key: str | None
    answer: Callable[[], Any]
    is_slow: bool


class Questions:
    """The questions that wait. `in_loop` lets the protocol's thread do something."""

    def __init__(self, in_loop: Callable[[Callable[[], object]], None]) -> None:
        self._in_loop = in_loop
        self._waiting: list[Question] = []

    def add(self, question: Question) -> None:
        """Let a question wait."""
        self._waiting.append(question)

    def answer(self, has_to_wait: Callable[[Question], bool]) -> bool:
        """Answer the questions, slow ones last, but for those that have to wait; True if a change broke one off."""
        waiting, self._waiting = sorted(self._waiting, key=lambda one: one.is_slow), []
        is_broken_off = False
        for one in waiting:
            if has_to_wait(one):
                self._waiting.append(one)
            elif not self.answer_now(one):
                is_broken_off = True
        return is_broken_off

    def answer_now(self, question: Question) -> bool:
        """Answer a question that nobody has cancelled; False if a change broke it off, so that it waits."""
        if question.future.cancelled():
            return True
        result: Any = None
        failure: JsonRpcException | None = None
        try:
            result = question.answer()
        except SupersededError:
            self._waiting.append(question)
            return False
        except JsonRpcException as error:
            failure = error
        except Exception:
            log.exception("internal error")
        self._in_loop(partial(_settle, question.future, result, failure))
        return True


def _settle(future: asyncio.Future[Any], result: Any, error: JsonRpcException | None) -> None:
    if future.done():  # the editor may have lost interest
        return
    if error is not None:
        future.set_exception(error)
    else:
        future.set_result(result)
