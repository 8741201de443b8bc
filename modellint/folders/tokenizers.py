"""The tokenizer of a folder: its tokens with the ids that it gives, and the tokens that have a role.

transformers adds to the vocabulary whatever the other files name and it lacks: tokens of `added_tokens_decoder` or
`added_tokens.json`, then special tokens. A tokenizer of the library tokenizers gives them the next ids. One that is
written in Python ("slow") takes the ids that the files state. Seen in runs of transformers 4 and 5; the source is
`PreTrainedTokenizerBase._from_pretrained`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from modellint.folders import sentencepiece, vocabularies
from modellint.folders.values import mapping_of
from modellint.folders.vocabularies import Vocabulary, as_id
from modellint.source import Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from modellint.folders.values import Documents, Keys
    from modellint.source import Place

FAST: Final = "tokenizer.json"
CONFIG: Final = "tokenizer_config.json"
SPECIAL: Final = "special_tokens_map.json"
ADDED: Final = "added_tokens.json"
#: The files of which one says that a folder has a tokenizer.
FILES: Final = frozenset((FAST, CONFIG, SPECIAL, ADDED, "vocab.json", "vocab.txt"))
_DECODER: Final = "added_tokens_decoder"
_LISTS: Final = ("additional_special_tokens", "extra_special_tokens")
#: The roles that every tokenizer of transformers knows: `SPECIAL_TOKENS_ATTRIBUTES` in its source.
ROLES: Final = ("bos", "eos", "unk", "sep", "pad", "cls", "mask")
#: The most digits of an id.
_DIGITS: Final = 11


class Token(NamedTuple):
    """A token that a file names, the id that the tokenizer gives it (None if that is unknown), and its place."""

    content: str
    id: int | None
    file: str
    keys: Keys


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """The tokens of a folder's tokenizer.

    `ids` has every token if `is_complete`; otherwise the tokenizer may give more. `count` is the number of ids that the
    vocabulary has at least, and `file` the file that says so, None if it cannot be read. `roles` are the tokens with a
    role: `bos`, `eos`, and those of the model, such as `image`. `added` are the tokens that files name beside the
    vocabulary, and `special` their texts. `has_all_texts` if no token is missing but those that a class may add.
    """

    ids: Mapping[str, int]
    count: int
    file: str | None
    is_complete: bool
    roles: Mapping[str, Token]
    added: tuple[Token, ...]
    special: frozenset[str]
    has_all_texts: bool

    def above(self, rows: int) -> list[tuple[str, int]]:
        """The tokens whose ids are not below a number of rows, by their ids."""
        found = [(token, number) for token, number in self.ids.items() if number >= rows]
        return sorted(found, key=lambda pair: (pair[1], pair[0]))

    def place(self, folder: Documents, token: str) -> Place | None:
        """The place where a file names a token; None if no file does."""
        added = next((one for one in self.added if one.content == token), None)
        if added is not None:
            document = folder.json(added.file)
            return None if document is None else document.place(*added.keys)
        if self.file is None:
            return None
        document = folder.json(self.file) if self.file.endswith(".json") else None
        if document is not None:
            keys = (("model", "vocab") if self.file == FAST else ()) + (token,)
            return document.place(*keys) if document.has(*keys) else folder.place(self.file)
        place = folder.place(self.file)
        line = self.ids[token] + 1 if self.file.endswith(".txt") else 1
        return replace(place, span=Span(line, 1, line, len(token) + 1 if line > 1 else 1))

    def text(self, number: int) -> str | None:
        """The token of an id; None if the tokenizer has none, or none that is known."""
        return next((token for token, own in self.ids.items() if own == number), None)


class _Named(NamedTuple):
    """A token that a file names, with the id that the file states, if it does."""

    content: str
    stated: int | None
    file: str
    keys: Keys


@dataclass(frozen=True, slots=True)
class _Base:
    """The vocabulary of a file, and the tokens that the same file adds.

    `is_exact` is False if the class of the tokenizer may shift the ids.
    """

    vocabulary: Vocabulary
    file: str
    added: tuple[_Named, ...] = ()
    is_fast: bool = False
    is_exact: bool = True


def read(folder: Documents) -> Tokenizer | None:
    """The tokenizer of a folder; None if no file of one is there."""
    config = mapping_of(folder, CONFIG)
    has_decoder = isinstance(config.get(_DECODER), dict)
    special = {} if has_decoder else mapping_of(folder, SPECIAL)
    stated = sorted(_of_decoder(config) if has_decoder else _of_added_tokens(folder), key=lambda one: one.stated or 0)
    roles = {**_roles(config, CONFIG), **_roles(special, SPECIAL)}
    listed = [*_in_lists(config, CONFIG), *_in_lists(special, SPECIAL)]
    base = _base(folder, config, stated)
    if base is None and not stated and not roles:
        return None
    # Only some releases add the roles of a model, such as `image_token`.
    named = [*stated, *(roles[name] for name in ROLES if name in roles), *listed]
    ids, appended = _with_named(base, stated, named)
    is_complete = base is not None and base.is_fast
    lowest = 0 if base is None else base.vocabulary.highest + 1
    highest = max((ids[one.content] for one in stated if one.content in ids), default=-1)
    every = [*(base.added if base is not None else ()), *stated, *roles.values(), *listed]
    return Tokenizer(
        ids=ids,
        count=max(lowest, highest + 1, max(ids.values(), default=-1) + 1 if is_complete else len(ids) + appended),
        file=base.file if base is not None else None,
        is_complete=is_complete,
        roles={name: Token(one.content, ids.get(one.content), one.file, one.keys) for name, one in roles.items()},
        added=tuple(Token(one.content, ids.get(one.content), one.file, one.keys) for one in every),
        special=frozenset(one.content for one in every),
        has_all_texts=base is not None and base.is_exact,
    )


def _with_named(base: _Base | None, stated: list[_Named], named: list[_Named]) -> tuple[Mapping[str, int], int]:
    """The ids with those of named tokens, and the number of tokens that are added at ids which the class decides."""
    if base is not None and base.is_fast:
        return vocabularies.with_added(base.vocabulary, (one.content for one in named)).ids, 0
    ids = dict(base.vocabulary.ids) if base is not None and base.is_exact else {}
    # The vocabulary holds special tokens itself: those that it lacks do not come from the class.
    is_plain = any(one.content in ids for one in named if one.stated is None)
    ids.update((one.content, one.stated) for one in stated if one.stated is not None)
    missing = {one.content for one in named if one.content not in ids}
    return ids, len(missing) if is_plain else 0


def _base(folder: Documents, config: Mapping[str, Any], stated: list[_Named]) -> _Base | None:
    """The vocabulary that transformers loads; None if no file has one, or the one that counts cannot be read."""
    is_served = _own_code(config)
    if FAST in folder.names and is_served is not False:
        return _of_fast(folder)
    if is_served is not None:
        return None  # the folder's own class decides
    for name, reader in (("vocab.json", _of_json), ("vocab.txt", vocabularies.of_lines)):
        if name in folder.names:
            found = _read(folder, name, reader)
            return None if found is None else _Base(found, name)
    models = sorted(name for name in folder.names if name.endswith(".model"))
    ranks = sorted(name for name in folder.names if name.endswith(".tiktoken"))
    # A `dict.txt` selects from the pieces.
    if len(models) == 1 and not ranks and "dict.txt" not in folder.names:
        return _of_pieces(folder, models[0], stated)
    if len(ranks) == 1 and not models:
        found = _read(folder, ranks[0], vocabularies.of_tiktoken)
        return None if found is None else _Base(found, ranks[0], is_exact=False)
    return None


def _of_fast(folder: Documents) -> _Base | None:
    document = folder.json(FAST)
    try:
        vocabulary, added = (None, []) if document is None else vocabularies.of_tokenizer_json(document.data)
    except ValueError:
        return None
    named = (
        _Named(one.content, one.stated, FAST, ("added_tokens", place, "content")) for place, one in enumerate(added)
    )
    return None if vocabulary is None else _Base(vocabulary, FAST, tuple(named), is_fast=True)


def _of_pieces(folder: Documents, name: str, stated: list[_Named]) -> _Base | None:
    """The pieces of a SentencePiece model, whose places are the ids if other files state these ids as well."""
    data = folder.data(name)
    try:
        pieces = None if data is None else sentencepiece.read(data)
    except ValueError:
        return None
    if pieces is None:
        return None
    ids = {piece: number for number, piece in enumerate(pieces.texts)}
    shared = [(ids[one.content], one.stated) for one in stated if one.content in ids]
    is_exact = bool(shared) and all(own == other for own, other in shared)
    return _Base(Vocabulary(ids, len(pieces.texts), len(pieces.texts) - 1), name, is_exact=is_exact)


def _own_code(config: Mapping[str, Any]) -> bool | None:
    """None if transformers has the class; True if the folder has one that tokenizers serves, False if another."""
    found = config.get("auto_map")
    if isinstance(found, dict):
        found = found.get("AutoTokenizer")
    if found is None:
        return None
    return isinstance(found, list) and len(found) > 1 and found[1] is not None


def _of_json(data: bytes) -> Vocabulary:
    found = vocabularies.parse(data)
    if isinstance(found, dict) and found and all(isinstance(value, dict) for value in found.values()):
        raise ValueError("one vocabulary for each language")
    return vocabularies.of_mapping(found)


def _read(folder: Documents, name: str, reader: Callable[[bytes], Vocabulary]) -> Vocabulary | None:
    document = folder.json(name) if name.endswith(".json") else None
    data = folder.data(name) if document is None else document.data
    try:
        return None if data is None else reader(data)
    except ValueError:
        return None


def text_of(value: object) -> str | None:
    """The text of a token, which is written as a string or as a mapping with `content`; None if it has none."""
    content = value.get("content") if isinstance(value, dict) else value
    return content if isinstance(content, str) and content else None


def _of_decoder(config: Mapping[str, Any]) -> Iterator[_Named]:
    for key, entry in config[_DECODER].items():
        content = text_of(entry)
        if content is not None and key.isascii() and key.isdigit() and len(key) <= _DIGITS:
            yield _Named(content, as_id(int(key)), CONFIG, (_DECODER, key))


def _of_added_tokens(folder: Documents) -> Iterator[_Named]:
    for content, number in mapping_of(folder, ADDED).items():
        stated = as_id(number)
        if stated is not None and content:
            yield _Named(content, stated, ADDED, (content,))


def _roles(document: Mapping[str, Any], file: str) -> dict[str, _Named]:
    """The tokens of the keys `bos_token` and so on, by `bos`; those of the model may stand in a mapping."""
    found = {}
    for key, value in document.items():
        content = text_of(value)
        if key.endswith("_token") and content is not None:
            found[key.removesuffix("_token")] = _Named(content, None, file, (key,))
    extra = document.get(_LISTS[1])
    for key, value in extra.items() if isinstance(extra, dict) else ():
        content = text_of(value)
        if content is not None:
            found.setdefault(key.removesuffix("_token"), _Named(content, None, file, (_LISTS[1], key)))
    return found


def _in_lists(document: Mapping[str, Any], file: str) -> Iterator[_Named]:
    for name in _LISTS:
        entries = document.get(name)
        for place, entry in enumerate(entries if isinstance(entries, list) else ()):
            content = text_of(entry)
            if content is not None:
                yield _Named(content, None, file, (name, place))
