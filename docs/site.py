"""What the site shows and no file in docs/ holds: the page of each rule with what modellint prints, README and others.

mkdocs calls `on_config`, `on_files` and `on_page_content`; see `hooks` in mkdocs.yml.
"""

from __future__ import annotations

import base64
import contextlib
import html
import io
import json
import os
import posixpath
import re
import tempfile
import textwrap
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

from mkdocs.structure.files import File
from refresh import families

from modellint import home
from modellint.__main__ import main
from modellint.commands.explain import as_markdown, example_as_markdown, examples_of
from modellint.config.schema import configuration_schema, kind_in_words
from modellint.examples import materialise
from modellint.packs import load_rules

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

    from modellint.rule import Example, Rule

ROOT = Path(__file__).parent.parent
#: Files of the repository that are pages, besides those in docs/.
PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "benchmarks": "benchmarks.md",
    "benchmarks/README.md": "benchmarks.md",
}
#: Tables of so many columns fit on any screen.
_NARROW = 3
#: The most characters of a link to the playground.
_LONGEST_LINK = 8_000
_LINK = re.compile(r"(?<=\]\()(?!https?:|#|mailto:)([^)#\s]+)(#[^)\s]*)?(?=\))")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the rules into the navigation."""
    section = next(entry["Rules"] for entry in config.nav if "Rules" in entry)
    for title, members in families(load_rules()):
        section.append({title: [{f"{rule.code} {rule.name}": _page_of(rule)} for rule in members]})
    config.site_url = f"{home.SITE}/"
    # The theme would ask the repository's host for stars and forks if it were told as one.
    config.extra["social"] = [{"icon": "fontawesome/brands/git-alt", "link": home.REPOSITORY, "name": "Repository"}]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made here."""
    rules = load_rules()
    pages = {"rules/index.md": _overview(rules)}
    pages |= {_page_of(rule): _rule_page(rule) for rule in rules.values()}
    pages |= {
        page: linked((ROOT / source).read_text("utf-8"), source, page)
        for source, page in PAGES.items()
        if source.endswith(".md")
    }
    pages["index.md"] = _start(pages["index.md"], rules)
    for file in (ROOT / "docs").glob("*.md"):
        pages[file.name] = _filled(linked(file.read_text("utf-8"), f"docs/{file.name}", file.name))
    for name, text in pages.items():
        present = files.get_file_from_path(name)
        if present is not None:
            files.remove(present)
        files.append(File.generated(config, name, content=text))
    return files


def on_page_content(content: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Tell each cell of a wide table what it is about, for screens on which columns do not fit beside each other."""
    return re.sub(r"<table>.*?</table>", lambda match: _labelled(match[0]), content, flags=re.DOTALL)


def _labelled(table: str) -> str:
    """A table with the titles of its columns in its cells, if there are more than three of them; paths may break."""
    titles = [html.unescape(re.sub(r"<[^>]+>", "", title)) for title in re.findall(r"<th\b[^>]*>(.*?)</th>", table)]
    if len(titles) <= _NARROW:
        return table
    number = iter(range(table.count("<td")))
    table = re.sub(r"<td\b", lambda _: f'<td data-label="{html.escape(titles[next(number) % len(titles)])}"', table)
    table = re.sub(r"(?<=\w)/(?=\w[^<>]*</td>)", "/<wbr>", table)
    return table.replace("<table>", f'<table data-columns="{len(titles)}">')


def _start(text: str, rules: Mapping[str, Rule]) -> str:
    """README as the first page: the rules lead to their pages, and what it prints in one line is wrapped."""
    for rule in rules.values():
        text = text.replace(f"\n- {rule.code} ", f"\n- [{rule.code}]({_page_of(rule)}) ")
    text = re.sub(r"^```text\n([^\n]*\n```)$", r"```{.text .wrapped}\n\1", text, flags=re.MULTILINE)
    return f"---\nhide: [navigation]\n---\n{text}"


def linked(text: str, source: str, page: str) -> str:
    """The text of a file of the repository with its links as they have to be on a page of the site."""

    def target(match: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), match[1]))
        found = PAGES.get(path)
        if found is None and (rule := re.fullmatch(r"rules/(ml\d+)_\w+", path)):
            found = f"rules/{rule[1]}.md"
        if found is None and path.startswith("docs/"):
            found = path.removeprefix("docs/")
        if found is None:
            return f"{home.REPOSITORY}/blob/main/{path}"
        return posixpath.relpath(found, posixpath.dirname(page) or ".") + (match[2] or "")

    parts = re.split(r"(^```.*?^```$)", text, flags=re.MULTILINE | re.DOTALL)
    return "".join(part if part.startswith("```") else _here(_LINK.sub(target, part), page) for part in parts)


def _here(text: str, page: str) -> str:
    """The text with addresses of the site as links within it, which are checked."""
    up = posixpath.relpath(".", posixpath.dirname(page) or ".")
    text = re.sub(rf"(?<=\]\(){re.escape(home.SITE)}/([\w/-]+)\.html", rf"{up}/\1.md", text)
    text = re.sub(rf"(?<=\]\(){re.escape(home.SITE)}/", f"{up}/", text)
    return text.replace("](./", "](")


def _page_of(rule: Rule) -> str:
    return f"rules/{rule.code.lower()}.md"


def _overview(rules: Mapping[str, Rule]) -> str:
    """All rules by family, with what can be done about their findings."""
    lines = [
        "# Rules",
        "",
        "Code with an error crashes or silently computes wrong results. Code with a warning does so under conditions "
        "that occur in practice. Code with an info works today, but a later change can break it. `--fix` or "
        "`--unsafe-fixes` can fix *fixable* findings, and `--confirm` can prove *confirmable* ones.",
    ]
    for title, members in families(rules):
        lines += ["", f"## {title}", "", "| code | what it reports |", "|---|---|"]
        for rule in members:
            marks = [str(rule.severity), *["fixable"] * rule.is_fixable(), *["confirmable"] * rule.is_confirmable()]
            told = f"{rule.docs().summary}<br>`{rule.name}` · {' · '.join(marks)}"
            lines.append(f"| [{rule.code}]({rule.code.lower()}.md) | {told} |")
    return "\n".join((*lines, ""))


def _rule_page(rule: Rule) -> str:
    """The page of `modellint explain`, with what is printed for its first bad example; most examples are folded."""
    page = as_markdown(type(rule)).replace(f"\n{home.page_of(type(rule))}\n", "")
    sections = examples_of(type(rule))
    if sections:
        page = page.partition(f"\n## {next(iter(sections))}\n")[0]
    if rule.bad:
        shown = (
            f"## What it prints\n\nmodellint prints this for the first example below:\n\n```text\n{printed(rule)}\n```"
        )
        page = f"{page.rstrip()}\n\n## What it prints\n\n{shown}\n"
    return page + "".join(f"\n## {title}\n\n{_folded(*examples)}\n" for title, examples in sections.items())


def _folded(first: Sequence[Example], others: Sequence[Example]) -> str:
    """The first examples, and a block that unfolds to the others."""
    shown, folded = (list(map(_with_trial, examples)) for examples in (first, others))
    if folded:
        summary = f"{len(folded)} more example{'s' if len(folded) > 1 else ''}"
        shown.append(f'??? example "{summary}"\n\n' + textwrap.indent("\n\n".join(folded), "    "))
    return "\n\n".join(shown)


def _with_trial(example: Example) -> str:
    """An example with a link that opens it in the playground; none for bytes, nor where it would be too long."""
    shown = example_as_markdown(example)
    if any(map(_has_bytes, example.files.values())):
        return shown
    hash_ = fragment(example.files)
    if len(hash_) > _LONGEST_LINK:
        return shown
    return f'{shown}\n\n<a class="trial" href="../playground/index.html#{hash_}">Try it in the playground</a>'


def _has_bytes(text: str) -> bool:
    """Whether a file of an example holds bytes that are no text, as surrogate escapes."""
    return any("\udc80" <= letter <= "\udcff" for letter in text)


def fragment(files: Mapping[str, str]) -> str:
    """The end of a link to the playground, which holds files: their JSON, deflated, in base64 for URLs."""
    data = json.dumps({"files": dict(files), "selected": next(iter(files))}, ensure_ascii=False).encode()
    packer = zlib.compressobj(9, wbits=-zlib.MAX_WBITS)
    packed = packer.compress(data) + packer.flush()
    return base64.urlsafe_b64encode(packed).decode().rstrip("=")


def printed(rule: Rule) -> str:
    """What `modellint check` prints of a rule for its first bad example, on a terminal that is as wide as a page.

    A rule about what others found runs with them. Raises ValueError if it finds nothing.
    """
    for selected in (rule.code, "ALL"):
        text = _run("--select", selected, *["--preview"] * rule.preview, example=rule.bad[0])
        if rule.code in text:
            return text
    raise ValueError(f"{rule.code} finds nothing in its first example: {text}")


def _run(*options: str, example: Example) -> str:
    """What a check of an example prints."""
    fixed = ("--isolated", "--no-cache", "--jobs", "1", "--color", "always")
    terminal = {"COLUMNS": "80", "FORCE_HYPERLINK": "0"}
    output, before = io.StringIO(), Path.cwd()
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.redirect_stdout(output),
        mock.patch.dict(os.environ, terminal),
    ):
        materialise(example.files, Path(folder))
        os.chdir(folder)
        try:
            main(["check", *fixed, *options])
        except SystemExit:
            pass
        finally:
            os.chdir(before)
    return re.sub(r"\x1b\[[\d;]*m", "", output.getvalue()).rstrip()


def _filled(text: str) -> str:
    properties = configuration_schema()["properties"]
    text = text.replace("<!-- recall -->", _recall())
    text = text.replace("<!-- keys -->", "\n".join(_table(properties)))
    return text.replace("<!-- keys of confirm -->", "\n".join(_table(properties["confirm"]["properties"])))


def _recall() -> str:
    """What the description of the benchmarks says of planted mistakes."""
    text = (ROOT / "benchmarks/README.md").read_text("utf-8")
    sections = re.findall(r"^## What share of mistakes [^\n]*\n.*?(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    if not sections:
        raise ValueError("benchmarks/README.md says nothing of the share of mistakes that is found")
    return linked("\n".join(sections), "benchmarks/README.md", "recall.md")


def _table(properties: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    described = any("description" in schema for schema in properties.values())
    yield "| key | value | default | meaning |" if described else "| key | value |"
    yield "|---|---|---|---|" if described else "|---|---|"
    for key, schema in properties.items():
        meaning = f" {_default(schema)} | {schema['description']} |" if described else ""
        yield f"| `{key}` | {kind_in_words(schema)} |{meaning}"


def _default(schema: Mapping[str, Any]) -> str:
    """The default of a setting in a cell of a table; long lists are those of `modellint config`."""
    if "default" not in schema:
        return "see the meaning" if "by default" in schema["description"] else "none"
    text = json.dumps(schema["default"])
    return f"`{text}`" if len(text) < 40 else "see `modellint config`"
