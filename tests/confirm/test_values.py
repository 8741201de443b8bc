"""Lookups that can fail, seen by running a function of a file with inputs that were made up for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from served import served

from modellint.claims.lookups import FedNumbers, IdsExceed, SizedByWidth
from modellint.confirm.child import answer
from modellint.confirm.plan import Group
from modellint.finding import Status, Verdict
from modellint.probes import Probe, Target
from modellint.source import Place, Span

if TYPE_CHECKING:
    from pathlib import Path

    from modellint.claims import Claim

MODEL = """
import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self, width={width}, classes={classes}, rows={rows}):
        super().__init__()
        self.rows = rows
        self.head = nn.Linear(width, classes)
        self.table = nn.Embedding(rows, width)

    def forward(self, hidden):
        ids = self.head(hidden).argmax(-1)
        {between}
        return self.table(ids)
"""


def verdict_of(
    folder: Path, code: str, targets: dict[str, Any] | None = None, claim: type[Claim] = IdsExceed
) -> Verdict:
    """The verdict on the last line of a file, that a forward method looks up ids there which have no row."""
    path = folder / "decoder.py"
    path.write_text(code)
    line = len(code.splitlines())
    text = code.splitlines()[-1]
    column = text.index("return ") + len("return ") + 1
    place = Place(path.as_posix(), Span(line, column, line, len(text) + 1))
    target = Target(path, "Decoder.forward")
    probe = Probe(target, claim(place))
    setup = served(targets=tuple((targets or {}).items()))
    return answer(Group(target, ((0, probe),)), setup)[0]


def model(classes: int = 4160, rows: int = 4096, width: int = 8, between: str = "pass") -> str:
    return MODEL.format(classes=classes, rows=rows, width=width, between=between)


def test_ids_of_a_head_with_more_classes_than_rows(tmp_path: Path) -> None:
    verdict = verdict_of(tmp_path, model())
    assert verdict.status is Status.CONFIRMED, verdict
    assert verdict.device == "cpu"
    assert "ids [0, 4159] of a choice among 4160 classes look up 4096 rows in `decoder.py:16: embedding`" in str(
        verdict
    )
    assert "IndexError: index out of range in self" in str(verdict)
    assert "hidden = float" in str(verdict)


SAFE = {
    "cut": "ids = self.head(hidden)[..., : self.rows].argmax(-1)",
    "clamped": "ids = ids.clamp(max=self.rows - 1)",
    "rejected": "assert ids.max() < self.rows",
    "replaced one by one": "ids = torch.tensor([min(i, 4095) for i in ids.flatten().tolist()])",
    "dropped by Python": "ids = torch.tensor([i for i in ids.flatten().tolist() if i < self.rows])",
    "masked": "ids = self.head(hidden).masked_fill(torch.arange(4160) >= 4096, float('-inf')).argmax(-1)",
    "stopped by the same draw": "assert self.head(hidden).argmax(-1).max() < self.rows",
}


@pytest.mark.parametrize("name", SAFE)
def test_what_keeps_ids_in_the_table_is_never_confirmed(tmp_path: Path, name: str) -> None:
    assert verdict_of(tmp_path, model(between=SAFE[name])).status is not Status.CONFIRMED


def test_one_of_several_inputs_that_may_be_left_out(tmp_path: Path) -> None:
    between = "assert other is None"
    code = model(between=between).replace("(self, hidden)", "(self, hidden=None, other=None)")
    verdict = verdict_of(tmp_path, code)
    assert verdict.status is Status.CONFIRMED, verdict


def test_a_compiled_method_runs_as_it_is_written(tmp_path: Path) -> None:
    """The guard lets nobody start the compiler that `torch.compile` asks for."""
    drawn = "    @torch.compile\n    def draw(self, hidden):\n        return self.head(hidden).argmax(-1)\n\n"
    code = (
        model()
        .replace("    def forward", f"{drawn}    def forward")
        .replace("self.head(hidden).argmax(-1)", "self.draw(hidden)", 2)
    )
    code = code.replace("return self.draw(hidden)", "return self.head(hidden).argmax(-1)")
    verdict = verdict_of(tmp_path, code)
    assert verdict.status is Status.CONFIRMED, verdict


def test_ids_that_stay_inside_refute(tmp_path: Path) -> None:
    verdict = verdict_of(tmp_path, model(classes=4096))
    assert verdict.status is Status.REFUTED, verdict
    assert "ids [0, 4095] of a choice among 4096 classes look up 4096 rows" in str(verdict)


def test_what_no_run_reaches_stays_open(tmp_path: Path) -> None:
    verdict = verdict_of(tmp_path, model(between="raise ValueError('not today')"))
    assert verdict.status is Status.UNCONFIRMED
    assert "not today" in str(verdict)


@pytest.mark.parametrize(("classes", "status"), [(200_064, Status.CONFIRMED), (200_000, Status.UNCONFIRMED)])
def test_a_large_model_has_no_data(tmp_path: Path, classes: int, status: Status) -> None:
    verdict = verdict_of(tmp_path, model(classes=classes, rows=200_000, width=2048))
    assert verdict.status is status, verdict
    if status is Status.CONFIRMED:
        assert verdict.device == "fake"
        assert "ids [0, 200063] of a choice among 200064 classes look up 200000 rows" in str(verdict)


def test_numbers_that_were_assumed_prove_nothing(tmp_path: Path) -> None:
    code = model().replace("=4160", "").replace("=4096", "").replace("width=8, classes, rows", "classes, rows, width=8")
    verdict = verdict_of(tmp_path, code)
    assert verdict.status is Status.UNCONFIRMED, verdict


def test_settings_say_what_to_pass(tmp_path: Path) -> None:
    code = model().replace("=4160", "").replace("=4096", "").replace("width=8, classes, rows", "classes, rows, width=8")
    said = {"arguments": {"classes": 12, "rows": 10}, "inputs": {"hidden": {"shape": [3, 8]}}}
    for target in ("decoder:Decoder", f"{tmp_path.as_posix()}/decoder.py::Decoder", "decoder.py::Decoder"):
        verdict = verdict_of(tmp_path, code, {target: said})
        assert verdict.status is Status.CONFIRMED, verdict
        assert "ids [0, 11] of a choice among 12 classes look up 10 rows" in str(verdict)


TABLE = """
from torch import nn


class Front(nn.Module):
    def __init__(self, {parameters}):
        super().__init__()
        {also}
        self.table = nn.Embedding({sizes})

    def forward(self, {inputs}):
        {says}
        {between}
        return {gives}
"""


def verdict_on_table(
    folder: Path, sizes: str, gives: str, inputs: str, targets: Any = None, *, swapped: bool = False, **parts: str
) -> Verdict:
    """The verdict on a table of a class with these parts, that it is sized by features, or its sizes are swapped."""
    parts = {"parameters": "width, vocab_size", "also": "pass", "says": "pass", "between": "pass", **parts}
    path = folder / "front.py"
    path.write_text(TABLE.format(sizes=sizes, gives=gives, inputs=inputs, **parts))
    lines = path.read_text().splitlines()
    line = next(number for number, text in enumerate(lines, 1) if "self.table = " in text)
    span = Span(line, lines[line - 1].index("nn.") + 1, line, len(lines[line - 1]) + 1)
    target = Target(path, "Front.__init__")
    probe = Probe(target, SizedByWidth(Place(path.as_posix(), span), swapped))
    setup = served(targets=tuple((targets or {}).items()))
    return answer(Group(target, ((0, probe),)), setup)[0]


CONFIG = """class Config:
    def __init__(self, hidden_size=768, vocab_size=32000):
        self.hidden_size, self.vocab_size = hidden_size, vocab_size


"""

FEATURES = {
    "a documented width": {
        "sizes": "width, 8",
        "inputs": "x",
        "says": '"""x: (batch, time, width)"""',
        "gives": "self.table(x)",
    },
    "the input of a layer": {
        "also": "self.skip = nn.Linear(width, vocab_size)",
        "sizes": "width, vocab_size",
        "inputs": "x",
        "gives": "self.table(x) + self.skip(x)",
    },
    "cast, what a layer made": {
        "also": "self.front = nn.Linear(8, width)",
        "sizes": "width, 8",
        "inputs": "x",
        "gives": "self.table(self.front(x).relu().long())",
    },
    "swapped": {
        "also": "self.norm = nn.LayerNorm(width)",
        "sizes": "width, vocab_size",
        "inputs": "ids",
        "gives": "self.norm(self.table(ids))",
    },
    "swapped, beside an input that nothing describes": {
        "also": "self.norm = nn.LayerNorm(width)",
        "sizes": "width, vocab_size",
        "inputs": "ids, other",
        "gives": "self.norm(self.table(ids)), other",
    },
    "fewer rows than the code keeps ids below": {
        "parameters": "width, places",
        "sizes": "4, 16",
        "inputs": "ids",
        "between": "ids = ids.clamp(0, 15)",
        "gives": "self.table(ids)",
    },
}


@pytest.mark.parametrize("name", FEATURES)
def test_tables_that_are_sized_by_features(tmp_path: Path, name: str) -> None:
    verdict = verdict_on_table(tmp_path, **FEATURES[name])
    assert verdict.status is Status.CONFIRMED, verdict


IDS = {
    "of an input that nothing describes": {
        "sizes": "vocab_size, width",
        "inputs": "x",
        "gives": "self.table(x)",
    },
    "of inputs that nothing describes": {
        "parameters": "width, longest",
        "also": "self.kinds = nn.Embedding(2, width)",
        "sizes": "2, width",
        "inputs": "places, kinds",
        "gives": "self.table(kinds), self.kinds(places)",
    },
    "cast to integers": {
        "sizes": "vocab_size, width",
        "inputs": "x",
        "gives": "self.table(x.long())",
    },
    "cast to integers, and counted by a layer": {
        "also": "self.skip = nn.Linear(vocab_size, width)",
        "sizes": "vocab_size, width",
        "inputs": "x",
        "gives": "self.table(x.long()), self.skip(x.float())",
    },
    "of a documented number": {
        "sizes": "vocab_size, width",
        "inputs": "x",
        "says": '"""x: (batch, time)"""',
        "gives": "self.table(x)",
    },
    "kept below the number of rows": {
        "sizes": "16, 4",
        "inputs": "ids",
        "between": "ids = ids.clamp(0, 15)",
        "gives": "self.table(ids)",
    },
}


@pytest.mark.parametrize("name", IDS)
def test_guessed_numbers_are_no_features(tmp_path: Path, name: str) -> None:
    verdict = verdict_on_table(tmp_path, **IDS[name])
    assert verdict.status is Status.UNCONFIRMED, verdict


def test_a_table_whose_result_fits_one_order_of_its_sizes_is_no_table_of_features(tmp_path: Path) -> None:
    norm = "self.norm = nn.LayerNorm(width)"
    verdict = verdict_on_table(tmp_path, "vocab_size, width", "self.norm(self.table(ids) + x)", "ids, x", also=norm)
    assert verdict.status is Status.REFUTED, verdict
    assert "with the two sizes swapped the code does not run" in (verdict.detail or "")


NORM = "self.norm = nn.LayerNorm(width)"
#: What a table is sized by, the other layer of its class, what looks it up, and whether its sizes stand in their order.
ORDERS = {
    "rows of positions, columns that a layer takes": ("longest, width", NORM, "x", True),
    "two rows, columns that a layer takes": ("2, width", NORM, "x", True),
    "rows that are counted": ("len(names), width", "pass", "ids", True),
    "rows that are counted, whatever looks them up": ("len(names), width", "pass", "x", True),
    "columns that no layer takes": ("longest, width", "pass", "x", False),
    "rows that another layer takes": ("longest, width", "self.mix = nn.Linear(longest, width)", "x", False),
    "a width for rows": ("width, longest", NORM, "x", False),
    "a width for rows, and a layer over positions": ("width, longest", "self.mix = nn.Linear(longest, 8)", "x", False),
    "columns that are no width, and a layer that takes them": (
        "heads, steps",
        "self.mix = nn.Linear(steps, 8)",
        "x",
        False,
    ),
    "a number for rows": ("1583, width", NORM, "x", False),
    "rows that are counted, and columns that are, too": ("len(names), vocab_size", "pass", "ids", False),
}


@pytest.mark.parametrize("name", ORDERS)
def test_sizes_that_have_not_changed_places(tmp_path: Path, name: str) -> None:
    sizes, also, inputs, is_in_order = ORDERS[name]
    parts = {"parameters": "width, longest, heads, steps, vocab_size, names=('a', 'b', 'c')", "also": also}
    verdict = verdict_on_table(tmp_path, sizes, f"self.table({inputs})", inputs, swapped=True, **parts)
    assert (verdict.status is Status.REFUTED) is is_in_order, verdict


def test_settings_say_that_inputs_are_real(tmp_path: Path) -> None:
    said = {"front:Front": {"inputs": {"x": {"shape": [2, 5]}}}}
    sizes, gives = "vocab_size, width", "self.table(x)"
    verdict = verdict_on_table(tmp_path, sizes, gives, "x", said, says='"""x: (batch, time)"""')
    assert verdict.status is Status.CONFIRMED, verdict


VOCABULARY = {
    "a width": ("config.hidden_size, 8", "pass", Status.CONFIRMED),
    "another number of ids": ("codebook_size, config.hidden_size", "pass", Status.UNCONFIRMED),
    "a number": ("768, 8", "pass", Status.UNCONFIRMED),
    "a width, and the vocabulary has its table": (
        "config.hidden_size, 8",
        "self.words = nn.Embedding(config.vocab_size, 8)",
        Status.UNCONFIRMED,
    ),
}


@pytest.mark.parametrize("name", VOCABULARY)
def test_the_vocabulary_of_a_model_is_that_of_one_table(tmp_path: Path, name: str) -> None:
    sizes, also, status = VOCABULARY[name]
    (tmp_path / "config.py").write_text(CONFIG)
    parameters = "config: __import__('config').Config, codebook_size=100"
    verdict = verdict_on_table(tmp_path, sizes, "self.table(ids)", "ids", parameters=parameters, also=also)
    assert verdict.status is status, verdict


REAL = """
class Real{number}(nn.Module):
    def __init__(self, width=8, rows=16{takes}):
        super().__init__()
        self.front = nn.Linear(width, width)
        self.table = nn.Embedding(rows, width)
        {also}

    def forward(self, {inputs}):
        {says}
        {between}
        return self.table({ids})


"""
#: What is looked up, with the inputs and other parts of the class, and whether it is known to be real numbers.
NUMBERS: dict[str, tuple[dict[str, str], Status]] = {
    "an input as it is": ({"ids": "x"}, Status.UNCONFIRMED),
    "an input, turned": ({"ids": "x.transpose(0, 1).contiguous()"}, Status.UNCONFIRMED),
    "an input, shifted": ({"ids": "x + 1"}, Status.UNCONFIRMED),
    "an input, cut off below": ({"ids": "torch.relu(x)"}, Status.UNCONFIRMED),
    "an input, cast": ({"ids": "(x * 3).long()"}, Status.UNCONFIRMED),
    "an input with a shape": ({"says": '"""x: (batch, time)"""', "ids": "x * 2"}, Status.UNCONFIRMED),
    "two inputs that must be of one type": ({"inputs": "x, y", "ids": "torch.bmm(x, y)"}, Status.UNCONFIRMED),
    "an input and a number that were made up": (
        {"takes": ", alpha=None", "also": "self.alpha = alpha or 1", "ids": "x * self.alpha"},
        Status.UNCONFIRMED,
    ),
    "ids and a number that was made up": (
        {"inputs": "ids", "takes": ", *, alpha", "also": "self.alpha = alpha", "ids": "ids * self.alpha"},
        Status.UNCONFIRMED,
    ),
    "what a layer made": ({"ids": "self.front(x)"}, Status.CONFIRMED),
    "an input that a layer takes, too": ({"between": "y = self.front(x)", "ids": "x + 1"}, Status.CONFIRMED),
    "cast, what a layer made": ({"ids": "(self.front(x) * 9).long()"}, Status.CONFIRMED),
    "a quotient of ids": ({"inputs": "ids", "ids": "ids / 2"}, Status.CONFIRMED),
    "a quotient of what nothing describes": ({"ids": "x / 2"}, Status.CONFIRMED),
    "documented features": (
        {"says": '"""x: (batch, time) float features"""', "ids": "torch.relu(x)"},
        Status.CONFIRMED,
    ),
}


def test_real_numbers_that_were_made_up_prove_nothing(tmp_path: Path) -> None:
    path = tmp_path / "real.py"
    parts = {"inputs": "x", "takes": "", "also": "", "says": "", "between": ""}
    classes = [REAL.format(number=number, **{**parts, **case}) for number, (case, _) in enumerate(NUMBERS.values())]
    path.write_text("import torch\nfrom torch import nn\n\n\n" + "".join(classes))
    lines = path.read_text().splitlines()
    probes = []
    for number, line in enumerate(at for at, text in enumerate(lines, 1) if "return self.table(" in text):
        span = Span(line, lines[line - 1].index("self.") + 1, line, len(lines[line - 1]) + 1)
        claim = FedNumbers(Place(path.as_posix(), span))
        probes.append((number, Probe(Target(path, f"Real{number}.forward"), claim)))
    verdicts = answer(Group(Target(path, "Real0"), tuple(probes)), served())
    told = {name: verdicts[number].status for number, name in enumerate(NUMBERS)}
    assert told == {name: status for name, (_, status) in NUMBERS.items()}, verdicts


def test_settings_say_that_what_is_looked_up_is_real(tmp_path: Path) -> None:
    code = model(between="ids = hidden + 1")
    said = {"decoder:Decoder": {"inputs": {"hidden": {"shape": [2, 8]}}}}
    verdict = verdict_of(tmp_path, code, said, FedNumbers)
    assert verdict.status is Status.CONFIRMED, verdict
