"""The checks of model folders: their classes are built on meta, and compared with the headers of the weights."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from .checking import FAILED, NOT_RUN, PASSED
from .fitted import differences
from .headers import HeaderError
from .published import UnknownModelError, library_of, parts_of
from .standins import described
from .verdicts import NOTHING, PART, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from modellint.claims import Claim

    from .fitted import Comparison
    from .headers import Tensors
    from .published import Part
    from .session import Session

_TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json", "vocab.json", "vocab.txt")
#: A class that lies where the tokenizer is called `tokenizer_2` is called `text_encoder_2`.
_TOKENIZER, _ENCODER = "tokenizer", "text_encoder"


class CannotCompareError(Exception):
    """A model cannot be built or its files cannot be read; the message says why."""


# -- checks ------------------------------------------------------------------------------------------------------------


def class_check(session: Session, _: Claim) -> Verdict:
    """The check that the classes which the configurations name can be built from them."""
    return _check_parts(session, _build)


def weights_check(session: Session, _: Claim) -> Verdict:
    """The check that the files have each tensor of the class, in its shape."""
    return _check_parts(session, _fit)


def _check_parts(session: Session, judge: Callable[[Session, Part], Verdict]) -> Verdict:
    """The combined verdict on the models of a folder: the first failure, or what all of them show."""
    session.begin("reading the configuration")
    try:
        parts = list(parts_of(session.target, session))
    except UnknownModelError as error:
        return Verdict(NOT_RUN, None, str(error), NOTHING)
    found: list[Verdict] = []
    for part in parts:
        session.begin(f"building `{part.class_name}`")
        try:
            outcome = judge(session, part)
        except CannotCompareError as error:
            outcome = Verdict(NOT_RUN, None, str(error))
        label = f"{part.name}: " if part.name else ""
        outcome = Verdict(outcome.status, outcome.device, f"{label}{outcome.detail}", outcome.extent)
        if outcome.status is FAILED:
            return outcome
        found.append(outcome)
    if not found:
        return Verdict(NOT_RUN, None, "no part of it has weights and a configuration", NOTHING)
    details = "; ".join(one.detail for one in found)
    passed = [one for one in found if one.status is PASSED]
    if not passed:
        return Verdict(NOT_RUN, None, details, found[0].extent)
    is_whole = len(passed) == len(found) and all(one.extent is not PART for one in found)
    return Verdict(PASSED, "cpu", details) if is_whole else Verdict(PASSED, "cpu", details, PART)


def _build(session: Session, part: Part) -> Verdict:
    try:
        model = part.compare(None).model
    except UnknownModelError as error:
        return Verdict(NOT_RUN, None, str(error))
    except Exception as error:
        return _unbuilt(session, part, error)
    number = sum(parameter.numel() for parameter in model.parameters())
    return Verdict(PASSED, "cpu", f"`{part.class_name}` has {number:,} parameters")


def _unbuilt(session: Session, part: Part, error: Exception) -> Verdict:
    """The verdict on a class whose construction raises: not its fault where a library is missing."""
    said = f"building `{part.class_name}` raises {described(error)}"
    if isinstance(error, ImportError) or session.stand_ins.names:
        return Verdict(NOT_RUN, None, said)
    return Verdict(FAILED, "cpu", said)


def _fit(_: Session, part: Part) -> Verdict:
    found = comparison_of(part)
    if found is None:
        return Verdict(NOT_RUN, None, "it has no weights", NOTHING)
    told = differences(found)
    if found.missing or found.mismatched:
        return Verdict(FAILED, "cpu", f"`{part.class_name}`: {told}")
    number = len(found.model.state_dict())
    fits = f"the {number} tensors of `{part.class_name}` are there, in their shapes"
    return Verdict(PASSED, "cpu", f"{fits}; {told}", PART) if told else Verdict(PASSED, "cpu", fits)


def comparison_of(part: Part) -> Comparison | None:
    """A model beside its files; None without files. Raises CannotCompareError."""
    try:
        tensors = part.tensors()
        return None if tensors is None else part.compare(tensors)
    except (HeaderError, UnknownModelError) as error:
        raise CannotCompareError(str(error)) from None
    except Exception as error:
        raise CannotCompareError(f"building `{part.class_name}` raises {described(error)}") from None


# -- ids ---------------------------------------------------------------------------------------------------------------


def tokens_check(session: Session, _: Claim) -> Verdict:
    """The check that each id which the tokenizer gives, or a configuration names, has a row in the embedding."""
    session.begin("reading the configuration")
    try:
        tables = list(_tables(session))
    except (CannotCompareError, UnknownModelError) as error:
        return Verdict(NOT_RUN, None, str(error), NOTHING)
    if not tables:
        return Verdict(NOT_RUN, None, "it has no tokenizer, or no input embedding", NOTHING)
    details = []
    for folder, rows, name in tables:
        session.begin("loading the tokenizer")
        try:
            vocabulary = vocabulary_of(session, folder)
        except Exception as error:
            return Verdict(NOT_RUN, None, f"loading the tokenizer raises {described(error)}")
        token, number = max(vocabulary.items(), key=lambda pair: pair[1])
        if number >= rows:
            return Verdict(
                FAILED, "cpu", f"the tokenizer gives {number} for `{token}`: {lookup_text(number, rows, name)}"
            )
        details.append(f"the tokenizer gives ids up to {number}, and `{name}` has {rows} rows")
    return Verdict(PASSED, "cpu", "; ".join(details))


def _tables(session: Session) -> Iterator[tuple[str, int, str]]:
    """Folders of tokenizers, each with the rows and the name of the embedding that takes its ids."""
    for part in parts_of(session.target, session):
        folder = session.target
        if part.name:
            folder = os.path.join(folder, part.name.replace(_ENCODER, _TOKENIZER))
        has_tokenizer = any(os.path.isfile(os.path.join(folder, name)) for name in _TOKENIZER_FILES)
        if has_tokenizer and (not part.name or part.name.startswith(_ENCODER)):
            found = rows_of(part)
            if found is not None:
                yield folder, *found


def rows_of(part: Part) -> tuple[int, str] | None:
    """The rows and the name of a model's input embedding, in the files or else in the class; None without one."""
    try:
        tensors: Tensors = part.tensors() or {}
    except HeaderError:
        tensors = {}
    try:
        model: Any = part.compare(None).model
    except Exception as error:
        raise CannotCompareError(f"building `{part.class_name}` raises {described(error)}") from None
    try:
        weight = model.get_input_embeddings().weight
    except Exception:
        return None
    if not isinstance(weight, torch.Tensor) or weight.dim() != 2:
        return None
    names = [name for name, one in model.state_dict(keep_vars=True).items() if one is weight]
    base = f"{getattr(model, 'base_model_prefix', '')}."
    there = [tensors[name] for long in names for name in (long, long.removeprefix(base)) if name in tensors]
    return (there[0] if there else weight).shape[0], names[0] if names else "the embedding"


def vocabulary_of(session: Session, folder: str) -> dict[str, int]:
    """The ids that the library's tokenizer gives, by token. Raises whatever loading it raises."""
    library: Any = library_of(session, "transformers")
    found: dict[str, int] = dict(library.AutoTokenizer.from_pretrained(folder).get_vocab())
    if not found:
        raise ValueError("the tokenizer has no vocabulary")
    return found


def lookup_text(number: int, rows: int, name: str) -> str:
    """The error of a look-up of an id in a table with so many rows."""
    try:
        nn.functional.embedding(torch.tensor([number]), torch.zeros(rows, 1))
    except (IndexError, RuntimeError) as error:
        return f"`{name}` has {rows} rows, and raises {described(error)}"
    return f"`{name}` has {rows} rows"
