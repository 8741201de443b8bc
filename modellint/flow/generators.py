"""Models of `transformers` that draw ids, with the number of classes from their configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow.domain import UNKNOWN, Ids, Site, Tensor, size_of
from modellint.flow.theory import Foreign
from modellint.graph.immutable import dataclass
from modellint.link.classes import calls

if TYPE_CHECKING:
    from modellint.flow.domain import Arguments, Atoms
    from modellint.flow.frame import Frame
    from modellint.graph.size import Size
    from modellint.graph.value import Value

#: The library; the argument for the number of classes, the method that draws, and its arguments that exclude ids.
LIBRARY = "transformers"
_CLASSES, _DRAWS = "vocab_size", "generate"
_BARS = frozenset(
    "logits_processor suppress_tokens bad_words_ids prefix_allowed_tokens_fn generation_config constraints".split()
)
_RETURNS = "return_dict_in_generate"


@dataclass(frozen=True, slots=True)
class Generator(Foreign):
    """A model whose head has `classes` classes, as `stated`; or its configuration (unless `is_model`)."""

    classes: Size
    stated: Site
    is_model: bool = False

    def __hash__(self) -> int:
        return hash((self.classes, self.stated, self.is_model))

    def truth(self) -> bool | None:
        return True


def make_generator(name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
    """The object that a class makes: a configuration with a number of classes, or a model of one; else None."""
    told = arguments.keywords.get(_CLASSES)
    classes = size_of(told) if told is not None else None
    if classes is not None and frame.function is not None and arguments.is_complete:
        return (Generator(classes, Site(value, frame.function)),)
    given = arguments.argument(0, "config") or ()
    known = [atom for atom in given if isinstance(atom, Generator) and not atom.is_model]
    if not known or len(known) < len(given) or len({atom.classes for atom in known}) > 1:
        return None
    return None if name.endswith(".from_pretrained") else (Generator(known[0].classes, known[0].stated, is_model=True),)


def call_method(atom: Generator, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms:
    """The result of a method: `generate` gives ids below the number of classes, unless arguments exclude some."""
    if name in calls.SAME or name == "eval":
        return (atom,)
    if not atom.is_model or name != _DRAWS or not arguments.is_complete or frame.function is None:
        return UNKNOWN
    if _RETURNS in arguments.keywords or not _BARS.isdisjoint(arguments.keywords):
        return UNKNOWN
    return (Tensor(ids=Ids(atom.classes, Site(value, frame.function), atom.stated)),)
