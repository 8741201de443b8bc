"""ML607: a chat template names a token that the tokenizer lacks, or `auto_map` a class that the folder lacks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import claims, edits, folders
from modellint.finding import Confidence, Finding, Related, Severity
from modellint.rule import Rule, folder_probe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.folders import ModelFolder
    from modellint.folders.templates import ChatTemplate, OwnClass
    from modellint.rule import Project


class TemplateTokenUnknown(Rule):
    """A chat template or `auto_map` names something that is not there

    ## What it does
    Reads the chat templates of a folder (`chat_template` in `tokenizer_config.json`, `chat_template.jinja`,
    `chat_template.json`) as Jinja does, without rendering them. Reports

    - an error of the syntax, such as an `if` without `endif`, and a filter or a test that Jinja does not have
    - a special token (`<|im_end|>`) that the tokenizer does not have as one token, if it has others of the template. A
      template none of whose markers are tokens is left alone: the model was trained with them as text
    - another marker that is misspelt: a token of nearly the same spelling exists. Likewise a name that nothing sets
    - a file that `auto_map` names and the folder lacks (an info if the folder has no weights), or a class that the file
      does not define. Classes of another repository (`repo--file.Class`) are left alone

    ## Why is this bad
    A marker that is no token is split into several pieces, which the model never saw in this place: answers become
    worse, and nothing tells why. An error of the syntax stops each conversation. A class that is missing stops the
    loading.

    ## How to fix
    Correct the marker. If it is new, add it to the tokenizer as a special token, and train the model with it.

    ## Confirming
    transformers loads the tokenizer, which encodes the marker, and renders a short conversation. A name that nothing
    sets must be read in it. The classes of `auto_map` are loaded as `trust_remote_code=True` loads them, within the
    guard.

    ## References
    - [transformers, chat templates](https://huggingface.co/docs/transformers/chat_templating)
    """

    code = "ML607"
    name = "template-token-unknown"
    severity = Severity.WARNING
    probe = staticmethod(folder_probe)

    def check_folder(self, folder: ModelFolder, project: Project) -> Iterator[Finding]:
        for template in folders.chat_templates(folder):
            yield from self._template(folder, template)
        yield from self._own_code(folder)

    def _template(self, folder: ModelFolder, template: ChatTemplate) -> Iterator[Finding]:
        from .markers import unknown_markers, unknown_names

        read = folders.read_template(template.text)
        if read.error is not None:
            yield self.finding(
                template.place(folder, read.error.at),
                f"Jinja refuses the chat template: {read.error.reason}",
                symbol="chat_template",
                severity=Severity.ERROR,
                confidence=Confidence.HIGH,
                evidence=(f"it raises `TemplateError` for line {template.line(read.error.at)} of the template",),
                help="correct the template",
                claim=claims.TemplateToken(template.place(folder, read.error.at), ""),
            )
        for name, at, near in unknown_names(read):
            yield self.finding(
                template.place(folder, at),
                f"the chat template reads `{name}`, which nothing sets",
                symbol=name,
                confidence=Confidence.MEDIUM,
                evidence=(
                    "Jinja takes it for an empty value: loops over it do nothing, and items of it raise an error",
                ),
                help=f"did you mean `{near}`?",
                claim=claims.TemplateName(template.place(folder, at), name),
            )
        tokenizer = folder.tokens
        if tokenizer is None or not tokenizer.has_all_texts:
            return
        unknown = list(unknown_markers(read, tokenizer))
        if not unknown:
            return
        first = next((one for one in unknown if one.near is not None), unknown[0])
        known = [f"`{one}`" for one in first.known[:3]]
        others = [f"`{one.marker}`" for one in unknown if one is not first]
        yield self.finding(
            template.place(folder, first.at),
            f"the chat template writes `{first.marker}`, which is no token of the tokenizer",
            symbol=first.marker,
            confidence=Confidence.MEDIUM,
            evidence=(
                *([f"the template writes tokens of the same kind: {', '.join(known)}"] if known else []),
                *([f"{len(unknown)} markers are no tokens: also {', '.join(others[:4])}"] if others else []),
                "the tokenizer splits the text into pieces",
            ),
            help=f"did you mean `{first.near}`?" if first.near else "add it to the tokenizer as a special token",
            claim=claims.TemplateToken(template.place(folder, first.at), first.marker),
        )

    def _own_code(self, folder: ModelFolder) -> Iterator[Finding]:
        missing: dict[str, list[OwnClass]] = {}
        for one in folders.own_classes(folder):
            document = folder.json(one.file)
            if document is None:
                continue
            if one.module not in folder.names:
                missing.setdefault(one.file, []).append(one)
                continue
            text = folder.text(one.module)
            if text is not None and folders.defines(text, one.name) is False:
                yield self.finding(
                    document.place(*one.keys),
                    f"`auto_map` names `{one.name}`, which `{one.module}` does not define",
                    symbol=one.name,
                    confidence=Confidence.HIGH,
                    evidence=("transformers raises `AttributeError` with `trust_remote_code=True`",),
                    related=(Related(folder.place(one.module), "the file"),),
                    help="name a class of the file",
                    claim=claims.OwnClassMissing(document.place(*one.keys), one.reference),
                )
        has_weights = bool(folder.weight_names or folder.index_names)
        for file, entries in missing.items():
            document, first = folder.json(file), entries[0]
            near = edits.get_close_matches(first.module, [name for name in folder.names if name.endswith(".py")], n=1)
            others = sorted({one.module for one in entries} - {first.module})
            place = folder.place(file) if document is None else document.place(*first.keys)
            yield self.finding(
                place,
                f"`auto_map` names `{first.module}`, which is not in the folder",
                symbol=first.module,
                # A folder with no more than a tokenizer may be loaded as such.
                severity=None if has_weights else Severity.INFO,
                confidence=Confidence.HIGH,
                evidence=(
                    *([f"also missing: {', '.join(f'`{name}`' for name in others)}"] if others else []),
                    "transformers raises `OSError` with `trust_remote_code=True`",
                ),
                help=f"did you mean `{near[0]}`?" if near else "add the file, or remove the entry",
                claim=claims.OwnClassMissing(place, first.reference),
            )
