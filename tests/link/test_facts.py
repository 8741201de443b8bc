"""What is known of elements: where they come from, and what ends the trail."""

from __future__ import annotations

from textwrap import dedent, indent
from typing import TYPE_CHECKING

import pytest

from modellint.graph.value import EventKind
from modellint.link.project import Project, ProjectOptions

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from modellint.link.values.facts import Fact

    Find = Callable[..., tuple[Fact, ...]]

MODEL = """\
import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Categorical
from torch.nn.utils.rnn import pad_sequence

PAD = -1


def sample(logits):
    return logits.argmax(-1)


def frames(head, x, steps):
    for _ in range(steps):
        yield sample(head(x))


class Model(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.proj = nn.Linear(width, width)
        self.head = nn.Linear(width, 1028)
        self.mlp = nn.Sequential(nn.Linear(width, 1028), nn.Dropout(0.1))
        self.act = nn.ReLU()
        self.drop = nn.Dropout(0.1)
        self.rnn = nn.GRU(width, width)
        self.table = nn.Embedding(1024, width)

    def forward(self, x, ids, mask, texts, unknown):
"""


@pytest.fixture
def find(tmp_path: Path) -> Find:
    """The facts about the argument of `use(…)` in a body."""

    def facts(body: str) -> tuple[Fact, ...]:
        (tmp_path / "model.py").write_text(MODEL + indent(dedent(body).strip(), "        ") + "\n")
        project = Project(ProjectOptions(root=tmp_path))
        module = project.python(tmp_path / "model.py")
        assert module is not None
        function = module.classes["Model"].methods["forward"]
        call = next(e.value for e in function.flow.of(EventKind.CALL) if e.value.callee.data == "use")
        argument = call.argument(0)
        assert argument is not None
        return project.facts.facts(argument, project.evaluator.root(function))

    return facts


def summary(facts: tuple[Fact, ...]) -> set[str]:
    """Kinds, with a bound, a number or a name where there is one; `?` where a condition decides."""
    return {
        " ".join(
            str(part)
            for part in (fact.kind.value, fact.bound, fact.number, fact.parameter, "?" if fact.conditional else None)
            if part is not None
        )
        for fact in facts
    }


# -- real numbers -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "expression",
    [
        "self.proj(x)",
        "self.drop(self.act(self.proj(x)))",
        "self.mlp(x)",
        "torch.relu(x)",
        "F.softmax(x, dim=-1)",
        "x.softmax(-1)",
        "ids.float()",
        "ids.to(torch.float32)",
        "ids / 2",
        "ids.mean(-1)",
        "self.rnn(x)[0]",
        "self.proj(x).view(-1).transpose(0, 1)",
        "torch.cat([self.proj(x), self.proj(x)])",
        "self.proj(x).long()",
    ],
)
def test_layers_activations_and_casts_give_real_numbers(find: Find, expression: str) -> None:
    assert summary(find(f"use({expression})")) == {"continuous"}


@pytest.mark.parametrize(
    "expression",
    [
        "(self.proj(x) * 10).long()",
        "(self.proj(x) + 1).to(torch.long)",
        "torch.bucketize(self.proj(x), unknown)",
        "self.proj(x) > 0",
        "(self.proj(x) > 0).long()",
        "self.proj(x).argmin(-1)",
        "self.proj(x).round().clamp(0, 7).long()",
        "unknown(self.proj(x))",
        "unknown.layer(x)",
    ],
)
def test_what_is_quantised_compared_or_unknown_is_no_real_number(find: Find, expression: str) -> None:
    assert "continuous" not in summary(find(f"use({expression})"))


# -- ids --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "expression",
    [
        "self.head(x).argmax(-1)",
        "torch.argmax(self.head(x), dim=-1)",
        "torch.multinomial(torch.softmax(self.head(x), -1), 1)",
        "self.head(x).topk(3).indices",
        "torch.topk(self.head(x), 3)[1]",
        "self.head(x).max(dim=-1)[1]",
        "Categorical(logits=self.head(x)).sample()",
        "Categorical(probs=self.head(x).softmax(-1)).sample()",
        "self.mlp(x).argmax(-1)",
        "self.act(self.head(x)).argmax(-1)",
        "sample(self.head(x)[:, -1])",
        "torch.stack([sample(self.head(x)) for _ in range(3)])",
        "torch.tensor(sample(self.head(x)).tolist())",
        "torch.stack(list(frames(self.head, x, 3)))",
        "self.head(x).clamp(max=3).argmax(-1)",
    ],
)
def test_ids_are_below_the_number_of_classes(find: Find, expression: str) -> None:
    assert summary(find(f"use({expression})")) == {"ids 1028"}


def test_the_indices_of_an_unpacked_topk_are_ids(find: Find) -> None:
    assert summary(find("values, indices = self.head(x).topk(3)\nuse(indices)")) == {"ids 1028"}
    assert summary(find("values, indices = self.head(x).topk(3)\nuse(values)")) == {"continuous"}


def test_ids_pass_through_lists_and_loops(find: Find) -> None:
    body = """
    kept = []
    for _ in range(3):
        token = sample(self.head(x))
        kept.append(token.item())
    use(torch.tensor(kept))
    """
    assert summary(find(body)) == {"ids 1028"}


def test_a_known_number_moves_the_range(find: Find) -> None:
    assert summary(find("use(self.head(x).argmax(-1) + 2)")) == {"ids 1030"}
    assert summary(find("use(self.head(x).argmax(-1) - 4)")) == {"ids 1024"}


def test_an_unknown_number_ends_the_trail(find: Find) -> None:
    assert not any(fact.bound for fact in find("use(self.head(x).argmax(-1) - unknown.offset())"))


def test_offsets_that_count_from_0_leave_the_largest_id(find: Find) -> None:
    body = "ids = self.head(x).argmax(-1)\nfor layer in range(4):\n    use(ids[layer] - layer * 1024)"
    assert summary(find(body)) == {"ids 1028"}


@pytest.mark.parametrize(
    ("expression", "bound"),
    [
        ("drawn.clamp(0, 1023)", "1024"),
        ("drawn.clamp(max=1023)", "1024"),
        ("torch.clamp(drawn, 0, 1023)", "1024"),
        ("drawn % 1024", "1024"),
        ("torch.remainder(drawn, 1024)", "1024"),
        ("drawn.clamp(min=0)", "1028"),
    ],
)
def test_a_limit_is_a_new_bound(find: Find, expression: str, bound: str) -> None:
    assert summary(find(f"drawn = self.head(x).argmax(-1)\nuse({expression})")) == {f"ids {bound}"}


@pytest.mark.parametrize(
    "expression",
    [
        "drawn[drawn < 1024]",
        "[i for i in drawn.tolist() if i < 1024]",
        "torch.where(drawn < 1024, drawn, unknown.zero)",
        "drawn.masked_fill(drawn >= 1024, unknown.zero)",
        "drawn.clamp(0, unknown.rows())",
    ],
)
def test_a_comparison_ends_the_trail_of_ids(find: Find, expression: str) -> None:
    assert not any(fact.bound for fact in find(f"drawn = self.head(x).argmax(-1)\nuse({expression})"))


def test_classes_that_are_cut_or_masked_lower_the_bound(find: Find) -> None:
    assert summary(find("use(self.head(x)[..., :1024].argmax(-1))")) == {"ids 1024"}
    assert summary(find("logits = self.head(x)\nlogits[..., 1024:] = float('-inf')\nuse(logits.argmax(-1))")) == set()
    assert summary(find("use(unknown.process(self.head(x)).argmax(-1))")) == set()


def test_an_early_exit_keeps_one_id_away(find: Find) -> None:
    body = """
    kept = []
    while True:
        token = sample(self.head(x)).item()
        if token == 1027:
            break
        kept.append(token)
    use(torch.tensor(kept))
    """
    (fact,) = find(body)
    assert len(fact.excluded) == 1


def test_an_early_exit_on_a_range_ends_the_trail(find: Find) -> None:
    body = """
    token = sample(self.head(x))
    if token >= 1024:
        return None
    use(token)
    """
    assert find(body) == ()


def test_one_codebook_speaks_only_for_itself(find: Find) -> None:
    body = """
    tokens = [sample(self.head(x)), sample(self.head(x))]
    if tokens[0] == 1027:
        return None
    use(torch.stack(tokens))
    """
    assert {len(fact.excluded) for fact in find(body)} == {0}


def test_a_comparison_of_a_shape_says_nothing_of_ids(find: Find) -> None:
    body = """
    token = sample(self.head(x))
    if token.shape[0] > 3 or token.size(0) > 4 or len(token) > 5:
        return None
    use(token)
    """
    (fact,) = find(body)
    assert (str(fact.bound), len(fact.excluded)) == ("1028", 0)


# -- constants --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "expression",
    [
        "pad_sequence(unknown.texts, padding_value=PAD)",
        "pad_sequence(unknown.texts, True, -1)",
        "F.pad(unknown.ids, (0, 1), value=-1)",
        "torch.full((2, 3), -1)",
        "torch.full_like(unknown.ids, PAD)",
        "x.new_full((1,), PAD)",
        "unknown.ids.masked_fill(mask, -1)",
        "torch.tensor([[PAD, -1]])",
        "torch.full((1,), -2) + 1",
    ],
)
def test_constants_that_are_filled_in_are_known(find: Find, expression: str) -> None:
    assert "filler -1" in summary(find(f"use({expression})"))


def test_an_element_that_is_assigned_is_a_filler(find: Find) -> None:
    assert "filler 7" in summary(find("ids[:, 0] = 7\nuse(ids)"))


@pytest.mark.parametrize("expression", ["padded.clamp(min=0)", "padded[padded >= 0]", "padded.masked_fill(mask, 0)"])
def test_a_filler_that_is_taken_out_again_is_gone(find: Find, expression: str) -> None:
    assert "filler -1" not in summary(find(f"padded = pad_sequence(texts, padding_value=-1)\nuse({expression})"))


@pytest.mark.parametrize(
    "body",
    [
        "t = torch.full((2, 5), -1)\nfor k in range(5):\n    t[:, k] = unknown(k)\nuse(t)",
        "use(F.pad(unknown.ids, (0, 4), value=-1)[:, :-4])",
        "t = torch.full((9,), -1)\nfor k in range(3):\n    t[k * 3 : k * 3 + 3] = unknown(k)\nuse(t)",
    ],
)
def test_a_filler_that_may_be_overwritten_or_cut_off_is_conditional(find: Find, body: str) -> None:
    assert summary(find(body)) == {"filler -1 ?"}


@pytest.mark.parametrize("index", ["0", ":, :length", "1:", ":, 0"])
def test_a_filler_of_which_some_stays_is_certain(find: Find, index: str) -> None:
    assert "filler -1" in summary(find(f"t = torch.full((2, 5), -1)\nlength = unknown.n\nt[{index}] = x\nuse(t)"))


def test_a_mask_limits_only_the_ids_that_it_compares(find: Find) -> None:
    assert "ids 1028" in summary(find("use(torch.where(mask == 7, self.head(x).argmax(-1), ids))"))
    assert "ids 1028" in summary(find("use(self.head(x).argmax(-1).masked_fill(mask == 7, 0))"))
    assert "ids 1028" not in summary(find("d = self.head(x).argmax(-1)\nuse(d.masked_fill(d + 1 > 1024, 0))"))


def test_a_branch_that_asks_for_another_argument_is_not_conditional(find: Find) -> None:
    body = "if mask is not None:\n    ids = ids.masked_fill(mask, -1)\nuse(ids)"
    assert "filler -1" in summary(find(body))
    assert "filler -1 ?" in summary(find(body.replace("mask is not None", "unknown.flag")))


@pytest.mark.parametrize(
    "body",
    [
        "t = self.head(x).argmax(-1).tolist()\nif 1027 in t:\n    t = t[: t.index(1027)]\nuse(t)",
        "t = self.head(x).argmax(-1)\nif t.max() >= 1024:\n    t = unknown(t)\nuse(t)",
    ],
)
def test_a_branch_on_the_ids_themselves_ends_the_trail(find: Find, body: str) -> None:
    assert not any(fact.bound for fact in find(body))


@pytest.mark.parametrize(
    "body",
    [
        "l = self.head(x)\nv, _ = torch.topk(l, 3)\nl[l < v[:, [-1]]] = -float('inf')\nuse(l.argmax(-1))",
        "use(torch.stack([self.head(x), self.head(x)], dim=1).argmax(-1))",
        "use(torch.cat([self.head(y) for y in unknown], 0).argmax(-1))",
        "ls = []\nfor y in x:\n    ls.append(self.head(y))\nuse(torch.stack(ls).argmax(-1))",
        "use(self.head(x).flatten(0, 1).argmax(-1))",
        "l = self.head(x)\nuse(l.view(-1, l.size(-1)).argmax(-1))",
        "l = self.head(x)\nuse(l.reshape(-1, l.shape[-1]).argmax(-1))",
        "use([int(t) for t in self.head(x).argmax(-1).tolist()])",
    ],
)
def test_scores_keep_their_classes(find: Find, body: str) -> None:
    assert summary(find(body)) == {"ids 1028"}


@pytest.mark.parametrize(
    "body",
    [
        "l = self.head(x)\nl[..., 1024:] = -float('inf')\nuse(l.argmax(-1))",
        "use(torch.stack([self.head(x), self.head(x)], dim=-1).argmax(-1))",
        "use(torch.cat([self.head(x), self.head(x)], -1).argmax(-1))",
        "use(self.head(x).flatten(1).argmax(-1))",
        "use(torch.stack([self.head(x), unknown(x)]).argmax(-1))",
    ],
)
def test_classes_that_are_masked_or_joined_are_unknown(find: Find, body: str) -> None:
    assert not any(fact.bound for fact in find(body))


# -- parameters, positions, branches ----------------------------------------------------------------------------------


def test_a_parameter_passes_through_views_and_casts(find: Find) -> None:
    assert summary(find("use(ids.to(x.device).view(-1).long())")) == {"parameter ids"}


def test_a_parameter_that_is_computed_with_is_changed(find: Find) -> None:
    (fact,) = find("use(ids + 1)")
    assert fact.changed


def test_positions_are_made_by_arange(find: Find) -> None:
    assert summary(find("use(torch.arange(4).unsqueeze(0))")) == {"positions"}


def test_what_only_one_branch_says_is_conditional(find: Find) -> None:
    assert summary(find("if unknown:\n    ids = self.proj(x)\nuse(ids)")) == {"continuous ?", "parameter ids ?"}


def test_what_both_branches_say_is_certain(find: Find) -> None:
    body = "if unknown:\n    y = self.proj(x)\nelse:\n    y = self.act(x)\nuse(y)"
    assert summary(find(body)) == {"continuous"}


def test_a_default_for_a_missing_argument_is_not_conditional(find: Find) -> None:
    body = "if ids is None:\n    ids = torch.arange(4)\nuse(ids)"
    assert "parameter ids" in summary(find(body))


def test_values_of_dicts_are_found_by_their_keys(find: Find) -> None:
    assert summary(find("out = {'a': self.proj(x), 'b': ids}\nuse(out['b'])")) == {"parameter ids"}


def test_a_value_that_depends_on_itself_ends(find: Find) -> None:
    assert summary(find("while unknown:\n    ids = torch.cat([ids, ids])\nuse(ids)")) == {"parameter ids"}
