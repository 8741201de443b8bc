"""The map of a recipe: which layers there are, and what becomes of each."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from mapped import PROJECT, RECIPE

if TYPE_CHECKING:
    from conftest import Workspace


def layers(workspace: Workspace, recipe: str = RECIPE, training: int = 0) -> dict[str, dict[str, Any]]:
    """The layers of a recipe's map by name."""
    workspace.write({**PROJECT, "hparams.yaml": recipe})
    result = workspace.run("map", "hparams.yaml", "--output-format", "json")
    assert result.code == 0, result.err
    return {layer["name"]: layer for layer in result.json["trainings"][training]["layers"]}


def states(layer: dict[str, Any]) -> tuple[str, ...]:
    return tuple(layer[column]["state"] for column in ("moved", "trained", "saved", "loaded", "frozen"))


def test_each_layer_says_what_holds_it(workspace: Workspace) -> None:
    found = layers(workspace)
    assert list(found) == ["encoder", "left", "head"]
    assert states(found["encoder"]) == ("yes", "yes", "yes", "no", "no")
    assert states(found["left"]) == ("left out", "no", "yes", "no", "no")
    assert states(found["head"]) == ("yes", "yes", "left out", "no", "no")
    encoder = found["encoder"]
    assert encoder["moved"]["via"] == "modules[encoder]"
    assert encoder["trained"]["via"] == 'hparams["opt_class"]'
    assert encoder["saved"]["via"] == "recoverables[model]"
    assert encoder["saved"]["place"]["path"] == "hparams.yaml"
    assert encoder["held_by"] == [
        {"kind": "modules", "root": "modules", "group": None, "certain": True},
        {"kind": "optimizer", "root": "opt_class", "group": None, "certain": True},
        {"kind": "recoverables", "root": "recoverables", "group": "model", "certain": True},
    ]


def test_each_layer_says_where_it_is_used_in_which_stage_and_through_what(workspace: Workspace) -> None:
    found = layers(workspace)
    direct, searched = found["head"]["used"]
    assert (direct["path"], direct["line"], direct["stages"], direct["through"]) == (
        "train.py",
        12,
        ["train", "valid"],
        [],
    )
    assert (searched["line"], searched["stages"], searched["through"]) == (11, ["test"], ["searcher"])
    assert direct["function"] == "ASR.compute_forward"
    assert (found["head"]["path"], found["head"]["line"], found["head"]["column"]) == ("hparams.yaml", 9, 1)


def test_what_hangs_loose_is_what_check_reports(workspace: Workspace) -> None:
    workspace.write(PROJECT)
    loose = workspace.run("map", "hparams.yaml", "--output-format", "json").json["trainings"][0]["loose"]
    assert [(one["path"], one["line"]) for one in loose] == [place[:2] for place in workspace.places("hparams.yaml")]


def test_an_entry_that_the_script_uses_and_nobody_defines_is_missing(workspace: Workspace) -> None:
    recipe = RECIPE.replace("    head: !ref <head>\nmodel", "model")
    workspace.write({**PROJECT, "hparams.yaml": recipe})
    training = workspace.run("map", "hparams.yaml", "--output-format", "json").json["trainings"][0]
    assert training["missing"] == ["head"]
    assert ("train.py", 12, "not-in-modules") in [(one["path"], one["line"], one["kind"]) for one in training["loose"]]


def test_a_layer_that_another_one_registers_stands_within_it(workspace: Workspace) -> None:
    recipe = RECIPE.replace(
        "encoder: !new:torch.nn.Linear\n    in_features: !ref <n_mels>\n    out_features: 512\n",
        "inner: !new:torch.nn.Linear\n    in_features: !ref <n_mels>\n    out_features: 512\n"
        "encoder: !new:model.Wrapper\n    net: !ref <inner>\n",
    )
    workspace.write(
        {
            "model.py": "from torch import nn\n\n\nclass Wrapper(nn.Module):\n    def __init__(self, net):\n"
            "        super().__init__()\n        self.net = net\n        self.scale = nn.Linear(2, 2)\n"
        }
    )
    workspace.write({"hparams.yaml": recipe, "train.py": PROJECT["train.py"]})
    result = workspace.run("map", "hparams.yaml", "--output-format", "json").json
    found = {layer["name"]: layer for layer in result["trainings"][0]["layers"]}
    assert found["inner"]["within"] == "encoder"
    assert found["encoder"]["within"] is None
    assert found["inner"]["moved"] == found["encoder"]["moved"]
    assert found["inner"]["held_by"] == []


def test_a_frozen_layer_is_not_said_to_hang_loose(workspace: Workspace) -> None:
    recipe = RECIPE.replace(
        "head: !new:torch.nn.Linear\n    in_features: 256\n    out_features: 40\n",
        "head: !new:speechbrain.lobes.models.huggingface_transformers.wav2vec2.Wav2Vec2\n"
        "    source: facebook/wav2vec2-base\n    save_path: save\n    freeze: True\n",
    )
    head = layers(workspace, recipe)["head"]
    assert head["frozen"] == {"state": "yes", "via": "itself", "place": None}
    assert head["saved"]["state"] == "no"


def test_without_a_script_only_the_recipe_speaks(workspace: Workspace) -> None:
    workspace.write({"hparams.yaml": RECIPE})
    (training,) = workspace.run("map", "hparams.yaml", "--output-format", "json").json["trainings"]
    assert (training["brain"], training["script"]) == (None, None)
    found = {layer["name"]: layer for layer in training["layers"]}
    assert found["encoder"]["moved"]["state"] == "yes"
    assert found["encoder"]["trained"]["state"] == found["encoder"]["saved"]["state"] == "unknown"
    assert found["encoder"]["used"] == []


def test_each_brain_of_a_script_is_a_training(workspace: Workspace) -> None:
    script = (
        PROJECT["train.py"]
        + '    lm = LM(modules={"head": hparams["head"]}, hparams=hparams)\n    lm.fit([], [], [])\n'
    )
    script = script.replace(
        "\nif __name__",
        "\nclass LM(sb.Brain):\n    def compute_forward(self, batch, stage):\n        return self.modules.head(batch)\n"
        "\n\nif __name__",
    )
    workspace.write({**PROJECT, "train.py": script})
    trainings = workspace.run("map", "hparams.yaml", "--output-format", "json").json["trainings"]
    assert [training["brain"] for training in trainings] == ["ASR", "LM"]
    found = {layer["name"]: layer for layer in trainings[1]["layers"]}
    assert found["head"]["moved"]["via"] == "modules[head]"
    assert found["encoder"]["moved"]["state"] == "no"


def test_what_is_given_as_module_is_listed_though_its_class_is_unknown(workspace: Workspace) -> None:
    recipe = re.sub(r"head: !new:torch\.nn\.Linear\n.*\n.*\n", "head: !new:nowhere.Head\n", RECIPE)
    head = layers(workspace, recipe)["head"]
    assert (head["class"], head["parameters"]) == ("nowhere.Head", {"number": None, "text": None})
    assert head["moved"]["state"] == "yes"


def test_a_recipe_without_layers_has_an_empty_map(workspace: Workspace) -> None:
    workspace.write({"hparams.yaml": "a: 1\nb: !ref <a>\n"})
    result = workspace.run("map", "hparams.yaml")
    assert (result.code, result.err) == (0, "")
    assert result.lines[-1] == "0 layers"
