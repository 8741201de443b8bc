"""What is added to a recipe looks like what is there already."""

from __future__ import annotations

from pathlib import Path

import pytest

from modellint.edits.files import edited
from modellint.edits.yaml import insert_element, insert_entry
from modellint.frontends import recipe as recipe_frontend

HEAD = "a: &A !new:torch.nn.ReLU\n"


def added(text: str) -> str | None:
    """A recipe with one more entry, or element, in `modules`; None where there is no safe place."""
    path = Path("/recipes/a.yaml")
    data = (HEAD + text).encode()
    recipe = recipe_frontend.read(path, data)
    assert recipe is not None
    node = next(entry.value for entry in recipe.root.entries if entry.key.text == "modules")
    insertion = insert_element if node.elements else lambda *args: insert_entry(*args[:2], "new", args[2])
    edit = insertion(recipe, node, "!ref <n>")
    return None if edit is None else edited(path, data, [edit]).decode().removeprefix(HEAD)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "modules:\n    enc: !ref <a>  # the encoder\n    # more\n\nz: 1\n",
            "modules:\n    enc: !ref <a>  # the encoder\n    new: !ref <n>\n    # more\n\nz: 1\n",
        ),
        (
            "modules:\n    dec:\n        y: [1,\n           2]  # c\n\n# about z\nz: 1\n",
            "modules:\n    dec:\n        y: [1,\n           2]  # c\n    new: !ref <n>\n\n# about z\nz: 1\n",
        ),
        ("modules:\r\n  enc: !ref <a>\r\nz: 1\n", "modules:\r\n  enc: !ref <a>\r\n  new: !ref <n>\r\nz: 1\n"),
        ("modules:\n  'enc': *A", "modules:\n  'enc': *A\n  new: !ref <n>"),
        ("modules:\n  t: |\n    x\n    y\n\nz: 1\n", "modules:\n  t: |\n    x\n    y\n  new: !ref <n>\n\nz: 1\n"),
        ("modules:\n  t:  # later\n...\n", "modules:\n  t:  # later\n  new: !ref <n>\n...\n"),
        ("modules:\n  <<: *A\nz: 1\n", "modules:\n  <<: *A\n  new: !ref <n>\nz: 1\n"),
        ("modules: {enc: !ref <a>}\n", "modules: {enc: !ref <a>, new: !ref <n>}\n"),
        ("modules: { x: 1, }\n", "modules: { x: 1, new: !ref <n>, }\n"),
        ("modules: {}\n", "modules: {new: !ref <n>}\n"),
        ("modules: {\n  x: 1,\n  y: 2\n}\n", "modules: {\n  x: 1,\n  y: 2,\n  new: !ref <n>\n}\n"),
        ("modules: {\n  x: 1,\n  y: 2,  # d\n}\n", "modules: {\n  x: 1,\n  y: 2,  # d\n  new: !ref <n>,\n}\n"),
        ("modules: {\r\n  x: 1  # d\r\n}\r\n", "modules: {\r\n  x: 1,  # d\r\n  new: !ref <n>\r\n}\r\n"),
        (
            "modules: {\n  x: 1,\n  y: {b: 1,\n   c: 2}}\n",
            "modules: {\n  x: 1,\n  y: {b: 1,\n   c: 2}, new: !ref <n>}\n",
        ),
        ("modules:\n  ? enc\n  : !ref <a>\n", None),
        ("modules: {x: 1, y: *A}\n", None),
        ("modules:\n  - [!ref <a>, !ref <b>]\n", "modules:\n  - [!ref <a>, !ref <b>, !ref <n>]\n"),
        ("modules:\n  - !ref <a>\n  -   !ref <b>", "modules:\n  - !ref <a>\n  -   !ref <b>\n  -   !ref <n>"),
        ("modules:\n  - - !ref <a>\n    - !ref <b>\n", "modules:\n  - - !ref <a>\n    - !ref <b>\n    - !ref <n>\n"),
        (
            "modules:\n  - [\n      !ref <a>,  # c\n      !ref <b>  # d\n    ]\n",
            "modules:\n  - [\n      !ref <a>,  # c\n      !ref <b>,  # d\n      !ref <n>\n    ]\n",
        ),
        ("modules: [!ref <a>, *A]\n", None),
    ],
)
def test_an_entry_is_added_in_the_style_of_the_others(text: str, expected: str | None) -> None:
    assert added(text) == expected
