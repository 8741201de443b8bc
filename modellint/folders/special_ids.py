"""The ids that a configuration names for special tokens, with the keys that they stand at.

The keys are those of transformers' `PreTrainedConfig` and `GenerationConfig`. A negative id is a convention of many
models for "none", and is left out.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from modellint.folders.values import mapping_of
from modellint.folders.vocabularies import as_id

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from modellint.folders.values import Documents, Keys

CONFIG: Final = "config.json"
GENERATION: Final = "generation_config.json"
#: Roles of tokens that a model looks up, or generates, like any other.
_ROLE = re.compile(r"((?:decoder_|forced_|encoder_)?(?:bos|eos|pad|sep|cls|mask|unk|start)|decoder_start)_token_ids?")
#: Places that other input takes: some classes replace these ids before they look any up.
_PLACE = re.compile(r"(\w+?)_token_(?:id|index)")
_LISTS: Final = ("suppress_tokens", "begin_suppress_tokens", "bad_words_ids", "force_words_ids", "forced_decoder_ids")
_GENERATES = re.compile(r"\w*(?:CausalLM|LMHead|ConditionalGeneration|ForSeq2Seq|EncoderDecoder|Translation)\w*")
#: Parts that other parts of a configuration surround.
_DEEPEST: Final = 4


class SpecialId(NamedTuple):
    """An id that a file names: its role (`eos`, `decoder_start`, or a list's name), and the keys that lead to it."""

    role: str
    id: int
    file: str
    keys: Keys


class OddValue(NamedTuple):
    """A value that stands where an id belongs, and the keys that lead to it."""

    value: object
    file: str
    keys: Keys


def ids_in(folder: Documents) -> Iterator[SpecialId]:
    """The ids of special tokens that the two configurations of a folder name, the parts of the first included."""
    yield from _of(mapping_of(folder, CONFIG), CONFIG, ())
    yield from _of(mapping_of(folder, GENERATION), GENERATION, ())


def _of(config: Mapping[str, Any], file: str, keys: Keys) -> Iterator[SpecialId]:
    for key, value in config.items():
        role = _ROLE.fullmatch(key)
        if role is not None:
            yield from _ids(role[1], value, file, (*keys, key))
        elif key in _LISTS:
            yield from _ids(key, value, file, (*keys, key), is_pairs=key == _LISTS[-1])
        elif isinstance(value, dict) and len(keys) < _DEEPEST and file == CONFIG:
            yield from _of(value, file, (*keys, key))


def _ids(role: str, value: object, file: str, keys: Keys, *, is_pairs: bool = False) -> Iterator[SpecialId]:
    """The ids of a value: a number, a list, or a list of lists. In pairs, the first number is a position."""
    number = as_id(value)
    if number is not None:
        yield SpecialId(role, number, file, keys)
    elif isinstance(value, list) and len(keys) < 2 * _DEEPEST:
        for place, entry in enumerate(value):
            if is_pairs and isinstance(entry, list):
                number = as_id(entry[1]) if len(entry) == 2 else None
                if number is not None:
                    yield SpecialId(role, number, file, (*keys, place, 1))
            else:
                yield from _ids(role, entry, file, (*keys, place))


def odd_values(folder: Documents) -> Iterator[OddValue]:
    """The values of special tokens that are no ids, such as a number in quotes."""
    for file in (CONFIG, GENERATION):
        yield from _odd(mapping_of(folder, file), file, ())


def _odd(config: Mapping[str, Any], file: str, keys: Keys) -> Iterator[OddValue]:
    for key, value in config.items():
        if _ROLE.fullmatch(key) is not None:
            listed = value if isinstance(value, list) else [value]
            for number, one in enumerate(listed):
                if one is not None and type(one) is not int:
                    place = (number,) if isinstance(value, list) else ()
                    yield OddValue(one, file, (*keys, key, *place))
                    break
        elif isinstance(value, dict) and len(keys) < _DEEPEST and file == CONFIG:
            yield from _odd(value, file, (*keys, key))


def place_ids(config: Mapping[str, Any]) -> Iterator[SpecialId]:
    """The ids of a model's own tokens in `config.json`, such as `image`, which mark places for other input."""
    for key, value in config.items():
        match, number = _PLACE.fullmatch(key), as_id(value)
        if match is not None and number is not None and _ROLE.fullmatch(key) is None:
            yield SpecialId(match[1], number, CONFIG, (key,))


def generates(folder: Documents) -> bool:
    """True if a model generates tokens, as its architecture or a configuration of generation says."""
    if mapping_of(folder, GENERATION):
        return True
    names = mapping_of(folder, CONFIG).get("architectures")
    return isinstance(names, list) and any(isinstance(name, str) and _GENERATES.fullmatch(name) for name in names)
