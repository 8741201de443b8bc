"""Claims about calls: that they raise, or do something else than they seem to."""

from __future__ import annotations

from dataclasses import dataclass

from .claim import Claim


@dataclass(frozen=True, slots=True)
class Refused(Claim):
    """The call at the place raises an error of the type `error` (or of one of several: `A or B`), which says `words`.

    `within` is the function of the same file that is called to reach it, if it is not the one around the place. An
    error that says numbers names `numbers` among them: the sizes that do not fit, rather than those of made-up inputs.
    `tensors` are inputs of the function around the place with which it happens: name, type if known, sizes. `given`
    are the numbers of a configuration with which the class is built.
    """

    error: str
    words: str
    within: str = ""
    numbers: tuple[int, ...] = ()
    tensors: tuple[tuple[str, str, tuple[int, ...]], ...] = ()
    given: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class NotTaken(Refused):
    """The callee of the call at the place does not take its arguments, as its signature says before it is called."""


@dataclass(frozen=True, slots=True)
class InSlot(Claim):
    """The callee of the call at the place gets `argument`, at a position of the call, as its parameter `taken`."""

    position: int
    argument: str
    taken: str


@dataclass(frozen=True, slots=True)
class RefusedLater(Refused):
    """The call at the place succeeds at first, and raises the error when it is made again."""


@dataclass(frozen=True, slots=True)
class OnCuda(Claim):
    """The call at the place asks for a CUDA device, whatever devices there are."""


@dataclass(frozen=True, slots=True)
class AlwaysDrops(Claim):
    """The dropout at the place is on after `eval()`, too."""


@dataclass(frozen=True, slots=True)
class OverBatch(Claim):
    """The softmax at the place takes dimension 0 of a tensor with three dimensions."""


@dataclass(frozen=True, slots=True)
class Lost(Claim):
    """The statement at the place changes nothing, and nothing takes what it computes."""


@dataclass(frozen=True, slots=True)
class Copied(Claim):
    """The index at the place makes a new tensor: what a method in place changes is no part of the indexed one."""
