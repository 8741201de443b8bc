"""Projects of the shape of those in which the incidents happened: their files, calls, containers and markers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Workspace

CONFIG = """\
from dataclasses import dataclass, field
from typing import Optional

import yaml


def rounded(number, multiple):
    return number if number % multiple == 0 else number + multiple - number % multiple


@dataclass
class Settings:
    width: int = 64
    words: int = 900
    extra: dict = field(default_factory=dict)
    all_rows: Optional[int] = None
    text_rows: int = 1000
    voice_rows: int = 4160

    def __post_init__(self):
        if self.all_rows is None:
            self.all_rows = rounded(self.words, 512)

    @classmethod
    def read(cls, path, **changed):
        with open(path, encoding="utf-8") as file:
            stated = yaml.safe_load(file)
        stated.update(changed)
        return cls(**stated)
"""
MODEL = """\
import torch
from torch import nn

from settings import Settings


class Speaker(nn.Module):
    def __init__(self, settings: Settings) -> None:
        super().__init__()
        assert settings.all_rows is not None
        self.settings = settings
        self.head = nn.Linear(settings.width, settings.all_rows)
        self.table = nn.Embedding(settings.all_rows, settings.width)

    def prepare(self, batch_size: int) -> None:
        self.batch_size = batch_size

    def forward(self, streams: list, at: torch.Tensor):
        hidden = sum(self.table(stream) for stream in streams) / 8
        text, voice = self.settings.text_rows, self.settings.voice_rows
        scores = self.head(hidden)
        voices = []
        for layer in range(7):
            voices.append(scores[..., text + voice * layer : text + voice * (layer + 1)])
        return voices, scores[..., :text]
"""
DRAWING = """\
from typing import Any, Optional

import torch

from model import Speaker


def pick(probabilities):
    if torch.compiler.is_compiling():
        noise = torch.empty_like(probabilities).exponential_(1)
        return torch.argmax(probabilities / noise, dim=-1, keepdim=True)
    return torch.multinomial(probabilities, num_samples=1)


def keep_likely(scores, share):
    sorted_scores, order = torch.sort(scores, descending=False)
    gone = sorted_scores.softmax(dim=-1).cumsum(dim=-1) <= (1 - share)
    gone[-1:] = 0
    return scores.masked_fill(gone.scatter(0, order, gone), float("-inf"))


def draw(scores, heat: float = 1.0, best: Optional[int] = None, share: float = 1.0):
    scores = scores[0, -1]
    if best is not None:
        values, at = torch.topk(scores, min(best, scores.size(-1)))
        scores = torch.full_like(scores, float("-inf")).scatter_(-1, at, values)
    if heat > 0.0:
        scores = scores / heat
        if share < 1.0:
            scores = keep_likely(scores, share)
        return pick(torch.nn.functional.softmax(scores, dim=-1))
    return torch.argmax(scores, dim=-1, keepdim=True)


def step(model: Speaker, streams: list, at: torch.Tensor, **how: Any):
    streams = [stream.to(model.device) for stream in streams]
    voices, text = model(streams, at)
    drawn = []
    for voice in voices:
        drawn.append(draw(voice, **how).to(dtype=streams[0].dtype))
    return drawn, draw(text, **how)


def speak(model: Speaker, streams: list, longest: int = 100, *, end: Optional[int] = None, **how: Any):
    spoken = [[] for _ in range(8)]
    at = torch.tensor([0])
    for _ in range(longest):
        voices, text = step(model, streams, at, **how)
        if voices[-1] == end:
            break
        for layer in range(7):
            spoken[layer].append(voices[layer].clone().tolist()[0])
        spoken[7].append(text.clone().tolist()[0])
        streams = [(voice + 1000 + layer * 4160).view(1, -1) for layer, voice in enumerate(voices)] + [text.view(1, -1)]
        at = at.add_(1)
    return spoken
"""
FRAMES = """\
import torch


def in_turn(streams):
    if len(streams) == 8:
        streams = streams[:-1]
    frames = []
    for layer in range(7):
        streams[layer] = streams[layer][layer + 1 :]
    for number in range(len(streams[-1])):
        frames.append("#")
        for layer in range(7):
            frames.append(streams[layer][number])
    return frames


def latest(streams, index, count):
    frames = []
    for number in range(count):
        frames.append("#")
        for layer in range(7):
            frames.append(streams[layer][index - count - 5 + layer + number])
    return frames


def in_books(frames, device=None):
    def from_first(listed):
        try:
            return listed[listed.index("#") :]
        except ValueError:
            return "no frame"

    def distance(listed):
        try:
            first = listed.index("#")
            return listed.index("#", first + 1) - first - 1
        except ValueError:
            return "no frames"

    def as_tensor(listed):
        return torch.tensor(listed).unsqueeze(0)

    frames = from_first(frames)
    books, coarse, middle, fine = [], [], [], []
    if distance(frames) == 7:
        for at in range(0, len(frames), 8):
            coarse.append(frames[at + 1])
            middle.append(frames[at + 2])
            fine.append(frames[at + 3])
            fine.append(frames[at + 4])
            middle.append(frames[at + 5])
            fine.append(frames[at + 6])
            fine.append(frames[at + 7])
            books = [as_tensor(coarse).to(device), as_tensor(middle).to(device), as_tensor(fine).to(device)]
    return books


def heard(frames, codec, device=None):
    with torch.inference_mode():
        sound = codec.decode(in_books(frames, device))
    return sound.cpu().numpy()
"""
TALKING = """\
import lightning
import torch
from snac import SNAC

from drawing import speak, step
from frames import heard, in_books, in_turn, latest
from model import Speaker
from settings import Settings

FIRST_EXTRA = 4096


def answer(fabric, streams, model, words, codec):
    with fabric.init_tensor():
        model.prepare(batch_size=1)
    spoken = speak(model, streams, 20, end=FIRST_EXTRA, heat=0.9, best=1)
    frames = in_turn(spoken)
    text = spoken[-1]
    if 900 in text:
        text = text[: text.index(900)]
    books = in_books(frames)
    with torch.inference_mode():
        sound = codec.decode(books)
    return sound.cpu().numpy(), words.decode(torch.tensor(text))


def load(folder, device):
    codec = SNAC.from_pretrained("hubertsiuzdak/snac_24khz").eval().to(device)
    fabric = lightning.Fabric(devices=1, strategy="auto")
    settings = Settings.read(folder + "/settings.yaml")
    with fabric.init_module(empty_init=False):
        model = Speaker(settings)
    model = fabric.setup(model)
    return fabric, model, None, codec


class Talk:
    def __init__(self, folder="./weights", device="cuda:0"):
        self.device = device
        self.fabric, self.model, self.words, self.codec = load(folder, device)

    @torch.inference_mode()
    def stream(self, streams, longest=200, stride=4, end=FIRST_EXTRA):
        model = self.model
        spoken = [[] for i in range(8)]
        index, waited, is_begun = 1, 0, False
        at = torch.tensor([0])
        for _ in range(2, longest):
            voices, text = step(model, streams, at)
            if voices[-1] == end:
                break
            for layer in range(7):
                spoken[layer].append(voices[layer].tolist()[0])
            spoken[7].append(text.tolist()[0])
            if index == 7:
                is_begun = True
            if is_begun:
                waited += 1
                if waited == stride:
                    waited = 0
                    frames = latest(spoken, index, stride)
                    yield heard(frames, self.codec, self.device)
            at = at.add_(1)
            index += 1


def main(streams):
    fabric, model, words, codec = load("./weights", "cuda:0")
    model.eval()
    print(answer(fabric, streams, model, words, codec))
"""
TALK = {
    "settings.py": CONFIG,
    "model.py": MODEL,
    "drawing.py": DRAWING,
    "frames.py": FRAMES,
    "talking.py": TALKING,
}


def line(text: str, words: str) -> int:
    return text[: text.index(words)].count("\n") + 1


def places(words: Workspace) -> list[tuple[str, int, str]]:
    return [place for place in words.places("--select", "ML1,ML3") if place[2] == "ML103"]


def test_ids_of_a_padded_head_reach_a_published_codec_through_lists_of_lists(workspace: Workspace) -> None:
    workspace.write(TALK)
    assert places(workspace) == [
        ("talking.py", line(TALKING, "codec.decode(books)"), "ML103"),
        ("talking.py", line(TALKING, "heard(frames, self.codec"), "ML103"),
    ]


def test_the_whole_way_to_a_codec_is_told(workspace: Workspace) -> None:
    workspace.write(TALK)
    first, second = workspace.run("check", "--output-format", "json", "--select", "ML103").json["findings"]
    assert "ids of 4160 (`voice_rows`) classes in a table of 4096 rows" in first["message"]
    assert "ids of 4160 (`voice_rows`) classes in a table of 4096 rows" in second["message"]
    assert any("snac" in evidence for evidence in first["evidence"])
    told = {(place["path"], place["line"]) for place in second["related"]}
    assert told >= {
        ("talking.py", line(TALKING, "SNAC.from_pretrained")),
        ("model.py", line(MODEL, "nn.Linear(")),
        ("drawing.py", line(DRAWING, "torch.argmax(probabilities / noise")),
        ("frames.py", line(FRAMES, "codec.decode(")),
    }


#: Changes of a file after which all ids have a row: the file, what stands in it, and what takes its place.
KEPT_IN_BOUNDS = [
    ("model.py", "text + voice * (layer + 1)", "text + voice * layer + 4096"),
    ("drawing.py", "voices[layer].clone()", "voices[layer].clamp(max=4095)"),
    ("drawing.py", "if voices[-1] == end:", "if any(voice >= 4096 for voice in voices):"),
    ("settings.py", "voice_rows: int = 4160", "voice_rows: int = 4096"),
]


@pytest.mark.parametrize(
    ("file", "before", "after"),
    [
        *KEPT_IN_BOUNDS,
        ("drawing.py", "drawn.append(draw(voice, **how)", "drawn.append(draw(voice[..., :4096], **how)"),
    ],
)
def test_ids_that_are_cut_clamped_or_left_out_are_none_too_many(
    workspace: Workspace, file: str, before: str, after: str
) -> None:
    assert before in TALK[file]
    workspace.write({**TALK, file: TALK[file].replace(before, after)})
    assert ("talking.py", line(TALKING, "codec.decode(books)"), "ML103") not in places(workspace)
