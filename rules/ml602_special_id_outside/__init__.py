"""ML602: the id of a special token lies outside of the vocabulary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import claims, folders
from modellint.finding import Confidence, Finding, Related, Severity
from modellint.rule import Rule, folder_probe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.claims import Claim
    from modellint.folders import ModelFolder
    from modellint.folders.rows import Rows
    from modellint.folders.special_ids import OddValue, SpecialId
    from modellint.folders.tokenizers import Tokenizer
    from modellint.rule import Project

#: The roles that a model looks up, or compares with, whatever it is for.
_LOOKED_UP = frozenset(("pad", "sep", "cls", "mask", "unk"))
#: The role whose id must be a token's: a model may have a token of its own to begin with, but no text has its end.
_OF_TOKENIZER = "eos"
#: Input that is no text, whose places a token of its own marks.
_OTHER_INPUT = frozenset(("image", "video", "audio", "speech", "vision"))
_HARM = {
    "pad": "`nn.Embedding` refuses such a `padding_idx`, and the padding of a batch raises `IndexError`",
    "eos": "the model never gives this id, so generation goes on to the maximum length",
    "forced_eos": "the model cannot give this id",
    "bos": "generation that begins with it raises `IndexError`",
    "decoder_start": "the decoder looks it up first, and raises `IndexError`",
    "forced_bos": "the model cannot give this id",
}


class SpecialIdOutside(Rule):
    """The id of a special token lies outside of the vocabulary

    ## What it does
    Compares the ids that `config.json` and `generation_config.json` name with the rows of the embedding (in the
    weights, or `vocab_size`): `bos_token_id`, `eos_token_id` and those of `pad`, `sep`, `cls`, `mask` and
    `decoder_start`, forced ids, and the lists `suppress_tokens`, `begin_suppress_tokens`, `bad_words_ids` and
    `force_words_ids`. Parts such as `text_config` are compared with their own sizes. If `tokenizer.json` is there, an
    end above the last id of the tokenizer is reported, too, unless it is one of several.

    A value that is no number is reported, too, and an `image_token_id` (or one of sound or video) that neither the
    table nor the tokenizer has. Negative ids stand for "none". The ids of the begin and the end are compared for models
    that generate. The codes of models of sound have ids above their sizes, and are left out.

    ## Why is this bad
    Nothing tells so when the model is loaded. An end that the model cannot give lets each generation run to the maximum
    length. A padding id outside of the table raises an error at the first padded batch. Such ids remain from a base
    model's configuration when a smaller vocabulary is trained.

    ## How to fix
    Set the ids to those of the tokenizer, in both files:

    ```python
    model.config.eos_token_id = model.generation_config.eos_token_id = tokenizer.eos_token_id
    ```

    ## Confirming
    The class is built without data, and the id is looked up in a table with as many rows as its embedding; a padding
    id that `nn.Embedding` refuses confirms its finding, too. An id without a token is looked for in the tokenizer, as
    transformers loads it. A value that is no id is read by transformers, with the rest of its file and without it. Ids
    outside of a part that takes no tokens are not run.

    ## References
    - [transformers, `GenerationConfig`](https://huggingface.co/docs/transformers/main_classes/text_generation)
    """

    code = "ML602"
    name = "special-id-outside"
    severity = Severity.ERROR
    probe = staticmethod(folder_probe)

    def check_folder(self, folder: ModelFolder, project: Project) -> Iterator[Finding]:
        config = folders.mapping_of(folder, "config.json")
        for odd in folders.odd_values(folder):
            yield self._odd(folder, odd)
        if folders.hears_waveforms(config) and folders.class_rows(folder) is None:
            return
        generates = folders.generates(folder)
        yield from self._places(folder, config)
        told: set[tuple[object, object]] = set()
        named = [one for one in folders.ids_in(folder) if generates or one.role in _LOOKED_UP]
        for one in named:
            outside = self._outside(folder, one, named)
            where = (one.file, one.keys[: _length(one)])
            if outside is None or (one.role, one.id) in told or where in told:
                continue
            told.update(((one.role, one.id), where))
            yield self._finding(folder, one, outside, [other for other in named if other.file != one.file])

    def _places(self, folder: ModelFolder, config: dict[str, object]) -> Iterator[Finding]:
        """Findings about marks for other input that neither the table nor the tokenizer has."""
        table, tokenizer, document = folders.table_rows(folder), folder.tokens, folder.config
        if table is None or tokenizer is None or not tokenizer.is_complete or document is None:
            return
        for one in folders.place_ids(config):
            token = tokenizer.roles.get(one.role)
            if one.role in _OTHER_INPUT and token is None and one.id >= max(table.rows, tokenizer.count):
                yield self.finding(
                    document.place(*one.keys),
                    f"`{one.keys[-1]}` is {one.id}, but {table}, and the tokenizer has {tokenizer.count} tokens",
                    symbol=str(one.keys[-1]),
                    severity=Severity.WARNING,
                    confidence=Confidence.HIGH,
                    evidence=("no text has the mark that the model replaces",),
                    help="set it to the id of the token that the processor writes",
                    claim=claims.IdIsNoToken(document.place(*one.keys), one.id),
                )

    def _odd(self, folder: ModelFolder, odd: OddValue) -> Finding:
        import json

        document = folder.json(odd.file)
        key = ".".join(str(part) for part in odd.keys if isinstance(part, str))
        place = folder.place(odd.file) if document is None else document.place(*odd.keys)
        return self.finding(
            place,
            f"`{key}` is {json.dumps(odd.value)[:40]}, which is no id",
            symbol=key,
            confidence=Confidence.HIGH,
            evidence=("transformers refuses the configuration, or `generate` raises `TypeError`",),
            help="write the number of a token without quotes",
            claim=claims.SettingRefused(place, odd.file, key) if "." not in key else None,
        )

    def _outside(self, folder: ModelFolder, one: SpecialId, named: list[SpecialId]) -> Rows | Tokenizer | None:
        """The rows or the tokenizer that an id lies outside of; None if it lies within both, or they are unknown."""
        is_config = one.file == "config.json"
        table = folders.part_rows(folder, one.keys[:-1] if is_config else ())
        tokenizer = folder.tokens
        if table is not None and one.id >= table.rows:
            # The same token is reported for its own row.
            is_told = tokenizer is not None and any(number == one.id for _, number in tokenizer.above(table.rows))
            return None if is_told else table
        if tokenizer is None or not tokenizer.is_complete or one.role != _OF_TOKENIZER or one.id < tokenizer.count:
            return None
        if is_config and any(isinstance(key, str) for key in one.keys[:-1]):
            return None  # a part may have a tokenizer elsewhere
        others = [other for other in named if other.role == one.role and other.file == one.file]
        return None if any(other.id < tokenizer.count for other in others) or table is None else tokenizer

    def _finding(
        self, folder: ModelFolder, one: SpecialId, outside: Rows | Tokenizer, elsewhere: list[SpecialId]
    ) -> Finding:
        document = folder.json(one.file)
        key = ".".join(str(part) for part in one.keys[: _length(one)])
        is_list = one.role not in _HARM and one.role not in _LOOKED_UP
        is_table = isinstance(outside, folders.Rows)
        reason = str(outside) if isinstance(outside, folders.Rows) else f"the tokenizer has {outside.count} tokens"
        related = []
        config = folder.json("config.json")
        if isinstance(outside, folders.Rows) and outside.keys and config is not None:
            related.append(Related(config.place(*outside.keys), "the size of the table"))
        for other in elsewhere:
            place = folder.json(other.file)
            if place is not None and (other.role, other.id) == (one.role, one.id):
                related.append(Related(place.place(*other.keys), "the same id"))
        at = folder.place(one.file) if document is None else document.place(*one.keys)
        claim: Claim | None = None if is_table else claims.IdIsNoToken(at, one.id)
        if is_table and outside == folders.table_rows(folder):
            claim = claims.IdHasNoRow(at, one.id, "")
        return self.finding(
            at,
            f"`{key}` {'has the id' if len(one.keys) > _length(one) else 'is'} {one.id}, but {reason}",
            symbol=key,
            severity=Severity.WARNING if is_list or not is_table else None,
            confidence=Confidence.HIGH,
            evidence=(_HARM.get(one.role, "no text has a token of this id"),),
            related=related[:4],
            help="set it to the id that the tokenizer gives, in `config.json` and `generation_config.json`",
            claim=claim,
        )


def _length(one: SpecialId) -> int:
    """The number of keys up to the setting, without places in its list."""
    return next((count for count, key in enumerate(one.keys) if isinstance(key, int)), len(one.keys))
