"""ML301: a length for a position table that is computed with a hard-coded offset."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.finding import Applicability, Confidence, Edit, Finding, Fix, Related, Severity
from modellint.graph.value import Op
from modellint.link.values.length_edits import maximum_of_all, one_inside
from modellint.link.values.offsets import index_moves_too, is_number, is_run_time, offset_of, takes_last
from modellint.link.values.python_edit import written
from modellint.link.values.rotary import LengthKind, is_enlarged, measured, mixed_extreme, sums
from modellint.rule import Example, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.claims.positions import LengthNotPositions
    from modellint.confirm.plan import Probe
    from modellint.graph.python import ModuleFacts
    from modellint.graph.value import Value
    from modellint.link.project import Project
    from modellint.link.values.evaluator import Located
    from modellint.link.values.rotary import SizedTable, TableIndex


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
    triggers = ("import", "otary|cos|_rope|rope_")
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
        reported: set[int] = set()
        for function in module.all_functions():
            if function.name in ("__init__", "__post_init__"):
                # A table that is built once is sized by constants, which are no run-time lengths.
                continue
            for table in project.rotary.sized_tables(function):
                for finding, value in self._findings(table, project):
                    if id(value) not in reported:
                        reported.add(id(value))
                        yield finding

    def probe(self, claim: LengthNotPositions, project: Project) -> Probe | None:
        """Run the function that asks for the table, with positions that run ahead of the length, and packed ones."""
        from modellint.confirm.plan import boundary_probe

        return boundary_probe(claim, project, [*([claim.asking] if claim.asking else []), claim.place])

    def _findings(self, table: SizedTable, project: Project) -> Iterator[tuple[Finding, Value]]:
        for part in sums(table.length, project.evaluator):
            if part.frame.module is not table.frame.module:
                continue
            offset = offset_of(part, project)
            if offset is None:
                continue
            if abs(offset) >= 2 and is_run_time(part, project):
                if index_moves_too(table, part, offset, project) or is_enlarged(table, part):
                    continue
                if project.rotary.fits_grown(table, part):
                    continue
                yield self._added(table, part, offset, project), part.value
            elif offset == 1:
                extreme = mixed_extreme(part.value)
                if extreme is not None:
                    yield self._outside(table, part, extreme, project), part.value
                elif takes_last(part, table, project):
                    yield self._last(table, part, project), part.value

    def _added(self, table: SizedTable, part: Located, offset: int, project: Project) -> Finding:
        module = part.frame.module
        text = module.text_of(part.value)
        base = module.text_of(next(arg for arg in part.value.args if not is_number(arg, part, project)))
        indices = project.rotary.indices(table)
        room = f"{offset} on top of" if offset > 0 else f"{-offset} less than"
        evidence = [f"a fixed {room} `{base}` is enough for some inputs only"]
        evidence.extend(_indexed_by(index) for index in indices[:1])
        return self.finding(
            module.place(part.value),
            f"the length of a position table is `{text}`: a hard-coded offset of {offset}",
            symbol=part.value.target or text,
            confidence=Confidence.HIGH if indices or table.callee is None else Confidence.MEDIUM,
            evidence=evidence,
            related=_related(table, indices),
            help=_help(indices),
            fix=_fix(part, indices),
            claim=_claim(part, table, indices, is_offset=True),
        )

    def _outside(self, table: SizedTable, part: Located, extreme: Value, project: Project) -> Finding:
        module = part.frame.module
        position = next(arg for arg in extreme.positional if measured(arg) == LengthKind.POSITION)
        inside = module.text_of(position)
        indices = project.rotary.indices(table)
        return self.finding(
            module.place(part.value),
            f"`+ 1` stands outside of `max`: it belongs to `{inside}`, the other operand is a length already",
            symbol=part.value.target or module.text_of(part.value),
            confidence=Confidence.MEDIUM,
            severity=Severity.WARNING,
            evidence=("a table needs one row more than its largest position, and as many rows as a length says",),
            related=_related(table, indices),
            help=f"write `max(…, {inside} + 1)`",
            fix=one_inside(part.value, list(extreme.positional).index(position), module),
            claim=_claim(part, table, indices, is_offset=False),
        )

    def _last(self, table: SizedTable, part: Located, project: Project) -> Finding:
        module = part.frame.module
        text = module.text_of(part.value)
        indices = project.rotary.indices(table)
        return self.finding(
            module.place(part.value),
            f"`{text}` takes the last position for the largest",
            symbol=part.value.target or text,
            confidence=Confidence.MEDIUM,
            severity=Severity.WARNING,
            evidence=("positions that are packed, or padded on the right, do not end with their maximum",),
            related=_related(table, indices),
            help="take the maximum over all positions",
            fix=maximum_of_all(part.value, module),
            claim=_claim(part, table, indices, is_offset=False),
        )


def _claim(part: Located, table: SizedTable, indices: list[TableIndex], *, is_offset: bool) -> LengthNotPositions:
    from modellint.claims.positions import LengthNotPositions

    place = part.frame.module.place(part.value)
    asking = None if table.callee is None else table.frame.module.place(table.event.value)
    lookup = indices[0].frame.module.place(indices[0].event.value) if indices else None
    return LengthNotPositions(place, lookup, asking, is_offset)


def _indexed_by(index: TableIndex) -> str:
    value = index.ids.value
    ids = value.data if value.op is Op.PARAM else index.ids.frame.module.text_of(value)
    return f"the table is indexed by `{ids}`, whose maximum this does not cover"


def _related(table: SizedTable, indices: list[TableIndex]) -> Iterator[Related]:
    if table.callee is not None:
        yield Related(table.frame.module.place(table.event.value), f"the length is passed as `{table.name}`")
    for index in indices[:1]:
        yield Related(index.frame.module.place(index.event.value), "the table is indexed here")


def _help(indices: list[TableIndex]) -> str:
    for index in indices:
        if index.ids.value.op is Op.PARAM:
            return f"size the table by what indexes it: `{index.ids.value.data}.max() + 1`"
    return "size the table by the largest position plus 1"


def _fix(part: Located, indices: list[TableIndex]) -> Fix | None:
    if written(part.value, part.frame.module) is None:
        # `length += 10` is a statement.
        return None
    for index in indices:
        if index.ids.value.op is Op.PARAM and index.ids.frame is part.frame:
            text = f"{index.ids.value.data}.max() + 1"
            edit = Edit(part.frame.module.place(part.value), text)
            return Fix(f"Size the table by `{text}`", Applicability.UNSAFE, (edit,))
    return None
