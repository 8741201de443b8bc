"""Codecs of public packages: objects whose number of rows per codebook is known without their source."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow.domain import NONE, UNKNOWN, Constant, Real, Site, Tensor, size_of, text
from modellint.flow.heap import Shell
from modellint.flow.theory import Foreign
from modellint.graph.immutable import dataclass
from modellint.graph.size import Size
from modellint.knowledge import codecs
from modellint.link.classes import calls

if TYPE_CHECKING:
    from modellint.flow.domain import Arguments, Atoms
    from modellint.flow.frame import Frame
    from modellint.flow.lookups import Lookups
    from modellint.graph.value import Value
    from modellint.knowledge.codecs import Codec

#: The attribute under which a codec keeps its configuration.
_CONFIGURATION = "config"


@dataclass(frozen=True, slots=True)
class CodecObject(Foreign):
    """A codec or a `part` of one (`quantizer`), made at `made`; `source` states the `rows` of each codebook."""

    codec: Codec
    made: Site
    rows: Size
    source: str
    part: str = ""

    def __hash__(self) -> int:
        return hash((self.codec.name, self.made, self.rows, self.part))

    def truth(self) -> bool | None:
        return True

    def attribute(self, name: str) -> Atoms:
        """The value of `codec.name`: a part that looks up codes, the number of rows, or unknown."""
        if name == self.codec.size and self.rows.constant is not None:
            return (Constant(self.rows.constant),)
        path = f"{self.part}.{name}" if self.part else name
        is_part = path in self.codec.parts or name == _CONFIGURATION
        return (CodecObject(self.codec, self.made, self.rows, self.source, path),) if is_part else UNKNOWN

    def takes(self, name: str) -> tuple[int, str] | None:
        """The argument of a method whose elements are looked up; None if it looks up none."""
        return self.codec.takes.get(f"{self.part}.{name}" if self.part else name)


def make_codec(name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
    """The result of calling `name`, if it makes a codec or the configuration of one; else None."""
    checkpoint = text(arguments.argument(0, "pretrained_model_name_or_path"))
    codec = codecs.made_by(name)
    if codec is None and name.endswith(".from_pretrained") and name.partition(".")[0] in codecs.PACKAGES:
        codec = codecs.of_checkpoint(checkpoint)
    if codec is None:
        return _configuration(name, arguments, frame, value)
    if frame.function is None:
        return UNKNOWN
    known = codecs.published(checkpoint) if name.endswith(".from_pretrained") else None
    if known is not None:
        rows: Size | None = Size.of(known[0])
    elif name in (codec.name, f"{codec.name}.from_config"):
        rows = _rows_from_arguments(codec, arguments)
    else:
        rows = None if codecs.differs(codec) else Size.of(codec.rows)
    if rows is None:
        return UNKNOWN
    return (CodecObject(codec, Site(value, frame.function), rows, codec.source if known is None else known[1]),)


def _rows_from_arguments(codec: Codec, arguments: Arguments) -> Size | None:
    """The number of rows from a constructor's arguments, or its default; None if unknown."""
    given = arguments.keywords.get(codec.argument)
    if codec.argument == _CONFIGURATION:
        given = given or arguments.argument(0, _CONFIGURATION)
        stated = [atom.get(codec.size) for atom in given or () if isinstance(atom, Shell)]
        return size_of(stated[0]) if len(stated) == 1 and given is not None and len(given) == 1 else None
    if given is not None:
        return size_of(given)
    return Size.of(codec.rows) if arguments.is_complete and not arguments.positional else None


def _configuration(name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
    """The result of `MimiConfig(codebook_size=1024)`; None for other callees."""
    codec = codecs.configured_by(name)
    if codec is None or not arguments.is_complete:
        return None
    found = Shell("namespace", value, (*frame.trail, id(value)))
    found.function = frame.function
    found.set(codec.size, arguments.keywords.get(codec.size) or (Constant(codec.rows),))
    return (found,)


def call_method(
    lookups: Lookups, atom: CodecObject, name: str, arguments: Arguments, frame: Frame, value: Value
) -> Atoms:
    """The result of `codec.name(…)`, with its look-up noted."""
    if name in calls.SAME or name in ("eval", "remove_weight_norm"):
        return (atom,)
    taken = atom.takes(name)
    if taken is not None:
        index = arguments.argument(*taken) or NONE
        lookups.note_decoding(atom, index, frame, value)
        return (Tensor(real=Real(Site(value, frame.function), is_computed=True)),)
    return UNKNOWN
