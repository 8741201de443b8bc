"""Descriptions of dialects: who loads a file and builds its objects, and what each of them does with a mistake.

`Dialect.writing` is how a file of the dialect writes an object.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.graph.immutable import dataclass
from modellint.graph.recipe import Dialect

if TYPE_CHECKING:
    from modellint.graph.recipe import Writing

_OF_OMEGACONF = "OmegaConf"
_UNTAGGED = "raises `ConstructorError: could not determine a constructor for the tag` when the"
_OMEGACONF_UNTAGGED = f"{_OF_OMEGACONF} {_UNTAGGED} configuration is loaded"
_OMEGACONF = "OmegaConf raises `ConstructorError: found duplicate key` when the configuration is loaded"


@dataclass(frozen=True)
class Description:
    """A dialect, and the effects of mistakes in its files, in sentences for findings.

    `untargeted` tells the effect of a mapping without a class, where an object is to be built of it.
    `unlocated` tells the effect of a name that is not there, `repeated` of a key that stands twice in one mapping;
    empty for a loader that takes the last one. `unresolved` tells the effect of a reference to a missing key.
    `is_composed`: other files are merged into one by a defaults list. `is_strict`: whoever builds an object passes all
    of its arguments; programs of other dialects use to take some out before. `overwritten` tells the effect of a
    repeated key of which the last one is taken. `is_typed`: values are parsed as the types of parameters. `loader` is
    the library that reads the text, empty for Python's own; `untagged` tells the effect of a tag that it does not know.
    """

    dialect: Dialect
    unlocated: str
    repeated: str
    unresolved: str
    untargeted: str = ""
    is_composed: bool = False
    is_strict: bool = True
    overwritten: str = ""
    is_typed: bool = False
    loader: str = ""
    untagged: str = ""

    @property
    def writing(self) -> Writing:
        """How a file writes an object."""
        return self.dialect.writing

    @property
    def is_plain(self) -> bool:
        """True if objects are written by keys, and references as `${…}`; HyperPyYAML has tags and `<…>` for them."""
        return bool(self.writing.target)


_DESCRIPTIONS = {
    Dialect.HYPERPYYAML: Description(
        Dialect.HYPERPYYAML,
        "HyperPyYAML raises `ImportError` when it loads the recipe",
        "HyperPyYAML raises `DuplicateKeyError` when it loads the recipe",
        "HyperPyYAML raises `ValueError` when the recipe is loaded",
        loader="HyperPyYAML",
        untagged=f"HyperPyYAML {_UNTAGGED} recipe is loaded",
    ),
    # Source: hydra-core 1.3.8 and omegaconf 2.3.1.
    Dialect.OMEGACONF: Description(
        Dialect.OMEGACONF,
        "Hydra raises `InstantiationException` when it is instantiated",
        _OMEGACONF,
        "OmegaConf raises `InterpolationKeyError` when the value is read",
        "`instantiate` returns the mapping itself, with the arguments of the call in it",
        is_composed=True,
        is_strict=False,
        loader=_OF_OMEGACONF,
        untagged=_OMEGACONF_UNTAGGED,
    ),
    # Source: mmengine 0.10.7, `Config.fromfile` and `build_from_cfg`.
    Dialect.OPENMMLAB: Description(
        Dialect.OPENMMLAB,
        "the registry raises `KeyError` when it builds the object",
        "Python takes the last value silently",
        "no inherited file has it, and `Config.fromfile` raises an error",
    ),
    # Source: torchtune 0.6.1, `torchtune/config/_instantiate.py` and `_utils.py`.
    Dialect.TORCHTUNE: Description(
        Dialect.TORCHTUNE,
        "torchtune raises `InstantiationError` when it is instantiated",
        _OMEGACONF,
        "OmegaConf raises `InterpolationKeyError` when torchtune resolves the configuration to log it",
        "torchtune raises `InstantiationError`",
        loader=_OF_OMEGACONF,
        untagged=_OMEGACONF_UNTAGGED,
    ),
    # Source: jsonargparse 4.53, `_typehints.py` and `_loaders_dumpers.py`, which leaves `${…}` as it is.
    Dialect.LIGHTNING_CLI: Description(
        Dialect.LIGHTNING_CLI,
        "jsonargparse refuses the configuration, as it cannot import the class",
        "",
        "",
        overwritten="jsonargparse silently takes the last one",
        is_typed=True,
        loader="jsonargparse",
        untagged="jsonargparse refuses the configuration: `could not determine a constructor for the tag`",
    ),
    # No library: each project has the two functions.
    Dialect.LATENT: Description(
        Dialect.LATENT,
        "importing it raises `ImportError` or `AttributeError` when it is built",
        _OMEGACONF,
        "OmegaConf raises `InterpolationKeyError` when the value is read",
        "the function that builds it raises an error",
        loader=_OF_OMEGACONF,
        untagged=_OMEGACONF_UNTAGGED,
    ),
}


def describe(dialect: Dialect) -> Description:
    """The description of a dialect."""
    return _DESCRIPTIONS[dialect]
