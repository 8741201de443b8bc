"""What requirement files, lock files and settings say of the releases of a package."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

from modellint import knowledge
from modellint.link.project import Project, ProjectOptions
from modellint.link.requirements import Required, required

if TYPE_CHECKING:
    from pathlib import Path

NEWEST, OLDEST = knowledge.package("speechbrain").releases[0], knowledge.package("speechbrain").releases[-1]
LOCKED = '[[package]]\nname = "speechbrain"\nversion = "0.5.13"\n'
POETRY = "[tool.poetry.dependencies]\nspeechbrain = {}\n"
GROUP = '[tool.poetry.group.train.dependencies]\nspeechbrain = { version = "^0.5.4", extras = ["all"] }\n'
CONDA = "dependencies:\n  - python=3.9\n  - {}\n"
PIP_IN_CONDA = "dependencies:\n  - pip\n  - pip:\n      - speechbrain==0.5.14\n"


def wanted(folder: Path, name: str, text: str) -> Required | None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(dedent(text))
    return required("speechbrain", Project(ProjectOptions(root=folder)))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("requirements.txt", "speechbrain==0.5.16\n"),
        ("requirements.txt", "torch\nSpeechBrain[all] ~= 0.5.10 ; python_version > '3.7'  # as in the paper\n"),
        ("requirements.txt", "speechbrain>=0.5,<1.0\n"),
        ("requirements.txt", "speechbrain==0.5.13 --hash=sha256:0123\n"),
        ("requirements.txt", "git+https://github.com/speechbrain/speechbrain.git@v0.5.12#egg=speechbrain\n"),
        ("requirements.txt", "-e git+https://github.com/somebody/speechbrain@feature#egg=speechbrain\n"),
        ("requirements.txt", "speechbrain @ git+https://github.com/speechbrain/speechbrain@develop\n"),
        ("requirements-dev.in", "speechbrain<1\n"),
        ("requirements/train.txt", "speechbrain<1\n"),
        ("build/requirements.txt", "speechbrain==0.5.11\n"),
        ("pyproject.toml", '[project]\nname = "x"\ndependencies = ["torch", "speechbrain==0.5.*"]\n'),
        ("pyproject.toml", '[project.optional-dependencies]\ntrain = ["speechbrain<1.0"]\n'),
        ("pyproject.toml", '[dependency-groups]\ntrain = ["speechbrain<1.0", {include-group = "x"}]\n'),
        ("pyproject.toml", POETRY.format('"^0.5.4"')),
        ("pyproject.toml", POETRY.format('"~0.5"')),
        ("pyproject.toml", POETRY.format('"0.5.13"')),
        ("pyproject.toml", POETRY.format('{ git = "https://github.com/somebody/speechbrain", branch = "x" }')),
        ("pyproject.toml", POETRY.format('[{ version = "^0.5", python = "<3.9" }]')),
        ("pyproject.toml", GROUP),
        ("poetry.lock", LOCKED),
        ("uv.lock", LOCKED),
        ("Pipfile", '[packages]\nspeechbrain = "==0.5.13"\n'),
        ("Pipfile.lock", '{"default": {"speechbrain": {"version": "==0.5.13"}}}'),
        ("setup.cfg", "[options]\ninstall_requires =\n    torch\n    speechbrain>=0.5.9,<0.6\n"),
        ("setup.cfg", "[options.extras_require]\ntrain = speechbrain==0.5.9\n"),
        ("setup.py", 'from setuptools import setup\nneeded = ["speechbrain==0.5.9"]\nsetup(install_requires=needed)\n'),
        ("environment.yml", CONDA.format("speechbrain=0.5.12")),
        ("environment.yml", CONDA.format("conda-forge::speechbrain==0.5.12")),
        ("environment.yaml", PIP_IN_CONDA),
        ("README.md", "Install with\n```\n$ pip install torch 'speechbrain==0.5.12'  # not later\n```\n"),
        ("README.rst", "``pip install speechbrain~=0.5.9``\n"),
        ("INSTALL.md", "Setup\n```\npip install speechbrain==0.5.12 torchaudio\n```\n"),
        (
            "install.sh",
            "python -m pip install \\\n  torch \\\n  git+https://github.com/speechbrain/speechbrain.git@v0.5.13\n",
        ),
        ("README.md", "pip install -e ./speechbrain\n"),
        ("README.md", "    pip install --editable lib/speechbrain/\n"),
        ("README", "export PYTHONPATH=$PYTHONPATH:<path to lab/speechbrain>\n"),
        ("run.sh", 'export PYTHONPATH="../speechbrain:$PYTHONPATH"\n'),
        (".gitmodules", '[submodule "sb"]\n\tpath = sb\n\turl = https://github.com/somebody/speechbrain.git\n'),
    ],
)
def test_releases_that_are_not_described_are_told(tmp_path: Path, name: str, text: str) -> None:
    found = wanted(tmp_path, name, text)
    assert found is not None
    assert not found.is_described
    assert found.admitted == ()
    assert found.origin == tmp_path / name


@pytest.mark.parametrize(
    ("text", "admitted", "nearest"),
    [
        ("speechbrain", (NEWEST, OLDEST), NEWEST),
        ("speechbrain>=0.5", (NEWEST, OLDEST), NEWEST),
        (f"speechbrain=={OLDEST}", (OLDEST,), OLDEST),
        ("speechbrain~=1.0.0", (OLDEST,), OLDEST),
        ("speechbrain==1.0.0", (), OLDEST),
        ("speechbrain>=1.1", (NEWEST,), NEWEST),
        ("speechbrain>=8", (), None),
    ],
)
def test_releases_that_are_described_are_told(
    tmp_path: Path, text: str, admitted: tuple[str, ...], nearest: str | None
) -> None:
    found = wanted(tmp_path, "requirements.txt", f"{text}\n")
    assert found is not None
    assert found.is_described
    assert (found.admitted, found.nearest) == (admitted, nearest)


def test_a_lock_file_is_more_exact_than_a_requirement(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(POETRY.format('"*"'))
    found = wanted(tmp_path, "poetry.lock", LOCKED)
    assert found is not None
    assert str(found.specifiers) == "==0.5.13"


def test_a_command_tells_more_than_a_name_alone(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("speechbrain\n")
    found = wanted(tmp_path, "README.md", "pip install speechbrain==0.5.13\n")
    assert found is not None
    assert (found.origin.name, str(found.specifiers)) == ("README.md", "==0.5.13")
    found = wanted(tmp_path, "requirements.txt", "speechbrain>=1.0\n")
    assert found is not None
    assert (found.origin.name, str(found.specifiers)) == ("requirements.txt", ">=1.0")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("requirements.txt", "speechbrain_tools==1\n# speechbrain==0.5\n"),
        ("requirements.txt", "speechbrain==nonsense\n"),
        ("pyproject.toml", "[tool.poetry.dependencies]\nspeechbrain = \n"),
        ("pyproject.toml", '[project]\ndependencies = "speechbrain"\n'),
        ("poetry.lock", '[[package]]\nname = "speechbrain"\n'),
        ("Pipfile.lock", "speechbrain"),
        ("setup.py", "speechbrain ==\n"),
        ("setup.cfg", "speechbrain\n"),
        ("environment.yml", "- speechbrain\n"),
        ("environment.yml", "dependencies: [speechbrain=nonsense]\n"),
        (".gitmodules", "speechbrain\n"),
        ("notes.txt", "speechbrain==0.5\n"),
        ("README.md", "It needs speechbrain==0.5.12. We pip install nothing.\n"),
        ("README.md", "pip install speechbrain torch==2.0\npip install -e . -r speechbrain.txt\n"),
        ("README.md", "pip install -e git+https://github.com/lab/speechbrain-tools@v0.5.1\n"),
        ("README.md", "export PYTHONPATH=$PYTHONPATH:speechbrain/tools:/opt/speechbrain_tools\n"),
        ("requirements.txt", "-e git+https://github.com/lab/speechbrain_tools@v0.5.1#egg=tools\n"),
    ],
)
def test_what_cannot_be_read_says_nothing(tmp_path: Path, name: str, text: str) -> None:
    assert wanted(tmp_path, name, text) is None
