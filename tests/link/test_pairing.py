"""A recipe finds its script, a script its recipes, and a fragment those that include it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from modellint.link.project import Project, ProjectOptions
from modellint.link.recipes.pairing import includers_of, including, is_inference, recipes_of, scripts_of

if TYPE_CHECKING:
    from pathlib import Path

    from modellint.graph.recipe import Recipe

RECIPE = "n_mels: 80\nlr: 0.1\nenc: !new:torch.nn.Linear [!ref <n_mels>, 2]\nmodules: {enc: !ref <enc>}\n"


def script(*keys: str, builds: bool = True, file: str = "") -> str:
    reads = "\n".join(f'print(hparams["{key}"])' for key in keys)
    brain = 'brain = Brain(modules=hparams["modules"])\n' if builds else ""
    return (
        "from hyperpyyaml import load_hyperpyyaml\nfrom speechbrain.core import Brain\n"
        f"# {file!r}\nhparams = load_hyperpyyaml(open('x'))\n{reads}\n{brain}"
    )


def project(root: Path, files: dict[str, str], *recipes: tuple[str, str]) -> Project:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return Project(ProjectOptions(root, recipes=recipes))


def recipe(project: Project, name: str) -> Recipe:
    found = project.recipe(project.options.root / name)
    assert found is not None
    return found


def scripts(project: Project, name: str) -> list[str]:
    root = project.options.root
    return [path.relative_to(root).as_posix() for path in scripts_of(recipe(project, name), project).scripts]


def test_the_nearest_script_that_reads_what_the_recipe_defines(tmp_path: Path) -> None:
    p = project(
        tmp_path,
        {
            "train.py": script("n_mels", "lr"),
            "a/train.py": script("n_mels", "lr"),
            "a/other.py": script("vocab", "width", "n_mels"),
            "a/prepare.py": "print('no recipe here')\n",
            "a/hparams/r.yaml": RECIPE,
        },
    )
    assert scripts(p, "a/hparams/r.yaml") == ["a/train.py"]


def test_a_script_above_the_folders_that_recipes_are_sorted_into(tmp_path: Path) -> None:
    files = {"train.py": script("n_mels", "lr"), "configs/task/corpus/size/r.yaml": RECIPE}
    p = project(tmp_path, files)
    assert scripts(p, "configs/task/corpus/size/r.yaml") == ["train.py"]
    assert [r.file.name for r in recipes_of(tmp_path / "train.py", p)] == ["r.yaml"]


def test_a_script_that_reads_other_keys_is_none(tmp_path: Path) -> None:
    p = project(tmp_path, {"train.py": script("vocab", "width", "lr"), "hparams/r.yaml": RECIPE})
    assert scripts(p, "hparams/r.yaml") == []


def test_what_stands_under_a_key_is_no_recipe_whatever_it_is_called(tmp_path: Path) -> None:
    reads = 'sampler_hparams = hparams["sampler"]\nprint(sampler_hparams["width"], sampler_hparams["height"])\n'
    files = {
        "train.py": script("n_mels", "lr") + reads,
        "other.py": script("n_mels", "lr", "unknown"),
        "r.yaml": RECIPE + "sampler: {width: 1, height: 2}\n",
    }
    assert scripts(project(tmp_path, files), "r.yaml") == ["train.py"]


def test_what_a_script_asks_for_first_is_not_needed(tmp_path: Path) -> None:
    optional = 'if "width" in hparams:\n    print(hparams["width"])\nhparams["tokenizer"] = 1\n'
    p = project(tmp_path, {"train.py": script("n_mels", "lr") + optional, "r.yaml": RECIPE})
    assert scripts(p, "r.yaml") == ["train.py"]


def test_a_script_that_builds_a_brain_is_preferred_and_one_that_names_the_recipe_even_more(tmp_path: Path) -> None:
    files = {
        "evaluate.py": script("n_mels", "lr", builds=False),
        "train.py": script("n_mels", "lr", "modules"),
        "r.yaml": RECIPE,
    }
    assert scripts(project(tmp_path / "a", files), "r.yaml") == ["train.py"]
    files["train_small.py"] = script("n_mels", "lr", file="hparams/r.yaml")
    assert scripts(project(tmp_path / "b", files), "r.yaml") == ["train_small.py"]


def test_scripts_that_are_equally_good_are_all_kept(tmp_path: Path) -> None:
    files = {"one.py": script("n_mels", "lr"), "two.py": script("n_mels", "lr"), "r.yaml": RECIPE}
    p = project(tmp_path, files)
    assert scripts(p, "r.yaml") == ["one.py", "two.py"]
    assert recipes_of(tmp_path / "one.py", p) == ()


def test_a_table_in_the_repository_decides(tmp_path: Path) -> None:
    table = 'Task,Script_file,Hparam_file,Notes\nASR,ctc/run.py,ctc/r.yaml,"a, b"\nASR,gone.py,ctc/other.yaml,\n'
    p = project(
        tmp_path,
        {
            "tests/recipes/ASR.csv": table,
            "tests/recipes/broken.csv": 'script,hparam\n"open\n',
            "ctc/run.py": script(),
            "ctc/train.py": script("n_mels", "lr"),
            "ctc/r.yaml": RECIPE,
            "ctc/other.yaml": RECIPE,
        },
    )
    assert scripts(p, "ctc/r.yaml") == ["ctc/run.py"]
    assert scripts(p, "ctc/other.yaml") == ["ctc/train.py"]
    assert [r.file.name for r in recipes_of(tmp_path / "ctc/run.py", p)] == ["r.yaml"]


def test_the_configuration_decides_before_anything_else(tmp_path: Path) -> None:
    files = {"train.py": script("n_mels", "lr"), "main.py": script(), "hp/a.yaml": RECIPE, "hp/b.yaml": RECIPE}
    p = project(tmp_path, files, ("hp/*.yaml", "main.py"), ("hp/b.yaml", "missing.py"))
    assert scripts(p, "hp/a.yaml") == ["main.py"]
    assert scripts(p, "hp/b.yaml") == ["main.py"]
    assert [r.file.name for r in recipes_of(tmp_path / "main.py", p)] == ["a.yaml", "b.yaml"]


def test_a_fragment_belongs_to_those_that_include_it(tmp_path: Path) -> None:
    p = project(
        tmp_path,
        {
            "hparams/a.yaml": "m: !include:../models/m.yaml\n",
            "hparams/b.yaml": "m: !include:../models/m.yaml {n: 1}\n",
            "models/m.yaml": "enc: !ref <n>\nsub: !include:sub.yaml\n",
            "models/sub.yaml": "x: !ref <y>\n",
            "models/alone.yaml": "x: !ref <y>\n",
        },
    )
    names = [path.name for path in includers_of(recipe(p, "models/m.yaml"), p)]
    assert names == ["a.yaml", "b.yaml"]
    assert {r.file.name for r in including(recipe(p, "models/sub.yaml"), p)} == {"a.yaml", "b.yaml"}
    assert [r.file.name for r in including(recipe(p, "models/alone.yaml"), p)] == ["alone.yaml"]


def test_an_include_is_one_however_its_tag_is_written(tmp_path: Path) -> None:
    p = project(
        tmp_path,
        {
            "full.yaml": "m: !<!include:m.yaml>\n",
            "escaped.yaml": "m: !inc%6Cude:m.yaml {n: 1}\n",
            "comment.yaml": "# m: !include:m.yaml\nn: !ref <o>\n",
            "m.yaml": "enc: !ref <n>\n",
        },
    )
    assert [path.name for path in includers_of(recipe(p, "m.yaml"), p)] == ["escaped.yaml", "full.yaml"]


def test_recipes_that_include_each_other_have_no_owner_but_themselves(tmp_path: Path) -> None:
    p = project(tmp_path, {"a.yaml": "b: !include:b.yaml\n", "b.yaml": "a: !include:a.yaml\n"})
    assert list(including(recipe(p, "a.yaml"), p)) == [recipe(p, "a.yaml")]
    assert list(including(recipe(p, "b.yaml"), p)) == [recipe(p, "b.yaml")]


def test_an_inference_recipe_has_modules_and_a_pretrainer(tmp_path: Path) -> None:
    pretrainer = "pretrainer: !new:speechbrain.utils.parameter_transfer.Pretrainer {}\n"
    p = project(tmp_path, {"a.yaml": RECIPE + pretrainer, "b.yaml": RECIPE, "c.yaml": pretrainer})
    assert [is_inference(recipe(p, name)) for name in ("a.yaml", "b.yaml", "c.yaml")] == [True, False, False]


READS = "import sys\nfrom hyperpyyaml import load_hyperpyyaml\n\nhparams = load_hyperpyyaml(open(sys.argv[1]))\n"
ALL_KEYS, OTHER_KEYS = (
    'print(hparams["a"], hparams["b"], hparams["c"])\n',
    'print(hparams["a"], hparams["b"], hparams["z"])\n',
)
A_B_C = "a: !new:torch.nn.ReLU\nb: 2\nc: 3\n"


@pytest.mark.parametrize(
    ("files", "script"),
    [
        ({"ASR/train_large.py": ALL_KEYS, "run.py": OTHER_KEYS}, "ASR/train_large.py"),
        ({"ASR/train_other.py": ALL_KEYS, "run.py": OTHER_KEYS}, "run.py"),
        ({"ASR/train_large.py": OTHER_KEYS, "run.py": ALL_KEYS}, "run.py"),
        ({"ASR/train_other.py": ALL_KEYS}, "ASR/train_other.py"),
        ({"ASR/train_other.py": OTHER_KEYS}, None),
        (
            {
                "run.py": OTHER_KEYS,
                "hparams/other.yaml": A_B_C + "z: 4\n",
                "README.md": "`python run.py hparams/other.yaml`\n",
            },
            None,
        ),
        ({"run.py": OTHER_KEYS, "README.md": "`python run.py hparams/renamed_since.yaml`\n"}, "run.py"),
        ({"run.py": ALL_KEYS, "README.md": "`python run.py hparams/other.yaml`\n"}, "run.py"),
        ({"run.py": OTHER_KEYS, "go.sh": "python run.py \\\n  hparams/large.yaml --x 1\n"}, "run.py"),
        (
            {"ASR/train_large.py": ALL_KEYS, "run.py": OTHER_KEYS, "go.sh": "python run.py hparams/large.yaml\n"},
            "run.py",
        ),
    ],
)
def test_commands_and_names_tell_scripts_in_folders_beside(
    tmp_path: Path, files: dict[str, str], script: str | None
) -> None:
    (tmp_path / "hparams").mkdir()
    (tmp_path / "hparams/large.yaml").write_text(A_B_C)
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(READS + text if name.endswith(".py") else text)
    project = Project(ProjectOptions(tmp_path))
    recipe = project.recipe(tmp_path / "hparams/large.yaml")
    assert recipe is not None
    found = [path.relative_to(tmp_path).as_posix() for path in scripts_of(recipe, project).scripts]
    assert found == ([] if script is None else [script])


MANY = "".join(f"key{number}: {number}\n" for number in range(20))
READS_MANY = "".join(f'print(hparams["key{number}"])\n' for number in range(20))


@pytest.mark.parametrize(
    ("files", "script"),
    [
        ({"train.py": READS_MANY + OTHER_KEYS, "evaluate.py": ALL_KEYS}, "train.py"),
        ({"train.py": ALL_KEYS + 'print(hparams["z"])\n', "evaluate.py": ALL_KEYS}, "evaluate.py"),
        (
            {
                "train.py": READS_MANY + OTHER_KEYS,
                "evaluate.py": ALL_KEYS,
                "go.sh": "python train.py hparams/other.yaml\n",
            },
            "train.py",
        ),
    ],
    ids=["one key is missing", "it explains no more", "commands run it with others"],
)
def test_a_script_that_explains_much_more_may_lack_a_key(tmp_path: Path, files: dict[str, str], script: str) -> None:
    texts = {name: READS + text if name.endswith(".py") else text for name, text in files.items()}
    recipes = {"hparams/large.yaml": A_B_C + MANY, "hparams/other.yaml": A_B_C + MANY + "z: 4\n"}
    assert scripts(project(tmp_path, {**texts, **recipes}), "hparams/large.yaml") == [script]


@pytest.mark.parametrize(("other", "expected"), [("d", ["run.py"]), ("z", [])])
def test_what_the_recipes_of_commands_lack_as_well_speaks_against_no_script(
    tmp_path: Path, other: str, expected: list[str]
) -> None:
    files = {"run.py": READS + OTHER_KEYS, "README.md": "`python run.py hparams/small.yaml`\n"}
    small = f"a: !new:torch.nn.ReLU\nb: 2\n{other}: 4\n"
    p = project(tmp_path, {**files, "hparams/large.yaml": A_B_C, "hparams/small.yaml": small})
    assert scripts(p, "hparams/large.yaml") == expected
