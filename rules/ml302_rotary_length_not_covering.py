"""ML302: a rotary table that is sized by the current input and indexed by positions from outside."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.finding import Confidence, Finding, Related, Severity
from modellint.flow.domain import Constant, Given, Length, Tensor, Unknown
from modellint.flow.terms import Kind, Term
from modellint.graph.value import Op
from modellint.rule import Example, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.claims.positions import StepBeyond
    from modellint.flow.domain import Atom, Site
    from modellint.flow.terms import Asked, Picked, Sized
    from modellint.graph.python import ModuleFacts
    from modellint.graph.value import Value
    from modellint.link.project import Project
    from modellint.probes import Probe


class RotaryLengthNotCovering(Rule):
    """A rotary table is sized by the current input, but positions come from outside

    ## What it does
    Finds calls `rotary(seq_len=n)` whose table is then indexed by position ids that the caller passes in, where `n` is
    the length of the current input alone although the same function continues a cached sequence. Where `n` is the
    number of keys, the cached ones among them, and nothing compares the ids, it says so as *info*: that holds for
    ordinary, padded and packed ids, but not for those that a caller sets beyond the cache.

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
    triggers = ("import",)
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
        Example(
            "A table of complex numbers, which is asked for in a file that says nothing of angles",
            {
                "angles.py": """\
import torch
from torch import nn


class Angles(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.register_buffer("steps", 10000.0 ** (-torch.arange(0, dim, 2) / dim))

    def forward(self, length):
        angles = torch.outer(torch.arange(length, device=self.steps.device), self.steps)
        return torch.polar(torch.ones_like(angles), angles)
""",
                "attention.py": """\
import torch
from torch import nn

from angles import Angles


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.turns = Angles(dim)

    def forward(self, q, k, position_ids, past=None):
        table = self.turns(q.shape[1])  # expect: ML302
        q = torch.view_as_complex(q.unflatten(-1, (-1, 2)))
        q = torch.view_as_real(q * table[position_ids]).flatten(-2)
        if past is not None:
            k = torch.cat([past, k], dim=1)
        return q @ k.transpose(-1, -2), k
""",
            },
        ),
        Example(
            "Keys are counted, the cached ones among them, but a caller may set larger positions",
            {
                "attention.py": """\
import torch
from torch import nn


class Rotary(nn.Module):
    def __init__(self, dim, longest=2048):
        super().__init__()
        self.frequencies = 1.0 / 10000.0 ** (torch.arange(0, dim, 2) / dim)
        self.grow(longest)

    def grow(self, length):
        self.longest = length
        angles = torch.outer(torch.arange(length), self.frequencies)
        self.register_buffer("cosines", angles.cos(), persistent=False)
        self.register_buffer("sines", angles.sin(), persistent=False)

    def forward(self, x, seq_len):
        if seq_len > self.longest:
            self.grow(seq_len)
        return self.cosines[:seq_len], self.sines[:seq_len]


def rotated(x, cos, sin, position_ids):
    return x * cos[position_ids] + x.flip(-1) * sin[position_ids]


class Attention(nn.Module):
    def __init__(self, dim=64):
        super().__init__()
        self.rotary = Rotary(dim)

    def forward(self, q, k, position_ids, past=None):
        length = k.shape[-2]
        if past is not None:
            length += past.get_seq_length()
        cos, sin = self.rotary(q, seq_len=length)  # expect: ML302
        q, k = rotated(q, cos, sin, position_ids), rotated(k, cos, sin, position_ids)
        return q @ k.transpose(-1, -2)
""",
            },
        ),
    )
    good = (
        Example(
            "The past is added to the length, and the positions are made of that",
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

    def forward(self, q, k, past=None):
        length = k.shape[-2]
        if past is not None:
            length += past.shape[-2]
        position_ids = torch.arange(length - k.shape[-2], length, device=k.device)
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
        reported: set[Value | Term] = set()
        for asked in project.position_lengths.asked(module):
            for picked in asked.picked.values():
                is_current = asked.is_kept and all(_is_current(length, asked) for length in picked.lengths)
                if not _is_given(picked, asked) or not (is_current or _counts_keys(picked)):
                    continue
                for table in asked.sized.values():
                    place = table.call(picked) or table.use
                    told = table.passed[place].given if place in table.passed else frozenset()
                    is_told = picked.parameter in told or not asked.exceeding(table).isdisjoint(table.length.parts())
                    if table.length in picked.lengths and not is_told and place.module is module:
                        key = place.value if table.calls else table.length
                        if key not in reported:
                            yield self._report(place, table, picked, asked, is_current=is_current)
                        reported.add(key)

    def probe(self, claim: StepBeyond, project: Project) -> Probe | None:
        """Run some tokens at once, then one more with what was kept of them."""
        from modellint.probes import boundary_probe

        return boundary_probe(claim, project, [claim.place])

    def _report(self, place: Site, table: Sized, picked: Picked, asked: Asked, *, is_current: bool) -> Finding:
        from modellint.claims.positions import StepBeyond

        passed = table.passed.get(place)
        said = None if passed is None else passed.length
        length, ids = table.length.text if said is None else said.module.text_of(said.value), picked.parameter
        return self.finding(
            place.place,
            f"the table has `{length}` rows, which need not cover the positions `{ids}`",
            symbol=place.module.text_of(place.value.callee if place.value.op is Op.CALL else place.value),
            severity=None if is_current else Severity.INFO,
            confidence=Confidence.MEDIUM,
            evidence=_evidence(length, ids, is_current=is_current),
            related=(Related(picked.use.place, "the table is indexed here"),),
            help=f"size the table by `{ids}.max() + 1`",
            claim=StepBeyond(place.place, picked.use.place, tuple(asked.kept)) if is_current else None,
        )


def _evidence(length: str, ids: str | None, *, is_current: bool) -> tuple[str, str]:
    if is_current:
        return (
            f"`{length}` is the length of the current input",
            f"`{ids}` is passed in, and the sequence may continue a cached one",
        )
    return (
        f"`{length}` is the number of keys, the cached ones among them",
        f"`{ids}` is passed in, and nothing compares it: a caller may set larger ones",
    )


def _is_given(picked: Picked, asked: Asked) -> bool:
    """Whether ids are passed in, and nothing compares them."""
    return picked.parameter is not None and picked.parameter not in asked.compared


def _is_current(length: Length, asked: Asked) -> bool:
    """Whether a length is how long the current input is: no past is added, no position looked at."""
    if not isinstance(length, Term):
        return False
    if length.is_extreme:
        return all(_is_current(atom, asked) for atoms in length.operands for atom in atoms if isinstance(atom, Length))
    return length.kind is Kind.COUNT and not any(_is_past(atom, asked) for atom in length.operands[0])


def _is_past(atom: Atom, asked: Asked) -> bool:
    """Whether something is, or has in it, what was kept from earlier calls."""
    if isinstance(atom, Tensor):
        return atom.extent is not None and atom.extent.is_grown
    return isinstance(atom, Given) and atom.parameter in asked.kept


def _counts_keys(picked: Picked) -> bool:
    """Whether every length is how many keys there are, and one of them counts those of earlier calls, too."""
    terms = [length for length in picked.lengths if isinstance(length, Term)]
    if len(terms) < len(picked.lengths) or not all(map(_is_of_keys, terms)):
        return False
    return any(part.kind is Kind.SUM for term in terms for part in term.parts())


def _is_of_keys(term: Term) -> bool:
    """Whether a length is counted, or the sum or the larger one of some that are: no number is added, no position."""
    if term.kind in (Kind.COUNT, Kind.KEPT):
        return True
    if term.kind not in (Kind.SUM, Kind.MAXIMUM) or not any(isinstance(atom, Term) for atom in term.operands[0]):
        return False
    return all(map(_is_of_key, term.numbers()))


def _is_of_key(atom: Atom) -> bool:
    """The same of what is added: what is given, or cannot be read, may be how many a cache has."""
    return _is_of_keys(atom) if isinstance(atom, Term) else isinstance(atom, Given | Unknown) or atom == Constant(None)
