"""Claims that `modellint probe` judges about a target as a whole, without a finding. The place is its file."""

from __future__ import annotations

from dataclasses import dataclass

from .claim import Claim


@dataclass(frozen=True, slots=True)
class DevicesMix(Claim):
    """A class or function mixes devices, or leaves a tensor behind, when its layers move."""


@dataclass(frozen=True, slots=True)
class LookupFails(Claim):
    """A class or function looks up an id that has no row."""


@dataclass(frozen=True, slots=True)
class EndFails(Claim):
    """A class or function fails at an end of its range of inputs, as the longest or the smallest one."""


@dataclass(frozen=True, slots=True)
class WidthsDiffer(Claim):
    """A layer of a class gets an input of another size than it takes."""


@dataclass(frozen=True, slots=True)
class NothingLearns(Claim):
    """A parameter of a class gets no gradient, one that is not finite, or one that no optimizer applies."""


@dataclass(frozen=True, slots=True)
class ModesDiffer(Claim):
    """A class gives different results in evaluation, from call to call or with other rows in its batch."""


@dataclass(frozen=True, slots=True)
class LoadingFails(Claim):
    """The recipe cannot be loaded, or something in it cannot be made."""


@dataclass(frozen=True, slots=True)
class SomethingStays(Claim):
    """Something in the recipe stays behind when its `modules` move."""


@dataclass(frozen=True, slots=True)
class ClassFails(Claim):
    """The class that the configuration of a model folder names cannot be built."""


@dataclass(frozen=True, slots=True)
class WeightsDiffer(Claim):
    """The weights in a model folder lack a tensor of the class that its configuration names, or differ in a shape."""


@dataclass(frozen=True, slots=True)
class TokensExceed(Claim):
    """An id that the tokenizer of a model folder gives, or that its configuration names, has no embedding row."""
