"""Plain configurations with `_target_:` go the way of recipes, as far as that makes sense."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from modellint.frontends import recipe as frontend

if TYPE_CHECKING:
    from tests.conftest import Workspace

TRAIN = """\
model:
  n_mels: 80
  vocab_size: 1000
  features:
    _target_: torchaudio.transforms.MelSpectrogram
    n_mels: ${model.n_mels}
  embedding:
    _target_: torch.nn.Embedding
    num_embeddings: ${model.n_mels}
    embedding_dim: 256
  encoder:
    _target_: torch.nn.Linear
    in_features: ${..n_mels}
    out_features: ${model.vocab_size}
"""


def found(workspace: Workspace, text: str, *arguments: str) -> list[tuple[int, str]]:
    workspace.write({"conf/train.yaml": text})
    return [(line, code) for _, line, code in workspace.places("conf", *arguments)]


def test_a_table_that_is_sized_by_features(workspace: Workspace) -> None:
    assert found(workspace, TRAIN) == [(9, "ML101")]
    assert found(workspace, TRAIN.replace("num_embeddings: ${model.n_mels}", "num_embeddings: ${..vocab_size}")) == []


def test_each_missing_key_is_reported_once(workspace: Workspace) -> None:
    text = TRAIN + "  decoder:\n    a: ${model.sizes.a}\n    b: ${model.sizes.b}\n    c: ${model.n_mels}\n"
    workspace.write({"conf/train.yaml": text})
    [finding] = workspace.run("check", "--output-format", "json", "--select", "ML401", "conf").json["findings"]
    assert (finding["line"], finding["column"]) == (16, 8)
    assert finding["message"] == "`${model.sizes.a}` does not resolve: there is no key `sizes`"
    assert "2 interpolations in this mapping use `sizes`" in finding["evidence"]


def test_the_only_interpolation_of_a_file_may_be_wrong(workspace: Workspace) -> None:
    text = "model:\n  encoder:\n    hidden_size: 2\n  head:\n    _target_: torch.nn.Linear\n    in_features: {}\n"
    assert found(workspace, text.format("${model.encoder.hiden_size}")) == [(6, "ML401")]
    assert found(workspace, text.format("${model.hiden}")) == [], "this may be a part of something with a `model`"


@pytest.mark.parametrize(
    "text",
    [
        "name: _target_ is only a word here\nreference: ${nowhere}\n",
        "# _target_: x\nreference: ${nowhere.at.all}\na: {b: 1}\nc: ${a.b}\n",
        "- _target_: torch.nn.Liner\n",
        "_target_\n",
        "",
        "{% if model %}\n_target_: torch.nn.Liner\n{% endif %}\n",
        "_target_: a\n---\n_target_: torch.nn.Liner\n---\n",
    ],
)
def test_what_is_no_configuration_is_passed_over(workspace: Workspace, text: str) -> None:
    assert found(workspace, text) == []


def test_a_file_without_targets_is_not_even_parsed(monkeypatch: pytest.MonkeyPatch, workspace: Workspace) -> None:
    monkeypatch.setattr(frontend, "_Reader", None)
    assert found(workspace, "model: {width: ${nowhere}}\nlayers: [1, 2]\n") == []


def test_broken_yaml_is_one_finding(workspace: Workspace) -> None:
    assert found(workspace, "model:\n  _target_: torch.nn.Linear\n\tbad: 1\n") == [(3, "ML001")]


@pytest.mark.parametrize(
    "text",
    [
        "_target_: torch.nn.Linear\na: &a [x, x]\n" + "".join(f"b{n}: &b{n} [*{p}, *{p}]\n" for n, p in
        enumerate(["a", *(f"b{m}" for m in range(30))])),
        "x: {_target_: torch.nn.Linear}\n" + "".join(f"a{n}: ${{a{n + 1}}}\n" for n in range(3000)) + "a3000: 1\n",
        "_target_: torch.nn.Linear\na: " + "${" * 200 + "a" + "}" * 200 + "\n",
        "_target_: torch.nn.Linear\n" + "".join(f"{'  ' * n}a:\n" for n in range(90)),
    ],
    ids=["aliases", "chain", "nested", "deep"],
)  # fmt: skip
def test_hostile_configurations_end(workspace: Workspace, text: str) -> None:
    assert found(workspace, text) == []


def test_cycles_end_and_are_reported(workspace: Workspace) -> None:
    text = "_target_: torch.nn.Linear\na: ${b}\nb: ${a}\nc: {d: '${c}', e: '${.e}'}\n"
    assert found(workspace, text) == [(line, "ML407") for line in (2, 3, 4)]


def test_a_finding_can_be_silenced(workspace: Workspace) -> None:
    text = TRAIN.replace(
        "num_embeddings: ${model.n_mels}", "num_embeddings: ${model.n_mels}  # modellint: ignore[ML101]"
    )
    assert found(workspace, text) == []


def test_rules_about_recipes_and_scripts_leave_configurations_alone(workspace: Workspace) -> None:
    workspace.write(
        {
            "train.py": (
                "from hyperpyyaml import load_hyperpyyaml\n\nhparams = load_hyperpyyaml(open('conf/train.yaml'))\n"
                'print(hparams["model"], hparams["modules"])\n'
            )
        }
    )
    text = "model: {_target_: torch.nn.Linear, in_features: 2, out_features: 2}\nmodules: {}\nmodules: {}\n"
    assert found(workspace, text) == []
