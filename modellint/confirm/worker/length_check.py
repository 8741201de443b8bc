"""The check of lengths: the shortest inputs, and those that fill a table of positions."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from torch import nn

from . import roles
from .calls import lasting
from .checking import FAILED, LARGE, NOT_RUN, PASSED, TargetCall, TargetCheck, too_many
from .lookups import SeenLookups
from .seeds import seed_generators
from .specs import TIME, is_small
from .standins import described
from .verdicts import NOTHING, PART, WHOLE, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from modellint.claims import Claim

    from .checking import Specs
    from .session import Session

_SHOWN = 4
_TABLES = range(8, 4097)
#: The number of seeds with which calls are compared.
_SEEDS = 5


def boundaries_check(session: Session, _: Claim) -> Verdict:
    """Call the target with the shortest inputs, and with those that fill a table."""
    check = TargetCheck(session)
    with check.small() as size:
        if size > LARGE:
            return Verdict(NOT_RUN, None, too_many(size))
        for variant in (0, roles.EQUAL):
            for call in check.calls(variant):
                outcome = check.verdict_of(call, partial(_at_the_ends, call))
                if outcome is not None:
                    return outcome
        return check.not_run()


def _at_the_ends(call: TargetCall, specs: Specs) -> Verdict | Exception:
    """The verdict of calls with short sequences, and with those that fill a table.

    Where short ones fail, the shorter do so, too, as long as they are merely too short. A table need not be filled:
    its first row may stand for padding, unless something says that there are as many positions as rows.
    """
    error = call.run(specs, "cpu")
    if error is not None:
        return error
    if not any(TIME in spec.shape for spec in specs.values()):
        specs = next((other for other in _with_length(specs) if call.run(other, "cpu") is None), specs)
    call.note(specs)
    if not any(TIME in spec.shape for spec in specs.values()):
        return Verdict(NOT_RUN, None, "none of its inputs has a length", NOTHING)
    passed, limits = [TIME], dict[int, Exception]()
    full = _full(call)
    #: The lowest row that was looked up in the last call that works, by the number of rows.
    first: dict[int, int] = {}
    for length in dict.fromkeys((1, 2, *(size + step for size in full for step in (-1, 0, 1)))):
        if not all(is_small(replace(spec, shape=spec.sizes)) for spec in lasting(specs, length).values()):
            continue
        lookups = SeenLookups(None)
        error = call.run(lasting(specs, length), "cpu", lookups)
        if error is None:
            passed.append(length)
            first = {one.rows: one.low for one in lookups.found if not one.is_slice}
            continue
        limits[length] = error
        said = f"a length of {length} raises {described(error)[:200]}"
        if not isinstance(error, IndexError):
            continue
        is_guess = any(spec.is_guess for spec in specs.values())
        if length < TIME and min(passed) < length and not is_guess and _is_for_length(call, specs, length, min(passed)):
            return Verdict(FAILED, "cpu", f"{said}; one of {min(passed)} works")
        told = _told_lengths(call)
        is_promised = length in told and length - 1 not in told and not _has_padding(call, length)
        is_first = length in full and length - 1 in passed and first.get(length, 0) > 0
        if is_first and is_promised and not is_guess and _is_for_length(call, specs, length, length - 1):
            detail = f"{said}; one of {length - 1} works, and `{told[length]}` is {length}"
            return Verdict(FAILED, "cpu", detail)
    shown = ", ".join(map(str, sorted(passed)))
    detail = f"lengths {shown} work"
    if limits:
        length = min(limits)
        detail += f"; a length of {length} raises {described(limits[length])[:200]}"
    promised = _broken_promise(call, passed, limits)
    if promised is not None:
        detail += f", though {promised}"
    return Verdict(PASSED, "cpu", detail, WHOLE if promised is None else PART)


def _broken_promise(call: TargetCall, passed: list[int], limits: Mapping[int, Exception]) -> str | None:
    """The name and number of a promised length that no call reaches, as a text; None if all are reached."""
    too_long = [length for length in limits if length > max(passed)]
    for number, name in sorted(_told_lengths(call).items()):
        if number in too_long or (too_long and number > min(too_long) and roles.is_largest(name)):
            return f"`{name}` is {number}"
    return None


def _with_length(specs: Specs) -> Iterator[Specs]:
    """The inputs with each size of a 3-D tensor in turn replaced by the length of sequences."""
    sizes = [
        size for spec in specs.values() if spec.kind == "float" and len(spec.shape) == 3 for size in spec.shape[1:]
    ]
    for size in dict.fromkeys(sizes):
        yield {
            name: replace(spec, shape=(*spec.shape[:1], *(TIME if one == size else one for one in spec.shape[1:])))
            for name, spec in specs.items()
        }


def _is_for_length(call: TargetCall, specs: Specs, fails: int, works: int) -> bool:
    """True if one length fails and another works with every seed, so that it is not the random ids that fail."""
    for seed in range(1, _SEEDS):
        seed_generators(seed)
        if not isinstance(call.run(lasting(specs, fails), "cpu"), IndexError):
            return False
        if call.run(lasting(specs, works), "cpu") is not None:
            return False
    return True


def _full(call: TargetCall) -> list[int]:
    """The rows of each table that may hold positions: embeddings, buffers, and parameters that belong to no layer."""
    modules = list(call.owner.modules()) if isinstance(call.owner, nn.Module) else []
    rows = {part.num_embeddings for part in modules if isinstance(part, nn.Embedding)}
    for part in modules:
        is_layer = type(part).__module__.startswith("torch.nn.")
        tables = [*part._buffers.values(), *(() if is_layer else part._parameters.values())]
        rows |= {table.shape[-2] for table in tables if table is not None and table.dim() > 1}
    return [size for size in sorted(rows) if size in _TABLES][:_SHOWN]


def _told_lengths(call: TargetCall) -> dict[int, str]:
    """The numbers that the target, its arguments or its configuration name as lengths, with these names."""
    return {number: name for name, number in call.inputs.named.numbers() if roles.is_length(name)}


def _has_padding(call: TargetCall, rows: int) -> bool:
    """True if a table with `rows` rows has one for padding."""
    parts = call.owner.modules() if isinstance(call.owner, nn.Module) else ()
    tables = [part for part in parts if isinstance(part, nn.Embedding) and part.num_embeddings == rows]
    return any(table.padding_idx is not None for table in tables)
