"""The map of a class: what the constructor registers, what it keeps elsewhere, and where `forward` uses it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mapped import PROJECT

if TYPE_CHECKING:
    from conftest import Workspace


def attributes(workspace: Workspace, source: str, target: str) -> dict[str, dict[str, Any]]:
    workspace.write({"model.py": source})
    result = workspace.run("map", target, "--output-format", "json")
    assert result.code == 0, result.err
    return {attribute["name"]: attribute for attribute in result.json["attributes"]}


def module(body: str, *, base: str = "nn.Module", more: str = "") -> str:
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    return (
        "import torch\nfrom torch import nn\n\n\n"
        f"class Model({base}):\n    def __init__(self, width, encoder=None):\n        super().__init__()\n{lines}{more}"
    )


def test_each_attribute_says_what_it_is_and_what_registers_it(workspace: Workspace) -> None:
    found = attributes(workspace, PROJECT["model.py"], "model.py::Encoder")
    assert [
        (name, a["kind"], a["class"], a["registered"]["state"], a["registered"]["via"]) for name, a in found.items()
    ] == [
        ("embed", "layer", "Linear", "yes", "attribute"),
        ("blocks", "layer", "ModuleList[Block]", "yes", "ModuleList"),
        ("lost", "layer", "list of Linear", "left out", "list"),
        ("scale", "parameter", "Parameter", "yes", "Parameter"),
        ("steps", "buffer", "buffer", "yes", "buffer"),
        ("head", "layer", "Linear", "maybe", "attribute"),
    ]
    assert [a["place"]["line"] for a in found.values()] == [20, 21, 22, 23, 24, 26]


def test_uses_are_those_that_forward_gets_to(workspace: Workspace) -> None:
    found = attributes(workspace, PROJECT["model.py"], "model.py::Encoder")
    used = {name: [(use["line"], use["function"]) for use in a["used"]] for name, a in found.items()}
    assert used["embed"] == [(29, "Encoder.forward")]
    assert used["head"] == [(35, "Encoder._finish")]
    assert used["steps"] == []


def test_what_hangs_loose_is_what_check_reports(workspace: Workspace) -> None:
    workspace.write(PROJECT)
    loose = workspace.run("map", "model.py::Encoder", "--output-format", "json").json["loose"]
    assert [(one["path"], one["line"]) for one in loose] == [
        place[:2] for place in workspace.places("model.py", "--select", "ML2")
    ]


def test_what_is_inherited_is_listed_with_its_place(workspace: Workspace) -> None:
    workspace.write(
        {
            "base.py": "from torch import nn\n\n\nclass Base(nn.Module):\n    def __init__(self):\n"
            "        super().__init__()\n        self.norm = nn.LayerNorm(4)\n"
        }
    )
    source = "from torch import nn\nfrom base import Base\n\n\nclass Model(Base):\n    def __init__(self):\n"
    source += "        super().__init__()\n        self.out = nn.Linear(4, 4)\n"
    found = attributes(workspace, source, "model.py::Model")
    assert [(name, a["place"]["path"]) for name, a in found.items()] == [("out", "model.py"), ("norm", "base.py")]


def test_layers_of_both_branches_are_registered_for_certain(workspace: Workspace) -> None:
    found = attributes(
        workspace,
        module("if width > 8:\n    self.norm = nn.LayerNorm(width)\nelse:\n    self.norm = nn.Identity()"),
        "model.py::Model",
    )
    assert (found["norm"]["class"], found["norm"]["registered"]["state"]) == ("LayerNorm | Identity", "yes")


def test_a_number_that_is_kept_is_no_layer_and_a_given_layer_is_one_if_it_is_called(workspace: Workspace) -> None:
    forward = "\n    def forward(self, x):\n        return self.encoder(x) * self.width\n"
    found = attributes(workspace, module("self.width = width\nself.encoder = encoder", more=forward), "model.py::Model")
    assert list(found) == ["encoder"]
    assert (found["encoder"]["class"], found["encoder"]["registered"]["state"]) == ("given as encoder", "maybe")


def test_a_class_that_is_no_module_registers_nothing(workspace: Workspace) -> None:
    found = attributes(workspace, module("self.proj = nn.Linear(width, width)", base="object"), "model.py::Model")
    assert found["proj"]["registered"]["state"] == "no"
    assert "which is no torch.nn.Module" in workspace.run("map", "model.py::Model").out


def test_nested_classes_go_by_their_own_name_where_it_is_the_only_one(workspace: Workspace) -> None:
    source = "from torch import nn\n\n\nclass Outer:\n    class Inner(nn.Module):\n        def __init__(self):\n"
    source += "            super().__init__()\n            self.proj = nn.Linear(2, 2)\n"
    for name in ("Outer.Inner", "Inner"):
        assert list(attributes(workspace, source, f"model.py::{name}")) == ["proj"]


def test_a_class_without_a_constructor_has_an_empty_map(workspace: Workspace) -> None:
    workspace.write({"model.py": "from torch import nn\n\n\nclass Empty(nn.Module):\n    pass\n"})
    result = workspace.run("map", "model.py::Empty")
    assert (result.code, result.lines[0], result.lines[-1]) == (0, "model.py:4", "0 attributes")
