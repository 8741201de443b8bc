"""What rules ask about recipes and their scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from modellint.link.project import Project, ProjectOptions
from modellint.link.recipes import queries

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

PART = "width: 8\nencoder: !new:torch.nn.Linear\n    in_features: !ref <width>\n    out_features: 4\n"
WHOLE = """
parts: !include:part.yaml
    width: 16
modules:
    model: !new:torch.nn.ModuleList
        -
            - !ref <parts[encoder]>
lr: 0.1
decay: !new:speechbrain.nnet.schedulers.NewBobScheduler
    initial_value: !ref <lr>
"""
SCRIPT = """
import torch.distributed as dist
from hyperpyyaml import load_hyperpyyaml
from speechbrain.core import Brain


class Own(Brain):
    def compute_forward(self, batch, stage):
        return self.modules.model(batch) + self.modules.head(batch) * self.hparams.scale


dist.init_process_group("nccl")
with open("whole.yaml") as stream:
    hparams = load_hyperpyyaml(stream)
brain = Own(modules=hparams["modules"], hparams=hparams)
brain.fit([], [])
print(hparams["lr"], hparams["decay"], hparams["parts"])
"""
FILES = {"part.yaml": PART, "whole.yaml": WHOLE, "train.py": SCRIPT}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return written(FILES, tmp_path)


def written(files: Mapping[str, str], folder: Path) -> Project:
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return Project(ProjectOptions(folder))


def about(name: str, project: Project) -> queries.Queries:
    recipe = project.recipe(project.options.root / name)
    assert recipe is not None
    return queries.about(recipe, project)


def script(project: Project) -> queries.ScriptQueries:
    module = project.python(project.options.root / "train.py")
    assert module is not None
    return queries.script(module, project)


def test_a_fragment_is_asked_within_the_recipe_that_is_loaded(project: Project) -> None:
    [whole] = about("part.yaml", project).wholes()
    assert whole.recipe.file.name == "whole.yaml"
    assert whole.evaluation.keys["parts"].fields["width"].number == 16
    assert about("part.yaml", project).evaluation.keys["width"].number == 8


def test_facts_are_told_where_they_stand(project: Project) -> None:
    def find(recipe: object, project: Project) -> list[queries.Item]:
        return list(about("whole.yaml", project).evaluation.objects)

    here = {item.path for item in about("part.yaml", project).within_wholes(find)}
    assert "parts[encoder]" in here
    assert "lr" not in here
    assert {"parts[encoder]", "lr"} <= {item.path for item in about("whole.yaml", project).within_wholes(find)}


def test_keys_that_each_including_recipe_overrides_are_not_live(project: Project) -> None:
    texts = [node.text for node in about("part.yaml", project).live_nodes()]
    assert "width" not in texts
    assert "in_features" in texts


def test_recipes_and_scripts_know_each_other(project: Project) -> None:
    found = about("whole.yaml", project).script
    assert found is not None
    assert found.file.name == "train.py"
    assert [recipe.file.name for recipe in script(project).recipes] == ["whole.yaml"]
    assert "dist.init_process_group" in script(project).callees


def test_names_that_the_script_uses_and_the_recipe_lacks_are_the_same_from_both_sides(project: Project) -> None:
    asked = about("whole.yaml", project)
    for missing, name, has in (
        (asked.missing_modules(), "head", ("model",)),
        (asked.missing_keys(), "scale", ("decay", "lr", "modules", "parts")),
    ):
        assert [(one.use.name, one.is_certain, one.is_override) for one in missing] == [(name, True, False)]
        assert [one.names for one in missing[0].lacking] == [has]
    assert list(script(project).missing_modules) == asked.missing_modules()
    assert list(script(project).missing_keys) == asked.missing_keys()


def test_objects_know_their_parts_and_what_changes_them(project: Project) -> None:
    asked = about("whole.yaml", project)
    keys = asked.evaluation.keys
    model, encoder, decay = keys["modules"].fields["model"], keys["parts"].fields["encoder"], keys["decay"]
    assert asked.holds(model, encoder)
    assert not asked.holds(encoder, model)
    assert asked.changes_state(decay, "__call__")
    assert not asked.changes_state(encoder, "forward")
    assert [name for name, _ in asked.arguments(encoder)] == ["in_features", "out_features"]


def test_tags_know_what_they_name_and_which_arguments_it_takes(tmp_path: Path) -> None:
    text = (
        "a: !new:torch.nn.Linear\n    width: 1\nb: !new:torch.nn.functional.relu\nc: !new:torch.nn.Liner\nd: !ref <a>\n"
    )
    first, second, third = about("r.yaml", written({"r.yaml": text}, tmp_path)).tags()
    assert [one.unknown for one in first.target.misfits(0, ["width"], is_final=False)] == ["width"]
    assert first.target.misfits(2, [], is_final=True) == []
    assert (first.is_refused, second.is_refused) == (False, True)
    assert third.target.kind is queries.TargetKind.MISSING
    assert third.target.misfits(0, ["width"], is_final=True) == []


def test_a_query_that_does_not_exist_is_told_with_the_nearest() -> None:
    with pytest.raises(AttributeError, match="did you mean `about`"):
        queries.abut  # type: ignore[attr-defined]  # noqa: B018
