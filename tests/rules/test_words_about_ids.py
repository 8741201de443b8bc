"""Findings about ids name the call that looks them up, and point to where a constant is written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import modellint

if TYPE_CHECKING:
    from modellint.finding import Finding

RULES = Path(__file__).parents[2] / "rules"
HEAD = "import torch\nfrom torch import nn\nfrom torch.nn.utils.rnn import pad_sequence\n\n\n"

LANGUAGE_MODEL = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(8, 16)
        self.head = nn.Linear(16, 10)

    def forward(self, idx):
        return self.head(self.table(idx))

    def generate(self, idx):
        ids = self.head(torch.rand(3, 16)).argmax(-1)
        return self({argument})
"""


def found(folder: Path, code: str, text: str) -> list[Finding]:
    (folder / "model.py").write_text(HEAD + text, encoding="utf-8")
    return [finding for finding in modellint.check([folder], isolated=True) if finding.code == code]


@pytest.mark.parametrize(("code", "argument"), [("ML103", "ids"), ("ML102", "torch.rand(3)")])
def test_an_object_that_calls_itself_is_named_with_what_it_is_given(tmp_path: Path, code: str, argument: str) -> None:
    (finding,) = found(tmp_path, code, LANGUAGE_MODEL.format(argument=argument))
    assert finding.message.startswith(f"`self({argument})` looks up ")
    assert finding.evidence[-1].endswith(f"through `self({argument})`")


def test_a_long_call_is_not_shown_in_full(tmp_path: Path) -> None:
    (finding,) = found(tmp_path, "ML103", LANGUAGE_MODEL.format(argument="idx=ids" + ".long()" * 20))
    assert finding.symbol == f"self(idx=ids{'.long()' * 6}.lo..."


TABLE = """
class Table(nn.Module):
    def __init__(self, n=10, {parameter}):
        super().__init__()
        self.pad_id = pad_id
        self.table = nn.Embedding(n, 4{padding})

    def forward(self, batch):
        return self.table(pad_sequence(batch, padding_value={filler}))
"""


@pytest.mark.parametrize(
    ("parameter", "padding", "filler"),
    [
        ("pad_id=-1", "", "self.pad_id"),
        ("*, pad_id: int = 10", "", "self.pad_id"),
        ("pad_id=10", ", padding_idx=pad_id", "0"),
        ("pad_id=10", ", padding_idx=self.pad_id", "0"),
    ],
)
def test_a_constant_is_written_where_the_default_of_a_parameter_is(
    tmp_path: Path, parameter: str, padding: str, filler: str
) -> None:
    text = TABLE.format(parameter=parameter, padding=padding, filler=filler)
    (finding,) = found(tmp_path, "ML104", text)
    written = finding.related[0]
    line = (HEAD + text).splitlines()[written.place.span.line - 1]
    assert written.message == "the constant is written here"
    assert line[: written.place.span.column - 1].endswith(("pad_id=", "pad_id: int = "))


FUNCTIONS = """
def filled(batch, value{default}):
    return pad_sequence(batch, padding_value=value)


def outer(batch):
    def inner(rows, number=-1):
        return pad_sequence(rows, padding_value=number)

    return nn.Embedding(10, 4)({call})
"""


@pytest.mark.parametrize(
    ("default", "call", "before"),
    [
        ("=-1", "filled(batch)", "def filled(batch, value="),
        ("=-2", "filled(batch, -1)", "    return pad_sequence(batch, padding_value="),
        ("", "filled(batch, -1)", "    return pad_sequence(batch, padding_value="),
        ("", "inner(batch)", "    def inner(rows, number="),
        ("", "inner(batch, 12)", "        return pad_sequence(rows, padding_value="),
    ],
)
def test_a_constant_that_a_function_is_given_is_written_in_its_head_or_where_it_becomes_an_element(
    tmp_path: Path, default: str, call: str, before: str
) -> None:
    text = FUNCTIONS.format(default=default, call=call)
    (finding,) = found(tmp_path, "ML104", text)
    span = finding.related[0].place.span
    assert (HEAD + text).splitlines()[span.line - 1][: span.column - 1] == before


def test_a_table_that_a_constructor_is_given_is_made_by_its_caller(tmp_path: Path) -> None:
    text = """
class Table(nn.Module):
    def __init__(self, rows):
        super().__init__()
        self.rows = rows
        self.more = nn.Embedding(100, 3)

    def forward(self, ids):
        return self.rows[ids] + self.more(ids)


def look_up():
    return Table(torch.zeros(5, 3))(torch.full((3,), 7))
"""
    (finding,) = found(tmp_path, "ML104", text)
    assert finding.symbol == "torch.zeros"


#: An example that takes the columns of one of two rows in the right order.
PAIRS = RULES / "ml104_constant_id_outside_table/good/columns-of-one-of-two-rows/model.py"


@pytest.mark.parametrize(("names", "codes"), [("ids, kinds", []), ("kinds, ids", ["ML104"])])
def test_the_columns_of_one_of_two_rows_are_told_apart(tmp_path: Path, names: str, codes: list[str]) -> None:
    text = PAIRS.read_text("utf-8")
    assert text.count("ids, kinds = map(") == 1
    text = text.replace("ids, kinds = map(", f"{names} = map(")
    assert [finding.code for finding in found(tmp_path, "ML104", text)] == codes
