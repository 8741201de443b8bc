"""Position tables: which parameter sizes them, with what they are called, and what indexes them."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

from modellint.graph.value import EventKind
from modellint.link.project import Project, ProjectOptions
from modellint.link.values.evaluator import Located
from modellint.link.values.rotary import LengthKind, is_element, length_kind, number_sources, sums

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from modellint.graph.python import Function, ModuleFacts

    Read = Callable[..., tuple[Project, ModuleFacts]]

TABLE = """
import torch
from torch import nn


class Rotary(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim
        self.register_buffer("cosines", torch.cos(torch.arange(4096.0)))

    def build(self, length, scale):
        angles = torch.arange(length) * scale
        return angles.cos(), angles.sin()

    def forward(self, x, seq_len=None, scale=1.0):
        return self.build(seq_len, scale)

    def cut(self, x, upto):
        return self.cosines[:upto]

    def width(self, x, dim):
        return x[:dim]
"""


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def parse(main: str = "", **others: str) -> tuple[Project, ModuleFacts]:
        for name, text in {"main": main, "rotary": TABLE, **others}.items():
            (tmp_path / f"{name}.py").write_text(dedent(text))
        project = Project(ProjectOptions(root=tmp_path))
        module = project.python(tmp_path / ("main.py" if main else "rotary.py"))
        assert module is not None
        return project, module

    return parse


def function(module: ModuleFacts, qualname: str) -> Function:
    return next(f for f in module.all_functions() if f.qualname == qualname)


# -- which parameter is a length --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "parameters"),
    [("build", {"length"}), ("forward", {"seq_len"}), ("cut", {"upto"}), ("width", set())],
)
def test_a_length_bounds_an_arange_or_the_slice_of_a_table(read: Read, method: str, parameters: set[str]) -> None:
    project, module = read()
    assert project.rotary.length_parameters(function(module, f"Rotary.{method}")) == parameters


def test_a_function_without_cosines_sizes_no_position_table(read: Read) -> None:
    project, module = read("import torch\ndef mask(length):\n    return torch.arange(length)[None] < length")
    assert project.rotary.length_parameters(function(module, "mask")) == frozenset()


def test_functions_that_call_each_other_end(read: Read) -> None:
    project, module = read("def a(n):\n    return b(n).cos()\ndef b(n):\n    return a(n).cos()")
    assert project.rotary.length_parameters(function(module, "a")) == frozenset()


# -- where a length is passed -----------------------------------------------------------------------------------------

CALLER = """
from torch import nn
from rotary import Rotary


def rotate(q, cos, sin, ids):
    return q * cos[ids] + q.flip(-1) * sin[ids]


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.rotary = Rotary(dim)
        self.other = nn.Linear(dim, dim)

    def by_position(self, q, position_ids):
        cos, sin = self.rotary(q, q.shape[1])
        return rotate(q, cos, sin, position_ids.to(q.device))

    def by_name(self, q, position_ids):
        cos, sin = self.rotary(q, seq_len=q.shape[1] + 2)
        return q * cos[position_ids] + q.flip(-1) * sin[position_ids]

    def without(self, q):
        return self.other(q)
"""


GROWING = """
import torch
from rotary import Rotary
from torch import nn
from torch.nn.functional import pad


def rotate(x, cos, sin):
    return x * cos + x.flip(-1) * sin


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.rotary = Rotary(dim)

    def forward(self, q, ids, extra):
        cos, sin = self.rotary(q, q.shape[1] + 2)
        BODY
"""


@pytest.mark.parametrize(("method", "text"), [("by_position", "q.shape[1]"), ("by_name", "q.shape[1] + 2")])
def test_the_length_is_found_where_it_is_passed(read: Read, method: str, text: str) -> None:
    project, module = read(CALLER)
    (table,) = project.rotary.sized_tables(function(module, f"Attention.{method}"))
    assert (table.name, module.text_of(table.length.value)) == ("seq_len", text)


def test_a_slice_on_the_spot_is_a_sized_table(read: Read) -> None:
    project, module = read()
    (table,) = project.rotary.sized_tables(function(module, "Rotary.cut"))
    assert table.callee is None
    assert module.text_of(table.length.value) == "upto"


def test_a_call_of_another_layer_sizes_nothing(read: Read) -> None:
    project, module = read(CALLER)
    assert list(project.rotary.sized_tables(function(module, "Attention.without"))) == []


@pytest.mark.parametrize("method", ["by_position", "by_name"])
def test_the_ids_that_index_a_table_are_followed_to_their_parameter(read: Read, method: str) -> None:
    project, module = read(CALLER)
    (table,) = project.rotary.sized_tables(function(module, f"Attention.{method}"))
    indices = project.rotary.indices(table)
    assert {index.ids.value.data for index in indices} == {"position_ids"}
    assert all(index.ids.frame is table.frame for index in indices)


# -- what a length is made of -----------------------------------------------------------------------------------------


def length(read: Read, expression: str, before: str = "") -> tuple[list[str], list[str], list[str]]:
    """The sources of a number, the sums in it, and what each source measures."""
    lines = "".join(f"    {line}\n" for line in before.splitlines())
    project, module = read(f"def f(x, ids, cache, n):\n{lines}    use({expression})\n")
    frame = project.evaluator.root(function(module, "f"))
    call = next(e.value for e in frame.function.flow.of(EventKind.CALL) if e.value.callee.data == "use")
    argument = call.argument(0)
    assert argument is not None

    located = Located(argument, frame)
    sources = list(number_sources(located, project.evaluator))
    texts = sorted(module.text_of(source.value) for source in sources)
    added = [module.text_of(part.value) for part in sums(located, project.evaluator)]
    return texts, added, sorted(length_kind(source.value) for source in sources)


def test_sums_extremes_casts_and_choices_are_taken_apart(read: Read) -> None:
    sources, added, _ = length(read, "max(int(x.size(1)), ids.max().item() + 1)")
    assert sources == ["1", "ids.max()", "x.size(1)"]
    assert added == ["ids.max().item() + 1"]


def test_a_branch_that_adds_is_seen(read: Read) -> None:
    _, added, _ = length(read, "n", "n = x.shape[1]\nif cache is not None:\n    n += cache.shape[1]")
    assert added == ["n += cache.shape[1]"]


@pytest.mark.parametrize("call", ["helper(x)", "int(helper(x))"])
def test_a_sum_in_the_return_of_a_helper_is_seen(read: Read, call: str) -> None:
    project, module = read(f"def helper(y):\n    return y.shape[1] + 32\n\ndef f(x):\n    use({call})\n")
    frame = project.evaluator.root(function(module, "f"))
    call_ = next(e.value for e in frame.function.flow.of(EventKind.CALL) if e.value.callee.data == "use")
    (added,) = sums(Located(call_.positional[0], frame), project.evaluator)
    assert module.text_of(added.value) == "y.shape[1] + 32"
    assert added.frame.function.name == "helper"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("x = pad(q, (0, 0, 1, 1))\n        return x * cos + x * sin", True),
        ("x = torch.cat([extra, q], dim=1)\n        return rotate(x, cos, sin)", True),
        ("x = torch.cat([extra, extra], dim=1)\n        return x * cos + x * sin", False),
        ("x = pad(q, (0, 0, 1, 1))\n        return x * cos[ids] + x * sin[ids]", False),
        ("x = pad(q, (0, 0, 1, 1))\n        return x, q * cos, q * sin", False),
    ],
)
def test_a_table_fits_the_tensor_that_it_is_applied_to(read: Read, body: str, expected: bool) -> None:
    project, module = read(GROWING.replace("BODY", body))
    (table,) = project.rotary.sized_tables(function(module, "Attention.forward"))
    (part,) = sums(table.length, project.evaluator)
    assert project.rotary.fits_grown(table, part) is expected


def test_multiplication_is_no_sum(read: Read) -> None:
    sources, added, _ = length(read, "2 * n - 1")
    assert added == ["2 * n - 1"]
    assert sources == ["1", "2 * n"]


@pytest.mark.parametrize("expression", ["x.shape[1]", "x.size(-2)", "len(x)", "cache.get_seq_length()"])
def test_dimensions_and_lengths_count(read: Read, expression: str) -> None:
    assert length(read, expression)[2] == [LengthKind.COUNT]


@pytest.mark.parametrize("expression", ["ids.max()", "ids[-1]", "ids[:, -1]", "ids[..., -1]"])
def test_maxima_and_last_elements_are_positions(read: Read, expression: str) -> None:
    assert length(read, expression)[2] == [LengthKind.POSITION]


@pytest.mark.parametrize(("expression", "expected"), [("ids[0]", True), ("ids[:2]", False), ("x.shape[0]", False)])
def test_an_element_of_what_is_given(read: Read, expression: str, expected: bool) -> None:
    _, module = read(f"def f(x, ids):\n    return {expression}\n")
    (returned,) = function(module, "f").flow.of(EventKind.RETURN)
    assert is_element(returned.value) is expected


@pytest.mark.parametrize("expression", ["n", "unknown(x)", "ids[0]", "x.shape"])
def test_anything_else_measures_nothing_that_is_known(read: Read, expression: str) -> None:
    assert length(read, expression)[2] == [LengthKind.UNKNOWN]


def test_a_range_of_which_cosines_are_taken_sizes_a_table(read: Read) -> None:
    text = """\
import torch

class Rotary:
    def forward(self, x, n):
        steps = torch.arange(n + 4, device=x.device)
        half = torch.arange(0, n, 2)
        return torch.cos(steps[:, None] * half)

    def count(self, n):
        return torch.arange(n)
"""
    project, module = read(text)
    (table,) = project.rotary.sized_tables(function(module, "Rotary.forward"))
    assert table.callee is None
    assert table.name == "the range"
    assert [module.text_of(part.value) for part in sums(table.length, project.evaluator)] == ["n + 4"]
    assert list(project.rotary.sized_tables(function(module, "Rotary.count"))) == []
