"""ML302: a rotary table that is sized by the current input and indexed by positions from outside."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import operators
from modellint.finding import Confidence, Finding, Related, Severity
from modellint.graph.value import EventKind, Op, same, self_attribute
from modellint.link.values.rotary import LengthKind, length_kind, number_sources
from modellint.rule import Example, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.claims.positions import StepBeyond
    from modellint.confirm.plan import Probe
    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.value import Value
    from modellint.link.project import Project
    from modellint.link.values.rotary import SizedTable, TableIndex


class RotaryLengthNotCovering(Rule):
    """A rotary table is sized by the current input, but positions come from outside

    ## What it does
    Finds calls `rotary(seq_len=n)` whose table is then indexed by position ids that the caller passes in, where `n` is
    the length of the current input alone although the same function continues a cached sequence.

    ## Why is this bad
    When a sequence is continued, the input is one token long while its position is as large as the cache: the table
    has one row, and `cos[position_ids]` is out of bounds.

    ## How to fix
    Size the table by `position_ids.max() + 1`, or by the length of the keys once the cache is added.

    ## References
    - [RoFormer: Enhanced Transformer with Rotary Position Embedding](https://arxiv.org/abs/2104.09864)
    """

    code = "ML302"
    name = "rotary-length-not-covering"
    severity = Severity.WARNING
    triggers = ("import", "otary|cos|_rope|rope_")
    bad = (
        Example(
            "A decoder step that continues a cache",
            {
                "attention.py": """\
import torch
from torch import nn


class Rotary(nn.Module):
    def __init__(self, dim, longest=2048):
        super().__init__()
        angles = torch.arange(longest)[:, None] / 10000.0 ** (torch.arange(0, dim, 2) / dim)
        self.register_buffer("cosines", torch.cos(angles))
        self.register_buffer("sines", torch.sin(angles))

    def forward(self, x, seq_len):
        return self.cosines[:seq_len], self.sines[:seq_len]


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.rotary = Rotary(dim)

    def forward(self, q, k, v, position_ids, past=None):
        cos, sin = self.rotary(v, seq_len=k.shape[-2])  # expect: ML302
        k = k * cos[position_ids] + k.flip(-1) * sin[position_ids]
        if past is not None:
            k = torch.cat([past[0], k], dim=2)
            v = torch.cat([past[1], v], dim=2)
        return torch.softmax(q @ k.transpose(-1, -2), dim=-1) @ v
""",
            },
        ),
        Example(
            "A table that is computed for each call, and looked up in another file",
            {
                "rope.py": """\
import torch


def rope_table(length, dim, device):
    frequencies = 10000.0 ** -(torch.arange(0, dim, 2, device=device) / dim)
    angles = torch.outer(torch.arange(length, device=device), frequencies)
    return angles.cos(), angles.sin()


def rotate(x, cos, sin, position_ids):
    cos, sin = cos[position_ids], sin[position_ids]
    return x * cos + x.flip(-1) * sin
""",
                "attention.py": """\
import torch
from torch import nn

from rope import rope_table, rotate


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width
        self.project = nn.Linear(width, 2 * width)

    def forward(self, x, position_ids, past_key=None):
        q, k = self.project(x).chunk(2, dim=-1)
        batch, length, _ = x.size()
        cos, sin = rope_table(length, self.width, x.device)  # expect: ML302
        q, k = rotate(q, cos, sin, position_ids), rotate(k, cos, sin, position_ids)
        if past_key is not None:
            k = torch.cat((past_key, k), dim=1)
        return q @ k.transpose(-1, -2), k
""",
            },
        ),
        Example(
            "A cache object that is updated after the table was made",
            {
                "attention.py": """\
import torch
from torch import nn


class Rotary(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.register_buffer("inv_freq", 10000.0 ** -(torch.arange(0, dim, 2) / dim))

    def forward(self, x, seq_len):
        angles = torch.outer(torch.arange(seq_len, device=x.device), self.inv_freq)
        return angles.cos(), angles.sin()


class Attention(nn.Module):
    def __init__(self, dim, layer):
        super().__init__()
        self.layer = layer
        self.rotary = Rotary(dim)

    def forward(self, q, k, v, position_ids, cache):
        cos, sin = self.rotary(v, q.size(-2))  # expect: ML302
        q = q * cos[position_ids] + q.flip(-1) * sin[position_ids]
        k, v = cache.update(k, v, self.layer)
        return torch.softmax(q @ k.transpose(-1, -2), dim=-1) @ v
""",
            },
        ),
        Example(
            "The length goes through a local and a helper",
            {
                "attention.py": """\
import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def tables(self, length, device):
        angles = torch.arange(length, device=device)[:, None] / 10000.0 ** (torch.arange(self.dim) / self.dim)
        return torch.cos(angles), torch.sin(angles)

    def forward(self, hidden, positions, kept=None):
        length = hidden.shape[1]
        cos, sin = self.tables(length, hidden.device)  # expect: ML302
        keys = hidden * cos[positions] + hidden.flip(-1) * sin[positions]
        if kept is not None:
            keys = torch.cat([kept, keys], dim=1)
        return keys
""",
            },
        ),
        Example(
            "Rotation in a helper method",
            {
                "attention.py": """\
import torch
from torch import nn


class Rotary(nn.Module):
    def forward(self, x, seq_len):
        t = torch.arange(seq_len, device=x.device)[:, None]
        return torch.cos(t), torch.sin(t)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.rotary = Rotary()

    def rotate(self, x, cos, sin, ids):
        return x * cos[ids] + x.flip(-1) * sin[ids]

    def forward(self, q, k, position_ids, layer_past=None):
        cos, sin = self.rotary(q, seq_len=q.shape[1])  # expect: ML302
        q, k = self.rotate(q, cos, sin, position_ids), self.rotate(k, cos, sin, position_ids)
        if layer_past is not None:
            k = torch.cat([layer_past, k], dim=1)
        return q @ k.transpose(-1, -2)
""",
            },
        ),
        Example(
            "Weights whose shape is checked, of keys that are computed in slices",
            {
                "attention.py": """\
import torch
from torch import nn


class Rotary(nn.Module):
    def forward(self, x, seq_len):
        t = torch.arange(seq_len, device=x.device)[:, None]
        return torch.cos(t), torch.sin(t)


def turn(q, k, cos, sin, position_ids):
    return q * cos[position_ids] + q * sin[position_ids], k * cos[position_ids] + k * sin[position_ids]


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.rotary = Rotary()
        self.slices = nn.ModuleList([nn.Linear(width, width // 2), nn.Linear(width, width // 2)])

    def forward(self, q, hidden, position_ids, cache):
        k = torch.cat([part(hidden) for part in self.slices], dim=-1)
        cos, sin = self.rotary(q, seq_len=k.shape[-2])  # expect: ML302
        q, k = turn(q, k, cos, sin, position_ids)
        k = cache.update(k, 0)
        weights = torch.matmul(q, k.transpose(-1, -2))
        if weights.size() != (q.shape[0], q.shape[1], k.shape[1]):
            raise ValueError(weights.size())
        return weights
""",
            },
        ),
    )
    good = (
        Example(
            "The past is added to the length",
            {
                "attention.py": """\
import torch
from torch import nn


class Rotary(nn.Module):
    def forward(self, x, seq_len):
        t = torch.arange(seq_len, device=x.device)[:, None]
        return torch.cos(t), torch.sin(t)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.rotary = Rotary()

    def forward(self, q, k, position_ids, past=None):
        length = k.shape[-2]
        if past is not None:
            length += past.shape[-2]
        cos, sin = self.rotary(q, seq_len=length)
        k = k * cos[position_ids] + k.flip(-1) * sin[position_ids]
        if past is not None:
            k = torch.cat([past, k], dim=-2)
        return q @ k.transpose(-1, -2)
""",
            },
        ),
        Example(
            "The table covers the largest position",
            {
                "attention.py": """\
import torch
from torch import nn


class Rotary(nn.Module):
    def forward(self, x, seq_len):
        t = torch.arange(seq_len, device=x.device)[:, None]
        return torch.cos(t), torch.sin(t)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.rotary = Rotary()

    def forward(self, q, k, position_ids, past=None):
        cos, sin = self.rotary(q, seq_len=int(position_ids.max()) + 1)
        k = k * cos[position_ids] + k.flip(-1) * sin[position_ids]
        if past is not None:
            k = torch.cat([past, k], dim=-2)
        return q @ k.transpose(-1, -2)
""",
            },
        ),
        Example(
            "The table is computed from the positions",
            {
                "attention.py": """\
import torch
from torch import nn


class Rotary(nn.Module):
    def forward(self, x, position_ids, seq_len=None):
        angles = position_ids[..., None].float()
        return torch.cos(angles), torch.sin(angles)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.rotary = Rotary()

    def forward(self, q, k, position_ids, past=None):
        cos, sin = self.rotary(q, position_ids, seq_len=k.shape[-2])
        k = k * cos + k.flip(-1) * sin
        if past is not None:
            k = torch.cat([past, k], dim=-2)
        return q @ k.transpose(-1, -2)
""",
            },
        ),
        Example(
            "Positions that are made from the same length",
            {
                "attention.py": """\
import torch
from torch import nn


class Rotary(nn.Module):
    def forward(self, x, seq_len):
        t = torch.arange(seq_len, device=x.device)[:, None]
        return torch.cos(t), torch.sin(t)


class CrossAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.rotary = Rotary()

    def forward(self, q, k, memory=None):
        length = q.shape[1]
        position_ids = torch.arange(length, device=q.device)
        cos, sin = self.rotary(q, seq_len=length)
        q = q * cos[position_ids] + q.flip(-1) * sin[position_ids]
        if memory is not None:
            k = torch.cat([memory, k], dim=1)
        return q @ k.transpose(-1, -2)
""",
            },
        ),
        Example(
            "A comparison guards the positions",
            {
                "attention.py": """\
import torch
from torch import nn


class Rotary(nn.Module):
    def forward(self, x, seq_len):
        t = torch.arange(seq_len, device=x.device)[:, None]
        return torch.cos(t), torch.sin(t)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.rotary = Rotary()

    def forward(self, q, k, position_ids, past=None):
        length = q.shape[1]
        if position_ids.max() >= length:
            raise ValueError("positions run ahead of the input")
        cos, sin = self.rotary(q, seq_len=length)
        k = k * cos[position_ids] + k.flip(-1) * sin[position_ids]
        if past is not None:
            k = torch.cat([past, k], dim=1)
        return q @ k.transpose(-1, -2)
""",
            },
        ),
        Example(
            "The table grows with what it has seen",
            {
                "attention.py": """\
import torch
from torch import nn


class Rotary(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim
        self.grow(2048)

    def grow(self, length):
        self.rows = length
        angles = torch.arange(length)[:, None] / 10000.0 ** (torch.arange(0, self.dim, 2) / self.dim)
        self.cosines, self.sines = torch.cos(angles), torch.sin(angles)

    def forward(self, x, seq_len):
        if seq_len > self.rows:
            self.grow(seq_len)
        return self.cosines, self.sines


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.rotary = Rotary(dim)

    def forward(self, q, k, position_ids, past=None):
        cos, sin = self.rotary(q, k.shape[-2])
        k = k * cos[position_ids] + k.flip(-1) * sin[position_ids]
        if past is not None:
            k = torch.cat([past, k], dim=-2)
        return q @ k.transpose(-1, -2)
""",
            },
        ),
        Example(
            "An encoder that keeps nothing from earlier calls",
            {
                "attention.py": """\
import torch
from torch import nn


class Rotary(nn.Module):
    def forward(self, x, seq_len):
        t = torch.arange(seq_len, device=x.device)[:, None]
        return torch.cos(t), torch.sin(t)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.rotary = Rotary()

    def forward(self, q, k, position_ids):
        cos, sin = self.rotary(q, seq_len=k.shape[-2])
        k = torch.cat([k[:, :1], k[:, 1:] * cos[position_ids] + k[:, 1:] * sin[position_ids]], dim=1)
        return q @ k.transpose(-1, -2)
""",
            },
        ),
        Example(
            "The length of the keys, once the cache is joined to them",
            {
                "attention.py": """\
import torch
from torch import nn


class Rotary(nn.Module):
    def forward(self, x, seq_len):
        t = torch.arange(seq_len, device=x.device)[:, None]
        return torch.cos(t), torch.sin(t)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.rotary = Rotary()

    def forward(self, q, k, position_ids, past=None):
        if past is not None:
            k = torch.cat([past, k], dim=1)
        cos, sin = self.rotary(q, seq_len=k.shape[1])
        return (q * cos[position_ids] + q.flip(-1) * sin[position_ids]) @ k.transpose(-1, -2)
""",
            },
        ),
    )

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        for function in module.all_functions():
            if function.name == "__init__":
                continue
            for table in project.rotary.sized_tables(function):
                if table.callee is None or not _is_current_length(table, project):
                    continue
                if not _continues(function) or _is_whole(table):
                    continue
                for index in project.rotary.indices(table):
                    if _is_given(index, table, project):
                        yield self._report(table, index)
                        break

    def probe(self, claim: StepBeyond, project: Project) -> Probe | None:
        """Run some tokens at once, then one more with what was kept of them."""
        from modellint.confirm.plan import boundary_probe

        return boundary_probe(claim, project, [claim.place])

    def _report(self, table: SizedTable, index: TableIndex) -> Finding:
        from modellint.claims.positions import StepBeyond

        module = table.frame.module
        place, lookup = module.place(table.event.value), index.frame.module.place(index.event.value)
        kept = _kept_from_before(table.frame.function)
        past = dict.fromkeys(str(value.data) for value in kept if value.op is Op.PARAM)
        ids = index.ids.value.data
        length = table.length.frame.module.text_of(table.length.value)
        return self.finding(
            place,
            f"the table has `{length}` rows, which need not cover the positions `{ids}`",
            symbol=module.text_of(table.event.value.callee),
            confidence=Confidence.MEDIUM,
            evidence=(
                f"`{length}` is the length of the current input",
                f"`{ids}` is passed in, and the sequence may continue a cached one",
            ),
            related=(Related(lookup, "the table is indexed here"),),
            help=f"size the table by `{ids}.max() + 1`",
            claim=StepBeyond(place, lookup, tuple(past)),
        )


#: Functions of numbers.
_OF_NUMBERS = operators.functions("number", "extreme")
#: What makes a tensor of several, along a dimension.
_JOINS = operators.words("joins")


def _is_current_length(table: SizedTable, project: Project) -> bool:
    """Whether a length is one dimension of the input: no past is added, no position looked at."""
    sources = list(number_sources(table.length, project.evaluator))
    return bool(sources) and all(
        source.frame is table.frame
        and length_kind(source.value) == LengthKind.COUNT
        and same(source.value, sources[0].value)
        and not _grew(source.value)
        for source in sources
    )


def _is_whole(table: SizedTable) -> bool:
    """Whether a table that grows on demand is returned whole, with all the rows it has ever had."""
    assert table.callee is not None
    flow = table.callee.function.flow

    def mentions(value: Value) -> bool:
        return any(part.op is Op.PARAM and part.data == table.parameter for part in value.walk())

    grows = any(mentions(event.value) for event in flow.of(EventKind.COMPARE))
    return grows and not any(mentions(event.value) for event in flow.of(EventKind.RETURN))


def _grew(value: Value) -> bool:
    """Whether a dimension is that of a tensor to which a cache was added, or a cache's own length."""
    return any(
        (part.callee.data in _JOINS and not _joins_slices(part))
        or part.callee.data == "update"
        or "length" in str(part.callee.data)
        for part in value.walk()
        if part.op is Op.CALL
    )


def _joins_slices(call: Value) -> bool:
    """Whether a tensor is put together again from the parts that a comprehension computes of it."""
    return bool(call.positional) and call.positional[0].op is Op.COMPREHENSION


def _continues(function: Function) -> bool:
    """Whether a function joins what it computes to something kept from earlier calls."""
    return any(True for _ in _kept_from_before(function))


def _kept_from_before(function: Function) -> Iterator[Value]:
    """What a function has kept from earlier calls and joins to what it computes."""
    for event in function.flow.of(EventKind.CALL):
        call = event.value
        if call.callee.op is not Op.ATTR:
            continue
        if call.callee.data in _JOINS and call.positional and call.positional[0].op in (Op.LIST, Op.TUPLE):
            first, *rest = call.positional[0].args
            kept = _kept(first)
            if kept is not None and rest and not any(same(part, kept) for other in rest for part in other.walk()):
                yield kept
        if call.callee.data == "update" and call.callee.args[0].op is Op.PARAM and len(call.positional) >= 2:
            yield call.callee.args[0]


def _kept(value: Value) -> Value | None:
    """The parameter or attribute that a value is (part of), as it was given: a past."""
    while value.op in (Op.INDEX, Op.UNPACK) or (value.op is Op.ATTR and value.args[0].op is not Op.PARAM):
        value = value.args[0]
    return value if value.op is Op.PARAM or (value.op is Op.ATTR and len(value.args) == 1) else None


def _is_given(index: TableIndex, table: SizedTable, project: Project) -> bool:
    """Whether the ids are a parameter of the function that sizes the table, and no comparison guards them."""
    ids = index.ids
    if ids.value.op is not Op.PARAM or ids.frame is not table.frame:
        return False
    if any(arg.op is Op.PARAM and arg.data == ids.value.data for arg in table.event.value.args[1:]):
        return False
    return not any(
        _is_made_of(arg, ids.value)
        for event in table.frame.function.flow.of(EventKind.COMPARE)
        for arg in event.value.args
        if event.value.data not in ("is", "is not")
    )


def _is_made_of(value: Value, ids: Value, depth: int = 0) -> bool:
    """Whether a compared number is computed from ids: not what layers and functions make with their help."""
    if value is ids or depth > 12:
        return value is ids
    if value.op is Op.CALL:
        callee = value.callee
        is_layer = self_attribute(callee) is not None or (
            callee.op is Op.GLOBAL and f"builtins.{callee.data}" not in _OF_NUMBERS
        )
        parts = () if is_layer else (*callee.args[:1], *value.args[1:])
    else:
        parts = value.args
    return any(_is_made_of(part, ids, depth + 1) for part in parts)
