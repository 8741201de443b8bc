"""How many rows codecs have: where the numbers are read from, and what makes a codec."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from modellint.knowledge import codecs, list_codecs

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("snac.SNAC.from_pretrained", 4096),
        ("snac.snac.SNAC", 4096),
        ("transformers.MimiModel.from_pretrained", 2048),
        ("moshi.models.loaders.get_mimi", 2048),
        ("encodec.EncodecModel.encodec_model_24khz", 1024),
        ("dac.DAC.load", 1024),
        ("dac.utils.load_model", 1024),
    ],
)
def test_what_makes_a_codec_tells_its_rows(name: str, rows: int) -> None:
    made = codecs.made_by(name)
    assert made is not None
    assert made.rows == rows
    assert made.source.startswith(made.name.partition(".")[0].replace("dac", "descript-audio-codec"))


@pytest.mark.parametrize("name", ["snac.layers.Encoder", "transformers.LlamaModel.from_pretrained", "other.SNAC", ""])
def test_nothing_else_makes_one(name: str) -> None:
    assert codecs.made_by(name) is None


def test_a_checkpoint_may_differ_from_its_class() -> None:
    assert codecs.published("facebook/encodec_32khz") == (
        2048,
        "transformers 4.45.2, transformers/models/encodec/convert_encodec_checkpoint_to_pytorch.py",
    )
    encodec, mimi = codecs.codec("transformers.EncodecModel"), codecs.codec("transformers.MimiModel")
    assert encodec is not None
    assert mimi is not None
    assert codecs.differs(encodec)
    assert not codecs.differs(mimi)


def test_the_numbers_are_read_where_they_stand(tmp_path: Path) -> None:
    for number, (name, kind) in enumerate(list_codecs.KINDS.items()):
        path = tmp_path / kind.file
        path.parent.mkdir(parents=True, exist_ok=True)
        text = kind.pattern.replace(r"(?:: int)? ?= ?", "=").replace(r"(\d+)", str(100 + number))
        path.write_text(f'{text}\n# checkpoint="of/{name}"\n')
    published = next(iter(list_codecs.PUBLISHED.values()))
    (tmp_path / published.file).write_text('if name == "encodec_32khz":\n    config.codebook_size = 7\n')
    config = tmp_path / "config.json"
    config.write_text('{"codebook_size": 512, "vq_strides": [4, 2, 1]}')
    tables = list_codecs.extract([tmp_path], {"my/snac": config})
    assert [entry["rows"] for entry in tables["classes"].values()] == [*range(100, 100 + len(list_codecs.KINDS))]
    assert tables["checkpoints"]["my/snac"] == {"class": "snac.SNAC", "rows": 512, "source": "config.json of my/snac"}
    assert tables["checkpoints"]["of/transformers.MimiModel"]["class"] == "transformers.MimiModel"
    assert tables["checkpoints"]["facebook/encodec_32khz"]["rows"] == 7


def test_a_number_that_is_nowhere_is_told(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"list_codecs: snac.SNAC: no folder has snac/snac.py"):
        list_codecs.main([str(tmp_path), "--into", str(tmp_path)])
    assert not (tmp_path / "codecs.json").exists()


def test_the_shipped_tables_have_the_form_that_is_extracted() -> None:
    path = codecs.Path(codecs.__file__).with_name("codecs.json")
    shipped = json.loads(path.read_text(encoding="utf-8"))
    assert shipped["classes"].keys() == list_codecs.KINDS.keys()
    assert all(one["source"] and one["rows"] > 0 for one in shipped["classes"].values())
