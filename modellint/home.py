"""Where the project lives, which nothing else says; `python docs/refresh.py` takes it to the files that cannot ask."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from modellint.rule import Rule

REPOSITORY = "https://github.com/modellint/modellint"
SITE = "https://modellint.github.io/modellint"
#: The package of the built-in rules, which have pages on the site.
BUILT_IN = "modellint_rules"


def page_of(rule: type[Rule]) -> str | None:
    """The address of a rule's page: its own `url`, or that on the site; None if it has none."""
    if rule.url:
        return rule.url
    return f"{SITE}/rules/{rule.code.lower()}.html" if rule.__module__.partition(".")[0] == BUILT_IN else None
