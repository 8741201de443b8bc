"""Claims about folders of published models: their weights, tokenizers and templates. The place lies in the folder."""

from __future__ import annotations

from dataclasses import dataclass

from .claim import Claim


@dataclass(frozen=True, slots=True)
class IdHasNoRow(Claim):
    """The input embedding of the folder's model has no row for the id `number`.

    The folder's tokenizer gives it for the token `token`; with an empty `token`, a configuration names it.
    """

    number: int
    token: str


@dataclass(frozen=True, slots=True)
class IdsDiffer(Claim):
    """The configuration, the generation configuration and the tokenizer have different ids for `role` (`eos`)."""

    role: str


@dataclass(frozen=True, slots=True)
class FileRefused(Claim):
    """The library that wrote `file`, a path within the folder, refuses it, or the file has no tensor `tensor`."""

    file: str
    tensor: str = ""


@dataclass(frozen=True, slots=True)
class NotWeightsOnly(Claim):
    """`torch.load` with `weights_only` refuses `file`, a path within the folder."""

    file: str


@dataclass(frozen=True, slots=True)
class TensorDiffers(Claim):
    """The class that the configuration names has no tensor `tensor`, or one of another shape than the files have it.

    With an empty `tensor`, the class and the files differ in some tensor. `part` is the path of the model within the
    folder; empty for the folder itself.
    """

    tensor: str
    part: str = ""


@dataclass(frozen=True, slots=True)
class TemplateToken(Claim):
    """The chat template of the folder writes `token`, which the tokenizer splits; empty: the template is no Jinja."""

    token: str
