"""The page of a rule, generated from its class: docstring, severity, examples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from modellint.home import page_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from modellint.rule import Example, Rule


#: So many examples of a rule are shown before its others are asked for.
_SHOWN = 2


def as_json(rule: type[Rule]) -> dict[str, Any]:
    """Everything a rule says about itself, as JSON-able values."""
    docs = rule.docs()
    return {
        **summary_json(rule),
        "documentation": docs.body,
        "bad": [_example_json(example) for example in rule.bad],
        "good": [_example_json(example) for example in rule.good],
    }


def summary_json(rule: type[Rule]) -> dict[str, Any]:
    """A rule in one line of a list."""
    return {
        "code": rule.code,
        "name": rule.name,
        "severity": rule.severity.value,
        "fixable": rule.is_fixable(),
        "confirmable": rule.is_confirmable(),
        "preview": rule.preview,
        "url": page_of(rule),
        "summary": rule.docs().summary,
    }


def as_markdown(rule: type[Rule]) -> str:
    """The page as Markdown."""
    return "\n".join(_page(rule, _fenced_block))


def examples_of(rule: type[Rule]) -> dict[str, tuple[tuple[Example, ...], tuple[Example, ...]]]:
    """The examples of a rule by the headings of its page: the first ones, and the others, which can be folded.

    The first ones are a bad and a good example, or two of a kind if there is no other.
    """
    sections = {title: one for title, one in (("Examples", rule.bad), ("Not reported", rule.good)) if one}
    share = _SHOWN // max(len(sections), 1)
    return {title: (examples[:share], examples[share:]) for title, examples in sections.items()}


def example_as_markdown(example: Example) -> str:
    """One example of the page as Markdown."""
    return "\n".join(_example(example, _fenced_block))


def as_text(rule: type[Rule], *, is_whole: bool = True) -> str:
    """The page for a terminal: Markdown as it stands, with the examples indented; if not whole, the first of them."""
    return "\n".join(_page(rule, _indented_block, is_whole=is_whole))


def _page(rule: type[Rule], block: Callable[[str, str], Iterator[str]], *, is_whole: bool = True) -> Iterator[str]:
    docs = rule.docs()
    yield f"# {rule.code} {rule.name}"
    yield ""
    yield docs.summary
    yield ""
    traits = [f"Severity: {rule.severity}"]
    traits.append("fixable" if rule.is_fixable() else "no fix")
    if rule.is_confirmable():
        traits.append("confirmable")
    if rule.preview:
        traits.append("on trial: it runs with `--preview` only")
    yield " · ".join(traits)
    yield ""
    if page := page_of(rule):
        yield page
        yield ""
    yield docs.body
    left_out = 0
    for title, (first, others) in examples_of(rule).items():
        yield ""
        yield f"## {title}"
        for example in (*first, *others) if is_whole else first:
            yield ""
            yield from _example(example, block)
        left_out += 0 if is_whole else len(others)
    if left_out:
        yield ""
        yield f"{left_out} more example{'s' if left_out > 1 else ''}: `modellint explain {rule.code} --all-examples`"


def _example(example: Example, block: Callable[[str, str], Iterator[str]]) -> Iterator[str]:
    yield f"{example.title}:"
    for path, text in example.files.items():
        yield ""
        yield from block(path, _readable(text))


def _fenced_block(path: str, text: str) -> Iterator[str]:
    language = "yaml" if path.endswith((".yaml", ".yml")) else "python" if path.endswith(".py") else "text"
    yield f"```{language}"
    yield f"# {path}"
    yield text.rstrip("\n")
    yield "```"


def _indented_block(path: str, text: str) -> Iterator[str]:
    yield f"    # {path}"
    for line in text.splitlines():
        yield f"    {line}".rstrip()


def _example_json(example: Example) -> dict[str, Any]:
    files, fixed = (
        files and {path: _readable(text) for path, text in files.items()} for files in (example.files, example.fixed)
    )
    return {"title": example.title, "files": files, "fixed": fixed}


def _readable(text: str) -> str:
    """The text of a file without bytes that are no UTF-8, which a test may need and no reader can see."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
