"""How maps are written: each format, and that nothing from a file becomes markup."""

from __future__ import annotations

import re
import shutil
import subprocess
from html.parser import HTMLParser
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from effort import PATIENCE
from mapped import PROJECT, RECIPE

if TYPE_CHECKING:
    from conftest import Workspace

FORMATS = ("table", "json", "dot", "mermaid", "html")
TARGETS = ("hparams.yaml", "model.py::Encoder")
#: A name that is markup in every format, and steers a terminal.
EVIL = '</script><img src=x onerror=alert(1)>"];--> \\ #quot; `x` \x1b[31m é'


def mapped(workspace: Workspace, target: str, output_format: str, *more: str) -> str:
    result = workspace.run("map", target, "--output-format", output_format, *more)
    assert (result.code, result.err) == (0, "")
    return result.out


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("output_format", FORMATS)
def test_the_same_map_is_the_same_text(workspace: Workspace, target: str, output_format: str) -> None:
    workspace.write(PROJECT)
    assert mapped(workspace, target, output_format) == mapped(workspace, target, output_format)


# -- table -------------------------------------------------------------------------------------------------------


def test_the_table_of_a_recipe(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    workspace.write(PROJECT)
    lines = mapped(workspace, "hparams.yaml", "table").splitlines()
    assert lines[:2] == ["hparams.yaml", "ASR in train.py, found by the keys it reads (7 of 7)"]
    assert lines[3].split() == ["layer", "class", "parameters", "used", "moved", "trained", "saved"]
    assert re.fullmatch(r"left +Linear +\S+ +train\.py:12 \(train, valid\) +left out +- +model", lines[5])
    assert "hparams.yaml:6: `left` is used but not in `modules`: it stays on the CPU" in lines


@pytest.mark.parametrize("columns", [40, 80, 97, 120, 300])
@pytest.mark.parametrize("target", TARGETS)
def test_the_table_fits_the_terminal(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, target: str, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    long = RECIPE.replace("encoder", "a_name_of_an_encoder_that_is_longer_than_any_column_can_be_made_to_be")
    workspace.write({**PROJECT, "hparams.yaml": long})
    text = mapped(workspace, target, "table")
    assert max(map(len, text.splitlines())) <= min(max(columns, 80), 120)
    if target.endswith("yaml"):
        assert "a_name_of" in text


def test_nothing_is_lost_when_cells_are_wrapped(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    name = "an_encoder_whose_name_goes_on_and_on_until_it_is_wrapped"
    workspace.write({**PROJECT, "hparams.yaml": RECIPE.replace("encoder", name)})
    rows = mapped(workspace, "hparams.yaml", "table").splitlines()[4:]
    first = "".join(row.partition(" ")[0] for row in rows)
    assert name in first


def test_wide_characters_take_two_columns(workspace: Workspace) -> None:
    workspace.write({**PROJECT, "hparams.yaml": RECIPE.replace("left", "解码器")})
    lines = mapped(workspace, "hparams.yaml", "table").splitlines()
    row, other = (next(line for line in lines if line.startswith(name)) for name in ("解码器", "encoder"))
    assert row.index("Linear") + 3 == other.index("Linear")


def test_colours_are_for_terminals_unless_asked_for(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace.write(PROJECT)
    assert "\x1b[" not in mapped(workspace, "hparams.yaml", "table")
    assert "\x1b[31m\x1b[1mleft out" in mapped(workspace, "hparams.yaml", "table", "--color", "always")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in mapped(workspace, "hparams.yaml", "table")
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in mapped(workspace, "hparams.yaml", "table")


# -- graphs ------------------------------------------------------------------------------------------------------


def test_the_dot_graph_has_the_roots_and_marks_what_hangs_loose(workspace: Workspace) -> None:
    workspace.write(PROJECT)
    text = mapped(workspace, "hparams.yaml", "dot")
    names = {label: name for name, label in re.findall(r'^ +(n\w+) \[label="([^"\\]*)', text, re.MULTILINE)}
    assert set(names) == {"modules", "opt_class", "recoverables", "model", "encoder", "left", "head"}
    edges = re.findall(r'(n\w+) -> (n\w+) \[label="([^"]+)"', text)
    assert (names["modules"], names["encoder"], "moves") in edges
    assert (names["recoverables"], names["model"], "saves") in edges
    assert (names["model"], names["left"], "holds") in edges
    assert (names["modules"], names["left"], "left out") in edges
    assert (names["recoverables"], names["head"], "left out") in edges


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
@pytest.mark.parametrize("target", TARGETS)
def test_graphviz_draws_the_dot_graph(workspace: Workspace, target: str) -> None:
    workspace.write({**PROJECT, "hparams.yaml": evil_recipe()})
    drawn = subprocess.run(
        ["dot", "-Tsvg"], input=mapped(workspace, target, "dot"), capture_output=True, text=True, timeout=PATIENCE
    )
    assert (drawn.returncode, drawn.stderr) == (0, "")
    assert drawn.stdout.count('class="node"') >= 6


def test_the_mermaid_graph_has_the_roots_and_marks_what_hangs_loose(workspace: Workspace) -> None:
    workspace.write(PROJECT)
    lines = [line.strip() for line in mapped(workspace, "hparams.yaml", "mermaid").splitlines()]
    assert lines[0] == "flowchart LR"
    assert 'n0_0["modules"]:::root' in lines
    assert any(re.fullmatch(r'n0_\d\("left<br/>Linear.*"\):::loose', line) for line in lines)
    edges = [line for line in lines if re.match(r"n\w+ -[-.]", line)]
    (styled,) = (line for line in lines if line.startswith("linkStyle"))
    loose = [edges[int(number)] for number in styled.split()[1].split(",")]
    assert len(loose) == 2
    assert all('"left out"' in edge for edge in loose)


# -- escaping ----------------------------------------------------------------------------------------------------


def evil_recipe() -> str:
    quoted = EVIL.replace("\\", "\\\\").replace('"', '\\"').replace("\x1b", "\\e")
    return RECIPE.replace("left: !new", f'"{quoted}": !new', 1).replace("!ref <left>", "!ref <head>")


class Tags(HTMLParser):
    """Collects the elements of a page, and checks that they are closed in order."""

    VOID = frozenset(("meta", "input", "path", "rect"))

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.open: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append(tag)
        self.attributes.extend(attrs)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open.pop() == tag


def parsed(text: str) -> Tags:
    tags = Tags()
    tags.feed(text)
    tags.close()
    assert tags.open == []
    return tags


def test_names_never_become_markup_of_the_page(workspace: Workspace) -> None:
    workspace.write({**PROJECT, "hparams.yaml": evil_recipe()})
    text = mapped(workspace, "hparams.yaml", "html")
    evil = parsed(text)
    assert "img" not in evil.found
    assert text.count("<script>") == 1
    assert "onerror" not in dict(evil.attributes)
    assert "&lt;img src=x onerror=alert(1)&gt;" in text
    assert "\x1b" not in text


@pytest.mark.parametrize("output_format", ["table", "dot", "mermaid"])
def test_names_never_steer_what_shows_them(workspace: Workspace, output_format: str) -> None:
    workspace.write({**PROJECT, "hparams.yaml": evil_recipe()})
    text = mapped(workspace, "hparams.yaml", output_format)
    assert "\x1b" not in text
    if output_format == "dot":
        strings = re.findall(r'"(?:[^"\\\n]|\\["\\n])*"', text)
        assert any("onerror" in string for string in strings)
        assert not re.search(r'["\\<>`]', re.sub(r'"(?:[^"\\\n]|\\["\\n])*"|->', "", text))
    elif output_format == "mermaid":
        (line,) = (line for line in text.splitlines() if "onerror" in line)
        assert re.fullmatch(r' +n0_\d\("[\w .,:/+*()=#;-]+<br/>[\w .,:/+*()=#;-]+"\)', line)


# -- the page ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", TARGETS)
def test_the_page_loads_nothing(workspace: Workspace, target: str) -> None:
    workspace.write(PROJECT)
    text = mapped(workspace, target, "html")
    tags = parsed(text)
    assert {"link", "iframe", "object", "embed", "image", "base", "use"} & set(tags.found) == set()
    assert {name for name, _ in tags.attributes} & {"src", "href", "xlink:href", "srcset", "action"} == set()
    assert "url(" not in text
    assert "@import" not in text
    assert re.search(r'Content-Security-Policy" content="default-src &#x27;none&#x27;', text)


def test_the_page_says_in_words_what_it_draws(workspace: Workspace) -> None:
    workspace.write(PROJECT)
    text = mapped(workspace, "hparams.yaml", "html")
    assert "<h3>2 things hang loose</h3>" in text
    assert text.count('<g class="layer loose"') == 2
    assert text.count('<g class="layer"') == 1
    body = text[text.index("<tbody>") :]
    assert body.count("<tr") == 3
    assert body.count('<td class="left-out">left out</td>') == 2
    assert "train.py:11 (test) through searcher" in body
    assert "left out of: recoverables" in text or "left out of recoverables" in text


def test_the_page_of_a_sound_recipe_has_nothing_red(workspace: Workspace) -> None:
    sound = RECIPE.replace("    head: !ref <head>\nmodel", "    head: !ref <head>\n    left: !ref <left>\nmodel")
    workspace.write({**PROJECT, "hparams.yaml": sound.replace("<left>]", "<left>, !ref <head>]")})
    text = mapped(workspace, "hparams.yaml", "html")
    assert "Nothing hangs loose." in text
    assert 'class="branch lost"' not in text


def test_a_hundred_layers_do_not_overlap(workspace: Workspace) -> None:
    names = [f"layer_{number}" for number in range(100)]
    recipe = "n_mels: 80\nbatch_size: 8\n"
    recipe += "".join(f"{name}: !new:torch.nn.Linear\n    in_features: 4\n    out_features: 4\n" for name in names)
    recipe += "modules:\n" + "".join(f"    {name}: !ref <{name}>\n" for name in names)
    workspace.write({"hparams.yaml": recipe})
    text = mapped(workspace, "hparams.yaml", "html")
    boxes = re.findall(r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="40" rx="7"/>', text)
    tops = [float(y) for _, y, _ in boxes]
    assert len(tops) == 100
    assert all(below - above > 40 for above, below in pairwise(tops))
    (height,) = re.findall(r'<div class="layers"><svg [^>]*height="([\d.]+)"', text)
    assert float(height) > tops[-1] + 40
