"""Queries about classes: their relatives, what their objects keep and lose, and the files that speak of them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from modellint.flow import queries
from modellint.graph.value import Op
from modellint.link.project import Project, ProjectOptions

if TYPE_CHECKING:
    from conftest import Workspace

    from modellint.graph.python import ModuleFacts

PAGE = Path(__file__).parents[2] / "docs" / "writing-rules.md"
HEAD = "from torch import nn\n\n\ndef made(n):\n    return nn.Linear(n, n)\n\n\nclass Net(nn.Module):\n"
CONSTRUCTOR = "    def __init__(self, width, deep=False):\n        super().__init__()\n"

BASE = """\
from torch import nn


class Base(nn.Module):
    kind = "plain"

    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        return self.head(self.proj(x))
"""
NET = """\
from base import Base
from torch import nn


class Net(Base):
    def __init__(self, width):
        super().__init__(width)
        self.head = nn.Identity()
        self.name = "net"
        register(self)
        setattr(self, f"block_{width}", nn.GELU())

    def share(self, other):
        other.scale = self.name


def register(layer):
    layer.is_known = True
"""
USE = "import net\n\nmodel = net.Net(4)\nmodel.proj = None\nprint(model.scale)\n"


def opened(folder: Path, files: dict[str, str], name: str) -> tuple[ModuleFacts, Project]:
    for path, text in files.items():
        (folder / path).write_text(text, encoding="utf-8")
    project = Project(ProjectOptions(root=folder))
    module = project.python(folder / name)
    assert module is not None
    return module, project


def overwritten(folder: Path, body: str) -> list[tuple[str, int, int]]:
    indented = "".join(f"        {line}\n" for line in body.splitlines())
    module, project = opened(
        folder, {"net.py": HEAD + CONSTRUCTOR + indented + "\n    def seen(self):\n        return self.a\n"}, "net.py"
    )
    first = HEAD.count("\n") + CONSTRUCTOR.count("\n")
    pairs = queries.flow(module, project).overwritten(module.classes["Net"])
    assert all(any(getattr(atom, "is_layer", True) for atom in store.atoms) for pair in pairs for store in pair)
    lines = [tuple(store.place.line - first for store in pair if store.place is not None) for pair in pairs]
    return [(str(one.name), *places) for (one, _), places in zip(pairs, lines, strict=True)]


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("self.a = nn.Linear(width, 1)\nself.a = nn.Linear(width, 2)", [("a", 1, 2)]),
        ("self.a = made(1)\nself.b = made(2)\nself.a = made(width)", [("a", 1, 3)]),
        ("layer = made(1)\nself.a = layer\nself.a = made(2)\nself.a = made(3)", [("a", 2, 3), ("a", 3, 4)]),
        ("assert width > 1\nself.a = made(1)\nassert width > 2\nself.a = made(2)", [("a", 2, 4)]),
        ("self.a = made(1)\nself.other()\nself.a = made(2)\n\ndef other():\n    pass", []),
    ],
)
def test_a_store_is_overwritten_if_nothing_uses_its_value(
    body: str, found: list[tuple[str, int, int]], tmp_path: Path
) -> None:
    assert overwritten(tmp_path, body) == found


@pytest.mark.parametrize(
    "body",
    [
        "self.a = made(1)",
        "self.a = made(1)\nself.a = nn.Sequential(self.a, nn.ReLU())",
        "self.a = made(1)\nprint(self.a)\nself.a = made(2)",
        "layer = made(1)\nself.a = layer\nself.a = nn.Sequential(layer)",
        "layer = made(1)\nself.a = layer\nself.a = made(2)\nself.b = layer",
        "self.a = made(1)\nif deep:\n    self.a = made(2)",
        "if deep:\n    self.a = made(1)\nself.a = made(2)",
        "for _ in range(2):\n    self.a = made(1)\n    self.a = made(2)",
        "try:\n    self.a = made(1)\nexcept ValueError:\n    self.a = made(2)",
        "self.a = made(1)\nself.seen()\nself.a = made(2)",
        "self.a = made(1)\nself.apply(print)\nself.a = made(2)",
        "self.a = made(1)\nprint(self)\nself.a = made(2)",
        "self.a = made(1)\nself.later = lambda: self.a\nself.a = made(2)",
    ],
)
def test_a_store_whose_value_is_used_is_not_overwritten(body: str, tmp_path: Path) -> None:
    assert overwritten(tmp_path, body) == []


@pytest.fixture
def net(tmp_path: Path) -> tuple[ModuleFacts, Project]:
    return opened(tmp_path, {"base.py": BASE, "net.py": NET, "use.py": USE}, "net.py")


def test_an_attribute_is_what_the_nearest_class_stores(net: tuple[ModuleFacts, Project]) -> None:
    module, project = net
    flow, cls = queries.flow(module, project), module.classes["Net"]
    (proj,), (head,), (kind,) = (flow.attribute(cls, name) for name in ("proj", "head", "kind"))
    assert proj.value.op is Op.CALL
    assert proj.function.qualname == "Base.__init__"
    assert head.value.callee.data == "nn.Identity" or head.value.callee.data == "Identity"
    assert kind.value.data == "plain"
    assert kind.function.name == "<module>"
    assert flow.attribute(cls, "nothing") == []


def test_a_family_has_bases_and_subclasses(net: tuple[ModuleFacts, Project]) -> None:
    module, project = net
    base = project.python(module.file.with_name("base.py"))
    assert base is not None
    (below,) = queries.subclasses(base.classes["Base"], project)
    assert below is module.classes["Net"]
    found = queries.family(base.classes["Base"], project)
    assert {one.name for one in found.classes} == {"Base", "Net"}
    assert found.libraries >= {"torch.nn.Module"}
    (target,) = queries.escapes(below, project).targets
    assert target == queries.escapes(below, project).targets[0]
    assert queries.escapes(below, project).is_known
    assert queries.escapes(base.classes["Base"], project).targets == ()


def test_who_reads_and_sets_an_attribute(net: tuple[ModuleFacts, Project]) -> None:
    module, project = net
    use = project.python(module.file.with_name("use.py"))
    assert use is not None
    assert queries.owners_set("proj", use, project) == {"model"}
    assert not queries.owners_set("proj", module, project)
    assert queries.owners_read("scale", use, project) == {"model", "Net"}
    assert queries.owners_set("scale", module, project) == {"other"}
    assert queries.is_attribute_read("name", module, project)
    assert not queries.is_attribute_read("name", module, project, of_others=True)
    said = queries.mentions(module.classes["Net"], project)
    assert {"head", "name"} <= said.stored
    assert said.may_name("block_7")
    assert not said.may_name("proj")


def test_files_by_their_words(net: tuple[ModuleFacts, Project]) -> None:
    module, project = net
    assert queries.is_searchable(module, project)
    assert queries.project_root(module, project) == module.file.parent
    assert {one.file.name for one in queries.files_mentioning(module, project, "Base")} == {"base.py", "net.py"}
    assert [one.name for one in queries.paths_mentioning(module, project, "model")] == ["use.py"]
    assert queries.is_mentioned_elsewhere(module, project, "Net")
    assert not queries.is_mentioned_elsewhere(module, project, "register")
    assert queries.paths_with_suffix(module, project, ".cu") == []
    assert {one.file.name for one in queries.neighbours(module, project, "Net")} == {"net.py", "use.py"}


def test_members_of_a_layer_of_torch() -> None:
    linear = queries.layer_members("torch.nn.Linear")
    assert linear is not None
    assert {"weight", "in_features", "parameters"} <= linear
    assert queries.layer_members("lab.Linear") is None


def test_outcomes_and_kinds_of_parameters(tmp_path: Path) -> None:
    code = (
        "def f(x, bias, n=3, name: str = None):\n    if bias and n > 2:\n        return x\n    return torch.zeros(3)\n"
    )
    module, project = opened(tmp_path, {"f.py": f"import torch\n\n\n{code}"}, "f.py")
    function = module.functions["f"]
    first, second = (event for event in function.flow.events if event.kind.value == "return")
    assert first.guard is not None
    assert queries.outcome(first.guard.test, {"bias": False}) is False
    assert queries.outcome(first.guard.test, {"bias": True}) is None
    plain = [one.name for one in function.parameters if queries.is_plain_parameter(one.name, function, project)]
    assert plain == ["n", "name"]
    assert queries.is_new_tensor(second.value, function, project)
    assert not queries.is_new_tensor(first.value, function, project)


def test_the_rule_of_the_page_finds_layers_that_are_replaced(workspace: Workspace) -> None:
    """At most 9 lines of it are the rule's own."""
    rules = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    (rule,) = (text for text in rules if "LAB007" in text)
    assert len(rule[rule.index("    def check_python") :].splitlines()) <= 9
    made = "        self.a = nn.Linear(width, 2)\n"
    wrapped = "        self.a = nn.Sequential(self.a, nn.ReLU())\n        self.b = 1\n        self.b = 2\n"
    bad = made + made.replace("\n", "  # expect: LAB007\n")
    folder = "house_rules/lab007_layer_replaced_at_once"
    workspace.write({f"{folder}/__init__.py": rule})
    workspace.write({f"{folder}/examples.toml": '[bad]\ntwice = "Twice"\n[good]\nwrapped = "Wrapped"\n'})
    workspace.write({f"{folder}/bad/twice/model.py": HEAD + CONSTRUCTOR + bad})
    workspace.write({f"{folder}/good/wrapped/model.py": HEAD + CONSTRUCTOR + made + wrapped})
    result = workspace.run("test-rules", "house_rules")
    assert result.lines[0] == "LAB007 layer-replaced-at-once: 1 bad, 1 good: ok", result.out


def test_an_unknown_query_names_the_nearest_one() -> None:
    with pytest.raises(AttributeError, match=r"has no `famly`; did you mean `family`\?"):
        queries.famly  # type: ignore[attr-defined]  # noqa: B018


POLICIES = """\
from torch import nn


class Policy(nn.Module):
    def act(self, x):
        return self(x)


class Greedy(Policy):
    def forward(self, x):
        return x
"""


@pytest.mark.parametrize(
    ("made", "is_called"),
    [
        ("def run(policy: Policy, x):\n    return policy(x)\n", False),
        ("class Other(Policy):\n    pass\n\n\nother = Other()\nother(1)\n", False),
        ("policy = Policy()\npolicy(1)\n", True),
        ("(Policy)()(1)\n", True),
        ("import functools\n\nfunctools.partial(Policy)()(1)\n", True),
    ],
)
def test_files_are_searched_for_calls_of_objects_that_are_made(tmp_path: Path, made: str, is_called: bool) -> None:
    """A class that is only a base, or in annotations, has no objects: no body is lowered for its calls."""
    (tmp_path / "policies.py").write_text(POLICIES, encoding="utf-8")
    (tmp_path / "train.py").write_text(f"from policies import Policy\n\n\n{made}", encoding="utf-8")
    project = Project(ProjectOptions(root=tmp_path))
    modules = [project.python(tmp_path / name) for name in ("policies.py", "train.py")]
    first, second = (module for module in modules if module is not None)
    calls = list(queries.calls_of_objects(first.classes["Policy"], project))
    assert [call.module for call in calls] == [second] * len(calls)
    assert bool(calls) == is_called == bool([*first.lowered, *second.lowered])


FAMILY = """\
from torch import nn


class Base(nn.Module):
    def build(self):
        return nn.Linear(2, 2)

    def width(self, x):
        return x.shape[0]

    def forward(self, x):
        layer = self.build()
        return layer(x), self.width(x)
"""
DERIVED = "from family import Base as Plain\n\n\nclass Derived(Plain):\n    def {}(self, *_):\n        return None\n"


@pytest.mark.parametrize(
    ("method", "asked", "concluded", "is_read"),
    [
        ("build", "self.build()", None, True),
        ("other", "self.build()", "torch.nn.Linear", True),
        ("width", "self.width(x)", None, False),
    ],
)
def test_a_family_is_read_only_where_something_is_concluded(
    tmp_path: Path, method: str, asked: str, concluded: str | None, is_read: bool
) -> None:
    (tmp_path / "family.py").write_text(FAMILY, encoding="utf-8")
    (tmp_path / "derived.py").write_text(DERIVED.format(method), encoding="utf-8")
    project = Project(ProjectOptions(root=tmp_path))
    module = project.python(tmp_path / "family.py")
    assert module is not None
    calls = queries.flow(module, project).calls()
    (operand,) = (call.result for call in calls if call.result.text == asked)
    with project.files.trace() as keys:
        found = operand.object_class()
    assert (found and found.name) == concluded
    assert any(key.endswith("/derived.py") for key in keys) is is_read
