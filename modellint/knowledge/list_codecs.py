"""Extracts the rows of codecs: `python -m modellint.knowledge.list_codecs FOLDER... --config CHECKPOINT=FILE...`.

Each FOLDER holds unpacked packages and their `.dist-info`; each FILE is the `config.json` that is published with a
checkpoint. A number stands where a pattern finds it, and is told with that file and the release.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modellint.graph.immutable import dataclass
from modellint.knowledge import codecs

if TYPE_CHECKING:
    from collections.abc import Sequence

_CODES = {"decode": (0, "audio_codes"), "quantizer.decode": (0, "codes")}


@dataclass(frozen=True)
class Kind:
    """A class of codecs, and where its number stands: `pattern` in `file`.

    The rest is as in `Codec`; `makers` are functions that make one, `aliases` other names of the class.
    """

    file: str
    pattern: str
    takes: dict[str, tuple[int, str]]
    argument: str = "config"
    size: str = "codebook_size"
    configuration: str = ""
    makers: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    checkpoint: str = ""


@dataclass(frozen=True)
class Published:
    """A checkpoint whose number differs from its class's, and where that stands."""

    cls: str
    file: str
    pattern: str


def _transformers(name: str, config: str, takes: dict[str, tuple[int, str]] | None = None) -> Kind:
    file = f"transformers/models/{name}/configuration_{name}.py"
    pattern = r"codebook_size(?:: int)? ?= ?(\d+)"
    return Kind(file, pattern, takes or _CODES, configuration=f"transformers.{config}", checkpoint="named")


KINDS = {
    "snac.SNAC": Kind(
        "snac/snac.py",
        r"codebook_size=(\d+)",
        {"decode": (0, "codes"), "quantizer.from_codes": (0, "codes")},
        argument="codebook_size",
        aliases=("snac.snac.SNAC",),
    ),
    "dac.DAC": Kind(
        "dac/model/dac.py",
        r"codebook_size: int = (\d+)",
        {"quantizer.from_codes": (0, "codes")},
        argument="codebook_size",
        makers=("dac.utils.load_model",),
        aliases=("dac.model.DAC", "dac.model.dac.DAC"),
    ),
    "encodec.EncodecModel": Kind(
        "encodec/model.py",
        r"bins=(\d+)",
        {"decode": (0, "encoded_frames"), "quantizer.decode": (0, "codes")},
        argument="",
        size="",
        makers=("encodec.EncodecModel.encodec_model_24khz", "encodec.EncodecModel.encodec_model_48khz"),
        aliases=("encodec.model.EncodecModel",),
    ),
    "moshi.models.MimiModel": Kind(
        "moshi/models/loaders.py",
        r'"bins": (\d+)',
        {"decode": (0, "codes"), "decode_latent": (0, "codes"), "quantizer.decode": (0, "codes")},
        argument="",
        size="cardinality",
        makers=("moshi.models.get_mimi", "moshi.models.loaders.get_mimi"),
        aliases=("moshi.models.compression.MimiModel",),
    ),
    "transformers.MimiModel": _transformers("mimi", "MimiConfig"),
    "transformers.EncodecModel": _transformers("encodec", "EncodecConfig"),
    "transformers.XcodecModel": _transformers("xcodec", "XcodecConfig"),
    "transformers.DacModel": _transformers(
        "dac", "DacConfig", {"decode": (1, "audio_codes"), "quantizer.from_codes": (0, "audio_codes")}
    ),
}
PUBLISHED = {
    "facebook/encodec_32khz": Published(
        "transformers.EncodecModel",
        "transformers/models/encodec/convert_encodec_checkpoint_to_pytorch.py",
        r'"encodec_32khz":(?:(?!elif).)*?codebook_size = (\d+)',
    ),
}


def extract(folders: Sequence[Path], configs: dict[str, Path]) -> dict[str, Any]:
    """The tables of `codecs.json`; LookupError names the codec whose number is nowhere in the folders."""
    classes: dict[str, Any] = {}
    checkpoints: dict[str, Any] = {}
    for name, kind in KINDS.items():
        rows, source, text = _find_number(kind.file, kind.pattern, folders, name)
        takes = {path: list(argument) for path, argument in kind.takes.items()}
        classes[name] = {"rows": rows, "source": source, "argument": kind.argument, "size": kind.size, "takes": takes}
        named = re.search(r'checkpoint="([\w./-]+)"', text) if kind.checkpoint else None
        if named is not None:
            checkpoints[named[1]] = {"class": name, "rows": rows, "source": source}
    for checkpoint, published in PUBLISHED.items():
        rows, source, _ = _find_number(published.file, published.pattern, folders, checkpoint)
        checkpoints[checkpoint] = {"class": published.cls, "rows": rows, "source": source}
    for checkpoint, path in configs.items():
        stated = json.loads(path.read_text(encoding="utf-8"))
        cls = _class_of(stated, checkpoint)
        source = f"config.json of {checkpoint}"
        checkpoints[checkpoint] = {"class": cls, "rows": stated[KINDS[cls].size], "source": source}
    return {
        "classes": classes,
        "aliases": {alias: name for name, kind in KINDS.items() for alias in kind.aliases},
        "makers": {maker: name for name, kind in KINDS.items() for maker in kind.makers},
        "configurations": {kind.configuration: name for name, kind in KINDS.items() if kind.configuration},
        "checkpoints": dict(sorted(checkpoints.items())),
    }


def _class_of(stated: dict[str, Any], checkpoint: str) -> str:
    """The class that a published configuration is of: the one it names, or else the one that takes all it states."""
    for architecture in stated.get("architectures", ()):
        if f"transformers.{architecture}" in KINDS:
            return f"transformers.{architecture}"
    if "vq_strides" in stated:
        return "snac.SNAC"
    raise LookupError(f"{checkpoint}: its configuration names none of {', '.join(KINDS)}")


def _find_number(file: str, pattern: str, folders: Sequence[Path], name: str) -> tuple[int, str, str]:
    """A number, where it stands, and the text of the file, of the newest release that has it."""
    for folder in folders:
        path = folder / file
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        found = re.search(pattern, text, re.DOTALL)
        if found is not None:
            return int(found[1]), f"{_release(folder, file.partition('/')[0])}, {file}", text
    raise LookupError(f"{name}: no folder has {file} with the number that {pattern!r} looks for")


def _release(folder: Path, package: str) -> str:
    """Name and version of the distribution that a package is of."""
    for about in [*sorted(folder.glob("*.dist-info/METADATA")), *sorted(folder.glob("PKG-INFO"))]:
        stated = dict(re.findall(r"^(Name|Version): (.+)$", about.read_text(encoding="utf-8"), re.MULTILINE))
        if (about.parent / "RECORD").is_file():
            is_of = f"{package}/" in (about.parent / "RECORD").read_text(encoding="utf-8")
        else:
            is_of = stated["Name"] == package
        if is_of:
            return f"{stated['Name']} {stated['Version']}"
    return package


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m modellint.knowledge.list_codecs", description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+", metavar="FOLDER")
    parser.add_argument("--config", nargs="*", default=[], metavar="CHECKPOINT=FILE")
    parser.add_argument("--into", type=Path, default=Path(codecs.__file__).parent)
    options = parser.parse_args(arguments)
    configs = {name: Path(path) for name, _, path in (config.partition("=") for config in options.config)}
    try:
        tables = extract(options.folders, configs)
    except LookupError as error:
        sys.exit(f"list_codecs: {error.args[0]}")
    (options.into / "codecs.json").write_text(json.dumps(tables, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
