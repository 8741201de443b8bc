"""Calls that are claimed to be refused: it counts what they raise themselves, and only once they are made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from served import served

from modellint.claims.calls import NotTaken, OnCuda, Refused
from modellint.confirm.child import answer
from modellint.confirm.plan import Group
from modellint.finding import Status, Verdict
from modellint.probes import Probe, Target
from modellint.source import Place, Span

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Workspace

HEAD = """
import functools
import torch
from torch import nn
"""
#: What torch says of a product of matrices, whichever they are.
PRODUCT = "mat1 and mat2 shapes cannot be multiplied"


def verdict_of(
    folder: Path, code: str, text: str, name: str, *said: Any, kind: type[Refused | OnCuda] = Refused
) -> Verdict:
    """The verdict on a claim about the only place in a file that says `text`; `said` is what else is claimed."""
    path, code = folder / "model.py", HEAD + code
    path.write_text(code)
    before, found, _ = code.partition(text)
    assert found
    assert code.count(text) == 1
    line, end = before.count("\n") + 1, (before + text).count("\n") + 1
    columns = (len(before.rpartition("\n")[2]) + 1, len((before + text).rpartition("\n")[2]) + 1)
    place = Place(path.as_posix(), Span(line, columns[0], end, columns[1]))
    target = Target(path, name)
    return answer(Group(target, ((0, Probe(target, kind(place, *said))),)), served())[0]


WITHIN = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.after = nn.Linear({up}, 64), nn.Linear(64, 8)

    def twice(self, x): return self.up(x)

    def forward(self, x):
        \"\"\"
        Args:
            x: (batch, time, 20)
        \"\"\"
        return {call}
"""


@pytest.mark.parametrize(
    "call",
    [
        "self.after(self.up(x))",
        "self.after(input=self.up(x))",
        "self.after(\n            self.up(x)\n        )",
        "self.after(*[self.up(part) for part in [x]])",
        "self.after((lambda part: self.up(part))(x))",
        "self.after(self.twice(x))",
    ],
)
@pytest.mark.parametrize("breaks", ["what is passed", "the call", "nothing"])
def test_what_is_passed_to_a_call_raises_nothing_for_it(tmp_path: Path, call: str, breaks: str) -> None:
    code = WITHIN.replace("{call}", call).replace("{up}", "32" if breaks == "what is passed" else "20")
    if breaks == "the call":
        code = code.replace("nn.Linear(64, 8)", "nn.Linear(65, 8)")
    verdict = verdict_of(tmp_path, code, call, "Model.forward", "RuntimeError", PRODUCT)
    expected = {"what is passed": Status.UNCONFIRMED, "the call": Status.CONFIRMED, "nothing": Status.REFUTED}
    assert verdict.status is expected[breaks], verdict


def test_a_call_that_is_not_made_is_not_refuted(tmp_path: Path) -> None:
    code = WITHIN.replace("{up}", "20").replace("{call}", "self.up(x) if x.dim() == 3 else self.after(x)")
    verdict = verdict_of(tmp_path, code, "self.after(x)", "Model.forward", "RuntimeError", PRODUCT)
    assert verdict.status is Status.UNCONFIRMED, verdict
    assert verdict.detail == "a call did not reach it"


@pytest.mark.parametrize("breaks", [True, False])
def test_an_attribute_is_asked_for_once_its_owner_is_there(tmp_path: Path, breaks: bool) -> None:
    called = "self.of(x).maskfill" if breaks else "self.of(x).masked_fill"
    code = f"""
class Model(nn.Module):
    def of(self, x): return x.{"float()" if breaks else "maskfill()"}

    def forward(self, x): return {called}(x > 0, 0)
"""
    verdict = verdict_of(tmp_path, code, called, "Model.forward", "AttributeError", "has no attribute 'maskfill'")
    assert verdict.status is (Status.CONFIRMED if breaks else Status.UNCONFIRMED), verdict


@pytest.mark.parametrize(
    ("value", "status"),
    [
        ("(x, x, x)", Status.CONFIRMED),
        ("(x, x)", Status.REFUTED),
        ("zip(*[(c, d) for c, d in [(x, x, x)]])", Status.UNCONFIRMED),
    ],
)
def test_what_is_unpacked_is_there_first(tmp_path: Path, value: str, status: Status) -> None:
    code = f"""
class Model(nn.Module):
    def forward(self, x):
        a, b = {value}
        return x
"""
    said = "values to unpack (expected 2"
    verdict = verdict_of(tmp_path, code, "a, b", "Model.forward", "ValueError", said)
    assert verdict.status is status, verdict


@pytest.mark.parametrize(
    ("call", "status"), [("x.to(self.there(x))", Status.UNCONFIRMED), ("x.to('cuda')", Status.CONFIRMED)]
)
def test_a_device_that_something_else_asks_for(tmp_path: Path, call: str, status: Status) -> None:
    code = f"""
class Model(nn.Module):
    def there(self, x): return x.cuda()

    def forward(self, x): return {call}
"""
    verdict = verdict_of(tmp_path, code, call, "Model.forward", kind=OnCuda)
    assert verdict.status is status, verdict


# -- arguments that a callee does not take ---------------------------------------------------------------------------

TAKEN = """
def logged(function):
    @functools.wraps(function)
    def run(*args, **kwargs):
        kwargs.pop("note", None)
        return function(*args, **kwargs)
    return run


class Part(nn.Module):
    def __init__(self, width=4):
        {made}
        self.layer = nn.Linear(width, width)

    @logged
    def told(self, x): return self.layer(x)

    @torch.no_grad()
    def quietly(self, x): return self.layer(x)

    def any(self, *args, **kwargs): return self.layer(*args, **kwargs)

    def plainly(self, x, scale=1): return self.layer(x) * scale

    def forward(self, x): return {used}


def part(): return Part()
"""
INIT, FORWARD = "super().__init__()", "self.layer(x)"
UNEXPECTED, MISSING = "unexpected keyword argument 'note'", "missing"


@pytest.mark.parametrize(
    ("made", "used", "call", "words", "status"),
    [
        ("super().__init__(note=1)", FORWARD, "super().__init__(note=1)", UNEXPECTED, Status.CONFIRMED),
        ("super().__init__()", FORWARD, "super().__init__()", UNEXPECTED, Status.REFUTED),
        ("nn.Module.__init__(self, note=1)", FORWARD, "nn.Module.__init__(self, note=1)", UNEXPECTED, Status.CONFIRMED),
        (INIT, "self.told(x, note=1)", "self.told(x, note=1)", UNEXPECTED, Status.REFUTED),
        (INIT, "self.told(x, 3)", "self.told(x, 3)", "positional argument", Status.UNCONFIRMED),
        (INIT, "self.quietly(x, note=1)", "self.quietly(x, note=1)", UNEXPECTED, Status.CONFIRMED),
        (INIT, "self.quietly(x)", "self.quietly(x)", UNEXPECTED, Status.REFUTED),
        (INIT, "self.any(x)", "self.any(x)", UNEXPECTED, Status.REFUTED),
        (INIT, "self.plainly(x, note=1)", "self.plainly(x, note=1)", UNEXPECTED, Status.CONFIRMED),
        (INIT, "self.plainly(x, scale=2)", "self.plainly(x, scale=2)", UNEXPECTED, Status.REFUTED),
        (INIT, "self.plainly(*[x, 1, 2])", "self.plainly(*[x, 1, 2])", "positional argument", Status.CONFIRMED),
        (INIT, "self.plainly(self.plainly(), 2)", "self.plainly(self.plainly(), 2)", MISSING, Status.REFUTED),
    ],
)  # fmt: skip
def test_what_a_callee_takes_is_what_a_call_of_it_takes(
    tmp_path: Path, made: str, used: str, call: str, words: str, status: Status
) -> None:
    code = TAKEN.replace("{made}", made).replace("{used}", used)
    name = "Part.__init__" if made == call else "Part.forward"
    verdict = verdict_of(tmp_path, code, call, name, "TypeError", words, kind=NotTaken)
    assert verdict.status is status, verdict


SIBLINGS = {
    "faces/__init__.py": "",
    "faces/learner.py": "class Learner:\n    def __init__(self, width):\n        self.width = width\n",
    "faces/train.py": "from learner import Learner\n\n\ndef train(width):\n    return Learner(width)\n",
    "faces/tools/clean.py": "from learner import Learner\n\n\ndef clean(n):\n    return Learner(n, slim=True)\n",
}
UP = """\
from torch import nn


class Up(nn.Module):
    def __init__(self, width, bilinear):
        super().__init__()
        if bilinear:
            self.up = nn.Upsample(scale_factor=2)
        else:
            self.wide = nn.ConvTranspose2d(width, width, 2, stride=2)

    def forward(self, x):
        return self.up(x)
"""
POOL = 'from torch import nn\n\nsaid = {"ceil_mode": True}\npool = nn.MaxPool1d(3, 1, 1, 1, said["ceil_mode"])\n'


@pytest.mark.parametrize(
    ("code", "files", "shown"),
    [
        ("ML502", SIBLINGS, "got an unexpected keyword argument 'slim'"),
        ("ML214", {"model.py": UP}, "bilinear = False"),
        ("ML515", {"model.py": POOL}, "as `return_indices`"),
    ],
)
def test_what_a_run_assumes_or_replaces_refutes_nothing(
    workspace: Workspace, code: str, files: dict[str, str], shown: str
) -> None:
    """Siblings of a script are imported, the other branch is tried, and quotes do not count."""
    workspace.write(files)
    found = workspace.run("check", ".", "--confirm", "--select", code, "--output-format", "json").json["findings"]
    assert [one["verdict"]["status"] for one in found] == ["confirmed"], found
    assert shown in f"{found[0]['verdict']}"


SKIP = """
class Skip(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Conv2d(1, 1, {kernel})

    def forward(self, x, scale):
        return torch.cat([x, self.inner(x)], 1) * scale
"""
GIVEN = (("x", "float32", (1, 1, 40, 40)), ("scale", "", (1,)))


@pytest.mark.parametrize(
    ("kernel", "tensors", "status", "says"),
    [
        (3, GIVEN, Status.CONFIRMED, "Expected size 40 but got size 38"),
        (5, GIVEN, Status.UNCONFIRMED, "Expected size 40 but got size 36"),  # refused, for other sizes
        (3, (), Status.UNCONFIRMED, "Expected size 32 but got size 30"),
        (1, GIVEN, Status.REFUTED, "nothing was raised there"),
    ],
)
def test_the_sizes_of_a_finding_are_those_of_its_call(
    tmp_path: Path, kernel: int, tensors: tuple[object, ...], status: Status, says: str
) -> None:
    code, said = SKIP.replace("{kernel}", str(kernel)), ("RuntimeError", "", "", (40, 38), tensors)
    verdict = verdict_of(tmp_path, code, "torch.cat([x, self.inner(x)], 1)", "Skip.forward", *said)
    assert verdict.status is status, verdict
    assert says in verdict.detail
