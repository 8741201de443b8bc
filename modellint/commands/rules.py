"""The commands that are about rules: list and explain them, start a new one, run the examples of a pack."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from modellint.commands.help import Command, Group
from modellint.config.errors import UsageError
from modellint.results.outputs import deliver

if TYPE_CHECKING:
    from collections.abc import Callable

    from modellint.rule import Rule


class FilePath(click.Path):
    """The path of a file or folder, which is not empty and no more than files can be called."""

    def __init__(self, *, file_okay: bool = True) -> None:
        super().__init__(file_okay=file_okay, readable=False, path_type=Path)  # whoever reads it says why not

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not str(value) or "\0" in str(value):
            self.fail(f"{str(value)!r} is not a path; expected that of a file or folder", param, ctx)
        return super().convert(value, param, ctx)


def complete_code(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """The codes that begin with what is typed, for the shell."""
    from modellint.packs import load_rules

    return [code for code in load_rules() if code.startswith(incomplete.upper())]


def _load_rules() -> dict[str, Rule]:
    from modellint.config import settings_for
    from modellint.packs import load_rules

    return load_rules(settings_for([Path(".")]).rule_paths)


_EXPLAIN_EXAMPLES = """
\b
Examples:
  modellint explain ML201
  modellint explain layer-omitted-from-modules
  modellint explain ML201 --all-examples
  modellint explain ML201 --output-format markdown

\b
Exit codes:
  0  the page is printed
  2  wrong usage, or an unknown rule
"""


@click.command(cls=Command, epilog=_EXPLAIN_EXAMPLES)
@click.argument("code", shell_complete=complete_code)
@click.option(
    "--output-format", type=click.Choice(["text", "markdown", "json"]), default="text", help="Format. Default: text."
)
@click.option("--all-examples", is_flag=True, help="Print all examples in text. Default: one bad and one good example.")
def explain(code: str, output_format: str, all_examples: bool) -> int:
    """Print the page of a rule: what it reports, why that is bad, and how to fix it.

    CODE is the code or the name of a rule. `modellint rule` is an alias.
    """
    from modellint.packs import meant

    rules = _load_rules()
    rule = rules.get(code.upper()) or next((r for r in rules.values() if r.name == code), None)
    if rule is None:
        raise UsageError(f"no rule has the code `{code}`{meant(code, rules)}")
    page = _text_page(type(rule), all_examples) if output_format == "text" else _PAGES[output_format](type(rule))
    deliver(page + "\n", None, is_data=output_format == "json")
    return 0


def _json_page(rule: type[Rule]) -> str:
    import json

    from modellint.commands.explain import as_json

    return json.dumps(as_json(rule), indent=2, ensure_ascii=False)


def _markdown_page(rule: type[Rule]) -> str:
    from modellint.commands.explain import as_markdown

    return as_markdown(rule)


def _text_page(rule: type[Rule], all_examples: bool) -> str:
    from modellint.commands.explain import as_text

    return as_text(rule, is_whole=all_examples)


_PAGES: dict[str, Callable[[type[Rule]], str]] = {
    "markdown": _markdown_page,
    "json": _json_page,
}
_RULES_EXAMPLES = """
\b
Examples:
  modellint rules
  modellint rules --output-format json
  modellint rules new no-bare-dropout --folder house_rules

\b
Exit codes:
  0  the rules are listed
  2  wrong usage, or a rule that cannot be loaded
"""


@click.group(cls=Group, invoke_without_command=True, epilog=_RULES_EXAMPLES)
@click.option("--output-format", type=click.Choice(["full", "json"]), default="full", help="Format. Default: full.")
@click.pass_context
def rules(ctx: click.Context, output_format: str) -> int:
    """List all rules, or start a new one.

    The list has the code, the name and the severity of each rule, and marks rules that are fixable or confirmable.
    """
    if ctx.invoked_subcommand is not None:
        return 0
    from modellint.commands.explain import summary_json

    listed = [summary_json(type(rule)) for rule in _load_rules().values()]
    if output_format == "json":
        import json

        deliver(json.dumps(listed, indent=2, ensure_ascii=False) + "\n", None, is_data=True)
        return 0
    width = max(len(rule["name"]) for rule in listed)
    for rule in listed:
        fixable = "fixable" if rule["fixable"] else ""
        confirmable = "confirmable" if rule["confirmable"] else ""
        trial = "on trial" if rule["preview"] else ""
        line = (
            f"{rule['code']}  {rule['name']:<{width}}  {rule['severity']:<7}  {fixable:<7}  {confirmable:<11}  {trial}"
        )
        click.echo(line.rstrip())
    return 0


_NEW_EXAMPLES = """
\b
Examples:
  modellint rules new no-bare-dropout
  modellint rules new no-bare-dropout --code LAB001 --folder lab_rules

\b
Exit codes:
  0  the files are written
  2  wrong usage, or a file that exists already
"""


@rules.command("new", cls=Command, epilog=_NEW_EXAMPLES)
@click.argument("name")
@click.option(
    "--code",
    metavar="CODE",
    help="Code of the rule: capital letters and digits. Default: the first free one from OWN001 on.",
)
@click.option(
    "--folder",
    type=FilePath(file_okay=False),
    default=Path("house_rules"),
    help="Folder for the rule. modellint creates it if necessary. Default: house_rules.",
)
def new_rule(name: str, code: str | None, folder: Path) -> int:
    """Write a working rule, with examples and a test, for you to change.

    NAME says what the rule reports, in lowercase words with hyphens.
    """
    from modellint.commands.scaffold import write_rule

    for path in write_rule(name, code, folder):
        click.echo(f"wrote {path.as_posix()}")
    click.echo(f"`modellint test-rules {folder.as_posix()}` runs its examples.", err=True)
    click.echo(f'`rule-paths = ["{folder.as_posix()}"]` in the settings makes it part of `modellint check`.', err=True)
    return 0


_TEST_EXAMPLES = """
\b
Examples:
  modellint test-rules house_rules
  modellint test-rules house_rules/own001_no_bare_dropout

\b
Exit codes:
  0  every example passes
  1  an example fails
  2  wrong usage, or no rules
"""


@click.command("test-rules", cls=Command, epilog=_TEST_EXAMPLES)
@click.argument("path", type=FilePath())
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", help="Format. Default: text.")
def test_rules(path: Path, output_format: str) -> int:
    """Test the rules in a file or folder against their examples.

    A rule must report its bad examples on the marked lines, in the whole example and in each file alone. Its fix must
    produce the files under `fixed`. It must report nothing in a good example.
    """
    from modellint.examples import examine
    from modellint.packs import rules_at

    everything, own = rules_at(path)
    examples, listed = 0, []
    for rule in own:
        result = examine(type(rule), everything)
        examples += result.examples
        told = {"code": rule.code, "name": rule.name, "bad": len(rule.bad), "good": len(rule.good)}
        listed.append({**told, "problems": list(result.problems)})
        if output_format == "text":
            outcome = "failed" if result.problems else "ok"
            click.echo(f"{rule.code} {rule.name}: {told['bad']} bad, {told['good']} good: {outcome}")
            for problem in result.problems:
                click.echo(f"  {problem}")
    failed = sum(bool(row["problems"]) for row in listed)
    if output_format == "json":
        import json

        deliver(json.dumps(listed, indent=2, ensure_ascii=False) + "\n", None, is_data=True)
    else:
        click.echo(f"{_count(len(own), 'rule')}, {_count(examples, 'example')}: {_count(failed, 'rule')} failed")
    return int(failed > 0)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
