"""What tensors hold when something is looked up with them: constants among their elements, positions, real numbers."""

from __future__ import annotations

from textwrap import dedent, indent
from typing import TYPE_CHECKING

import pytest

from modellint.flow.domain import Filler, Real, size_of
from modellint.flow.queries import flow
from modellint.link.project import Project, ProjectOptions

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from modellint.flow.lookup_records import Lookup

    Find = Callable[[str], list[Lookup]]
    Pads = Callable[[str], list[tuple[str, bool]]]

MODEL = """\
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pad_sequence


class Model(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.project = nn.Linear(width, width)
        self.norm = nn.BatchNorm1d(width)
        self.lstm = nn.LSTM(width, width)
        self.matrix = nn.Parameter(torch.randn(width, width))
        self.drop = nn.Dropout(0.1)
        self.table = nn.Embedding(1024, width)
        self.pad = 1024

    def forward(self, x, ids, mask, texts, unknown):
"""


@pytest.fixture
def find(tmp_path: Path) -> Find:
    """What a body looks up in the table."""

    def found(body: str) -> list[Lookup]:
        (tmp_path / "model.py").write_text(MODEL + indent(dedent(body).strip(), "        ") + "\n")
        project = Project(ProjectOptions(root=tmp_path))
        module = project.python(tmp_path / "model.py")
        assert module is not None
        return list(flow(module, project).lookups())

    return found


@pytest.fixture
def pads(tmp_path: Path) -> Pads:
    """The constants that an expression writes among positions, and whether these are taken out again."""

    def found(expression: str) -> list[tuple[str, bool]]:
        (tmp_path / "model.py").write_text(f"{MODEL}        return {expression}\n")
        project = Project(ProjectOptions(root=tmp_path))
        module = project.python(tmp_path / "model.py")
        assert module is not None
        asked = flow(module, project)
        return [(str(one.filler.size), not asked.escapes(one)) for one in asked.padded_positions()]

    return found


def constants(lookups: list[Lookup]) -> set[tuple[str, bool]]:
    """The constants that are looked up, and whether that is only perhaps so."""
    return {(str(one.element.size), one.is_conditional) for one in lookups if isinstance(one.element, Filler)}


@pytest.mark.parametrize(
    ("made", "number"),
    [
        ("torch.full((2, 3), 7)", "7"),
        ("torch.full_like(ids, 7)", "7"),
        ("ids.new_full((2, 3), fill_value=7)", "7"),
        ("F.pad(ids, (1, 0), value=-1)", "-1"),
        ("pad_sequence(texts, batch_first=True, padding_value=-100)", "-100"),
        ("ids.masked_fill(mask, self.pad)", "1024"),
        ("ids.masked_fill_(mask, self.pad + 1)", "1025"),
        ("torch.masked_fill(ids, mask, value=self.pad)", "1024"),
        ("torch.where(mask, ids, self.pad)", "1024"),
        ("ids.where(mask, self.pad)", "1024"),
        ("torch.tensor([[7]])", "7"),
        ("torch.tensor([7], dtype=torch.long).view(1, 1)", "7"),
        ("torch.as_tensor(self.pad)", "1024"),
        ("torch.LongTensor([7])", "7"),
        ("torch.full((2, 3), 7) + 1", "8"),
        ("torch.full((2, 3), 7).sub(8)", "-1"),
        ("torch.cat([ids, ids.new_full((1, 1), 7)], dim=1)", "7"),
        ("self.drop(torch.full((2, 3), 7)).t().contiguous()", "7"),
    ],
)
def test_constants_are_written(find: Find, made: str, number: str) -> None:
    assert constants(find(f"self.table({made})")) == {(number, False)}


@pytest.mark.parametrize(
    "made",
    [
        "torch.full((2, 3), 7.5)",
        "F.pad(ids, (1, 0))",
        "torch.full((2, 3), 7).clamp(max=3)",
        "torch.full((2, 3), 7) % 4",
        "torch.full((2, 3), 7) * unknown",
        "torch.full((2, 3), 7).masked_fill(mask, unknown)",
        "torch.full((2, 3), 7).float().long()",
        "torch.full((2, 3), 7) == 7",
    ],
)
def test_constants_that_are_gone(find: Find, made: str) -> None:
    assert not constants(find(f"self.table({made})"))


def test_constants_that_are_compared_are_gone(find: Find) -> None:
    filled = "padded = F.pad(ids, (1, 0), value=-1)\n"
    assert not constants(find(f"{filled}self.table(padded[padded >= 0])"))
    assert not constants(find(f"{filled}self.table(torch.where(padded < 0, unknown, padded))"))
    assert not constants(find(f"{filled}padded[padded == -1] = unknown\nself.table(padded)"))
    assert not constants(find(f"{filled}if (padded >= 0).all():\n    self.table(padded)"))
    assert not constants(find(f"{filled}if -1 in padded:\n    return None\nself.table(padded)"))
    assert constants(find(f"{filled}if ids.shape[0] > 3:\n    self.table(padded)")) == {("-1", False)}


def test_constants_that_may_be_gone(find: Find) -> None:
    filled = "padded = F.pad(ids, (1, 0), value=-1)\n"
    assert constants(find(f"{filled}self.table(padded[:, 1:])")) == {("-1", True)}
    assert constants(find(f"{filled}self.table(padded[:])")) == {("-1", False)}
    assert constants(find(f"{filled}self.table(padded if unknown else ids)")) == {("-1", True)}
    assert constants(find(f"{filled}padded[:, 0] = 3\nself.table(padded)")) == {("-1", False), ("3", False)}
    loop = "for row, text in enumerate(texts):\n    padded[row] = text\n"
    assert constants(find(f"{filled}{loop}self.table(padded)")) == {("-1", True)}


def test_what_a_parameter_defaults_to_is_no_condition(tmp_path: Path) -> None:
    code = MODEL.replace("unknown):", "unknown=None):")
    code += (
        "        if unknown is None:\n            unknown = torch.full((2,), 7)\n        return self.table(unknown)\n"
    )
    (tmp_path / "model.py").write_text(code)
    project = Project(ProjectOptions(root=tmp_path))
    module = project.python(tmp_path / "model.py")
    assert module is not None
    assert constants(list(flow(module, project).lookups())) == {("7", False)}


@pytest.mark.parametrize("index", ["unknown", "x", "torch.cos(x)", "self.weights[unknown]"])
def test_a_number_below_minus_one_indexes_anything(find: Find, index: str) -> None:
    (lookup,) = find(f"{index}[ids.masked_fill(mask, -100)]")
    assert not lookup.is_made
    assert not find(f"{index}[ids.masked_fill(mask, -1)]")
    assert not find(f"{index}[ids.masked_fill(mask, 100)]")


@pytest.mark.parametrize(
    "padded",
    [
        "F.pad(torch.arange(9), (0, 1), value=-100)",
        "torch.arange(9).unsqueeze(0).masked_fill(mask, -100)",
        "pad_sequence([torch.arange(len(text)) for text in texts], padding_value=-100)",
        "(mask.long().cumsum(-1) - 1).masked_fill(mask == 0, -100)",
        "mask.cumsum(-1).sub(1).masked_fill(mask == 0, -100)",
        "(torch.arange(9) if ids is None else ids).masked_fill(mask, -100)",
    ],
)
def test_positions_are_padded(pads: Pads, padded: str) -> None:
    assert pads(padded) == [("-100", False)]
    assert pads(f"({padded})[0]") == [("-100", False)]


@pytest.mark.parametrize(
    "padded",
    [
        "F.pad(ids, (0, 1), value=-100)",
        "F.pad(torch.arange(9) * unknown, (0, 1), value=-100)",
        "F.pad(torch.arange(9, dtype=torch.float), (0, 1), value=-100)",
        "F.pad(torch.arange(9).float(), (0, 1), value=-100)",
        "mask.cumsum(-1).masked_fill(mask == 0, -100)",
        "(self.project(x).cumsum(-1) - 1).masked_fill(mask == 0, -100)",
        "(torch.arange(9) if unknown else ids).masked_fill(mask, -100)",
        "torch.arange(9).masked_fill(mask, unknown)",
    ],
)
def test_other_things_are_padded(pads: Pads, padded: str) -> None:
    assert pads(padded) == []


def test_positions_that_are_told_apart_from_their_padding(pads: Pads) -> None:
    padded = "F.pad(torch.arange(9), (0, 1), value=-100)"
    assert pads(f"({padded}) != -100") == [("-100", True)]
    assert pads(f"torch.where({padded} < 0, 0, unknown)") == [("-100", True)]
    assert pads(f"({padded}).eq(unknown)") == [("-100", True)]


def real(lookups: list[Lookup]) -> list[tuple[str, bool]]:
    """What makes the real numbers that are looked up, and whether that is only perhaps so."""
    numbers = [(one.element, one.is_conditional) for one in lookups if isinstance(one.element, Real)]
    return [(element.origin.module.text_of(element.origin.value), is_open) for element, is_open in numbers]


@pytest.mark.parametrize(
    ("made", "by"),
    [
        ("self.project(x)", "self.project(x)"),
        ("self.norm(x)", "self.norm(x)"),
        ("self.lstm(x)[0]", "self.lstm(x)"),
        ("self.drop(self.project(x))", "self.project(x)"),
        ("self.project(x).transpose(1, 2).long()", "self.project(x)"),
        ("torch.softmax(x, -1)", "torch.softmax(x, -1)"),
        ("x.tanh()", "x.tanh()"),
        ("ids / 2", "ids / 2"),
        ("ids.div(2)", "ids.div(2)"),
        ("torch.true_divide(ids, 2)", "torch.true_divide(ids, 2)"),
        ("ids.to(torch.float32)", "ids.to(torch.float32)"),
        ("ids.float()", "ids.float()"),
        ("torch.tensor(texts, dtype=torch.float)", "torch.tensor(texts, dtype=torch.float)"),
        ("x @ self.matrix", "x @ self.matrix"),
        ("torch.matmul(x, self.matrix)", "torch.matmul(x, self.matrix)"),
        ("torch.randn(2, 3)", "torch.randn(2, 3)"),
        ("self.project(x) + ids", "self.project(x)"),
        ("self.project(x).clamp(0, 1)", "self.project(x)"),
        ("torch.cat([self.project(x), x])", "self.project(x)"),
    ],
)
def test_real_numbers_are_made(find: Find, made: str, by: str) -> None:
    assert real(find(f"self.table({made})")) == [(by, False)]


@pytest.mark.parametrize(
    "made",
    [
        "x",
        "x @ unknown",
        "ids // 2",
        "torch.div(ids, 2, rounding_mode='trunc')",
        "(x / 2).long()",
        "self.project(x).mul(10).int()",
        "self.project(x).argmax(-1)",
        "self.project(x).topk(3).indices",
        "self.project(x) > 0",
        "torch.bucketize(self.project(x), unknown)",
        "int(self.project(x).item())",
        "self.project(x).shape[0]",
        "torch.randint(0, 5, (2, 3))",
    ],
)
def test_whole_numbers(find: Find, made: str) -> None:
    assert not real(find(f"self.table({made})"))


def test_the_type_of_numbers_is_asked_for(find: Find) -> None:
    made = "made = self.project(x)\n"
    assert not real(find(f"{made}if made.dtype == torch.long:\n    self.table(made)"))
    assert not real(find(f"{made}if not made.is_floating_point():\n    self.table(made)"))
    assert not real(find(f"{made}if made.ndim == 3:\n    made = made.argmax(-1)\nself.table(made)"))
    assert real(find(f"{made}if made.max() > 0:\n    self.table(made)")) == [("self.project(x)", False)]


def test_each_call_of_a_function_is_told_what_it_was_given(tmp_path: Path) -> None:
    code = MODEL.replace("class Model", "def look(table, numbers):\n    return table(numbers)\n\n\nclass Model", 1)
    code += "        first = look(self.table, x.tanh())\n        return first + look(self.table, x.sigmoid())\n"
    (tmp_path / "model.py").write_text(code)
    project = Project(ProjectOptions(root=tmp_path))
    module = project.python(tmp_path / "model.py")
    assert module is not None
    assert real(list(flow(module, project).lookups())) == [("x.tanh()", False), ("x.sigmoid()", False)]


def test_what_is_called_is_one_of_several(find: Find) -> None:
    assert real(find("chosen = self.table if unknown else self.drop\nchosen(self.project(x))")) == [
        ("self.project(x)", True)
    ]
    assert real(find("for table in [self.table, self.table]:\n    table(x / 2)")) == [("x / 2", False)]


def test_one_of_the_results_of_a_call_that_gives_several(tmp_path: Path) -> None:
    head = "def results(model, x, unknown):\n    for made in (model.project(x), x.argmax(-1)):\n        yield made\n"
    code = MODEL.replace("class Model", f"{head}\n\nclass Model", 1)
    code += "        return self.table(tuple(results(self, x, unknown))[1])\n"
    (tmp_path / "model.py").write_text(code)
    project = Project(ProjectOptions(root=tmp_path))
    module = project.python(tmp_path / "model.py")
    assert module is not None
    assert all(is_open for _, is_open in real(list(flow(module, project).lookups())))


@pytest.mark.parametrize("taken", ['options.pop("row", None)', 'options.pop("row")', 'options.get("row", 0)'])
def test_a_value_is_taken_out_of_a_dict_by_its_key(tmp_path: Path, taken: str) -> None:
    made = f"options = dict(row=9, other=3)\n        self.own = nn.Embedding(9, 4, padding_idx={taken})\n"
    (tmp_path / "model.py").write_text(MODEL.replace("self.pad = 1024\n", made) + "        pass\n")
    project = Project(ProjectOptions(root=tmp_path))
    module = project.python(tmp_path / "model.py")
    assert module is not None
    (made_table,) = flow(module, project).padded_tables()
    assert str(size_of(made_table.rows)) == str(size_of(made_table.padding)) == "9"
