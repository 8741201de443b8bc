"""Probes of ids in model folders, by transformers: its tokenizers, its configurations and the class of the model."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import torch

from .folder_checks import CannotCompareError, lookup_text, rows_of, vocabulary_of
from .published import UnknownModelError, library_of, parts_of, settings_in
from .standins import described
from .verdicts import Verdict, confirmed, refuted, unconfirmed

if TYPE_CHECKING:
    from modellint.claims.folders import EndSuppressed, IdHasNoClass, IdHasNoRow, IdIsNoToken, IdIsText, IdsDiffer

    from .published import Part
    from .session import Session

#: What torch says of a table that is built with a padding id outside of it.
_PADDING, _OUTSIDE = "pad_token_id", "Padding_idx must be within num_embeddings"
_TOKENIZER_FAILS = "loading the tokenizer raises"


def probe_row(session: Session, claim: IdHasNoRow) -> Verdict:
    """Look an id up in an embedding as large as that of the folder: confirmed if that fails, or building it does."""
    session.begin("reading the configuration")
    try:
        part = _part(session, claim.part)
        found = None if part is None else rows_of(part)
    except (UnknownModelError, CannotCompareError) as error:
        if not claim.token and _OUTSIDE in str(error) and claim.number in _paddings(session):
            return confirmed(str(error))
        return unconfirmed(str(error))
    if found is None:
        return unconfirmed("the model has no input embedding")
    rows, name = found
    if (other := _given_otherwise(session, claim.token, claim.number, claim.tokenizer)) is not None:
        return other
    if 0 <= claim.number < rows:
        return refuted(f"`{name}` has {rows} rows")
    return confirmed(lookup_text(claim.number, rows, name))


def probe_class(session: Session, claim: IdHasNoClass) -> Verdict:
    """Build the model: confirmed if its last layer has no more rows than the id of a token, which is a label."""
    session.begin("reading the configuration")
    try:
        part = _part(session, "")
        model: Any = None if part is None else part.compare(None).model
    except Exception as error:
        return unconfirmed(f"building the model raises {described(error)}")
    matrices = [(name, one) for name, one in getattr(model, "named_parameters", dict)() if one.dim() == 2]
    if not matrices:
        return unconfirmed("the model has no last layer")
    if (other := _given_otherwise(session, claim.token, claim.number, "")) is not None:
        return other
    name, last = matrices[-1]
    said = f"the tokenizer gives {claim.number} for `{claim.token}`, and `{name}`, the last layer, has {len(last)} rows"
    return confirmed(said) if claim.number >= len(last) else refuted(said)


def probe_number(session: Session, claim: IdIsNoToken) -> Verdict:
    """Load the tokenizer: confirmed if none of its tokens has the id."""
    session.begin("loading the tokenizer")
    try:
        vocabulary = vocabulary_of(session, session.target)
    except Exception as error:
        return unconfirmed(f"{_TOKENIZER_FAILS} {described(error)}")
    token = next((token for token, number in vocabulary.items() if number == claim.number), None)
    if token is not None:
        return refuted(f"{claim.number} is `{token}`")
    return confirmed(f"the tokenizer gives ids up to {max(vocabulary.values())}, and {claim.number} is none of them")


def probe_text(session: Session, claim: IdIsText) -> Verdict:
    """Tokenize the text of an id: confirmed if that gives the id, and the token is no special one."""
    session.begin("loading the tokenizer")
    library: Any = library_of(session, "transformers")
    try:
        tokenizer = library.AutoTokenizer.from_pretrained(session.target)
        text = str(tokenizer.decode([claim.number]))
        ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    except Exception as error:
        return unconfirmed(f"{_TOKENIZER_FAILS} {described(error)}")
    if claim.number in tokenizer.all_special_ids:
        return refuted(f"{claim.number} is the special token `{text}`")
    told = f"the tokenizer gives {json.dumps(ids[:8])} for the text {json.dumps(text)}"
    return confirmed(told) if claim.number in ids else unconfirmed(told)


def probe_roles(session: Session, claim: IdsDiffer) -> Verdict:
    """Load the configurations and the tokenizer with transformers: confirmed if they have different ids for a role."""
    session.begin("loading the configurations")
    library: Any = library_of(session, "transformers")
    ids: dict[str, set[int]] = {}
    for name, loader in (
        ("the configuration", library.AutoConfig),
        ("the generation configuration", library.GenerationConfig),
        ("the tokenizer", library.AutoTokenizer),
    ):
        try:
            found = getattr(loader.from_pretrained(session.target), f"{claim.role}_token_id", None)
        except Exception:
            continue
        numbers = found if isinstance(found, list) else [found]
        if known := {number for number in numbers if isinstance(number, int)}:
            ids[name] = known
    told = "; ".join(f"{name} has {', '.join(map(str, sorted(numbers)))}" for name, numbers in ids.items())
    if len(ids) < 2:
        return unconfirmed(f"fewer than two of them could be loaded and have a `{claim.role}_token_id`")
    if set.intersection(*ids.values()):
        return refuted(told)
    return confirmed(told)


def probe_end(session: Session, _: EndSuppressed) -> Verdict:
    """Suppress the ids of the generation configuration as `generate` does: confirmed if no end keeps a score."""
    session.begin("loading the generation configuration")
    library: Any = library_of(session, "transformers")
    try:
        settings = library.GenerationConfig.from_pretrained(session.target)
        suppressed = list(settings.suppress_tokens or ())
        ends = settings.eos_token_id if isinstance(settings.eos_token_id, list) else [settings.eos_token_id]
        scores = torch.zeros(1, 1 + max([*ends, *suppressed]))
        scores = library.SuppressTokensLogitsProcessor(suppressed, device="cpu")(None, scores)
    except Exception as error:
        return unconfirmed(f"suppressing the ids raises {described(error)}")
    left = {end: scores[0, end].item() for end in ends}
    told = ", ".join(f"the score of the end {end} is {score}" for end, score in left.items())
    return confirmed(told) if all(score == -torch.inf for score in left.values()) else refuted(told)


def _part(session: Session, name: str) -> Part | None:
    """The model at a path within the folder. Raises UnknownModelError."""
    return next((one for one in parts_of(session.target, session) if one.name == name), None)


def _given_otherwise(session: Session, token: str, number: int, folder: str) -> Verdict | None:
    """A verdict where the tokenizer at a path within the folder gives a token another id; None where it gives it."""
    if not token:
        return None
    session.begin("loading the tokenizer")
    try:
        given = vocabulary_of(session, os.path.join(session.target, folder) if folder else session.target).get(token)
    except Exception as error:
        return unconfirmed(f"{_TOKENIZER_FAILS} {described(error)}")
    return None if given == number else refuted(f"the tokenizer gives {given} for `{token}`")


def _paddings(session: Session) -> list[object]:
    """The padding ids in the configuration and in its parts."""
    settings = settings_in(os.path.join(session.target, "config.json"))
    parts = [settings, *(one for one in settings.values() if isinstance(one, dict))]
    return [part[_PADDING] for part in parts if _PADDING in part]
