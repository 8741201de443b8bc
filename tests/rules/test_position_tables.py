"""Tables of a fixed length, read for as many positions as there happen to be: said in many ways."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING

import pytest
from modellint_rules.ml303_unguarded_position_table.position_tables import PositionTables

from modellint.link.project import Project, ProjectOptions

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Workspace

    Find = Callable[..., list[str]]

HEAD = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n\n"


@pytest.fixture
def find(tmp_path: Path) -> Find:
    """What makes the tables that are found in the file `model.py`, which may have others beside it."""

    def found(text: str, **others: str) -> list[str]:
        for name, code in {"model": text, **others}.items():
            (tmp_path / f"{name}.py").write_text(HEAD + dedent(code))
        project = Project(ProjectOptions(root=tmp_path))
        module = project.python(tmp_path / "model.py")
        assert module is not None
        tables = project.of(PositionTables).unguarded(module)
        return [one.table.module.text_of(one.table.value) for one in tables]

    return found


def layer(constructor: str, forward: str, *methods: str) -> str:
    """A layer with these lines in its constructor and its forward method."""
    parts = [f"    def __init__(self, width, config):\n        super().__init__()\n        {constructor}"]
    parts += [f"    def forward(self, x, mask=None):\n        {forward}", *methods]
    return "class Model(nn.Module):\n" + "\n\n".join(part.replace("; ", "\n        ") for part in parts) + "\n"


EMBEDDING = "self.table = nn.Embedding(512, width)"
BUFFER = "self.register_buffer('table', torch.zeros(1, 512, width))"


@pytest.mark.parametrize(
    ("constructor", "forward"),
    [
        (EMBEDDING, "return self.table(torch.arange(x.shape[1]))"),
        (EMBEDDING, "return self.table(torch.arange(0, x.size(1)))"),
        (EMBEDDING, "return self.table(torch.arange(end=x.size(1)))"),
        (EMBEDDING, "return self.table(torch.arange(len(x)).long().unsqueeze(0))"),
        (EMBEDDING, "return self.table.forward(torch.arange(x.shape[1]))"),
        (EMBEDDING, "return F.embedding(torch.arange(x.shape[1]), self.table.weight)"),
        (EMBEDDING, "return x + self.table.weight[: x.shape[1]]"),
        (EMBEDDING, "n = x.shape[1] + 1; return self.table(torch.arange(n))"),
        (EMBEDDING, "x = torch.cat([x, x], dim=1); return self.table(torch.arange(x.shape[1]))"),
        (EMBEDDING, "y = x.transpose(1, 2); b, n, _ = y.shape; return self.table(torch.arange(n))"),
        (EMBEDDING, "return self.table(torch.arange(max(x.shape[1], 8)))"),
        (EMBEDDING, "return self.table(torch.arange(x[:, 1:].shape[1]))"),
        ("self.tables = nn.ModuleList([nn.Embedding(512, width)])", "return self.tables[0](torch.arange(len(x)))"),
        (
            "self.tables = nn.ModuleDict({'a': nn.Embedding(512, width)})",
            "return self.tables['a'](torch.arange(len(x)))",
        ),
        ("rows = 2**9; self.table = nn.Embedding(rows, width)", "return self.table(torch.arange(x.shape[1]))"),
        (BUFFER, "return x + self.table[:, : x.shape[1]]"),
        (BUFFER, "return x + self.table[:, 1 : x.shape[1] + 1]"),
        (BUFFER, "table = self.table.to(x.dtype); return x + table[:, : x.shape[1]]"),
        ("self.table = nn.Parameter(torch.randn(512, width))", "n = x.size(1); return x + self.table[:n]"),
        ("self.table = torch.arange(512)[:, None].float()", "n = x.size(1); return x + self.table[:n, :]"),
        ("self.table = nn.Parameter(torch.randn(512, width))", "return x + self.table[torch.arange(x.size(1))]"),
        (
            "self.register_buffer('mask', torch.ones(512, 512).tril().view(1, 1, 512, 512))",
            "n = x.shape[1]; return self.mask[:, :, :n, :n] * x",
        ),
    ],
)
def test_a_table_that_is_read_for_whatever_length_is_found(find: Find, constructor: str, forward: str) -> None:
    assert len(find(layer(constructor, forward))) == 1


@pytest.mark.parametrize(
    ("constructor", "forward"),
    [
        ("self.table = nn.Embedding(config.rows, width)", "return self.table(torch.arange(x.shape[1]))"),
        ("self.table = nn.Embedding(8, width)", "return self.table(torch.arange(x.shape[1]))"),
        (EMBEDDING, "return self.table(torch.arange(512))"),
        (EMBEDDING, "return self.table(x)"),
        (EMBEDDING, "return self.table(torch.arange(min(x.shape[1], 512)))"),
        (EMBEDDING, "return self.table(torch.arange(x.shape[1]) % 512)"),
        (EMBEDDING, "return self.table(torch.arange(x.shape[1]).clamp(max=511))"),
        (EMBEDDING, "x = x[:, :512]; return self.table(torch.arange(x.shape[1]))"),
        (EMBEDDING, "assert x.shape[1] <= 512; return self.table(torch.arange(x.shape[1]))"),
        (EMBEDDING, "n = x.shape[1]; n = n if n < 512 else 512; return self.table(torch.arange(n))"),
        (EMBEDDING, "return self.table(torch.arange(self.table.num_embeddings))"),
        (EMBEDDING, "return self.table(torch.arange(self.table.weight.shape[0]))"),
        (EMBEDDING, "return self.table(torch.zeros(x.shape[1], dtype=torch.long))"),
        (BUFFER, "return x + self.table[..., : x.shape[-1]]"),
        (BUFFER, "return x + self.table[:, :64]"),
        (BUFFER, "return x + self.table"),
        (
            BUFFER,
            "if x.shape[1] > self.table.shape[1]:; "
            "    self.table = torch.zeros(1, x.shape[1], 8); return x + self.table[:, : x.shape[1]]",
        ),
        ("self.table = None", "self.table = torch.zeros(512, 8); return x + self.table[: self.table.shape[0]]"),
    ],
)
def test_a_table_that_suffices_is_left_alone(find: Find, constructor: str, forward: str) -> None:
    assert find(layer(constructor, forward)) == []


POSITIONS = """
class Positions(nn.Module):
    def __init__(self, width, rows=512):
        super().__init__()
        self.table = nn.Embedding(rows, width)

    def forward(self, x):
        return x + self.table(torch.arange(x.shape[1], device=x.device))
"""

KEEPER = """
class Keeper(nn.Module):
    def __init__(self, width, rows):
        super().__init__()
        self.positions = {made}

    def forward(self, x):
        {before}
        return self.positions({given})
"""


@pytest.mark.parametrize("made", ["Positions(width)", "nn.Sequential(Positions(width))", "Positions(width=width)"])
@pytest.mark.parametrize("before", ["pass", "assert len(rows) < 99", "y = x[:, 1:]", "assert x.ndim > 2"])
def test_whoever_leaves_the_default_has_a_table_of_that_length(find: Find, made: str, before: str) -> None:
    keeper = KEEPER.format(made=made, before=before.replace("rows", "self.training"), given="x")
    assert find(POSITIONS + keeper) == ["nn.Embedding(rows, width)"]


@pytest.mark.parametrize(
    ("made", "before", "given"),
    [
        ("Positions(width, rows)", "pass", "x"),
        ("Positions(width, rows=rows)", "pass", "x"),
        ("Positions(width)", "pass", "x[:, :512]"),
        ("Positions(width)", "assert x.shape[1] <= 512", "x"),
        ("Positions(width)", "if x.size(1) > 512: raise ValueError", "x"),
        ("Positions(width)", "x = x.narrow(1, 0, 512); n = x.shape[1]; assert n < 512", "x"),
    ],
)
def test_whoever_says_how_long_it_is_or_limits_what_it_passes_on_decides(
    find: Find, made: str, before: str, given: str
) -> None:
    before = before.replace("; ", "\n        ")
    assert find(POSITIONS + KEEPER.format(made=made, before=before, given=given)) == []


def test_who_keeps_it_may_stand_in_another_file(find: Find) -> None:
    keeper = KEEPER.format(made="Positions(width)", before="pass", given="x")
    assert find(POSITIONS) == []
    assert find(POSITIONS, keeper="from model import Positions\n" + keeper) == ["nn.Embedding(rows, width)"]


def test_a_class_that_derives_from_it_reads_it(find: Find) -> None:
    base = layer(EMBEDDING, "raise NotImplementedError")
    derived = "class Derived(Model):\n    def forward(self, x):\n        return self.table(torch.arange(x.shape[1]))\n"
    assert find(base + "\n" + derived) == ["nn.Embedding(512, width)"]


def test_a_helper_may_count_and_another_may_look_up(find: Find) -> None:
    helpers = """
    def positions(x):
        return torch.arange(x.shape[1])


    def looked_up(table, ids):
        return table(ids)


    """
    assert find(dedent(helpers) + layer(EMBEDDING, "return looked_up(self.table, positions(x))")) != []


def test_what_a_constructor_asks_for_and_calls_builds_the_table(find: Find) -> None:
    build = "    def build(self, width):\n        " + EMBEDDING
    constructor = "if hasattr(self, 'build'): self.build(width)"
    assert len(find(layer(constructor, "return self.table(torch.arange(x.shape[1]))", build))) == 1
    assert find(layer("self.is_built = hasattr(self, 'build')", "return self.build(8)", build)) == []


def test_a_length_that_is_compared_with_a_few_is_not_limited(find: Find) -> None:
    constructor = f"{EMBEDDING}; self.labels = config.labels; self.head = nn.Linear(width, config.labels)"
    forward = "assert self.labels > 1; return self.table(torch.arange(x.shape[1]))"
    assert len(find(layer(constructor, forward))) == 1


def test_a_method_that_replaces_the_table_counts_where_something_calls_it(find: Find) -> None:
    grow = "    def grow(self, n):\n        self.table = torch.zeros(1, n, 8)"
    text = layer(BUFFER, "return x + self.table[:, : x.shape[1]]", grow)
    assert len(find(text)) == 1
    assert find(text + "\n\ndef longer(model):\n    model.grow(1024)\n") == []


def test_a_class_that_only_asks_for_the_class_of_an_object_does_not_use_the_table(find: Find) -> None:
    """However many ask, the user that cuts the length is looked at."""
    asking = "".join(
        f"class Asking{number}(nn.Module):\n"
        "    def forward(self, module, x):\n"
        "        return x * isinstance(module, (nn.Linear, Model))\n\n"
        for number in range(8)
    )
    using = (
        "class Using(nn.Module):\n"
        "    def __init__(self, config):\n"
        "        super().__init__()\n"
        "        self.part = Model(8, config)\n\n"
        "    def forward(self, x):\n"
        "        return self.part(x[:, :512])\n"
    )
    text = layer(EMBEDDING, "return self.table(torch.arange(x.shape[1]))")
    assert len(find(f"{text}\n\n{asking}")) == 1
    assert find(f"{text}\n\n{asking}{using}") == []


def test_files_that_are_checked_before_change_nothing(workspace: Workspace) -> None:
    """Their objects read the table as well, and its file's bodies are let go of meanwhile."""
    parts = """
        class Rotary(nn.Module):
            def __init__(self, width: int, length: int = 512):
                super().__init__()
                angles = torch.arange(length)[:, None] / 10000 ** (torch.arange(0, width, 2) / width)
                self.register_buffer("cos", angles.cos())

            def forward(self, x):
                return self.cos[: x.shape[1]]
        """
    user = """
        from .parts import Rotary


        class Top(nn.Module):
            def __init__(self, width: int = 64):
                super().__init__()
                self.rotary = Rotary(width)
                self.table = nn.Embedding(16, width)
                self.scores = nn.Linear(width, 16)

            def forward(self, x):
                x = x * self.rotary(x)
                return self.table(self.scores(x).argmax(-1))
        """
    users = {f"model/a{number}.py": HEAD + dedent(user) for number in range(5)}
    workspace.write({"model/__init__.py": "from .a0 import Top\n", "model/parts.py": HEAD + dedent(parts), **users})
    alone = workspace.places("model/parts.py", "--select", "ML303", "--no-cache")
    assert [code for _, _, code in alone] == ["ML303"]
    assert workspace.places(".", "--select", "ML303", "--no-cache", "--jobs", "1") == alone
