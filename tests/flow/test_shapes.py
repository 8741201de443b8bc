"""Shapes of tensors: what the theory tells of models, and that torch, run on the same lines, does not contradict it."""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from modellint.flow.queries import refused_operations
from modellint.flow.shapes.shown import RETURNED, Shown, shapes_on_lines, tensors_on_lines
from modellint.link.project import Project, ProjectOptions

if TYPE_CHECKING:
    from types import FrameType

FILE = Path(__file__).parent.parent / "data/shapes/models.py"
_CLAIM = re.compile(r"(\w+): (\[[^\]]*\])")


def shown(path: Path) -> list[Shown]:
    project = Project(ProjectOptions(path.parent))
    module = project.python(path)
    assert module is not None
    return shapes_on_lines(module, project, module.placed.values())


def refused(folder: Path, source: str) -> list[tuple[int, str]]:
    path = folder / "model.py"
    path.write_text(f"import torch\nimport torch.nn.functional as F\nfrom torch import nn\n{source}", "utf-8")
    project = Project(ProjectOptions(folder))
    module = project.python(path)
    assert module is not None
    return [(one.site.value.line, one.kind) for one in refused_operations(module, project)]


def test_the_shapes_of_models_are_known() -> None:
    found = {(one.line, one.name): one.shape for one in shown(FILE)}
    claims = {
        (number, name): shape
        for number, line in enumerate(FILE.read_text("utf-8").splitlines(), 1)
        if "  # " in line
        for name, shape in _CLAIM.findall(line.partition("  # ")[2])
    }
    assert len(claims) > 25
    assert {key: found.get(key) for key in claims} == claims


@pytest.mark.skipif("CI" not in os.environ and importlib.util.find_spec("torch") is None, reason="torch is missing")
def test_torch_gives_the_same_shapes() -> None:
    """Each line is run; a symbol has the size that it has first, in one call."""
    static = {(one.line, one.name): one.shape for one in shown(FILE)}
    compared = 0
    for line, name, symbols, sizes in _observed():
        words = static.get((line, name), "?").strip("[]")
        if words and words != "?" and "*" not in words:
            known = words.split(", ")
            assert len(known) == len(sizes), (line, name)
            for word, size in zip(known, sizes, strict=True):
                if re.fullmatch(r"[\w +*/()-]+", word):
                    try:
                        value = eval(word, {}, symbols)  # sums and products of symbols that the frame binds
                    except NameError:
                        continue
                    assert value == size, (line, name, word)
                    compared += 1
    assert compared > 60


def _observed() -> list[tuple[int, str, dict[str, int], tuple[int, ...]]]:
    """The shapes of local tensors after each line of the models, with the numbers in the frame and in its layers."""
    import torch

    spec = importlib.util.spec_from_file_location("shapes_models", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: list[tuple[int, str, dict[str, int], tuple[int, ...]]] = []
    last: dict[FrameType, tuple[int, dict[str, int]]] = {}
    given: dict[FrameType, dict[str, int]] = {}

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        if Path(frame.f_code.co_filename) != FILE:
            return None
        line, before = last.get(frame, (0, {}))
        if event == "call":
            arguments = [(name, one.shape) for name, one in frame.f_locals.items() if isinstance(one, torch.Tensor)]
            given[frame] = {f"{name}_{place}": size for name, sizes in arguments for place, size in enumerate(sizes)}
        own = frame.f_locals.get("self")
        names = {**vars(own), **frame.f_locals} if own is not None else frame.f_locals
        symbols = {**given[frame], **{name: value for name, value in names.items() if type(value) is int}}
        for layer_name, layer in vars(own).get("_modules", {}).items() if own is not None else ():
            sizes = {name: n for name, n in vars(layer).items() if type(n) is int}
            symbols.update({**sizes, **{f"{layer_name}_{name}": n for name, n in sizes.items()}})
        for name, value in frame.f_locals.items():
            if isinstance(value, torch.Tensor) and before.get(name) != id(value):
                found.append((line, name, symbols, tuple(value.shape)))
        if event == "return" and isinstance(argument, torch.Tensor):
            found.append((frame.f_lineno, RETURNED, symbols, tuple(argument.shape)))
        last[frame] = frame.f_lineno, {name: id(value) for name, value in frame.f_locals.items()}
        return trace

    torch.manual_seed(0)
    sys.settrace(trace)
    try:
        module.main()
        module.pieces()
    finally:
        sys.settrace(None)
    return found


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x = torch.zeros(3, 4) + torch.ones(5, 4)\nprint(x)", [(4, "broadcast")]),
        ("x = torch.zeros(3, 4) @ torch.ones(3, 4)\nprint(x)", [(4, "matmul")]),
        ("x = torch.cat([torch.zeros(3, 4), torch.ones(3, 5)])\nprint(x)", [(4, "cat")]),
        ("x = torch.zeros(3, 4).view(5, -1)\nprint(x)", [(4, "view")]),
        ("x = torch.zeros(3, 4).sum(2)\nprint(x)", [(4, "dim")]),
        ("x = torch.zeros(3, 4).sum()[0]\nprint(x)", [(4, "subscripts")]),
        ("a, b, c = torch.zeros(3, 4).shape\nprint(a)", [(4, "unpack")]),
        ("x = nn.Linear(3, 4)(torch.zeros(2, 5))\nprint(x)", [(4, "features")]),
        ("x = nn.Conv2d(3, 4, 3)(torch.zeros(2, 5, 9, 9))\nprint(x)", [(4, "channels")]),
    ],
)
def test_what_torch_refuses_is_told(source: str, expected: list[tuple[int, str]], tmp_path: Path) -> None:
    assert refused(tmp_path, source) == expected


@pytest.mark.parametrize(
    "source",
    [
        "def f(n):\n    return torch.zeros(n, 4) + torch.zeros(2 * n, 4)",  # equal if n is 1 and they broadcast
        "def f(n, m):\n    return torch.cat([torch.zeros(n, 4), torch.zeros(n, m)], 1) @ torch.zeros(n, m)",
        "def f(x, flag):\n    x = x.view(3, 4) if flag else x.view(2, 6)\n    return x + torch.ones(2, 6)",
        "def f(x):\n    return x.chunk(0)",  # it may be an array of another library
        "def f(x):\n    if x.dim() == 3:\n        a, b, c = x.shape\n    else:\n        a, b = x.shape\n    return a",
        "def f():\n    x = torch.zeros(3)\n    x.unsqueeze_(0)\n    return x.sum(1)",
        "def f(x):\n    return torch.where(torch.zeros(3, 4) == None, x, 1)",
        "def f(x, k):\n    pads = [k, k] + [k, k]\n    return F.pad(torch.zeros(1, 2, 3, 4), tuple(pads)).view(4, 6)",
        "def f(files, key):\n    return [files][0][key][()], [torch.ones(2)][()]",
        "def f(a):\n    a = torch.where(a, torch.eye(5, 9), a)\n    b, m, n = a.shape\n    return b",
    ],
)
def test_what_torch_may_take_is_not_told(source: str, tmp_path: Path) -> None:
    assert refused(tmp_path, source) == []


@pytest.mark.parametrize(
    ("before", "other"),
    [
        ("x = given[0]", "given[1]"),
        ("x, y = given", "y"),
        ("x = given['x']", "given.get('y')"),
        ("x = given.get('x')", "given.get('y')"),
        ("x = given[at]", "given[to]"),
        ("x = given", "given[1:]"),
        ("x = given[0]\n    given[0] = at", "given[0]"),
        ("x = given['x']\n    given['x'] = at", "given['x']"),
        ("x = given[0]\n    given.pop(0)", "given[0]"),
        ("x = given[0]\n    given = given[1:]", "given[0]"),
        ("x = given[0]\n    given.reverse()", "given[0]"),
        ("x = given[0]\n    given.sort(key=len)", "given[0]"),
        ("x = given.x\n    given.x = at", "given.x"),
        ("for x in given:\n        y = x", "given[0]"),
        ("for x in given.values():\n        pass\n    for y in given.values():\n        pass", "y"),
        ("x, *_ = list(given)\n    y = list(given)[1]", "y"),
    ],
)
def test_parts_of_an_argument_are_of_any_sizes(before: str, other: str, tmp_path: Path) -> None:
    """Two of them may differ, so that one that is twice as long as another is no mistake."""
    rows = f"    return torch.cat([x.view(x.size(0), 5), torch.zeros(2 * {other}.size(0), 5)], 1)"
    assert refused(tmp_path, f"def f(given, at, to):\n    {before}\n{rows}") == []


def test_a_tensor_that_is_sorted_stays_what_it_is(tmp_path: Path) -> None:
    source = "x = torch.zeros(3, 4)\ny = x.sort()[0]\nx.sort()\nprint(x + y + torch.zeros(3, 5))"
    assert refused(tmp_path, source) == [(7, "broadcast")]


@pytest.mark.parametrize("part", ["given", "given[0]", "given[-1]", "given['x']", "given.x", "given.x[0]", "given[:]"])
def test_a_part_of_an_argument_is_itself(part: str, tmp_path: Path) -> None:
    rows = f"    return torch.cat([x.view(x.size(0), 5), torch.zeros(2 * {part}.size(0), 5)], 1)"
    assert refused(tmp_path, f"def f(given):\n    x = {part}\n{rows}") == [(6, "cat")]


JAX = "from jaxtyping import Float\n"


@pytest.mark.parametrize(
    ("source", "line", "expected"),
    [
        # what an argument says of the type, if it is known
        ("def f(x):\n    return torch.zeros(3, dtype=x.dtype)", 5, "[3]"),
        ("def f(kind):\n    return torch.zeros(3, **kind)", 5, "?"),
        ("def f():\n    return torch.zeros(3, dtype=None)", 5, "[3] float32"),
        ("def f(n):\n    return torch.zeros(3).view(*n)", 5, "? float32"),
        ("def f():\n    x, y = torch.topk(torch.zeros(3, 4), 2)\n    return y", 6, "[3, 2] int64"),
        # an element of a list is not the number that the list would be
        ("def f(n, m):\n    for a, b in zip(n, m):\n        x = torch.zeros(a, b)", 6, "[?, ?] float32"),
        ("def f(n):\n    a = list(n)\n    return torch.zeros(a[0], 3)", 6, "[?, 3] float32"),
        # what stands in the class of a configuration is only a default
        (
            "class Config:\n    sizes: tuple = (3, 4)\n    is_long: bool = False\n"
            "def f(config: Config):\n    x = torch.zeros(config.sizes[0])\n"
            "    y = torch.zeros(5) if config.is_long else torch.zeros(6)\n    return y",
            10,
            "[?] float32",
        ),
        # a number that is not known may be whole
        ("def f(n=2):\n    return torch.zeros(3, dtype=torch.long) + max(n, 1)", 5, "[3] real"),
        ("def f(n=2):\n    return torch.zeros(3) + max(n, 1)", 5, "[3] float32"),
        # a static method has no receiver
        (
            "class Net:\n    @staticmethod\n    def turn(x, whole=True):\n        return x\n"
            "    def f(self):\n        return self.turn(torch.zeros(3, 4))",
            6,
            "[x_0, x_1]",
        ),
        # a size that is not known may be larger than the one beside it
        ("def f(n, bias):\n    a, b = bias.shape\n    return torch.zeros(n.index(1), 4) + bias", 6, "[?, 4]"),
        ("def f(x, bias):\n    a, b = bias.shape\n    c, d = x.shape\n    return x + bias", 7, "[c, d]"),
        ("def f(x, y):\n    return x * y.view(-1, 3, 1, 4)", 5, "[?, 3, ?, 4]"),
        # a part of the rows has the width of all
        ("def f(x):\n    x = nn.Linear(3, 4)(x)\n    return x[1:]", 6, "[?, *, 4] float32"),
        ("def f(x):\n    x = nn.Linear(3, 4)(x)\n    return x[0]", 6, "[*, 4] float32"),
        ("def f(x):\n    x = nn.Linear(3, 4)(x)\n    return x[:, 1:]", 6, "? float32"),
        # what all calls of the file pass is presumed, but not what some do
        ("def f(x):\n    return g(x), g(torch.zeros(3, 4))\ndef g(x):\n    return x.relu()", 7, "?"),
        ("def f(*x):\n    return g(*x), g(torch.zeros(3, 4))\ndef g(x):\n    return x.relu()", 7, "?"),
        ("def f(x):\n    return g(x.view(5)), g(torch.zeros(3))\ndef g(x):\n    return x.relu()", 7, "[x_0]"),
        # comments tell numbers of dimensions, unless they are no sizes, or an operation knows better
        ("def f(x):\n    # x: [B, T, C]\n    return x.relu()", 6, "[x_0, x_1, x_2]"),
        ("def f(\n    x,  # (batch, length)\n    y,\n):\n    return x.relu()", 8, "[x_0, x_1]"),
        ("def f(x):\n    y = x.relu()  # (B, C, H, W)\n    return y", 6, "[x_0, x_1, x_2, x_3]"),
        ("def f(x):\n    y = x.relu()  # [B, C] -> [C, B]\n    return y", 6, "?"),
        ("def f(x):\n    y = x.relu()  # (perhaps, later)\n    return y", 6, "?"),
        ("def f(x):\n    # x: [B, T, C]\n    return nn.BatchNorm2d(3)(x)", 6, "[x_0, 3, x_2, x_3]"),
        ("def f(x):\n    # x: [B, T]\n    # x: [B, T, C]\n    return x.relu()", 7, "?"),
        # annotations by jaxtyping tell sizes and their names
        (f"{JAX}def f(x: Float[torch.Tensor, 'batch n=4 _ 1']):\n    return x", 6, "[batch, 4, x_2, 1]"),
        (f"{JAX}def f(x: Float[torch.Tensor, 'a ... 3']):\n    return x", 6, "[a, *, 3]"),
        (f"{JAX}def f(x: Float[torch.Tensor, 'b #3']):\n    return x", 6, "[b, x_1]"),
        (f"{JAX}def f(x: Float[torch.Tensor, 'b c'], y: Float[torch.Tensor, 'c d']):\n    return x @ y", 6, "[b, d]"),
        (f"{JAX}def f(x: Float[list, 'b 3']):\n    return x.relu()", 6, "?"),
        ("class Sizes:\n    first = 3\ndef f(sizes: Sizes):\n    return torch.zeros(sizes.first)", 7, "[3] float32"),
    ],
)
def test_a_value_is_told_as_far_as_it_is_known(source: str, line: int, expected: str, tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text(f"import torch\nimport torch.nn.functional as F\nfrom torch import nn\n{source}", "utf-8")
    assert [f"{one.shape} {one.dtype}".rstrip() for one in shown(path) if one.line == line] == [expected]


def test_what_only_calls_in_the_file_tell_is_about_these(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text(
        "import torch\nfrom torch import nn\n"
        "def f(x):\n    return x.relu()\n"
        "def g(x):\n    return nn.Conv1d(2, 3, 1)(x)\n"
        "def main():\n    return f(torch.zeros(3)), g(torch.zeros(4, 2, 5))\n",
        "utf-8",
    )
    project = Project(ProjectOptions(tmp_path))
    module = project.python(path)
    assert module is not None
    found = tensors_on_lines(module, project, module.placed.values())
    told = {(one.written.line, one.words): one.is_of_root for one in found if one.written.line < 8}
    assert told == {(3, "[x_0]"): False, (4, "[x_0]"): False, (5, "[x_0, 2, x_2]"): True, (6, "[x_0, 3, x_2]"): True}


def test_a_value_has_its_name_where_it_is_assigned(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text("import torch\ndef f():\n    x = torch.zeros(3)\n    y = x.view(3, 1)\n    return x\n", "utf-8")
    assert [(one.line, one.name) for one in shown(path)] == [(3, "x"), (4, "y"), (5, RETURNED)]


def test_a_blocks_width_is_the_one_when_it_is_built(tmp_path: Path) -> None:
    """Constructors run in order: an attribute that each block changes has the value of its turn."""
    source = """
class Block(nn.Module):
    def __init__(self, inside, out):
        super().__init__()
        self.conv = nn.Conv2d(inside, out, 1)
    def forward(self, x):
        return self.conv(x)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.width = 16
        self.stem = nn.Conv2d(3, 16, 1)
        self.one = self.stage(32)
        self.two = self.stage(64)
    def stage(self, out):
        block = Block(self.width, out)
        self.width = out
        return block
    def forward(self, x):
        return self.two(self.one(self.stem(x)))
"""
    assert refused(tmp_path, source) == []
    assert [kind for _, kind in refused(tmp_path, source.replace("nn.Conv2d(3, 16", "nn.Conv2d(3, 24"))] == ["channels"]


def test_a_container_that_a_loop_fills_is_not_followed(tmp_path: Path) -> None:
    source = """
class Net(nn.Module):
    def __init__(self, turns=3):
        super().__init__()
        self.layers = nn.Sequential()
        for turn in range(turns):
            self.layers.add_module("conv_%d" % turn, nn.Conv2d(8, 8, 3, padding=1, dilation=2))
    def forward(self, x):
        return self.layers(x).expand_as(x)
def f():
    return Net()(torch.zeros(2, 8, 7, 7))
"""
    assert refused(tmp_path, source) == []


def test_a_mistake_in_one_of_several_callees_is_none(tmp_path: Path) -> None:
    source = """
class Wide(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.layer = nn.Linear(3, 4) if kind == "a" else nn.Linear(5, 4)
    def forward(self, x):
        return self.layer(x)
def f(kind):
    return Wide(kind)(torch.zeros(2, 3))
"""
    assert refused(tmp_path, source) == []


def test_sizes_that_grow_without_end_are_unknown(tmp_path: Path) -> None:
    turn = "        x = torch.cat([x, x], 1) + torch.cat([x, x], 1)"
    source = f"def f(x, n):\n    for _ in range(n):\n{turn}\n    return f(x, n)"
    assert refused(tmp_path, source) == []
