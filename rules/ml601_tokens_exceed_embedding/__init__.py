"""ML601: a tokenizer that gives ids for which the model has no row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import claims, folders
from modellint.finding import Confidence, Finding, Related, Severity
from modellint.rule import Rule, folder_probe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.folders import ModelFolder
    from modellint.folders.rows import Rows
    from modellint.folders.tokenizers import Tokenizer
    from modellint.rule import Project

#: The most tokens that a finding lists.
_MOST_TOKENS = 4


class TokensExceedEmbedding(Rule):
    """A tokenizer gives ids that the embedding has no row for

    ## What it does
    Compares the ids that a folder's tokenizer gives with the rows of the model's embedding. The ids are those that
    transformers and tokenizers give when they load the files: an added token gets the next free id, whatever `id` its
    file states. The rows are those of the weights, or `vocab_size` of `config.json`. More rows than ids are fine.

    In a model of sound that learns by CTC, tokens are classes: the vocabulary is compared with `vocab_size`. In a
    pipeline of diffusers, each tokenizer is compared with its text encoder. A token with a role of its own model, such
    as `image_token`, is left out: it marks a place, and the model replaces its id.

    The finding is a warning if the mask token is the only one without a row.

    ## Why is this bad
    The first text that has such a token ends with `IndexError: index out of range in self`, on a GPU with a device-side
    assertion. A padding token that somebody added does so in the first batch of unequal lengths.

    ## How to fix
    Give the embedding a row for each token before the model is saved: `model.resize_token_embeddings(len(tokenizer))`.
    Or leave the token out, and use one that exists, such as the end of the text for padding.

    ## Confirming
    transformers loads the tokenizer, and the class that `config.json` names is built without data. The finding is
    confirmed if the id that the tokenizer gives cannot be looked up in a table with so many rows, or if the last layer
    has no row for it.

    ## References
    - [transformers, `resize_token_embeddings`](https://huggingface.co/docs/transformers/main_classes/model)
    """

    code = "ML601"
    name = "tokens-exceed-embedding"
    severity = Severity.ERROR
    probe = staticmethod(folder_probe)

    def check_folder(self, folder: ModelFolder, project: Project) -> Iterator[Finding]:
        if folder.tokens is not None:
            yield from self._compare(folder, folder.tokens, folder, folders.table_rows(folder))
            yield from self._classes(folder, folder.tokens)
        for name, component in folder.components.items():
            part = name.replace("tokenizer", "text_encoder")
            encoder = folder.components.get(part) if part != name else None
            # A component with a configuration of its own is checked by itself.
            if encoder is not None and component.tokens is not None and folders.table_rows(component) is None:
                table = folders.table_rows(encoder)
                yield from self._compare(component, component.tokens, encoder, table, (part, name))

    def _compare(
        self,
        folder: ModelFolder,
        tokenizer: Tokenizer,
        model: ModelFolder,
        table: Rows | None,
        names: tuple[str, str] = ("", ""),
    ) -> Iterator[Finding]:
        """Compare the tokens of a folder with the table of a model, which another folder may have.

        `names` are those of the model and of the tokenizer within a pipeline.
        """
        if table is None or tokenizer.count <= table.rows:
            return
        replaced = {one.id for one in folders.place_ids(folders.mapping_of(model, "config.json"))}
        replaced.update(one.id for name, one in tokenizer.roles.items() if name not in folders.ROLES and one.id)
        above = [(token, number) for token, number in tokenizer.above(table.rows) if number not in replaced]
        if above:
            yield self._tokens(folder, tokenizer, model, table, above, names)
        elif tokenizer.file is not None and not tokenizer.above(table.rows):
            yield self.finding(
                folder.place(tokenizer.file),
                f"`{tokenizer.file}` has {tokenizer.count} tokens, but {table}",
                symbol=tokenizer.file,
                confidence=Confidence.HIGH,
                evidence=(f"the last ids, up to {tokenizer.count - 1} at least, raise `IndexError` in the embedding",),
                related=_size_place(model, table),
                help="resize the embedding with `model.resize_token_embeddings(len(tokenizer))`",
            )

    def _tokens(
        self,
        folder: ModelFolder,
        tokenizer: Tokenizer,
        model: ModelFolder,
        table: Rows,
        above: list[tuple[str, int]],
        names: tuple[str, str],
    ) -> Finding:
        token, number = above[0]
        roles = [name for name, one in tokenizer.roles.items() if one.content == token]
        listed = ", ".join(f"`{text}` ({own})" for text, own in above[1 : _MOST_TOKENS + 1])
        more = f" and {len(above) - 1 - _MOST_TOKENS} more" if len(above) - 1 > _MOST_TOKENS else ""
        mask = tokenizer.roles.get("mask")
        is_mask = len(above) == 1 and mask is not None and mask.content == token
        place = tokenizer.place(folder, token) or folder.place(tokenizer.file or "config.json")
        return self.finding(
            place,
            f"the tokenizer gives `{token}` the id {number}, but {table}",
            symbol=token,
            severity=Severity.WARNING if is_mask else None,
            confidence=Confidence.HIGH if tokenizer.file is not None else Confidence.MEDIUM,
            evidence=(
                *(f"`{token}` is the `{role}_token`" for role in roles[:1]),
                *([f"{len(above)} tokens have no row: also {listed}{more}"] if listed else []),
                "looking up such an id raises `IndexError`, on a GPU a device-side assertion",
            ),
            related=_size_place(model, table),
            help="resize the embedding with `model.resize_token_embeddings(len(tokenizer))`, or remove the tokens",
            claim=claims.IdHasNoRow(place, number, token, *names),
        )

    def _classes(self, folder: ModelFolder, tokenizer: Tokenizer) -> Iterator[Finding]:
        """Compare the characters of a vocabulary with the classes of a model that learns by CTC."""
        classes = folders.class_rows(folder)
        if classes is None or tokenizer.file is None:
            return
        above = [(token, number) for token, number in tokenizer.above(classes.rows) if token not in tokenizer.special]
        if not above:
            return
        token, number = above[0]
        place = tokenizer.place(folder, token) or folder.place(tokenizer.file)
        yield self.finding(
            place,
            f"the tokenizer gives `{token}` the id {number}, but {classes}",
            symbol=token,
            confidence=Confidence.HIGH,
            evidence=("CTC loss raises `ValueError` for labels that are not below `vocab_size`",),
            related=_size_place(folder, classes),
            help="set `vocab_size` to the number of tokens before the model is made",
            claim=claims.IdHasNoClass(place, number, token),
        )


def _size_place(folder: ModelFolder, table: Rows) -> tuple[Related, ...]:
    document = folder.json("config.json")
    if table.tensor is not None:
        return (Related(folder.place(table.tensor.file), f"`{table.tensor.name}` is here"),)
    return () if document is None else (Related(document.place(*table.keys), "the size of the table"),)
