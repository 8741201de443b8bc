"""Probes of findings in model folders, by the libraries that load them: transformers, safetensors and torch itself."""

from __future__ import annotations

import os
import pickle
from typing import TYPE_CHECKING, Any

import torch

from . import folder_ids, folder_settings, folder_templates
from .beside import FOLDERS
from .fitted import compare_names, differences
from .folder_checks import CannotCompareError, comparison_of
from .headers import HeaderError, content_of, tensors_below, tensors_in, tensors_of
from .published import UnknownModelError, library_of, parts_of
from .standins import StandIn, described
from .verdicts import Verdict, confirmed, quoted, refuted, unconfirmed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from modellint.claims.folders import (
        FileRefused,
        HeadDiffers,
        HeldTwice,
        LiesDeeper,
        NotWeightsOnly,
        NoWeightsFound,
        StateDiffers,
        TensorDiffers,
    )

    from .attempts import Attempt
    from .fitted import Comparison
    from .session import Session


def probe_weights(session: Session, claim: TensorDiffers) -> Verdict:
    """Build the class and compare it with the files: confirmed if a tensor is missing, unknown, or of another shape."""
    session.begin("reading the configuration")
    try:
        part = next((one for one in parts_of(session.target, session) if one.name == claim.part), None)
        if part is None:
            return unconfirmed("the model was not found in the folder")
        session.begin(f"building `{part.class_name}`")
        found = comparison_of(part)
    except (UnknownModelError, CannotCompareError) as error:
        return unconfirmed(str(error))
    if found is None:
        return unconfirmed("it has no weights")
    differing = {name for name, *_ in found.mismatched}
    is_any = not claim.tensor and (found.missing or found.mismatched or found.unexpected)
    if is_any or claim.tensor in differing or claim.tensor in found.missing or claim.tensor in found.unexpected:
        return confirmed(f"`{part.class_name}`: {differences(_beginning_with(found, claim.tensor))}")
    taken = f"`{claim.tensor}`" if claim.tensor else "all its tensors"
    return refuted(f"`{part.class_name}` takes {taken} from the files")


def _beginning_with(found: Comparison, name: str) -> Comparison:
    """The comparison with what concerns one tensor first."""
    found.mismatched.sort(key=lambda one: one[0] != name)
    for names in (found.missing, found.unexpected):
        names.sort(key=lambda one: one != name)
    return found


def probe_depth(session: Session, claim: LiesDeeper) -> Verdict:
    """Load a checkpoint and build the class: confirmed if all of its tensors lie below a key of the checkpoint."""
    session.begin(f"loading `{claim.file}`")
    try:
        content = content_of(os.path.join(session.target, claim.file))
        part = next(parts_of(session.target, session))
        model = part.compare(None).model
    except (HeaderError, UnknownModelError, StopIteration) as error:
        return unconfirmed(str(error))
    except Exception as error:
        return unconfirmed(f"building the class raises {described(error)}")
    keys = list(map(str, content)) if isinstance(content, dict) else []
    wanted = model.state_dict()
    if any(key in wanted for key in keys):
        return refuted(f"`{claim.file}` has tensors of `{part.class_name}` at its top")
    if not tensors_below(content):
        return unconfirmed(f"`{claim.file}` has no tensors")
    return confirmed(f"`{claim.file}` has the keys {quoted(keys)}, none of which is a tensor of `{part.class_name}`")


def probe_state(session: Session, claim: StateDiffers) -> Verdict:
    """Build a class and compare it with the state that code loads into it: confirmed if they differ."""
    path = os.path.join(os.path.dirname(claim.place.path), claim.file)
    session.begin(f"loading `{os.path.basename(path)}`")
    try:
        content: Any = tensors_of(path) if path.endswith(".safetensors") else content_of(path)
        for key in claim.keys:
            content = content[key]
        tensors = {str(name): one for name, one in content.items() if isinstance(one, torch.Tensor)}
    except (HeaderError, LookupError, TypeError, AttributeError) as error:
        return unconfirmed(f"the state cannot be read: {described(error)}")
    reasons: list[str] = []

    def judge(attempt: Attempt) -> Verdict | None:
        model = attempt.build()
        if not attempt.is_certain:
            reasons.append("arguments of the class had to be assumed")
            return None
        found = compare_names(model, tensors)
        told = differences(found)
        return confirmed(f"`{session.name}`: {told}") if told else refuted(f"`{session.name}` takes the state")

    return session.first_seen(session.name, judge, reasons)


def probe_head(session: Session, claim: HeadDiffers) -> Verdict:
    """Build the class that a folder names with a number of labels: confirmed if a tensor has another shape there."""
    session.begin("reading the configuration")
    try:
        part = next(parts_of(session.target, session))
        tensors = tensors_in(session.target) or {}
        library: Any = library_of(session, "transformers")
        settings = library.AutoConfig.from_pretrained(session.target, num_labels=claim.labels)
        with torch.device("meta"):
            found = compare_names(getattr(library, part.class_name)(settings), tensors)
    except (HeaderError, UnknownModelError, StopIteration) as error:
        return unconfirmed(str(error))
    except Exception as error:
        return unconfirmed(f"building the class raises {described(error)}")
    if any(name == claim.tensor for name, *_ in found.mismatched):
        told = differences(_beginning_with(found, claim.tensor))
        return confirmed(f"`{part.class_name}` with {claim.labels} labels: {told}")
    return refuted(f"`{part.class_name}` with {claim.labels} labels takes `{claim.tensor}`")


def probe_file(session: Session, claim: FileRefused) -> Verdict:
    """Read the header of a file with the library that wrote it: confirmed if it refuses, or lacks the tensor."""
    session.begin(f"reading `{claim.file}`")
    path = os.path.join(session.target, claim.file)
    if not os.path.isfile(path):
        return confirmed(f"there is no file `{claim.file}`")
    try:
        names: Iterable[str] = _names_in(session, path)
    except (HeaderError, OSError, ValueError, RuntimeError) as error:
        return confirmed(f"reading it raises {described(error)}")
    except Exception as error:  # safetensors has an error of its own, which derives from Exception
        if type(error).__name__ != "SafetensorError":
            raise
        return confirmed(f"reading it raises {described(error)}")
    if claim.tensor and claim.tensor not in set(names):
        return confirmed(f"`{claim.file}` has no tensor `{claim.tensor}`")
    return refuted(f"`{claim.file}` is read")


def _names_in(session: Session, path: str) -> Iterable[str]:
    if not path.endswith(".safetensors"):
        return tensors_of(path)
    library: Any = session.stand_ins.module("safetensors")
    if isinstance(library.safe_open, type) and issubclass(library.safe_open, StandIn):
        return tensors_of(path)
    with library.safe_open(path, framework="pt") as opened:
        names: list[str] = list(opened.keys())
    return names


def probe_twice(session: Session, claim: HeldTwice) -> Verdict:
    """Read the headers of files: confirmed if each holds the tensor."""
    session.begin(f"reading `{claim.files[0]}`")
    try:
        held = {file: set(_names_in(session, os.path.join(session.target, file))) for file in claim.files}
    except Exception as error:
        return unconfirmed(f"reading them raises {described(error)}")
    lacking = [file for file, names in held.items() if claim.tensor not in names]
    if lacking:
        return refuted(f"{quoted(lacking)} lacks `{claim.tensor}`")
    return confirmed(f"`{claim.tensor}` is in {quoted(claim.files)}")


def probe_loading(session: Session, claim: NoWeightsFound) -> Verdict:
    """Let the library load a model without weights that it finds: confirmed if it says so."""
    session.begin(f"loading `{claim.part or claim.name}`")
    path = os.path.join(session.target, claim.part) if claim.part else session.target
    try:
        cls: Any = getattr(library_of(session, claim.library), claim.name)
        cls.from_pretrained(path, local_files_only=True)
    except UnknownModelError as error:
        return unconfirmed(str(error))
    except OSError as error:
        return confirmed(f"`{claim.name}.from_pretrained` raises {described(error).replace(session.target, '.')}")
    except Exception as error:
        return unconfirmed(f"`{claim.name}.from_pretrained` raises {described(error)}")
    return refuted(f"`{claim.name}.from_pretrained` finds its weights")


def probe_pickle(session: Session, claim: NotWeightsOnly) -> Verdict:
    """Load a file with `weights_only`: confirmed if torch refuses, once more without the fake tensors of headers."""
    session.begin(f"loading `{claim.file}`")
    path = os.path.join(session.target, claim.file)
    try:
        content_of(path)
    except HeaderError as error:
        if "Unpickl" in str(error):
            return confirmed(str(error))
        try:
            torch.load(path, map_location="meta", weights_only=True)
        except (RuntimeError, pickle.UnpicklingError) as again:
            return confirmed(f"`torch.load` raises {described(again)}")
        except Exception as again:
            return unconfirmed(f"`torch.load` raises {described(again)}")
        return unconfirmed(str(error))
    return refuted("`torch.load` takes it with `weights_only`")


PROBES: dict[type, Callable[[Session, Any], Verdict]] = {
    FOLDERS.TensorDiffers: probe_weights,
    FOLDERS.LiesDeeper: probe_depth,
    FOLDERS.StateDiffers: probe_state,
    FOLDERS.HeadDiffers: probe_head,
    FOLDERS.FileRefused: probe_file,
    FOLDERS.HeldTwice: probe_twice,
    FOLDERS.NoWeightsFound: probe_loading,
    FOLDERS.NotWeightsOnly: probe_pickle,
    FOLDERS.IdHasNoRow: folder_ids.probe_row,
    FOLDERS.IdHasNoClass: folder_ids.probe_class,
    FOLDERS.IdIsNoToken: folder_ids.probe_number,
    FOLDERS.IdIsText: folder_ids.probe_text,
    FOLDERS.IdsDiffer: folder_ids.probe_roles,
    FOLDERS.EndSuppressed: folder_ids.probe_end,
    FOLDERS.SettingRefused: folder_settings.probe_setting,
    FOLDERS.LabelMissing: folder_settings.probe_label,
    FOLDERS.LabelsDiffer: folder_settings.probe_tables,
    FOLDERS.LabelsDropped: folder_settings.probe_number_of_labels,
    FOLDERS.LossUseless: folder_settings.probe_loss,
    FOLDERS.TemplateToken: folder_templates.probe_template,
    FOLDERS.TemplateName: folder_templates.probe_name,
    FOLDERS.OwnClassMissing: folder_templates.probe_own_class,
}
