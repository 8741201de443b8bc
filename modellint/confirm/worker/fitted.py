"""A model beside the tensors of its files: which names either lacks, and which shapes differ."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .verdicts import quoted

if TYPE_CHECKING:
    from torch import nn

    from .headers import Tensors


@dataclass
class Comparison:
    """A model beside the tensors of its files: the names that they lack, that it lacks, and that differ in shape."""

    model: nn.Module
    missing: list[str] = field(default_factory=list)
    unexpected: list[str] = field(default_factory=list)
    #: Names with the shape in the files and that in the model.
    mismatched: list[tuple[str, tuple[int, ...], tuple[int, ...]]] = field(default_factory=list)


def compare_names(model: nn.Module, tensors: Tensors | None, base: str = "") -> Comparison:
    """A model beside tensors by their names. `base` is the attribute of the base model, which files may leave out."""
    wanted = dict(model.state_dict(keep_vars=True))
    if tensors and base and hasattr(model, base) and not any(name.startswith(f"{base}.") for name in tensors):
        tensors = {f"{base}.{name}" if f"{base}.{name}" in wanted else name: one for name, one in tensors.items()}
    return compare_tensors(model, wanted, tensors)


def compare_tensors(model: nn.Module, wanted: Tensors, tensors: Tensors | None) -> Comparison:
    """A model beside tensors; of tied tensors, the files may have any one."""
    if tensors is None:
        return Comparison(model)
    there = {id(one) for name, one in wanted.items() if name in tensors}
    missing = [name for name, one in wanted.items() if name not in tensors and id(one) not in there]
    differ = [
        (name, tuple(one.shape), tuple(wanted[name].shape))
        for name, one in tensors.items()
        if name in wanted and one.shape != wanted[name].shape
    ]
    return Comparison(model, missing, [name for name in tensors if name not in wanted], differ)


def differences(found: Comparison) -> str:
    """The differences between a model and its files, in words; empty without any."""
    parts = []
    if found.mismatched:
        name, there, here = found.mismatched[0]
        turned = ", which is transposed" if there == here[::-1] else ""
        more = _more(len(found.mismatched))
        parts.append(f"`{name}` is {list(there)} in the files, and {list(here)} in the model{turned}{more}")
    if found.missing:
        parts.append(f"the files lack {quoted(found.missing)}")
    if found.unexpected:
        prefix = _prefix(found)
        parts.append(f"they have {quoted(found.unexpected)}, which the model lacks")
        if prefix:
            parts.append(f"without `{prefix}`, the names would be those of the model")
    return "; ".join(parts)


def _more(number: int) -> str:
    return f" (and {number - 1} more)" if number > 1 else ""


def _prefix(found: Comparison) -> str:
    """The prefix that the names in the files have before those of the model; empty without one."""
    wanted = set(found.missing)
    first = found.unexpected[0]
    tails = (first[at + 1 :] for at, character in enumerate(first) if character == ".")
    tail = next((tail for tail in tails if tail in wanted), None)
    prefix = first[: -len(tail)] if tail is not None else ""
    return prefix if prefix and all(name.removeprefix(prefix) in wanted for name in found.unexpected) else ""
