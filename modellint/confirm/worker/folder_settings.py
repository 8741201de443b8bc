"""Probes of settings and labels in model folders: configurations are read by transformers, with a setting and without.

Labels are those of the configuration as the library has it, whatever the file says.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import torch

from .beside import FOLDERS
from .published import UnknownModelError, library_of, settings_in
from .standins import described
from .verdicts import Verdict, confirmed, quoted, refuted, unconfirmed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from modellint.claims.folders import LabelMissing, LabelsDiffer, LabelsDropped, LossUseless, SettingRefused

    from .session import Session

_CONFIG = "config.json"
_LABELS = "id2label"
#: The settings that are no ids of tokens.
_OF_LABELS = (_LABELS, "problem_type")


def probe_setting(session: Session, claim: SettingRefused) -> Verdict:
    """Read a configuration with a setting and without it: confirmed if only the setting makes that fail.

    Ids of a generation configuration are made tensors, as `generate` does.
    """
    session.begin(f"reading `{claim.file}`")
    try:
        settings = settings_in(os.path.join(session.target, claim.file))
        library: Any = library_of(session, "transformers")
        if claim.key not in settings:
            return refuted(f"`{claim.file}` has no `{claim.key}`")
        kind = library.GenerationConfig if claim.file != _CONFIG else _class_of(library, settings)
        _read(kind, {key: value for key, value in settings.items() if key != claim.key})
    except UnknownModelError as error:
        return unconfirmed(str(error))
    except Exception as error:
        return unconfirmed(f"without `{claim.key}`, reading `{claim.file}` raises {described(error)}")
    try:
        found = _read(kind, settings)
    except Exception as error:
        return confirmed(f"`{kind.__name__}` raises {described(error)}")
    value = getattr(found, claim.key, None)
    if claim.key not in _OF_LABELS:
        ids = list(_flat(value))
        try:
            torch.tensor(ids, dtype=torch.long)
        except (TypeError, ValueError, RuntimeError) as error:
            return confirmed(f"`generate` makes a tensor of `{claim.key}`, which raises {described(error)}")
        if any(type(one) is not int for one in ids):
            return unconfirmed(f"`generate` rounds what is no whole number: {ids[:4]}")
    return refuted(f"`{kind.__name__}` takes `{claim.key}`")


def probe_label(session: Session, claim: LabelMissing) -> Verdict:
    """Look a class up in the labels: confirmed if the model has the class and `id2label` no label for it."""
    found = _configuration(session)
    if isinstance(found, Verdict):
        return found
    number = len(found.id2label)
    if claim.number >= number:
        return unconfirmed(f"the model has {number} classes")
    try:
        return refuted(f"`id2label[{claim.number}]` is `{found.id2label[claim.number]}`")
    except KeyError as error:
        return confirmed(f"of {number} classes, `id2label[{claim.number}]` raises {described(error)}")


def probe_tables(session: Session, claim: LabelsDiffer) -> Verdict:
    """Encode a label and decode its id: confirmed if that gives another label, or none."""
    found = _configuration(session)
    if isinstance(found, Verdict):
        return found
    number = found.label2id.get(claim.label)
    back = found.id2label.get(number)
    told = f"`label2id` gives `{claim.label}` the id {number}, and `id2label` gives {number} "
    told += "no label" if back is None else f"the label `{back}`"
    if number is None:
        return unconfirmed(f"`label2id` has no `{claim.label}` once the library has read it")
    return refuted(told) if back == claim.label else confirmed(told)


def probe_number_of_labels(session: Session, _: LabelsDropped) -> Verdict:
    """Read the configuration: confirmed if the library has another number of labels, or drops those of the file."""
    said = settings_in(os.path.join(session.target, _CONFIG))
    found = _configuration(session)
    if isinstance(found, Verdict):
        return found
    number = said.get("num_labels")
    if found.num_labels != number:
        return confirmed(f"`num_labels` is {number} in the file, and {found.num_labels} once it is read")
    labels = said.get(_LABELS)
    lost = [one for one in labels.values() if one not in found.id2label.values()] if isinstance(labels, dict) else []
    if lost:
        return confirmed(f"once it is read, `id2label` has {len(found.id2label)} labels, and lacks {quoted(lost)}")
    return refuted(f"once it is read, there are {found.num_labels} labels")


def probe_loss(session: Session, claim: LossUseless) -> Verdict:
    """Compute the library's loss of made-up outputs: confirmed if the kind of problem makes that fail, or it is zero.

    Releases that refuse the kind of problem when they read it confirm the claim, too.
    """
    found = _configuration(session)
    if isinstance(found, Verdict):
        return probe_setting(session, FOLDERS.SettingRefused(claim.place, _CONFIG, "problem_type"))
    losses: Any = library_of(session, "transformers.loss.loss_utils")
    problem, number = found.problem_type, found.num_labels
    outputs = torch.linspace(-3, 3, 4 * number).view(4, number).requires_grad_()
    labels = torch.zeros(4, dtype=torch.long)
    try:
        loss = losses.ForSequenceClassificationLoss(labels, outputs, found)
    except Exception as error:
        told = f"the loss of `{problem}` raises {described(error)}"
        found.problem_type = None
        is_due = _has_loss(losses, labels, outputs, found)
        return confirmed(told) if is_due else unconfirmed(told)
    (gradient,) = torch.autograd.grad(loss, outputs)
    told = f"the loss of `{problem}` for {number} label{'' if number == 1 else 's'} is {loss.item():g}"
    told += f", and its gradient {gradient.abs().max().item():g} at most"
    return confirmed(told) if loss.item() == 0 and not gradient.any() else refuted(told)


def _flat(value: Any) -> Iterator[Any]:
    """The ids in nested lists."""
    if isinstance(value, list | tuple):
        for one in value:
            yield from _flat(one)
    else:
        yield value


def _has_loss(losses: Any, labels: torch.Tensor, outputs: torch.Tensor, settings: Any) -> bool:
    try:
        losses.ForSequenceClassificationLoss(labels, outputs, settings)
    except Exception:
        return False
    return True


def _class_of(library: Any, settings: Mapping[str, Any]) -> Any:
    """The class of a configuration. Raises UnknownModelError."""
    try:
        return type(library.AutoConfig.for_model(settings.get("model_type")))
    except ValueError as error:
        raise UnknownModelError(described(error)) from None


def _read(kind: Any, settings: Mapping[str, Any]) -> Any:
    return kind.from_dict(dict(settings))


def _configuration(session: Session) -> Any:
    """The configuration of the folder as transformers reads it; a verdict where it does not."""
    session.begin(f"reading `{_CONFIG}`")
    library: Any = library_of(session, "transformers")
    try:
        return library.AutoConfig.from_pretrained(session.target)
    except Exception as error:
        return unconfirmed(f"reading `{_CONFIG}` raises {described(error)}")
