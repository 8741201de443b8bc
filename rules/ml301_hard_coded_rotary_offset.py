"""ML301: a length for a position table that is computed with a hard-coded offset."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.edits.lengths import maximum_of_all, one_inside
from modellint.edits.python import written
from modellint.finding import Applicability, Confidence, Edit, Finding, Fix, Related, Severity
from modellint.flow.terms import Kind
from modellint.link.values.offsets import (
    base_of,
    is_meant,
    is_run_time,
    measured,
    mixed_extreme,
    offset_of,
    takes_last,
    uses,
)
from modellint.rule import Example, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.claims.positions import LengthNotPositions
    from modellint.flow.domain import Site
    from modellint.flow.terms import Picked, Term
    from modellint.graph.python import ModuleFacts
    from modellint.link.project import Project
    from modellint.link.values.offsets import Use
    from modellint.probes import Probe

_COVERING = "size the table by the largest position plus 1"


class HardCodedRotaryOffset(Rule):
    """The length of a rotary table is computed with a hard-coded offset

    ## What it does
    Follows the length that sizes or slices a rotary (or other sinusoidal) position table back to where it is computed,
    and finds an integer of 2 or more that is added to a run-time length, a `+ 1` that stands outside of a `max` in
    which a position is compared with a length, and the last position taken for the largest.

    ## Why is this bad
    The table must have a row for the largest position: `position_ids.max() + 1` rows. A number that was large enough
    in a test holds until positions run further ahead of the length, as they do for images, packed sequences and
    continued generation. Then the lookup fails with `index out of bounds`, or a device-side assert on a GPU.

    ## How to fix
    Size the table by what indexes it: `position_ids.max() + 1`, or `max(length, position_ids.max() + 1)`.

    ## References
    - Qwen2-VL: `rotary_seq_len = cache_position[-1] + 10`
    - [RoFormer: Enhanced Transformer with Rotary Position Embedding](https://arxiv.org/abs/2104.09864)
    """

    code = "ML301"
    name = "hard-coded-rotary-offset"
    severity = Severity.ERROR
    triggers = ("import",)
    bad = (
        Example(
            "A literal that is added to the last cache position",
            {
                "rotary.py": """\
import torch
from torch import nn


class RotaryEmbedding(nn.Module):
    def __init__(self, dim, base=10000.0):
        super().__init__()
        self.register_buffer("inv_freq", base ** -(torch.arange(0, dim, 2) / dim))

    def forward(self, x, seq_len):
        angles = torch.outer(torch.arange(seq_len, device=x.device), self.inv_freq)
        angles = torch.cat([angles, angles], dim=-1)
        return angles.cos(), angles.sin()


def rotate_half(x):
    first, second = x.chunk(2, dim=-1)
    return torch.cat([-second, first], dim=-1)


def apply_rotary(q, k, cos, sin, position_ids):
    cos, sin = cos[position_ids].unsqueeze(1), sin[position_ids].unsqueeze(1)
    return q * cos + rotate_half(q) * sin, k * cos + rotate_half(k) * sin
""",
                "attention.py": """\
from torch import nn

from rotary import RotaryEmbedding, apply_rotary


class Attention(nn.Module):
    def __init__(self, head_dim):
        super().__init__()
        self.rotary_emb = RotaryEmbedding(head_dim)

    def forward(self, q, k, v, position_ids, cache_position):
        seq_len = cache_position[-1] + 10  # expect: ML301
        cos, sin = self.rotary_emb(v, seq_len)
        q, k = apply_rotary(q, k, cos, sin, position_ids)
        return q @ k.transpose(-1, -2)
""",
            },
            changes=(("cache_position[-1] + 10", "position_ids.max() + 1"),),
        ),
        Example(
            "Room to spare, by keyword",
            {
                "attention.py": """\
import torch
from torch import nn


class Rotary(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.register_buffer("inv_freq", 10000.0 ** -(torch.arange(0, dim, 2) / dim))

    def forward(self, x, seq_len=None):
        t = torch.arange(seq_len, device=x.device)
        angles = torch.einsum("i,j->ij", t, self.inv_freq)
        return angles.cos(), angles.sin()


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.rotary = Rotary(dim)

    def forward(self, q, k, position_ids, past=None):
        kv_seq_len = k.shape[-2]
        if past is not None:
            kv_seq_len += past[0].shape[-2]
        cos, sin = self.rotary(q, seq_len=kv_seq_len + 32)  # expect: ML301
        return q * cos[position_ids] + k * sin[position_ids]
""",
            },
            changes=(("self.rotary(q, seq_len=kv_seq_len + 32)", "self.rotary(q, seq_len=position_ids.max() + 1)"),),
        ),
        Example(
            "Through a helper method that takes the length by position",
            {
                "attention.py": """\
import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def table(self, length, device):
        frequencies = 10000.0 ** -(torch.arange(0, self.dim, 2, device=device) / self.dim)
        angles = torch.arange(length, device=device)[:, None] * frequencies
        return angles.cos(), angles.sin()

    def rotate(self, q, length, positions):
        cos, sin = self.table(length, q.device)
        return q * cos[positions] + q.flip(-1) * sin[positions]

    def forward(self, q, positions):
        length = q.size(1) + 8  # expect: ML301
        return self.rotate(q, length, positions)

    def rows(self, q):
        return q.size(1) + 12  # expect: ML301

    def again(self, q, positions):
        return self.rotate(q, self.rows(q), positions)
""",
            },
            changes=(("q.size(1) + 8", "positions.max() + 1"),),
        ),
        Example(
            "The plus one outside of the maximum",
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
        seq_len = max(k.shape[-2], int(position_ids.max())) + 1  # expect: ML301
        cos, sin = self.rotary(q, seq_len)
        return q * cos[position_ids] + k * sin[position_ids]
""",
            },
            changes=(
                ("max(k.shape[-2], int(position_ids.max())) + 1", "max(k.shape[-2], int(position_ids.max()) + 1)"),
            ),
        ),
        Example(
            "The last position taken for the largest",
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
        seq_len = position_ids[:, -1].max().item() + 1  # expect: ML301
        cos, sin = self.rotary(q, seq_len)
        return q * cos[position_ids] + k * sin[position_ids]
""",
            },
            changes=(("position_ids[:, -1].max().item() + 1", "position_ids.max().item() + 1"),),
        ),
        Example(
            "A table that is sliced on the spot",
            {
                "attention.py": """\
import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, dim, longest=4096):
        super().__init__()
        angles = torch.arange(longest)[:, None] / 10000.0 ** (torch.arange(0, dim, 2) / dim)
        self.register_buffer("cosines", torch.cos(angles))

    def forward(self, q, offset, position_ids):
        cosines = self.cosines[: offset + 16]  # expect: ML301
        return q * cosines[position_ids]

    def step(self, q, starts, position_ids):
        return q * self.cosines[: starts[0] + 16][position_ids]  # expect: ML301
""",
            },
            changes=(
                ("self.cosines[: offset + 16]", "self.cosines[: position_ids.max() + 1]"),
                (
                    "q * self.cosines[: starts[0] + 16][position_ids]",
                    "q * self.cosines[: position_ids.max() + 1][position_ids]",
                ),
            ),
        ),
        Example(
            "Positions counted on the spot, where a comparison has shown that they are few enough",
            {
                "positions.py": """\
import torch
from torch import nn


class Positions(nn.Module):
    def __init__(self, width, longest):
        super().__init__()
        self.longest = longest
        self.frequencies = nn.Parameter(torch.arange(0, width, 2) / width)

    def forward(self, length=None, position=None):
        if position is None and length is None:
            raise ValueError("either positions or their number")
        if length > self.longest:
            raise ValueError("too long")
        if position is None:
            position = torch.arange(length + 10).unsqueeze(0)  # expect: ML301
        angles = position[..., None] * self.frequencies
        return torch.cat([angles.sin(), angles.cos()], dim=-1)


class Grid(nn.Module):
    def __init__(self, width, patch):
        super().__init__()
        self.patch = patch
        self.frequencies = nn.Parameter(torch.arange(0, width, 2) / width)

    def forward(self, pixels):
        columns = pixels.shape[-1] // self.patch
        angles = torch.arange(columns - 32)[:, None] * self.frequencies  # expect: ML301
        return torch.cat([angles.sin(), angles.cos()], dim=-1)
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

    def forward(self, q, position_ids):
        table = self.turns(q.shape[1] + 10)  # expect: ML301
        q = torch.view_as_complex(q.unflatten(-1, (-1, 2)))
        return torch.view_as_real(q * table[position_ids]).flatten(-2)
""",
            },
            changes=(("q.shape[1] + 10", "position_ids.max() + 1"),),
        ),
    )
    good = (
        Example(
            "The largest position, plus one",
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
        cos, _ = self.rotary(q, position_ids.max() + 1)
        _, sin = self.rotary(q, seq_len=max(k.shape[-2], int(position_ids.max()) + 1))
        return q * cos[position_ids] + k * sin[position_ids]
""",
            },
        ),
        Example(
            "The current and the past length together",
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

    def forward(self, q, k, position_ids, cache_position, past=None):
        kv_seq_len = k.shape[-2]
        if past is not None:
            kv_seq_len += past[0].shape[-2]
        elif cache_position is not None:
            kv_seq_len = cache_position[-1] + 1
        cos, sin = self.rotary(q, seq_len=kv_seq_len)
        return q * cos[position_ids] + k * sin[position_ids]
""",
            },
        ),
        Example(
            "The same 2 is added to the table and to its index",
            {
                "positions.py": """\
import torch
from torch import nn


class LearnedPositions(nn.Embedding):
    def __init__(self, longest, width):
        self.offset = 2
        super().__init__(longest + self.offset, width)

    def forward(self, ids, past=0):
        positions = torch.arange(past, past + ids.shape[1], device=ids.device)
        return super().forward(positions + self.offset)


class SinusoidalPositions(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width

    def table(self, rows):
        angles = torch.arange(rows)[:, None] / 10000.0 ** (torch.arange(0, self.width, 2) / self.width)
        return torch.cat([torch.sin(angles), torch.cos(angles)], dim=-1)

    def forward(self, ids, positions):
        weights = self.table(ids.shape[1] + 2)
        return weights[positions + 2]
""",
            },
        ),
        Example(
            "A table of relative positions has 2 L - 1 rows",
            {
                "relative.py": """\
import torch
from torch import nn


class RelativePositions(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width

    def table(self, rows):
        angles = torch.arange(rows)[:, None] / 10000.0 ** (torch.arange(0, self.width, 2) / self.width)
        return torch.cat([torch.sin(angles), torch.cos(angles)], dim=-1)

    def forward(self, x):
        length = x.size(1)
        table = self.table(2 * length - 1)
        center = table.size(0) // 2
        relative = torch.arange(length)[:, None] - torch.arange(length)[None, :] + length - 1
        return table[relative], table[center - length + 1 : center + length]
""",
            },
        ),
        Example(
            "A buffer that grows, with room to spare, when it is too short, or unless it is long enough",
            {
                "rotary.py": """\
import torch
from torch import nn


class Rotary(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim
        self.grow(2048)

    def grow(self, length):
        self.cached = length
        angles = torch.arange(length)[:, None] / 10000.0 ** (torch.arange(0, self.dim, 2) / self.dim)
        self.cosines, self.sines = torch.cos(angles), torch.sin(angles)

    def forward(self, q, k, position_ids):
        needed = k.size(-2)
        if needed > self.cached:
            self.grow(needed + 512)
        return q * self.cosines[position_ids] + k * self.sines[position_ids]
""",
                "unless_long_enough.py": """\
import torch
from torch import nn


class Positions(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width
        self.longest = 0

    def build(self, length):
        angles = torch.arange(length)[:, None] / 10000 ** (torch.arange(0, self.width, 2) / self.width)
        self.cosines, self.longest = torch.cos(angles), length

    def grow(self, x):
        length = x.shape[1]
        if self.longest >= length:
            return
        self.build(length + 64)

    def forward(self, x, is_traced=False):
        length = x.shape[1]
        if not (is_traced and torch.is_tensor(length)) and length > self.longest:
            self.build(length + 64)
        return x * self.cosines[:length]
""",
            },
        ),
        Example(
            "Constants that are dimensions, and bounds of a clamp",
            {
                "rotary.py": """\
import torch
from torch import nn


class Rotary(nn.Module):
    def __init__(self, dim=128, longest=4096):
        super().__init__()
        self.longest = longest + 8
        angles = torch.arange(self.longest)[:, None] * 10000.0 ** -(torch.arange(0, dim - 2, 2) / dim)
        self.register_buffer("cosines", angles.cos())
        self.register_buffer("sines", angles.sin())

    def forward(self, x, position_ids):
        rotated, rest = x[..., :-2], x[..., -2:]
        position_ids = position_ids.clamp(max=self.longest - 8)
        return rotated * self.cosines[position_ids] + rest.sum() * self.sines[position_ids]
""",
            },
        ),
        Example(
            "Each image is followed by two more positions, on both sides",
            {
                "rotary.py": """\
import torch
from torch import nn


class GridRotary(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.register_buffer("inv_freq", 10000.0 ** -(torch.arange(0, dim, 2) / dim))

    def forward(self, x, seq_len):
        angles = torch.outer(torch.arange(seq_len, device=x.device), self.inv_freq)
        return angles.cos(), angles.sin()


class Vision(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.rotary = GridRotary(dim)

    def forward(self, x, rows):
        cos, sin = self.rotary(x, rows + 2)
        positions = torch.arange(rows, device=x.device) + 2
        return x * cos[positions] + x.flip(-1) * sin[positions]
""",
            },
        ),
        Example(
            "The tensor grows by as many tokens",
            {
                "rotary.py": """\
import torch
from torch import nn


class Rotary(nn.Module):
    def forward(self, x, seq_len):
        t = torch.arange(seq_len, device=x.device)[:, None]
        return torch.cos(t), torch.sin(t)


class Padded(nn.Module):
    def __init__(self):
        super().__init__()
        self.rotary = Rotary()

    def forward(self, h):
        n = h.shape[1] + 2
        x = nn.functional.pad(h, (0, 0, 1, 1))
        cos, sin = self.rotary(x, n)
        return x * cos + x.flip(-1) * sin

    def with_registers(self, h, registers):
        cos, sin = self.rotary(h, h.size(1) + 4)
        h = torch.cat([registers, h], dim=1)
        return h * cos + h.flip(-1) * sin
""",
            },
        ),
        Example(
            "Numbers added to what is no length of a table",
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
        length = k.size(1)
        cos, sin = self.rotary(q, length)
        return (q * cos[position_ids]) @ (k * sin[position_ids]).transpose(-1, -2)[..., : length + 10]
""",
            },
        ),
    )

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        for found in uses(project.position_lengths.asked(module)).values():
            finding = self._finding(found, module, project)
            if finding is not None:
                yield finding

    def probe(self, claim: LengthNotPositions, project: Project) -> Probe | None:
        """Run the function that asks for the table, with positions that run ahead of the length, and packed ones."""
        from modellint.probes import boundary_probe

        return boundary_probe(claim, project, [*([claim.asking] if claim.asking else []), claim.place])

    def _finding(self, found: list[Use], module: ModuleFacts, project: Project) -> Finding | None:
        first = found[0]
        offset = offset_of(first.part)
        at = _written(first, module, project)
        if offset is None or at is None:
            return None
        if abs(offset) >= 2 and is_run_time(base_of(first.part)[0]):
            return None if any(is_meant(use, offset) for use in found) else self._added(first, at, offset)
        extreme = mixed_extreme(first.part) if offset == 1 else None
        if extreme is not None:
            return self._outside(first, at, extreme)
        last = next(filter(takes_last, found), None) if offset == 1 else None
        return None if last is None else self._last(last, at)

    def _added(self, use: Use, at: Site, offset: int) -> Finding:
        text, base = _text(use.part.origin), use.part.origin.module.text_of(base_of(use.part)[1])
        room = f"{offset} on top of" if offset > 0 else f"{-offset} less than"
        return self.finding(
            at.place,
            f"the length of a position table is `{text}`: a hard-coded offset of {offset}",
            symbol=at.value.target or text,
            confidence=Confidence.HIGH if use.picks or not use.table.calls else Confidence.MEDIUM,
            evidence=(f"a fixed {room} `{base}` is enough for some inputs only", *map(_picked_by, use.picks[:1])),
            related=_related(use),
            help=_help(use.picks),
            fix=_fix(use, at),
            claim=_claim(use, at, is_offset=True),
        )

    def _outside(self, use: Use, at: Site, extreme: Term) -> Finding:
        operand = next(n for n, atoms in enumerate(extreme.operands) if measured(atoms) is Kind.LARGEST)
        written = extreme.origin.value.positional
        inside = extreme.origin.module.text_of(written[operand]) if operand < len(written) else "the position"
        return self.finding(
            at.place,
            f"`+ 1` stands outside of `max`: it belongs to `{inside}`, the other operand is a length already",
            symbol=at.value.target or _text(use.part.origin),
            confidence=Confidence.MEDIUM,
            severity=Severity.WARNING,
            evidence=("a table needs one row more than its largest position, and as many rows as a length says",),
            related=_related(use),
            help=f"write `max(…, {inside} + 1)`",
            fix=one_inside(at.value, operand, at.module),
            claim=_claim(use, at, is_offset=False),
        )

    def _last(self, use: Use, at: Site) -> Finding:
        text = _text(use.part.origin)
        return self.finding(
            at.place,
            f"`{text}` takes the last position for the largest",
            symbol=at.value.target or text,
            confidence=Confidence.MEDIUM,
            severity=Severity.WARNING,
            evidence=("positions that are packed, or padded on the right, do not end with their maximum",),
            related=_related(use),
            help="take the maximum over all positions",
            fix=maximum_of_all(at.value, at.module),
            claim=_claim(use, at, is_offset=False),
        )


def _text(site: Site) -> str:
    return site.module.text_of(site.value)


def _written(use: Use, module: ModuleFacts, project: Project) -> Site | None:
    """Where a file says how long the table is: what is added, or the call of another file's function that adds it."""
    home = use.part.origin.module
    if home is module:
        return use.part.origin
    if use.part.origin.value in uses(project.position_lengths.asked(home)):
        return None  # that file's own function knows the table
    passed = [one.length for one in use.table.passed.values() if one.length is not None]
    return next((site for site in (*passed, *reversed(use.table.calls)) if site.module is module), None)


def _claim(use: Use, at: Site, *, is_offset: bool) -> LengthNotPositions:
    from modellint.claims.positions import LengthNotPositions

    call = use.table.call(use.picks[0] if use.picks else None)
    lookup = use.picks[0].use.place if use.picks else None
    return LengthNotPositions(at.place, lookup, None if call is None else call.place, is_offset)


def _picked_by(picked: Picked) -> str:
    return f"the table is indexed by `{picked.name}`, whose maximum this does not cover"


def _related(use: Use) -> Iterator[Related]:
    call = use.table.call(use.picks[0] if use.picks else None)
    if call is not None:
        yield Related(call.place, "the length is passed on here")
    for picked in use.picks[:1]:
        yield Related(picked.use.place, "the table is indexed here")


def _help(picks: list[Picked]) -> str:
    names = [picked.parameter for picked in picks if picked.parameter is not None]
    return f"size the table by what indexes it: `{names[0]}.max() + 1`" if names else _COVERING


def _fix(use: Use, at: Site) -> Fix | None:
    if written(at.value, at.module) is None:
        # `length += 10` is a statement.
        return None
    for picked in use.picks:
        if picked.parameter is not None and use.asked.function is at.function:
            text = f"{picked.parameter}.max() + 1"
            return Fix(f"Size the table by `{text}`", Applicability.UNSAFE, (Edit(at.place, text),))
    return None
