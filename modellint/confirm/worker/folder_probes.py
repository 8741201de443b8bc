"""Probes of findings in model folders, by the libraries that load them: transformers, safetensors and torch itself."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from .beside import FOLDERS
from .fitted import differences
from .folder_checks import CannotCompareError, comparison_of, lookup_text, rows_of, vocabulary_of
from .headers import HeaderError, tensors_of
from .published import UnknownModelError, library_of, parts_of
from .standins import StandIn, described
from .verdicts import Verdict, confirmed, refuted, unconfirmed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from modellint.claims.folders import (
        FileRefused,
        IdHasNoRow,
        IdsDiffer,
        NotWeightsOnly,
        TemplateToken,
        TensorDiffers,
    )

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


def probe_row(session: Session, claim: IdHasNoRow) -> Verdict:
    """Look an id up in an embedding as large as that of the folder: confirmed if that fails."""
    session.begin("reading the configuration")
    try:
        part = next(parts_of(session.target, session), None)
        found = None if part is None else rows_of(part)
    except (UnknownModelError, CannotCompareError) as error:
        return unconfirmed(str(error))
    if found is None:
        return unconfirmed("the model has no input embedding")
    rows, name = found
    if claim.token:
        session.begin("loading the tokenizer")
        try:
            number = vocabulary_of(session, session.target).get(claim.token)
        except Exception as error:
            return unconfirmed(f"loading the tokenizer raises {described(error)}")
        if number != claim.number:
            return refuted(f"the tokenizer gives {number} for `{claim.token}`")
    if 0 <= claim.number < rows:
        return refuted(f"`{name}` has {rows} rows")
    return confirmed(lookup_text(claim.number, rows, name))


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


def probe_pickle(session: Session, claim: NotWeightsOnly) -> Verdict:
    """Load a file with `weights_only`: confirmed if torch refuses."""
    session.begin(f"loading `{claim.file}`")
    try:
        tensors_of(os.path.join(session.target, claim.file))
    except HeaderError as error:
        return confirmed(str(error)) if "Unpickl" in str(error) else unconfirmed(str(error))
    return refuted("`torch.load` takes it with `weights_only`")


def probe_template(session: Session, claim: TemplateToken) -> Verdict:
    """Tokenize a token of the chat template: confirmed if that gives several ids, or if Jinja refuses the template."""
    session.begin("loading the tokenizer")
    library: Any = library_of(session, "transformers")
    try:
        tokenizer = library.AutoTokenizer.from_pretrained(session.target)
    except Exception as error:
        return unconfirmed(f"loading the tokenizer raises {described(error)}")
    if not claim.token:
        try:
            tokenizer.apply_chat_template([{"role": "user", "content": "a"}], tokenize=False)
        except Exception as error:
            if "Template" in type(error).__name__:
                return confirmed(f"applying the template raises {described(error)}")
            return unconfirmed(f"applying the template raises {described(error)}")
        return refuted("Jinja takes the template")
    ids = tokenizer(claim.token, add_special_tokens=False)["input_ids"]
    if len(ids) == 1 and ids[0] != tokenizer.unk_token_id:
        return refuted(f"`{claim.token}` is one token, {ids[0]}")
    return confirmed(f"the tokenizer makes {len(ids)} tokens of `{claim.token}`: {json.dumps(ids[:8])}")


PROBES: dict[type, Callable[[Session, Any], Verdict]] = {
    FOLDERS.TensorDiffers: probe_weights,
    FOLDERS.IdHasNoRow: probe_row,
    FOLDERS.IdsDiffer: probe_roles,
    FOLDERS.FileRefused: probe_file,
    FOLDERS.NotWeightsOnly: probe_pickle,
    FOLDERS.TemplateToken: probe_template,
}
