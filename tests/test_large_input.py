"""Code that goes round in circles, or on for ever, ends: with findings, or with the word that it is too large.

MODELLINT_LARGE=all checks files of 50,000 lines; by default they are as large as it takes to be nested more deeply than
Python can recurse, and their work is counted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from effort import IS_LARGE, calls_of

from modellint.flow import interp
from modellint.link import budget

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Workspace


RULES = Path(__file__).parent.parent / "rules"
ROTARY = RULES / "ml301_hard_coded_rotary_offset" / "bad" / "literal-added-to-last-cache-position"
GRIDS = RULES / "ml305_grid_below_one" / "bad" / "what-division-leaves-is-cut-off" / "processor.py"
LIST = """

class Listed(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.parts = [nn.Linear(n, n), nn.Linear(n, 2)]

    def forward(self, x):
        return self.parts[1](self.parts[0](x).relu())


"""
HEAD = "import torch\nfrom torch import nn\n\n\n"
TABLE = "    def __init__(self, config):\n        super().__init__()\n        self.table = nn.Embedding(10, 4)\n"


def _class(number: int) -> str:
    """A class of 13 lines that draws ids of too many classes for the table of the class before it."""
    return (
        f"class Block{number}(nn.Module):\n"
        "    def __init__(self, config):\n"
        "        super().__init__()\n"
        "        self.table = nn.Embedding(config.vocab_size, config.width)\n"
        f"        self.inner = Block{max(number - 1, 0)}(config)\n"
        "        self.head = nn.Linear(config.width, config.vocab_size + 1)\n"
        "\n"
        "    def forward(self, ids):\n"
        "        hidden = self.table(ids)\n"
        "        drawn = self.head(hidden).argmax(-1)\n"
        "        return self.inner(drawn)\n"
        "\n\n"
    )


def _function(branches: int) -> str:
    lines = (f"        if x.sum() > {i}:\n            x = self.table(x + {i}).argmax(-1)\n" for i in range(branches))
    return f"class Long(nn.Module):\n{TABLE}\n    def forward(self, x):\n{''.join(lines)}        return x\n"


def _sum(terms: int) -> str:
    lines = (f"        total = total + x * {i}\n" for i in range(terms))
    head = f"class Sum(nn.Module):\n{TABLE}\n    def forward(self, x):\n        total = x\n"
    return f"{head}{''.join(lines)}        return self.table(total)\n"


@dataclass(frozen=True)
class Large:
    """Code of any size: parts that give 50,000 lines, those of a small file, those of one whose work is counted."""

    build: Callable[[int], str]
    whole: int
    few: int
    counted: int
    found: frozenset[str] = frozenset()

    def text(self, parts: int) -> str:
        return HEAD + self.build(parts)


def _inherited(count: int) -> str:
    """Classes of which each derives from the one before it, and keeps a list of layers and a tensor."""
    first = (
        "class Block0(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.layers0 = []\n\n"
        "    def forward(self, x):\n        return x\n\n\n"
    )
    more = (
        f"class Block{i}(Block{i - 1}):\n    def __init__(self):\n        super().__init__()\n"
        f"        self.layers{i} = nn.ModuleList([nn.Linear(2, 2)])\n        self.size{i} = torch.ones(3)\n\n"
        f"    def forward(self, x):\n        return super().forward(self.layers{i}[0](x))\n\n\n"
        for i in range(1, count)
    )
    return first + "".join(more)


def _constructor(count: int) -> str:
    """A constructor that makes and grows containers without end, and an optimizer that picks by name."""
    lines = (
        f"        if config.kind{i}:\n            self.rows = self.rows + [torch.ones({i + 1})]\n"
        f"            self.made.append(self.made[{i}] if config.deep else config.make(self.made))\n"
        for i in range(count)
    )
    tests = " or ".join(f"'layer{i}' in name" for i in range(count))
    return (
        "class Long(nn.Module):\n    def __init__(self, config):\n        super().__init__()\n"
        f"        self.rows, self.made = [], []\n{''.join(lines)}\n    def forward(self, x):\n        return x\n\n\n"
        "def build(config):\n    model = Long(config)\n"
        f"    return torch.optim.Adam([p for name, p in model.named_parameters() if {tests}])\n"
    )


def _growing(count: int) -> str:
    """A constructor that makes a longer list in each of its lines."""
    lines = (f"        if config.kind{i}:\n            self.rows = self.rows + [torch.ones(3)]\n" for i in range(count))
    return (
        "class Rows(nn.Module):\n    def __init__(self, config):\n        super().__init__()\n        self.rows = []\n"
        f"{''.join(lines)}\n    def forward(self, x):\n        return x + self.rows[0]\n"
    )


LARGE = {
    "many classes": Large(lambda count: "".join(map(_class, range(count))), 4_000, 50, 50, frozenset({"ML103"})),
    "one long function": Large(_function, 25_000, 100, 400, frozenset({"ML103"})),
    "a long sum": Large(_sum, 50_000, 1_600, 1_600),
}
#: Code that any reader has more to do with than it is long.
DEEP = {
    "a class that derives from a thousand others": HEAD + _inherited(1_000 if IS_LARGE else 120),
    "a constructor without end": HEAD + _constructor(17_000 if IS_LARGE else 120),
}
CIRCLES = {
    "a list that holds itself": {
        "model.py": f"import copy\n{HEAD}class Model(nn.Module):\n{TABLE}        rows = []\n        rows.append(rows)\n"
        "        self.rows = torch.tensor(rows)\n        self.held = copy.deepcopy(rows)\n\n    def forward(self, x):\n"
        "        deep = [self.held]\n        deep.append(deep)\n        assert x.max() < 10\n"
        "        return self.table(x) + torch.stack(deep).argmax(-1) + self.rows.sum()\n",
    },
    "bases": {
        "one.py": f"{HEAD}from two import Two\n\n\nclass One(Two):\n{TABLE}\n    def forward(self, x):\n"
        "        return super().forward(self.table(x.softmax(-1)))\n",
        "two.py": f"{HEAD}from one import One\n\n\nclass Two(One):\n    def forward(self, x):\n"
        "        return super().forward(x)\n\n\nclass Own(Own):\n    pass\n",
    },
    "calls": {
        "model.py": f"{HEAD}class Model(nn.Module):\n{TABLE}        self.head = nn.Linear(4, 20)\n\n"
        + "".join(
            f"    def step{i}(self, x):\n        y = self.step{(i * 7 + 1) % 200}(x)\n"
            f"        return self.table(self.step{(i * 13 + 5) % 200}(y.argmax(-1))).argmax(-1)\n\n"
            for i in range(200)
        )
    },
    "imports": {
        f"part{i}.py": f"{HEAD}from part{(i + 1) % 30} import *\n"
        f"from part{(i + 7) % 30} import Base{(i + 7) % 30}\n\n\n"
        f"class Base{i}(Base{(i + 7) % 30}):\n{TABLE.replace('10', f'SIZE{i}')}\n\nSIZE{i} = SIZE{(i + 1) % 30} + 1\n"
        for i in range(30)
    },
    "metaclasses and classes made by calls": {
        "model.py": HEAD
        + "class Meta(type):\n    def __call__(cls, *args):\n        return super().__call__(*args)\n\n\n"
        + f"class Model(nn.Module, metaclass=Meta):\n{TABLE}\n"
        + "    def forward(self, x):\n        return self.table(x)\n\n\n"
        + "Made = type('Made', (Model,), {'forward': lambda self, x: self.table(x)})\n\n\n"
        + "class Odd(make(), *bases, **options):\n    pass\n\n\nclass Typed(type('Q', (nn.Module,), {})):\n    pass\n"
    },
    "constructors that make each other": {
        "model.py": HEAD + "class One(nn.Module):\n    def __init__(self, other=None):\n        super().__init__()\n"
        "        self.other = [Two(self), *([] if other is None else other.other)]\n"
        "        self.table = self.other[0].table\n"
        "        while True:\n            self.other.append(One(self))\n\n    def forward(self, x):\n"
        "        return self.other[-1](x) + self.table\n\n\n"
        "class Two(nn.Module):\n    def __init__(self, other):\n        super().__init__()\n"
        "        self.one = One(other)\n        self.optimizer = torch.optim.Adam(self.parameters())\n"
        "        self.late = Two(self)\n        self.table = other.table\n\n    def forward(self, x):\n"
        "        return self.late(self.one(x)) + self.table\n",
    },
    "attributes by exec, and stored elsewhere": {
        "model.py": HEAD + "class Dynamic(nn.Module):\n    def __init__(self, names):\n        super().__init__()\n"
        "        for name in names:\n            exec(f'self.{name} = nn.Linear(3, 3)')\n"
        "        exec('self.layers = nn.ModuleList(self.made)')\n        self.__dict__.update(shift=torch.ones(3))\n\n"
        "    def forward(self, x):\n        return eval('self.first(x)') + eval('self.shift')\n\n\n"
        "class Elsewhere(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        object.__setattr__(self, 'kept', {})\n        self.layers = [nn.Linear(3, 3)]\n"
        "        self.mean = torch.ones(3)\n        self.scale = torch.ones(3, requires_grad=True)\n\n"
        "    def __setattr__(self, name, value):\n        self.kept[name] = self.adopt(value)\n\n"
        "    def __getattr__(self, name):\n        return self.kept[name]\n\n"
        "    def forward(self, x):\n        return (self.layers[0](x) - self.mean) * self.scale\n\n\n"
        "TABLE = {}\n\n\ndef register(cls):\n    TABLE[cls] = TABLE\n    TABLE[TABLE] = cls\n"
        "    return register(cls)\n\n\n"
        "@register\nclass Entered(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.all = nn.ModuleList([TABLE[name]() for name in TABLE])\n\n"
        "    def forward(self, x):\n        return [one(x) for one in self.all]\n",
    },
    "constructors that never end": {
        "model.py": HEAD
        + "".join(
            f"class Endless{number}(nn.Module):\n    def __init__(self, size):\n        super().__init__()\n"
            "        self.layers = [nn.Linear(size, size)]\n        self.mean = torch.ones(size)\n"
            f"        {end}\n\n    def wait(self):\n        while 1:\n            for size in (1, 2):\n"
            "                break\n\n    def forward(self, x):\n"
            "        for layer in self.layers:\n            x = layer(x - self.mean)\n        return x\n\n\n"
            for number, end in enumerate(
                ("while True:\n            size += 1", "self.wait()", "raise NotImplementedError(size)")
            )
        ),
    },
    "counters of a Brain": {
        "hparams.yaml": "encoder: !new:torch.nn.Linear [80, 40]\nmodules:\n    encoder: !ref <encoder>\nlimit: 4\n",
        "train.py": "import speechbrain as sb\nfrom hyperpyyaml import load_hyperpyyaml\n\n\nclass ASR(sb.Brain):\n"
        "    def compute_forward(self, batch, stage):\n        return self.modules.encoder(batch)\n\n"
        "    def fit_batch(self, batch):\n"
        + "".join(
            f"        {branch}:\n            loss = self.compute_forward(batch, sb.Stage.TRAIN)\n"
            "            if loss < self.hparams.limit:\n                loss.backward()\n            else:\n"
            "                self.bad += 1\n                print('{} times'.format(self.bad))\n"
            "                loss.data = batch\n"
            for branch in ("if self.auto_mix_prec", "else")
        )
        + "        return loss\n\n\nwith open('hparams.yaml') as fin:\n    hparams = load_hyperpyyaml(fin)\n"
        "brain = ASR(modules=hparams['modules'], hparams=hparams)\nbrain.fit(range(2), [])\n",
    },
}


def codes(workspace: Workspace, text: str) -> set[str]:
    workspace.write({"model.py": text})
    result = workspace.run("check", "--isolated", "--output-format", "json", "--no-cache", "--jobs", "1", "--verbose")
    assert result.code in (0, 1), result.err
    return {finding["code"] for finding in result.json["findings"]}


@pytest.mark.long
@pytest.mark.parametrize("name", LARGE)
def test_a_large_file_ends(workspace: Workspace, name: str) -> None:
    large = LARGE[name]
    text = large.text(large.whole if IS_LARGE else large.few)
    assert text.count("\n") > 50_000 or not IS_LARGE
    assert codes(workspace, text) == large.found


@pytest.mark.dear
@pytest.mark.parametrize("name", DEEP)
def test_deep_code_ends(workspace: Workspace, name: str) -> None:
    assert codes(workspace, DEEP[name]) == set()


@pytest.mark.dear
@pytest.mark.parametrize("name", LARGE)
def test_the_work_grows_no_faster_than_the_file(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Beyond what the limits allow, which are lower here, so that a file of a thousand lines asks too much."""
    monkeypatch.setattr(budget, "STEPS", 500)
    monkeypatch.setattr(interp, "MAX_STEPS", 300)
    large = LARGE[name]

    def check(parts: int) -> None:
        assert codes(workspace, large.text(parts)) <= large.found

    many = calls_of(lambda: check(4 * large.counted))  # what is imported counts for the larger one
    assert many < 4 * calls_of(lambda: check(large.counted))


def _holding_each_other(count: int) -> str:
    """Lists of which each holds all others, copied with all that they hold."""
    lists = "".join(f"        rows{i} = []\n" for i in range(count))
    filled = "".join(f"        rows{i}.append(rows{j})\n" for i in range(count) for j in range(count) if i != j)
    return f"{lists}{filled}        self.kept = copy.deepcopy(rows0)\n"


def _copied_into_itself(count: int) -> str:
    """A list that takes in a copy of itself, and of all copies in it, in each line."""
    return "        rows = []\n" + "        rows.append(copy.deepcopy(rows))\n" * count + "        self.kept = rows\n"


@pytest.mark.parametrize("build", [_holding_each_other, _copied_into_itself])
def test_a_deep_copy_takes_as_long_as_what_is_copied_is_large(
    workspace: Workspace, build: Callable[[int], str]
) -> None:
    def check(parts: int) -> None:
        head = f"import copy\n{HEAD}class Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        work = "        self.table = torch.arange(5)\n\n    def forward(self, x):\n        return x + self.table\n"
        assert codes(workspace, head + build(parts) + work) == {"ML205"}

    check(1)  # what is imported counts for neither
    few = calls_of(lambda: check(7))
    assert calls_of(lambda: check(14)) < 4 * few


@pytest.mark.dear
def test_a_container_that_doubles_in_each_line_is_cut_short_and_told(workspace: Workspace) -> None:
    def check(lines: int) -> str:
        body = (
            "        rows = [nn.Linear(2, 2)]\n"
            + "        rows = [*rows, *rows]\n" * lines
            + "        self.rows = rows\n"
        )
        head = f"{HEAD}class Rows(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        workspace.write({"model.py": head + body})
        result = workspace.run("check", "--isolated", "--no-cache", "--jobs", "1", "--verbose")
        return "".join(line for line in result.err.splitlines() if "too large" in line)

    assert check(1) == ""
    many = calls_of(lambda: check(13))
    assert calls_of(lambda: check(17)) < 2 * many
    assert "(objects of `Rows.__init__`)" in check(17)


def test_a_branch_costs_no_more_for_those_before_it_than_a_look_at_each(workspace: Workspace) -> None:
    """Each is about elements that all branches before it have compared, or not, and have written constants into."""

    def check(branches: int) -> None:
        body = "".join(
            f"        if ids[{i}] != -100:\n            ids = ids.masked_fill(ids == {i}, -100)\n"
            f"            x[ids] = {i}\n"
            for i in range(branches)
        )
        head = f"{HEAD}class Long(nn.Module):\n{TABLE}\n    def forward(self, x):\n"
        text = f"{head}        ids = x.masked_fill(x < 0, -100)\n{body}        return self.table(ids)\n"
        assert codes(workspace, text) <= {"ML104"}

    check(1)  # what is imported counts for neither
    few = calls_of(lambda: check(8))
    assert calls_of(lambda: check(32)) < 16 * few


def test_a_file_that_asks_too_much_says_so(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "STEPS", 20)
    workspace.write({"model.py": HEAD + _class(0) + _class(1), "other.py": "x = (\n"})
    for _ in range(2):  # the second time from the cache
        result = workspace.run("check", "--isolated", "--output-format", "json", "--jobs", "1", "--verbose")
        assert "model.py: too large for ML1" in result.err
        assert [finding["code"] for finding in result.json["findings"]] == ["ML001"]


def test_one_question_that_explodes_leaves_the_others_as_they_are(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Look-ups take all the steps that there are for them; lengths, grids and objects of the same file need few."""
    attention, rotary = (ROTARY / name for name in ("attention.py", "rotary.py"))
    text = attention.read_text("utf-8") + GRIDS.read_text("utf-8") + LIST
    files = {"attention.py": text, "rotary.py": rotary.read_text("utf-8")}
    workspace.write(files)
    arguments = "check", "--isolated", "--output-format", "json", "--jobs", "1", "--verbose", "--no-cache"
    whole = workspace.run(*arguments)
    expected = [(found["code"], found["line"]) for found in whole.json["findings"]]
    assert {code for code, _ in expected} == {"ML204", "ML301", "ML305"}
    assert "too large" not in whole.err
    monkeypatch.setattr(budget, "STEPS", 400)
    workspace.write({**files, "attention.py": text + HEAD + "".join(map(_class, range(100)))})
    result = workspace.run(*arguments)
    assert [(found["code"], found["line"]) for found in result.json["findings"]] == expected
    told = [line for line in result.err.splitlines() if "too large" in line]
    assert len(told) == 1
    assert re.match(r"attention.py: too large for ML101, ML102, ML103(, ML\d{3})* \(look-ups\)", told[0])
    assert not {"ML204", "ML301", "ML305"} & set(re.findall(r"ML\d{3}", told[0]))


def test_a_file_that_a_run_does_not_follow_to_its_end_is_told(workspace: Workspace) -> None:
    """Of a file that asks for more than a run of a rule may look at, without any lower limit."""
    workspace.write({"model.py": HEAD + _growing(2_000 if IS_LARGE else 400), "small.py": HEAD + _growing(3)})
    shapes = ", ML501 (shapes of `Rows.__init__`)" if IS_LARGE else ""
    for _ in range(2):  # the second time from the cache
        result = workspace.run("check", "--isolated", "--output-format", "json", "--jobs", "1", "--verbose")
        assert [line for line in result.err.splitlines() if "too large" in line] == [
            f"model.py: too large for ML205 (objects of `Rows.__init__`){shapes} to follow to its end"
        ]
        assert result.code == 0, result.out


ENDING = """
class Waits(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.layers = [nn.Linear(size, size)]
        while True:
            size += 1
            {end}

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
"""


@pytest.mark.parametrize("end", ["if size > 3: break", "if size > 3: return", "if size: continue"])
def test_a_loop_without_a_condition_may_end(workspace: Workspace, end: str) -> None:
    found = codes(workspace, HEAD + ENDING.replace("{end}", end))
    assert found == (set() if "continue" in end else {"ML204"})


@pytest.mark.parametrize("name", CIRCLES)
def test_circles_are_left_alone(workspace: Workspace, name: str) -> None:
    workspace.write(CIRCLES[name])
    result = workspace.run("check", "--isolated", "--output-format", "json", "--no-cache", "--jobs", "1")
    assert result.code == 0 if name != "bases" else 1, result.err + result.out
    assert result.err == ""
