"""What rules ask of code that is run on paper, and the rule of the page about writing some."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from modellint.flow.domain import Arguments, Constant
from modellint.flow.queries import flow
from modellint.link.project import Project, ProjectOptions

if TYPE_CHECKING:
    from conftest import Workspace

    from modellint.flow.queries import Queries

PAGE = Path(__file__).parents[2] / "docs" / "writing-rules.md"
BLOCK = """
class Block(nn.Module):
    def __init__(self{parameters}):
        super().__init__()
        self.drop = nn.Dropout({share}){marked}
"""
#: How a share of 1 gets to a dropout, and what is flagged.
BAD = {
    "written out": BLOCK.format(parameters="", share="1.0", marked="  # expect: LAB004"),
    "by a helper": """
def dropout():
    return nn.Dropout(p=1)  # expect: LAB004


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = dropout()
""",
    "by a helper that is told": """
def dropout(share, inplace=False):
    return nn.Dropout(share, inplace)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = dropout(0.1)
        self.second = dropout(1.0)  # expect: LAB004
        self.third = dropout(1.0)  # expect: LAB004
""",
    "by a configuration that is made": """
@dataclass
class Config:
    share: float = 0.1

"""
    + BLOCK.format(parameters=", config", share="config.share", marked="")
    + """

def build():
    return Block(Config()), Block(Config(share=1.0))  # expect: LAB004
""",
    "by a configuration that is annotated": """
@dataclass
class Config:
    share: float = 1.0

"""
    + BLOCK.format(parameters=", config: Config", share="config.share", marked="  # expect: LAB004"),
    "by a default": BLOCK.format(parameters=", share=1.0", share="share", marked="  # expect: LAB004"),
    "in a chain of layers": """
class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        layers = [nn.Linear(width, width)]
        for _ in range(2):
            layers.append(nn.Dropout(1.0))  # expect: LAB004
        self.layers = nn.Sequential(*layers)
""",
    "at work": """
class Block(nn.Module):
    def forward(self, x):
        share = 1.0
        return nn.Dropout(share)(x)  # expect: LAB004
""",
    "by a class that derives from it": """
class Everything(nn.Dropout):
    def __init__(self):
        super().__init__(1.0)


def build():
    return Everything()  # expect: LAB004
""",
    "by a class in a table": """
KINDS = {"drop": nn.Dropout, "none": nn.Identity}


def build():
    return KINDS["drop"](1.0)  # expect: LAB004
""",
}
GOOD = {
    "a share": BLOCK.format(parameters=", share=0.5", share="share", marked=""),
    "whatever is given": BLOCK.format(parameters=", share", share="share", marked=""),
    "a default that nobody leaves": BLOCK.format(parameters=", share=1.0", share="share", marked="")
    + """

def build():
    return Block(0.1), Block(share=0.2)
""",
    "where it is taken out": BLOCK.format(parameters=", share", share="share if share < 1 else 0.9", marked="")
    + """

def build():
    return Block(1.0)
""",
    "another layer": """
def build():
    return nn.Linear(1, 1)
""",
}
IMPORTS = "from dataclasses import dataclass\n\nfrom torch import nn\n\n"


def name_of(title: str) -> str:
    return title.replace(" ", "-")


def test_the_rule_of_the_page_finds_all_ways_there_are(workspace: Workspace) -> None:
    """Under 25 lines."""
    rules = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    (rule,) = (text for text in rules if "LAB004" in text)
    assert len(rule.splitlines()) < 25
    folder = "house_rules/lab004_full_dropout"
    titles = "".join(
        f"[{kind}]\n" + "".join(f'{name_of(title)} = "{title}"\n' for title in examples)
        for kind, examples in (("bad", BAD), ("good", GOOD))
    )
    workspace.write({f"{folder}/__init__.py": rule, f"{folder}/examples.toml": titles})
    for kind, examples in (("bad", BAD), ("good", GOOD)):
        for title, text in examples.items():
            workspace.write({f"{folder}/{kind}/{name_of(title)}/model.py": f"{IMPORTS}{text}"})
    result = workspace.run("test-rules", "house_rules")
    assert result.lines[0] == f"LAB004 full-dropout: {len(BAD)} bad, {len(GOOD)} good: ok", result.out


FILES = {
    "parts.py": """from torch import nn


def dropout(share):
    return nn.Dropout(share)


class Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.drop = nn.Dropout(config.share)
""",
    "model.py": """from parts import Block, dropout
from torch import nn


class Config:
    share = 1.0


def build():
    return dropout(1.0), Block(Config())


class Stack(nn.Module):
    def __init__(self, block, width: int):
        super().__init__()
        self.blocks = [nn.Linear(width, width)]
        self.block = block
        self.table = nn.Embedding(10, width)
        self.name = "stack"

    def forward(self, ids):
        return self.table(ids.argmax(-1))


class Nothing(nn.Module):
    pass
""",
}


@pytest.fixture
def asked(workspace: Workspace) -> Queries:
    workspace.write(FILES)
    project = Project(ProjectOptions(workspace.root))
    module = project.python(workspace.root / "model.py")
    assert module is not None
    return flow(module, project)


def test_what_another_file_makes_is_told_where_it_is_told_with_what(asked: Queries) -> None:
    made = asked.constructed("torch.nn.Dropout")
    assert [(one.place.span.line, one.function.name, one.argument(0, "p").number) for one in made] == [
        (10, "build", 1.0),
        (10, "build", 1.0),
    ]
    assert {len(one.steps) for one in made} == {2}
    assert asked.constructed("torch.nn.Dropout") is made


def test_an_argument_may_be_something_and_may_not_be_passed(asked: Queries) -> None:
    (table,) = asked.constructed("torch.nn.Embedding")
    rows, width, padding = (table.argument(*which) for which in ((0, "num_embeddings"), (1, "embedding_dim"), (2, "")))
    assert rows.is_(10)
    assert rows.may_be(10.0)
    assert not rows.is_(True)
    assert width.number is None
    assert not width.may_be(10)
    assert not padding.is_(None)


def test_what_objects_keep_register_and_lose(asked: Queries) -> None:
    stack = asked._module.classes["Stack"]
    assert [store.name for store in asked.stores(stack)] == ["blocks", "block", "table", "name"]
    assert [(one.kept.attribute, one.is_conditional) for one in asked.lost(stack)] == [("blocks", False)]
    assert asked.registers(stack, "block") is True
    assert asked.children(stack)["table"].has_parameters is True
    assert asked.lost(asked._module.classes["Nothing"]) == []


def test_state_depends_on_arguments(asked: Queries) -> None:
    norm = "torch.nn.BatchNorm1d"
    frozen = Arguments(((Constant(8),),), {"affine": (Constant(False),)})
    assert (asked.state(norm, frozen), asked.state(norm, frozen, trained=True)) == (True, False)
    assert asked.state("torch.nn.ReLU") is False
    assert asked.state("elsewhere.Layer") is None
    assert asked.registers("elsewhere.Layer", "block") is None


def test_who_calls(asked: Queries) -> None:
    parts = asked._project.python(asked._module.file.with_name("parts.py"))
    assert parts is not None
    assert [caller.name for caller in asked.callers(parts.functions["dropout"])] == ["build"]


def test_nothing_is_run_for_a_class_that_nobody_speaks_of(asked: Queries) -> None:
    before = len(asked._project.runs)
    assert asked.constructed("torch.nn.Conv1d") == []
    assert [run.steps for run in asked._project.runs[before:]] == [0]  # type: ignore[attr-defined]
