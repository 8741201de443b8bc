"""Probes of plain configurations: locate the target of `_target_`, resolve `${…}`, parse arguments by jsonargparse."""

from __future__ import annotations

import ast
import importlib
import importlib.metadata
import importlib.util
import inspect
import json
import os
import re
from contextlib import suppress
from types import ModuleType
from typing import TYPE_CHECKING, Any

from .beside import RECIPES
from .open_calls import open_call
from .signatures import VARIADIC
from .standins import StandIn, described
from .verdicts import REFUTED, Verdict, confirmed, refuted, unconfirmed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.claims.recipes import KeyTwice, NoEntry, NotCalled, NotComposed, NotLocated, NotParsed, Unresolved

    from .session import Session
    from .standins import StandIns


def targeting(session: Session, claim: NotLocated | NotCalled) -> Verdict:
    """Locate a name: confirmed if that fails, if it is not callable, or if it refuses the claimed arguments."""
    name = claim.target
    session.begin(f"locating `{name}`")
    try:
        found = locate(name, session.stand_ins)
    except (ImportError, AttributeError) as error:
        return confirmed(f"locating `{name}` raises {described(error)}")
    if isinstance(found, StandIn) or (isinstance(found, type) and issubclass(found, StandIn)):
        return unconfirmed(f"`{name.partition('.')[0]}` is not installed")
    if not callable(found):
        kind = type(found).__name__
        return confirmed(f"`{name}` is a {kind}, which cannot be called")
    if not isinstance(claim, RECIPES.NotCalled):
        return _unless_of_another_release(claim, refuted(f"`{name}` is there, and can be called"))
    try:
        signature = inspect.signature(found)
    except ValueError:
        return unconfirmed(f"`{name}` does not tell its parameters")
    try:
        bind = signature.bind if claim.is_final else signature.bind_partial
        bound = bind(*[None] * claim.positional, **dict.fromkeys(claim.keywords))
    except TypeError as error:
        return confirmed(f"calling `{name}` raises {described(error)}")
    if not any(parameter.kind in VARIADIC for parameter in signature.parameters.values()):
        return _unless_of_another_release(claim, refuted(f"`{name}` takes these arguments"))
    session.begin(f"making `{name}`")
    return _unless_of_another_release(claim, open_call(name, found, bound, is_final=claim.is_final))


def _unless_of_another_release(claim: NotLocated | NotCalled, outcome: Verdict) -> Verdict:
    """The verdict; unconfirmed in place of refuted if another release of the package is installed than was described.

    Of a release the first two numbers count.
    """
    if outcome.status != REFUTED or not claim.releases:
        return outcome
    try:
        installed = importlib.metadata.version(claim.package)
    except importlib.metadata.PackageNotFoundError:
        return outcome
    described_ones = [_numbers(release) for text in claim.releases for release in text.split(" to ")]
    if min(described_ones) <= _numbers(installed) <= max(described_ones):
        return outcome
    about = " and ".join(claim.releases)
    return unconfirmed(f"`{claim.package}` {installed} is installed, and the finding is about {about}")


def _numbers(release: str) -> tuple[int, ...]:
    """The first two numbers of a release: `(2, 13)` for `2.13.0+cpu`."""
    return tuple(int(number) for number in re.findall(r"\d+", release)[:2])


def parsing(session: Session, claim: NotParsed) -> Verdict:
    """Let jsonargparse parse the arguments of a class or function, which is not made: confirmed if it refuses them."""
    name = claim.target
    session.begin(f"parsing the arguments of `{name}`")
    try:
        jsonargparse: Any = importlib.import_module("jsonargparse")
    except ImportError:
        return unconfirmed("`jsonargparse` is not installed")
    try:
        found = locate(name, session.stand_ins)
    except (ImportError, AttributeError) as error:
        return unconfirmed(f"locating `{name}` raises {described(error)}")
    if isinstance(found, StandIn) or (isinstance(found, type) and issubclass(found, StandIn)):
        return unconfirmed(f"`{name.partition('.')[0]}` is not installed")
    parser = jsonargparse.ArgumentParser(exit_on_error=False)
    add = parser.add_class_arguments if isinstance(found, type) else parser.add_function_arguments
    try:
        add(found, "given", fail_untyped=False, sub_configs=True)
    except Exception as error:
        return unconfirmed(f"jsonargparse does not know its parameters: {described(error)}")
    try:
        parser.parse_object({"given": json.loads(claim.arguments)})
    except Exception as error:
        told = f"jsonargparse raises {described(error)}"
        return confirmed(told) if claim.wanted in str(error) else unconfirmed(told)
    return refuted(f"jsonargparse takes these arguments for `{name}`")


def locate(name: str, stand_ins: StandIns) -> Any:
    """The object of a dotted name: modules as far as they go, then attributes."""
    parts = name.split(".")
    found: Any = stand_ins.module(parts[0])
    for number, part in enumerate(parts[1:], 2):
        inner = ".".join(parts[:number])
        is_package = isinstance(found, ModuleType) and hasattr(found, "__path__")
        if not hasattr(found, part) and is_package and importlib.util.find_spec(inner) is not None:
            found = stand_ins.module(inner)
        else:
            found = getattr(found, part)
    return found


def interpolating(session: Session, claim: Unresolved) -> Verdict:
    """Resolve an interpolation: confirmed if its key is missing."""
    session.begin("loading the configuration")
    try:
        omegaconf: Any = importlib.import_module("omegaconf")
    except ImportError:
        return unconfirmed("`omegaconf` is not installed")
    try:
        config = _compose(session, claim) if claim.folder else omegaconf.OmegaConf.load(session.target)
    except ImportError:
        return unconfirmed("`hydra` is not installed")
    except Exception as error:
        return unconfirmed(f"loading it raises {described(error)}")
    found = [node for node in _interpolations(config) if claim.text in str(node._value())]
    try:
        for node in found:
            node._dereference_node()
    except omegaconf.errors.InterpolationKeyError as error:
        return confirmed(f"resolving it raises {described(error)}")
    except omegaconf.errors.OmegaConfBaseException as error:
        return unconfirmed(f"resolving it raises {described(error)}")
    if not found:
        return unconfirmed("it is not there when the configuration is loaded")
    return refuted("it leads to a value")


def composing(session: Session, claim: NotComposed) -> Verdict:
    """Compose a configuration: confirmed if Hydra refuses and names what is wrong."""
    session.begin("composing the configuration")
    try:
        _compose(session, claim, claim.wanted)
    except ImportError:
        return unconfirmed("`hydra` is not installed")
    except Exception as error:
        told = f"composing it raises {described(error)}"
        return confirmed(told) if claim.wanted in str(error) else unconfirmed(told)
    return refuted("Hydra composes it")


def entry(session: Session, claim: NoEntry) -> Verdict:
    """Read a key of the configuration of a program: confirmed if it is not there."""
    session.begin("loading the configuration")
    is_python = claim.folder.endswith(".py")
    try:
        library: Any = importlib.import_module("mmengine.config" if is_python else "omegaconf")
        load = library.Config.fromfile if is_python else library.OmegaConf.load
        config = _compose(session, claim) if claim.name else load(claim.folder)
    except ImportError as error:
        return unconfirmed(f"`{error.name}` is not installed")
    except Exception as error:
        return unconfirmed(f"loading it raises {described(error)}")
    try:
        for key in claim.where.split(".") if claim.where else ():
            config = config[int(key) if key.isdigit() and not hasattr(config, "keys") else key]
    except Exception as error:
        return unconfirmed(f"reading `{claim.where}` raises {described(error)}")
    if claim.key in list(config):
        return refuted(f"the configuration has `{claim.key}`")
    try:
        config[claim.key]
    except (KeyError, AttributeError) as error:
        return confirmed(f"reading the key raises {described(error)}")
    return refuted(f"the configuration has `{claim.key}`")


def repetition_of_key(session: Session, claim: KeyTwice) -> Verdict:
    """Load a file with a key twice: confirmed if that is refused, or if its reader keeps the last value only."""
    session.begin("loading the configuration")
    place, path = claim.place.span, claim.place.path
    if path.endswith(".py"):
        with open(path, encoding="utf-8-sig") as stream:
            tree = ast.parse(stream.read())
        dicts = [node for node in ast.walk(tree) if isinstance(node, ast.Dict)]
        written = next((one.keys for one in dicts if any(key and key.lineno == place.line for key in one.keys)), [])
        constants = [key.value for key in written if isinstance(key, ast.Constant)]
        is_lost = len(dict.fromkeys(constants)) < len(constants)
        return confirmed(f"Python keeps the last value of `{claim.key}`") if is_lost else refuted("no value is lost")
    try:
        omegaconf: Any = importlib.import_module("omegaconf")
        yaml: Any = importlib.import_module("yaml")
    except ImportError as error:
        return unconfirmed(f"`{error.name}` is not installed")
    if not claim.is_kept:
        try:
            omegaconf.OmegaConf.load(path)
        except Exception as error:
            told = f"loading it raises {described(error)}"
            return confirmed(told) if claim.key in str(error) else unconfirmed(told)
        return refuted("OmegaConf loads the file")
    with open(path, encoding="utf-8-sig") as stream:
        nodes = list(_mappings(yaml.compose(stream, yaml.SafeLoader)))
    for node in nodes:
        keys = [key.value for key, _ in node.value]
        if any(key.start_mark.line + 1 == place.line for key, _ in node.value) and keys.count(claim.key) > 1:
            return confirmed(f"the reader of YAML keeps the last of {keys.count(claim.key)} values of `{claim.key}`")
    return refuted("no key stands twice")


def _mappings(node: Any) -> Iterator[Any]:
    """The mappings of a YAML document."""
    if isinstance(node.value, list):
        if any(isinstance(part, tuple) for part in node.value):
            yield node
        for part in node.value:
            for inner in part if isinstance(part, tuple) else (part,):
                yield from _mappings(inner)


def _compose(session: Session, claim: Unresolved | NotComposed | NoEntry, wanted: str = "") -> Any:
    """The configuration as Hydra composes it. Raises ImportError without Hydra, or the error with which it refuses.

    The program is imported if Hydra refuses without it, and does not name `wanted`: it may register configurations.
    """
    hydra: Any = importlib.import_module("hydra")

    def compose() -> Any:
        with hydra.initialize_config_dir(os.path.abspath(claim.folder), version_base=None):
            return hydra.compose(claim.name, list(claim.arguments))

    script: str = getattr(claim, "script", claim.place.path)  # of a NoEntry it is the file that reads
    try:
        return compose()
    except Exception as error:
        if not script or (wanted and wanted in str(error)):
            raise
        with suppress(Exception):
            session.load(script)
        return compose()


def _interpolations(node: Any) -> Iterator[Any]:
    content = node._content
    for child in content.values() if isinstance(content, dict) else content if isinstance(content, list) else ():
        if child._is_interpolation():
            yield child
        elif hasattr(child, "_content"):
            yield from _interpolations(child)
