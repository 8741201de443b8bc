"""Probes of chat templates and of a folder's own code, by transformers and Jinja, which load them."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from .published import UnknownModelError, library_of
from .standins import described
from .verdicts import Verdict, confirmed, refuted, unconfirmed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from modellint.claims.folders import OwnClassMissing, TemplateName, TemplateToken

    from .session import Session

#: A conversation, and what else transformers gives a template.
_TURNS = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}, {"role": "user", "content": "c"}]
_GIVEN = {"messages": _TURNS, "tools": None, "documents": None, "add_generation_prompt": True}


def probe_template(session: Session, claim: TemplateToken) -> Verdict:
    """Tokenize a token of the chat template: confirmed if that gives several ids, or if Jinja refuses the template."""
    tokenizer = _tokenizer(session)
    if isinstance(tokenizer, Verdict):
        return tokenizer
    if not claim.token:
        try:
            tokenizer.apply_chat_template(_TURNS[:1], tokenize=False)
        except Exception as error:
            if "Template" in type(error).__name__:
                return confirmed(f"applying the template raises {described(error)}")
            return unconfirmed(f"applying the template raises {described(error)}")
        return refuted("Jinja takes the template")
    ids = tokenizer(claim.token, add_special_tokens=False)["input_ids"]
    if len(ids) == 1 and ids[0] != tokenizer.unk_token_id:
        return refuted(f"`{claim.token}` is one token, {ids[0]}")
    return confirmed(f"the tokenizer makes {len(ids)} tokens of `{claim.token}`: {json.dumps(ids[:8])}")


def probe_name(session: Session, claim: TemplateName) -> Verdict:
    """Render the chat templates: confirmed if one reads a name that neither transformers nor the template sets."""
    tokenizer = _tokenizer(session)
    if isinstance(tokenizer, Verdict):
        return tokenizer
    try:
        jinja: Any = library_of(session, "jinja2")
        sandbox: Any = library_of(session, "jinja2.sandbox")
    except UnknownModelError as error:
        return unconfirmed(str(error))
    lacking: set[str] = set()

    class Noted(jinja.Undefined):
        def __init__(self, hint: str | None = None, obj: Any = jinja.utils.missing, name: Any = None, *rest: Any):
            super().__init__(hint, obj, name, *rest)
            if obj is jinja.utils.missing:
                lacking.add(str(name))

    extensions = ["jinja2.ext.loopcontrols"]
    environment = sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=extensions, undefined=Noted
    )
    given = {**_GIVEN, **tokenizer.special_tokens_map}
    reasons = [_error_of(environment, text, given) for text in _templates(tokenizer)]
    if claim.name in lacking:
        return confirmed(f"a template reads `{claim.name}`, which is undefined")
    return unconfirmed("; ".join([f"no template read `{claim.name}` while it was rendered", *filter(None, reasons)]))


def probe_own_class(session: Session, claim: OwnClassMissing) -> Verdict:
    """Load a class of the folder's own code: confirmed if its file is not there, or does not define it."""
    session.begin("loading the folder's own code")
    module, _, name = claim.reference.rpartition(".")
    is_there = os.path.isfile(os.path.join(session.target, f"{module}.py"))
    try:
        loader: Any = library_of(session, "transformers.dynamic_module_utils")
        cls = loader.get_class_from_dynamic_module(claim.reference, session.target)
    except Exception as error:
        told = f"loading `{claim.reference}` raises {described(error).replace(session.target, '.')}"
        is_lacking = isinstance(error, AttributeError) and f"no attribute {name!r}" in str(error)
        return confirmed(told) if is_lacking or (isinstance(error, OSError) and not is_there) else unconfirmed(told)
    return refuted(f"`{claim.reference}` is `{cls.__name__}`")


def _tokenizer(session: Session) -> Any:
    """The tokenizer of the folder; a verdict where it cannot be loaded."""
    session.begin("loading the tokenizer")
    try:
        library: Any = library_of(session, "transformers")
        return library.AutoTokenizer.from_pretrained(session.target)
    except Exception as error:
        return unconfirmed(f"loading the tokenizer raises {described(error)}")


def _error_of(environment: Any, text: str, given: Mapping[str, Any]) -> str:
    """The error of rendering a template, in words; empty without one."""
    try:
        environment.from_string(text).render(**given)
    except Exception as error:
        return f"rendering the template raises {described(error)}"
    return ""


def _templates(tokenizer: Any) -> Iterator[str]:
    found = tokenizer.chat_template
    yield from found.values() if isinstance(found, dict) else () if found is None else (found,)
