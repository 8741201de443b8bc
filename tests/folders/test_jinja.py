"""Templates that Jinja refuses are refused, with the line; those that it accepts are accepted."""

from __future__ import annotations

import random
import re

import pytest

from modellint.folders import jinja
from modellint.folders.jinja_strings import text_of

jinja2 = pytest.importorskip("jinja2")
ext = pytest.importorskip("jinja2.ext")

TEMPLATES = [
    "{% for a, b in x.items() if a is not none and b is defined recursive %}{{ a|upper|replace('x', \"y\") ~ b[1:-1] }}"
    "{% else %}n{% endfor %}{% set ns = namespace(a=1, **c) %}{% set ns.a = 2 %}{% macro f(a, b=1) -%}x{%- endmacro %}"
    "{{ f(1, b=[1, 2, {'a': (1,)}]) if x is divisibleby 3 else 'a' 'b' }}",
    "{% set x %}abc{% endset %}{% raw %}{{ x }}{% endraw %}{# c #}{% if not a in b and c not in d %}a"
    "{% elif x is eq(3) %}b{% else %}{% endif %}{{- -1 ** 2 // 3 % 4 -}}{% filter upper|trim %}x{% endfilter %}"
    "{% with a=1, b=2 %}{{ a }}"
    "{% endwith %}{% call(x) f(1) %}z{% endcall %}",
    "{{ a.0.b['c'](x)[::2] | join(', ') is string }}{% for x in y %}{% break %}{% continue %}{% endfor %}"
    "{% print 1, 2 %}{{ 1_000 + 0x1f + 1.5e3 }}{{ {} }}{{ [] }}{{ () }}{{ '\\n\\'' ~ \"\\\\\" }}",
    "{%- for m in messages %}\n  {%- if m.role == 'user' %}{{ '<|u|>' + m['content'] | trim + eos_token }}\n"
    "  {%- elif (m.role == 'tool') or loop.last %}{{ raise_exception('no ' ~ m.role) }}{%- endif %}\n{%- endfor %}",
]
PARTS = "endif endfor ( ) ] ' {% %} }} {{ if else in = | , . is not {# #} set for".split()
WORD = re.compile(r"\w+|\s+|\{%-?|-?%\}|\{\{-?|-?\}\}|.", re.DOTALL)


def refusal(template: str) -> str | None:
    environment = jinja2.Environment(trim_blocks=True, lstrip_blocks=True, extensions=[ext.loopcontrols])
    try:
        environment.from_string(template)
    except (jinja2.TemplateSyntaxError, SyntaxError) as error:
        return str(error)
    return None


@pytest.mark.parametrize("number", range(len(TEMPLATES)))
def test_whole_templates_are_accepted(number: int) -> None:
    assert refusal(TEMPLATES[number]) is None
    assert jinja.read_template(TEMPLATES[number]).error is None


def changed(template: str, chance: random.Random) -> str:
    """A template with one of its words left out, doubled, moved, cut short or replaced."""
    words = WORD.findall(template)
    at, other = chance.randrange(len(words)), chance.randrange(len(words))
    kind = chance.randrange(5)
    if kind == 0:
        del words[at]
    elif kind == 1:
        words.insert(at, words[other])
    elif kind == 2:
        words[at], words[other] = words[other], words[at]
    elif kind == 3:
        words[at] = words[at][:-1]
    else:
        words.insert(at, chance.choice(PARTS))
    return "".join(words)


@pytest.mark.parametrize("seed", range(4))
def test_changed_templates_are_refused_as_jinja_does(seed: int) -> None:
    chance = random.Random(seed)
    refused = missed = 0
    for _ in range(500):
        template = changed(chance.choice(TEMPLATES), chance)
        said, error = refusal(template), jinja.read_template(template).error
        # Behind a condition, Jinja looks for a filter when it gets there.
        is_late = error is not None and error.reason.startswith("there is no")
        assert said is not None or error is None or is_late, (template, error)
        refused += said is not None
        missed += said is not None and error is None
    assert refused > 200
    assert missed <= refused // 50


@pytest.mark.parametrize(
    ("template", "reason", "at"),
    [
        ("a{% if x %}b", "`if` has no `endif`", 4),
        ("{{ a", "`{{` has no `}}`", 0),
        ("{% iff x %}", "unknown tag `iff`", 3),
        ("{{ f(1 }}", "unexpected `}`", 7),
        ("{# a", "a comment has no `#}`", 0),
        ("{{ 'a }}", 'unexpected character "\'"', 3),
        ("{% endfor %}", "unknown tag `endfor`", 3),
        ("{{ a | tojsn }}", "there is no filter `tojsn`; did you mean `tojson`?", 7),
        ("{{ a is strng }}", "there is no test `strng`; did you mean `string`?", 8),
        ("{{ " + "(" * 5000 + ")" * 5000 + " }}", "nested too deeply", 62),
        ("{% if x %}" * 500, "nested too deeply", None),
        ("{{ " + "-" * 90 + "1 }}", "nested too deeply", None),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_reasons_and_places(template: str, reason: str, at: int | None) -> None:
    error = jinja.read_template(template).error
    assert error is not None
    assert error.reason == reason
    assert at is None or error.at == at


def test_texts() -> None:
    read = jinja.read_template("a{{ '<|b|>' + c }}{% raw %}{{ d }}{% endraw %}{# '<|e|>' #}")
    assert [(one.text, one.at, one.is_written) for one in read.texts] == [
        ("a", 0, True),
        ("<|b|>", 4, False),
        ("{{ d }}", 27, True),
    ]


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (r"a\nb\t\\'", "a\nb\t\\'"),
        (r"\x41\u00e9\U0001F40B\101", "A\xe9\U0001f40bA"),
        (r"\N{BULLET}\q", "\u2022\\q"),
        ("ä", "ä"),
    ],
)
def test_escapes(written: str, text: str) -> None:
    assert text_of(f'"{written}"') == text


@pytest.mark.parametrize("written", [r"\x4", r"\u12", r"\N{no such}", r"\Uffffffff"])
def test_escapes_that_python_refuses(written: str) -> None:
    error = jinja.read_template("{{ '" + written + "' }}").error
    assert error is not None
    assert refusal("{{ '" + written + "' }}") is not None
