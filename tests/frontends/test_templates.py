"""A template of a file is told as that, once, and is no error."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Workspace

TEMPLATES = {
    "a module": ("import os\nfrom {{ name }} import b\n", 2, "{{ name }}"),
    "a part of a name": ("class {{cookiecutter.name}}Model:\n    pass\n", 1, "{{cookiecutter.name}}"),
    "the end of a name": ("def make_{{ name | lower }}():\n    pass\n", 1, "{{ name | lower }}"),
    "a condition": ("{% if a == 'b' %}\nimport c\n{% endif %}\n", 1, "{% if a == 'b' %}"),
    "a condition behind code": ("import c\n\n{%- if d %}\nx = 1\n{%- endif %}\n", 3, "{%- if d %}"),
    "a value with quotes": ("import a\nx = 1 if {{ y['z'] }}b else 2\n", 2, "{{ y['z'] }}"),
    "branches": ("x = {% if a %}1{% else %}2{% endif %}\n", 1, "{% if a %}"),
    "branches in branches": (
        "x = [{% for a in b %}{% if a %}1{% elif c %}2{% else %}3{% endif %},{% else %}4{% endfor %}]\n",
        1,
        "{% for a in b %}",
    ),
    "an apostrophe": ("{% if a %}\nx = 1  # don't\n{% endif %}\n'''{{ b }}'''\n", 1, "{% if a %}"),
    "a tag over lines": ("{% set a =\n   {'b': 1} %}\nimport c\n", 1, "{% set a = {'b': 1} %}"),
    "an indented block": (
        "def f():\n    {% if a %}\n    return 1\n    {% else %}\n    return 2\n    {% endif %}\n",
        2,
        None,
    ),
}
MISTAKES = {
    "a set of a set": "x = {{a}}\ny = (\n",
    "a dict in a set": "x = {{'a': 1}}\nclass (\n",
    "a dict in a set that is wrong": "x = {{'a' 1}}\n",
    "a comma that is missing": "x = {{a b}, {c}}\n",
    "what stands beside": "x = {{a}} b\n",
    "a comprehension": "x = {{a for a in b}}\ndef f(:\n    pass\n",
    "a template in a string": "x = '{% if a %}{{ b }}'\ny = (\n",
    "a template in a comment": "# {% if a %}{{ b }}\ny = (\n",
    "a string that ends in a tag": 'x = "{{ a["b"] }}"\n',
    "a string without an end": "x = '''\n{% if a %}\n{{ b }}\n{% endif %}\n",
    "a formatted string": "x = f'{{a}}' b\n",
    "half typed": "def f(x):\n    return {{x\n",
    "a remainder": "x = {a % b}\ny = {%\n",
}


def told(workspace: Workspace, name: str, text: str) -> list[tuple[str, str, int, str]]:
    workspace.write({name: text})
    found = workspace.run("check", "--output-format", "json", ".").json["findings"]
    return [(one["code"], one["severity"], one["line"], one["message"]) for one in found]


@pytest.mark.parametrize(("text", "line", "tag"), TEMPLATES.values(), ids=TEMPLATES)
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_a_template_is_one_info(workspace: Workspace, text: str, line: int, tag: str | None, end: str) -> None:
    ((code, severity, at, message),) = told(workspace, "a.py", text.replace("\n", end))
    assert (code, severity, at) == ("ML001", "info", line)
    assert message.startswith("this file is a template: `{")
    assert message == f"this file is a template: `{tag}` is filled in before it is Python" or tag is None
    assert workspace.run("check").code == 0


@pytest.mark.parametrize("text", MISTAKES.values(), ids=MISTAKES)
def test_braces_beside_a_mistake_are_no_template(workspace: Workspace, text: str) -> None:
    ((code, severity, _, message),) = told(workspace, "a.py", text)
    assert (code, severity) == ("ML001", "error")
    assert message.startswith("cannot read this file: ")


def test_what_is_in_a_folder_that_is_named_by_a_tag_is_a_template(workspace: Workspace) -> None:
    broken = "def f(:\n    pass\n"
    assert told(workspace, "{{ cookiecutter.slug }}/src/a.py", broken) == [
        (
            "ML001",
            "info",
            1,
            "this file is a template: `{{ cookiecutter.slug }}` in its path is filled in before it is Python",
        )
    ]
    assert [one[1] for one in told(workspace, "{slug}/{a}.py", broken)] == ["error", "info"]


def test_a_template_that_is_python_is_checked(workspace: Workspace) -> None:
    text = "from torch import nn\n\nNAME = '{{ name }}'\nx = nn.Embedding(4, 2, padding_idx=4)  # {% if a %}\n"
    assert [one[0] for one in told(workspace, "{{ slug }}/a.py", text)] == ["ML104"]


def test_a_template_of_a_recipe_is_one_info(workspace: Workspace) -> None:
    recipe = "a: !new:torch.nn.Linear\n  in_features: 2\n  out_features: {}\n"
    branches = recipe.format("2") + "{% if b %}\nb: !ref <a>\n{% endif %}\n"
    assert told(workspace, "a.yaml", branches) == [
        ("ML001", "info", 4, "this file is a template: `{% if b %}` is filled in before it is YAML")
    ]
    workspace.write({"a.yaml": ""})
    assert [one[:2] for one in told(workspace, "b.yaml", recipe.format("[2") + "# {{ b }}\n")] == [("ML001", "error")]


def test_a_notebook_tells_once_that_its_cells_are_templates(workspace: Workspace) -> None:
    cells = ["x = 1", "import {{ a }}", "class {{ b }}:\n    pass", "print 'a'", "y = ("]
    listed = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": text} for text in cells]
    book = json.dumps({"cells": listed, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    assert [one[1::2] for one in told(workspace, "book.ipynb", book)] == [
        ("info", "this cell is a template: `{{ a }}` is filled in before it is Python, and so is one more"),
        ("info", "this cell is written for Python 2: the statement `print`"),
        ("error", "cannot read this cell: syntax error: '(' was never closed"),
    ]


@pytest.mark.dear
@pytest.mark.parametrize(
    "text",
    [
        "{%a" * 100_000 + "%}",
        "{{a" * 100_000 + "}}",
        "{{a" * 100_000,
        "{{a}}" * 20_000 + "(",
        "{% if a %}" * 20_000 + "(",
    ],
)
def test_many_tags_come_to_an_end(workspace: Workspace, text: str) -> None:
    assert [one[0] for one in told(workspace, "a.py", text)] == ["ML001"]
