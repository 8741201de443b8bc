"""ML508: a tuple that is unpacked into another number of names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.finding import Confidence, Finding, Related, Severity
from modellint.graph.value import Op
from modellint.rule import Example, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import ModuleFacts
    from modellint.link.calls.returned import Unpacking
    from modellint.link.project import Project

_ENCODER = """\
from torch import nn


class Encoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)

    def forward(self, x, return_attention=False):
        hidden = self.proj(x)
        scores = hidden @ hidden.transpose(1, 2)
        if return_attention:
            return hidden, scores.softmax(-1), scores
        return hidden, scores
"""


class UnpackMismatch(Rule):
    """A tuple is unpacked into another number of names than it has values

    ## What it does
    Compares tuple assignments with what they are given, where each way through the callee says how many values come
    back: functions, methods and layers (`features, attention = self.encoder(x)`) that one definition answers to, with
    the constants that the call passes (`return_attention=True`); recurrent layers, `topk`, `split` into given sizes,
    `zip` and `enumerate` in loops.

    In tests, demonstrations and under `if __name__ == "__main__"` it is an info.

    ## Why is this bad
    `ValueError: too many values to unpack` (or not enough) at the first call: a `return` was changed, and this caller
    was left behind.

    ## How to fix
    Name as many values as come back, `_` for those that are not needed.

    ## What it cannot see
    Callees with a `return` whose number of values is not known, generators, named tuples, and methods that a subclass
    overrides. A single tensor may be unpacked along its first dimension, whose size is seldom known.

    ## Confirming
    Not run: the number of values is written in the `return` statements; the call itself needs inputs that fit.

    ## References
    - [Python: assignment statements](https://docs.python.org/3/reference/simple_stmts.html#assignment-statements)
    """

    code = "ML508"
    name = "unpack-mismatch"
    severity = Severity.ERROR
    triggers = ("import|def|class|for",)
    bad = (
        Example(
            "A layer that gives more than its caller takes",
            {
                "encoder.py": _ENCODER,
                "model.py": """\
from torch import nn

from encoder import Encoder


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.encoder = Encoder(width)
        self.head = nn.Linear(width, 2)

    def forward(self, x):
        features, attention = self.encoder(x, return_attention=True)  # expect: ML508
        features, attention, scores = self.encoder(x)  # expect: ML508
        return self.head(features), attention


class Wrapped(Model):
    def forward(self, x):
        logits, attention, scores = super().forward(x)  # expect: ML508
        return logits

    def transform(self, x):
        logits, attention = self(x)
        return logits
""",
            },
        ),
        Example(
            "A function whose result is handed on",
            {
                "losses.py": """\
def concatenated(model, batch):
    chosen, rejected = model(batch)
    return chosen, rejected, chosen - rejected


def forward(model, batch):
    return concatenated(model, batch)


def loss(model, batch, is_plain):
    chosen, rejected = forward(model, batch)  # expect: ML508
    if is_plain:
        result = (chosen, rejected)
    else:
        result = (chosen, rejected)
    a, b, c = result  # expect: ML508
    return a - b
""",
            },
        ),
        Example(
            "Recurrent layers, `topk` and `split`",
            {
                "model.py": """\
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.rnn = nn.LSTM(width, width, batch_first=True)

    def forward(self, x):
        y, h, c = self.rnn(x)  # expect: ML508
        q, k, v = torch.split(y, [8, 8], dim=-1)  # expect: ML508
        best = torch.topk(q, 3)
        values, ids, rest = best  # expect: ML508
        return values, ids
""",
            },
        ),
        Example(
            "Loops over what is zipped and counted",
            {
                "training.py": """\
def run(batches, targets, weights):
    total = 0
    for x, y in zip(batches, targets, weights):  # expect: ML508
        total += x * y
    for step, x, y in enumerate(zip(batches, targets)):  # expect: ML508
        total += step
    return [a for a, b, c in zip(batches, targets)]  # expect: ML508


first, second = 1, 2, 3  # expect: ML508
""",
            },
        ),
    )
    good = (
        Example(
            "As many names as values, on the way that the call takes",
            {
                "encoder.py": _ENCODER,
                "model.py": """\
from torch import nn

from encoder import Encoder


class Model(nn.Module):
    def __init__(self, width, with_scores):
        super().__init__()
        self.encoder = Encoder(width)
        self.with_scores = with_scores

    def forward(self, x, return_attention):
        hidden, attention, scores = self.encoder(x, True)
        hidden, scores = self.encoder(hidden)
        hidden, *rest = self.encoder(hidden, return_attention)
        hidden, scores = self.encoder(hidden, return_attention)
        first, second, third = self.encoder(hidden, return_attention)
        return hidden
""",
            },
        ),
        Example(
            "Starred names, generators and named tuples",
            {
                "model.py": """\
from collections import namedtuple

Output = namedtuple("Output", "logits hidden")


def parts(x):
    yield x, x
    return 1, 2, 3


def output(x):
    return Output(x, x)


def several(x, *more):
    return (x, *more)


first, *rest = 1, 2, 3
a, b, c = parts(0)
logits, hidden, loss = output(0)
x, y = several(0, 1, 2)
""",
            },
        ),
        Example(
            "A method that a subclass overrides, and one that only says so",
            {
                "model.py": """\
from torch import nn


class Base(nn.Module):
    def encode(self, x):
        return x, x

    def decode(self, x):
        raise NotImplementedError

    def forward(self, x):
        hidden, mask, length = self.encode(x)
        a, b = self.decode(hidden)
        return a


class Longer(Base):
    def encode(self, x):
        return x, x, len(x)
""",
            },
        ),
        Example(
            "A single tensor, unpacked along its first dimension",
            {
                "model.py": """\
import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width)
        self.rnn = nn.GRU(width, width, num_layers=2)

    def project(self, x):
        return self.qkv(x).reshape(*x.shape[:2], 3, -1).permute(2, 0, 1, 3)

    def forward(self, x):
        q, k, v = self.project(x)
        y, (first, last) = self.rnn(x)
        a, b = torch.max(q, dim=0)
        c, d, e = torch.max(q)
        f, g = q.chunk(2, dim=-1)
        return q, k, v
""",
            },
        ),
        Example(
            "What a decorator, a handler or another file makes of it",
            {
                "model.py": """\
import functools


def paired(function):
    @functools.wraps(function)
    def wrapper(x):
        return function(x), x

    return wrapper


@paired
def encode(x):
    return x, x, x


def old(x):
    return x, x


try:
    from fast import old
except ImportError:
    pass


def run(x):
    a, b = encode(x)
    c, d, e = old(x)
    return a, c


def guess(x):
    try:
        a, b, c = x, x
    except ValueError:
        a, b, c = x, x, x
    return a
""",
                "fast.py": "def old(x):\n    return x, x, x\n",
            },
        ),
        Example(
            "A number of values that is asked for",
            {
                "encoder.py": _ENCODER,
                "model.py": """\
from encoder import Encoder


def run(x):
    found = Encoder(3)(x)
    if len(found) == 3:
        hidden, attention, scores = found
    else:
        (hidden, attention), scores = found, None
    return hidden
""",
            },
        ),
        Example(
            "None where nothing is found, and ways that are not known",
            {
                "files.py": """\
def find(x, strict):
    if not x:
        return None
    if strict:
        return x, x
    return x.pair()


def choose(x, mode="pair"):
    if mode == "pair":
        return x, x
    elif mode == "triple":
        return x, x, x
    raise ValueError(mode)


a, b, c = find([1], False)
d, e, f = choose(1, "triple")
g, h = choose(1)
for key, value in {}.items():
    pass
for index, (left, right) in enumerate(zip([1], [2])):
    pass
""",
            },
        ),
    )

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        from modellint.link.calls.returned import misfit_unpackings

        for unpacking in misfit_unpackings(module, project):
            yield self._finding(unpacking, project)

    def _finding(self, found: Unpacking, project: Project) -> Finding:
        from modellint.link.calls.doubts import is_tried_out

        module, event = found.function.module, found.event
        names = event.target
        assert names is not None
        counts = sorted({part.count for part in found.parts})
        shown = module.text_of(event.value.callee) if event.value.op is Op.CALL else ""
        what = f"`{shown}` gives" if shown and "\n" not in shown and len(shown) < 60 else "there are"
        number = " or ".join(map(str, counts))
        return self.finding(
            module.place(names),
            f"{what} {number} value{'s' if counts != [1] else ''}, which {len(names.args)} names cannot take",
            symbol=f"{found.function.qualname}.{shown.rpartition('.')[2] or 'unpack'}",
            confidence=Confidence.HIGH,
            severity=Severity.INFO if is_tried_out(project, found.function, event) else None,
            evidence=("unpacking raises `ValueError` whichever way is taken",),
            related=[
                Related(part.function.module.place(part.value), f"{part.count} values are returned here")
                for part in found.parts[:3]
                if found.reached is not None
            ],
            help=f"name {number} values, `_` for those that are not needed",
        )
