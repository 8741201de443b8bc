"""ML603: the configurations and the tokenizer name different ids for one role."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from modellint import claims, folders
from modellint.finding import Confidence, Finding, Related, Severity
from modellint.rule import Rule, folder_probe

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from modellint.folders import ModelFolder
    from modellint.folders.special_ids import SpecialId
    from modellint.folders.tokenizers import Token, Tokenizer
    from modellint.rule import Project

#: Texts that look like special tokens: nobody may have listed them.
_BRACKETED = re.compile(r"[<\[{(|].*[>\]})|]|.*(?:eos|bos|pad|end).*", re.DOTALL | re.IGNORECASE)
#: Parts of a configuration that describe the model that generates.
_OF_TEXT = ("text_config", "llm_config", "language_config", "decoder")
#: Input that is no text, whose places a token of its own marks.
_OTHER_INPUT = frozenset(("image", "video", "audio", "speech", "vision"))
_SEQUENCE = re.compile(r"\w+ForSequenceClassification")


class SpecialIdsDisagree(Rule):
    """A configuration and the tokenizer name different ids for one role

    ## What it does
    Compares the ids of special tokens in `config.json` and `generation_config.json` with those that the tokenizer gives
    the tokens of the same roles. Reports

    - an end that the tokenizer has and generation does not stop at: `eos_token_id` of `generation_config.json`, or of
      `config.json` without one. It may be a list
    - a padding id that differs from the tokenizer's in a model with a decoder that is trained on padded targets, and in
      a classifier that looks for the last token which is no padding
    - a begin or padding id of generation that is an ordinary token, such as a word. Another begin is an info
    - an id of a model's own token, such as `image_token_id`, that differs from the id of the tokenizer's `image_token`,
      or is a piece of text
    - a list `suppress_tokens` with all ends, which generation then cannot give
    - in other models, a padding id that differs from the tokenizer's: an info

    Generation may stop at another token than the tokenizer's on purpose: at the end of a line, at the token that
    separates texts, or at the special token that ends a turn in the chat template. All are left alone, and so are
    differences between the two configurations, and ids of a part (`text_config`) that agree.

    ## Why is this bad
    Nothing tells so. A chat model that does not stop at the end of its turn goes on with the next one. A classifier
    that takes padding for text reads its answer from the wrong position. A model that waits for another image token
    than the processor writes raises an error, or sees no image.

    ## How to fix
    Set the ids to those of the tokenizer:

    ```python
    model.config.pad_token_id = tokenizer.pad_token_id
    model.generation_config.eos_token_id = [tokenizer.eos_token_id, tokenizer.convert_tokens_to_ids("<|im_end|>")]
    ```

    ## Confirming
    transformers loads both configurations and the tokenizer. The finding is confirmed if no id of the role is in all
    of them, if plain text gives the id of an image, or if the list of suppressed ids leaves no score to any end.

    ## References
    - [transformers, generation strategies](https://huggingface.co/docs/transformers/generation_strategies)
    """

    code = "ML603"
    name = "special-ids-disagree"
    severity = Severity.WARNING
    probe = staticmethod(folder_probe)

    def check_folder(self, folder: ModelFolder, project: Project) -> Iterator[Finding]:
        tokenizer = folder.tokens
        config = folders.mapping_of(folder, "config.json")
        if tokenizer is None or folders.hears_waveforms(config) or folders.has_codes(config):
            return
        for one in folders.place_ids(config):
            token = tokenizer.roles.get(one.role)
            if token is not None and token.id is not None and token.id != one.id:
                yield self._finding(
                    folder, one, token, "the model looks for its own id where the tokenizer writes the other one"
                )
            elif token is None and one.role in _OTHER_INPUT and _is_ordinary(tokenizer, one.id):
                yield self._place(folder, tokenizer, one)
        table = folders.table_rows(folder)
        named = _by_role(folder, tokenizer.roles)
        # Ids without a row, of either side, are mistakes of their own.
        if table is not None and any(one.id >= table.rows for ids in named.values() for one in ids):
            return
        known = {
            role: token
            for role, token in tokenizer.roles.items()
            if token.id is not None and (table is None or token.id < table.rows)
        }
        if folders.generates(folder):
            has_decoder = config.get("is_encoder_decoder") is True or "decoder" in config
            yield from self._generation(folder, tokenizer, known, named, has_decoder=has_decoder)
        if "pad" in known:
            yield from self._padding(folder, config, tokenizer, known["pad"], named)

    def _generation(
        self,
        folder: ModelFolder,
        tokenizer: Tokenizer,
        known: dict[str, Token],
        named: _Named,
        *,
        has_decoder: bool,
    ) -> Iterator[Finding]:
        """Findings about the begin and the end of generation."""
        told = ""
        suppressed = named.get(("generation_config.json", "suppress_tokens"), [])
        ends = named.get(("generation_config.json", "eos")) or named.get(("config.json", "eos")) or []
        end = known.get("eos")
        if ends and end is not None and all(one.id != end.id for one in ends):
            texts = [tokenizer.text(one.id) for one in ends]
            if not _is_on_purpose(folder, tokenizer, texts):
                told = end.content
                yield self._finding(folder, ends[0], end, "generation does not stop at the end that the tokenizer has")
        ids = {one.id for one in suppressed}
        if ends and all(one.id in ids for one in ends):
            yield self._end_in_list(folder, next(one for one in suppressed if one.id == ends[0].id))
        begins = named.get(("generation_config.json", "bos")) or named.get(("config.json", "bos")) or []
        begin = known.get("bos")
        if (
            begin is not None
            and not has_decoder
            and begin.content != told
            and begins
            and begins[0].id != begin.id
            and tokenizer.text(begins[0].id) is not None
        ):
            word = tokenizer.text(begins[0].id)
            severity = None if _is_ordinary(tokenizer, begins[0].id) else Severity.INFO
            harm = f"generation without a prompt begins with `{word}`"
            yield self._finding(folder, begins[0], begin, harm, severity)

    def _end_in_list(self, folder: ModelFolder, one: SpecialId) -> Finding:
        document = folder.json(one.file)
        place = folder.place(one.file) if document is None else document.place(*one.keys)
        return self.finding(
            place,
            f"`suppress_tokens` has {one.id}, the only `eos_token_id`",
            symbol="suppress_tokens",
            confidence=Confidence.HIGH,
            evidence=("generation cannot give the end, and goes on to the maximum length",),
            help="remove the id from the list",
            claim=claims.EndSuppressed(place),
        )

    def _place(self, folder: ModelFolder, tokenizer: Tokenizer, one: SpecialId) -> Finding:
        document = folder.json(one.file)
        word = tokenizer.text(one.id)
        place = folder.place(one.file) if document is None else document.place(*one.keys)
        return self.finding(
            place,
            f"`{one.keys[-1]}` is {one.id}, which is the piece of text `{word}` in the tokenizer",
            symbol=str(one.keys[-1]),
            confidence=Confidence.MEDIUM,
            evidence=(f"each `{word}` of a text is taken for the place of other input",),
            help="set it to the id of the token that the processor writes",
            claim=claims.IdIsText(place, one.id),
        )

    def _padding(
        self, folder: ModelFolder, config: dict[str, object], tokenizer: Tokenizer, pad: Token, named: _Named
    ) -> Iterator[Finding]:
        """Findings about padding, by what the model does with it."""
        own = next(iter(named.get(("config.json", "pad"), ())), None)
        generated = next(iter(named.get(("generation_config.json", "pad"), ())), own)
        if config.get("is_encoder_decoder") is True and own is not None and own.id != pad.id:
            yield self._finding(
                folder, own, pad, "the decoder's input is made with the first id, and its targets with the second"
            )
        elif folders.generates(folder):
            if generated is not None and generated.id != pad.id and _is_ordinary(tokenizer, generated.id):
                word = tokenizer.text(generated.id)
                yield self._finding(folder, generated, pad, f"a text that ends early is filled with `{word}`")
        elif own is not None and own.id != pad.id:
            names = config.get("architectures")
            is_classifier = isinstance(names, list) and any(_SEQUENCE.fullmatch(str(name)) for name in names)
            if is_classifier and "cls" not in tokenizer.roles and "eos" in tokenizer.roles:
                yield self._finding(folder, own, pad, "the classifier reads the last token that is not this id")
            else:
                word = tokenizer.text(own.id)
                yield self._finding(
                    folder,
                    own,
                    pad,
                    f"the row of `{word}` is never trained, and that of the padding is" if word is not None else "",
                    Severity.INFO,
                )

    def _finding(
        self, folder: ModelFolder, one: SpecialId, token: Token, harm: str, severity: Severity | None = None
    ) -> Finding:
        document, other = folder.json(one.file), folder.json(token.file)
        key = ".".join(str(part) for part in one.keys if isinstance(part, str))
        place = folder.place(one.file) if document is None else document.place(*one.keys)
        return self.finding(
            place,
            f"`{key}` is {one.id}, but the tokenizer gives its `{one.role}_token` `{token.content}` the id {token.id}",
            symbol=key,
            severity=severity,
            confidence=Confidence.HIGH,
            evidence=(harm,) if harm else (),
            related=() if other is None else (Related(other.place(*token.keys), f"`{token.content}`"),),
            help=f"set it to {token.id}, or name the other token in `{token.file}`",
            claim=claims.IdsDiffer(place, one.role) if len(one.keys) == 1 else None,
        )


_Named = dict[tuple[str, str], list["SpecialId"]]


def _by_role(folder: ModelFolder, known: Mapping[str, Token]) -> _Named:
    """The ids by file and role: those of the top of `config.json`, or else of the part that generates."""
    found: _Named = {}
    nested: _Named = {}
    agreed = set()
    for one in folders.ids_in(folder):
        keys = [key for key in one.keys if isinstance(key, str)]
        if len(keys) == 1:
            found.setdefault((one.file, one.role), []).append(one)
        elif len(keys) == 2 and keys[0] in _OF_TEXT:
            nested.setdefault((one.file, one.role), []).append(one)
            if one.role in known and known[one.role].id == one.id:
                agreed.add(one.role)
    # Two models have ids of their own, and the one that writes the text agrees.
    inner = {role for role in agreed if ("config.json", role) in found}
    return {key: ids for key, ids in {**nested, **found}.items() if key[1] not in inner}


def _is_ordinary(tokenizer: Tokenizer, number: int) -> bool:
    """True if the token of an id is a piece of text, for certain."""
    text = tokenizer.text(number)
    is_known = tokenizer.is_complete and text is not None and text not in tokenizer.special
    return is_known and text is not None and _BRACKETED.fullmatch(text) is None


def _is_on_purpose(folder: ModelFolder, tokenizer: Tokenizer, texts: list[str | None]) -> bool:
    """True if generation may stop at other tokens on purpose.

    These are the end of a line, the token that separates texts, and one that ends a turn of a chat.
    """
    if any(text is None or text in ("Ċ", "\n", "<0x0A>", "▁\n", "ĊĊ") for text in texts):
        return True
    separator = tokenizer.roles.get("sep")
    if separator is not None and separator.content in texts:
        return True
    written = " ".join(template.text for template in folders.chat_templates(folder))
    return any(text is not None and text in tokenizer.special and text in written for text in texts)
