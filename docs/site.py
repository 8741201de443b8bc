"""What the site shows and no file in docs/ holds: the page of each rule with what modellint prints, README and others.

mkdocs calls `on_config` and `on_files`; see `hooks` in mkdocs.yml.
"""

from __future__ import annotations

import contextlib
import io
import os
import posixpath
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mkdocs.structure.files import File

from modellint.__main__ import main
from modellint.examples import materialise
from modellint.explain import as_markdown
from modellint.packs import load_rules
from modellint.schema import configuration_schema, kind_in_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

    from modellint.rule import Rule

ROOT = Path(__file__).parent.parent
REPOSITORY = "https://github.com/OWNER/modellint/blob/main"
#: Files of the repository that are pages, besides those in docs/.
PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "benchmarks": "benchmarks.md",
    "benchmarks/README.md": "benchmarks.md",
}
_LINK = re.compile(r"(?<=\]\()(?!https?:|#|mailto:)([^)#\s]+)(#[^)\s]*)?(?=\))")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the rules into the navigation."""
    section = next(entry["Rules"] for entry in config.nav if "Rules" in entry)
    section.extend({f"{rule.code} {rule.name}": _page_of(rule)} for rule in load_rules().values())
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
    for file in (ROOT / "docs").glob("*.md"):
        pages[file.name] = _filled(linked(file.read_text("utf-8"), f"docs/{file.name}", file.name))
    for name, text in pages.items():
        present = files.get_file_from_path(name)
        if present is not None:
            files.remove(present)
        files.append(File.generated(config, name, content=text))
    return files


def linked(text: str, source: str, page: str) -> str:
    """The text of a file of the repository with its links as they have to be on a page of the site."""

    def target(match: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), match[1]))
        found = PAGES.get(path)
        if found is None and (rule := re.fullmatch(r"rules/(ml\d+)_\w+\.py", path)):
            found = f"rules/{rule[1]}.md"
        if found is None and path.startswith("docs/"):
            found = path.removeprefix("docs/")
        if found is None:
            return f"{REPOSITORY}/{path}"
        return posixpath.relpath(found, posixpath.dirname(page) or ".") + (match[2] or "")

    parts = re.split(r"(^```.*?^```$)", text, flags=re.MULTILINE | re.DOTALL)
    return "".join(part if part.startswith("```") else _LINK.sub(target, part) for part in parts)


def _page_of(rule: Rule) -> str:
    return f"rules/{rule.code.lower()}.md"


def _overview(rules: Mapping[str, Rule]) -> str:
    rows = [
        f"| [{rule.code}]({rule.code.lower()}.md) | `{rule.name}` | {rule.severity} | {rule.docs().summary} |"
        for rule in rules.values()
    ]
    return "\n".join(["# Rules", "", "| code | name | severity | what it finds |", "|---|---|---|---|", *rows, ""])


def _rule_page(rule: Rule) -> str:
    """The page of `modellint explain`, with what comes out for its first bad example."""
    page = as_markdown(type(rule))
    if not rule.bad:
        return page
    before, title, after = page.partition("\n## Examples\n")
    shown = f"\n## What it prints\n\nFor the first of the examples below:\n\n```text\n{printed(rule)}\n```\n"
    return before + "\n" + shown + title + after


def printed(rule: Rule) -> str:
    """What `modellint check` prints for the first bad example of a rule. Raises ValueError if it finds nothing."""
    options = ("--isolated", "--no-cache", "--jobs", "1", "--color", "never", "--fail-on", "info")
    output, before = io.StringIO(), Path.cwd()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(output):
        materialise(rule.bad[0].files, Path(folder))
        os.chdir(folder)
        try:
            main(["check", *options])
        except SystemExit:
            pass
        finally:
            os.chdir(before)
    if rule.code not in output.getvalue():
        raise ValueError(f"{rule.code} finds nothing in its first example: {output.getvalue()}")
    return output.getvalue().rstrip()


def _filled(text: str) -> str:
    properties = configuration_schema()["properties"]
    text = text.replace("<!-- keys -->", "\n".join(_table(properties)))
    return text.replace("<!-- keys of confirm -->", "\n".join(_table(properties["confirm"]["properties"])))


def _table(properties: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    described = any("description" in schema for schema in properties.values())
    yield "| key | value | meaning |" if described else "| key | value |"
    yield "|---|---|---|" if described else "|---|---|"
    for key, schema in properties.items():
        meaning = f" {schema['description']} |" if described else ""
        yield f"| `{key}` | {kind_in_words(schema)} |{meaning}"
